"""What a session's queries can call besides Hive's functions: its own, and the catalog's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hivesql.dialect.function_names import is_hive_function
from hivesql.sessions.session_files import AddedFiles
from hivesql.sessions.spark_start import LazySpark
from hivesql_planner.statements.bound import SessionFiles, Statement
from hivesql_planner.statements.functions import (
    CreateFunction,
    CreateMacro,
    DropFunction,
    DropStoredFunction,
    FunctionKind,
    Macro,
    OwnFunction,
    ReloadFunctions,
    StoreFunction,
)

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import Metastore
    from hivesql_planner.model.functions import ResourceKind, StoredFunction


@dataclass(slots=True)
class SessionFunctions(Mapping[str, OwnFunction | Macro]):
    """What CREATE TEMPORARY FUNCTION and MACRO have made, by name, and what the catalog has.

    Names of the catalog's functions begin with their database. Which there are is asked once, as
    in Hive, and again by RELOAD FUNCTIONS; one that was unknown then is looked for when called.
    """

    spark: LazySpark
    files: AddedFiles
    metastore: Callable[[], Metastore]
    _known: dict[str, OwnFunction | Macro] = field(default_factory=dict)
    _stored: dict[str, OwnFunction | None] | None = None
    """The functions of the catalog; None for what was not called yet."""

    def __getitem__(self, name: str) -> OwnFunction | Macro:
        if name in self._known:
            return self._known[name]
        if "." not in name:
            raise KeyError(name)
        stored = self._names()
        database, _, short = name.partition(".")
        if name not in stored and is_hive_function(short):
            raise KeyError(name)
        function = stored.get(name)
        if function is None:
            stored_function = self.metastore().function(database, short)
            if stored_function is None:
                raise KeyError(name)
            function = stored[name] = self.register(stored_function)
        return function

    def __contains__(self, name: object) -> bool:
        if name in self._known:
            return True
        database, _, short = str(name).partition(".")
        return bool(short) and self.metastore().function(database, short) is not None

    def __iter__(self) -> Iterator[str]:
        return iter({**self._known, **dict.fromkeys(self.metastore().function_names())})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @contextmanager
    def changed_by(self, statement: Statement) -> Iterator[None]:
        """Follow what a statement does to the catalog's functions; a class that is none fails."""
        if isinstance(statement, StoreFunction):
            self.register(statement.function)
        try:
            yield
        finally:
            # What was registered may be another one's, whose CREATE FUNCTION came before.
            if isinstance(statement, StoreFunction | DropStoredFunction):
                self._stored = None

    def register(self, function: StoredFunction) -> OwnFunction:
        """Let queries call a function of the catalog; SemanticError where its class is none."""
        name = function.full_name
        called = f"hivesql_{function.database}__{function.name}"
        kind = self._add(called, name, function.java_class, function.resources)
        return OwnFunction(
            name=name, java_class=function.java_class, kind=kind, called=called, is_stored=True
        )

    def _names(self) -> dict[str, OwnFunction | None]:
        if self._stored is None:
            self._stored = dict.fromkeys(self.metastore().function_names())
        return self._stored

    def _add(
        self, called: str, name: str, java_class: str,
        resources: tuple[tuple[ResourceKind, str], ...],
    ) -> FunctionKind:  # fmt: skip
        for file, path in resources:
            self.files.run(SessionFiles(action="add", kind=file, paths=(path,)))
        return self.spark.add_function(called, name, java_class)

    def run(self, statement: CreateFunction | DropFunction | CreateMacro | ReloadFunctions) -> None:
        """Make or forget one; Spark starts to see whether a class is a function."""
        match statement:
            case ReloadFunctions():
                self._stored = None
            case CreateMacro(macro=macro):
                self._known[macro.name] = macro
            case CreateFunction(name=name, java_class=java_class, resources=resources):
                called = f"hivesql_{name}"
                kind = self._add(called, name, java_class, resources)
                self._known[name] = OwnFunction(
                    name=name, java_class=java_class, kind=kind, called=called
                )
            case DropFunction(name=name, macro=macro):
                self._drop(name, is_macro=macro)

    def _drop(self, name: str, *, is_macro: bool) -> None:
        function = self._known.get(name)
        if function is None or (is_macro and not isinstance(function, Macro)):
            return
        del self._known[name]
        if isinstance(function, OwnFunction):
            self.spark.forget_function(function.called)
