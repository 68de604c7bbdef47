"""A session's own functions and macros: they go before Hive's of the same name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hivesql.sessions.session_files import AddedFiles
from hivesql.sessions.spark_start import LazySpark
from hivesql_planner.statements.bound import SessionFiles
from hivesql_planner.statements.functions import (
    CreateFunction,
    CreateMacro,
    DropFunction,
    Macro,
    OwnFunction,
)


@dataclass(slots=True)
class SessionFunctions(Mapping[str, OwnFunction | Macro]):
    """What CREATE TEMPORARY FUNCTION and MACRO have made, by name."""

    spark: LazySpark
    files: AddedFiles
    _known: dict[str, OwnFunction | Macro] = field(default_factory=dict)

    def __getitem__(self, name: str) -> OwnFunction | Macro:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def run(self, statement: CreateFunction | DropFunction | CreateMacro) -> None:
        """Make or forget one; Spark starts to see whether a class is a function."""
        match statement:
            case CreateMacro(macro=macro):
                self._known[macro.name] = macro
            case CreateFunction(name=name, java_class=java_class, resources=resources):
                for file, path in resources:
                    self.files.run(SessionFiles(action="add", kind=file, paths=(path,)))
                called = f"hivesql_{name}"
                kind = self.spark.add_function(called, name, java_class)
                self._known[name] = OwnFunction(
                    name=name, java_class=java_class, kind=kind, called=called
                )
            case DropFunction(name=name, macro=macro):
                self._drop(name, is_macro=macro)

    def _drop(self, name: str, *, is_macro: bool) -> None:
        found = self._known.get(name)
        if found is None or (is_macro and not isinstance(found, Macro)):
            return
        del self._known[name]
        if isinstance(found, OwnFunction):
            self.spark.forget_function(found.called)
