"""JARs, files and archives that a session gives to Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.outcome import Outcome
from hivesql_planner.errors import ExecutionError, NotSupported
from hivesql_planner.statements.bound import SessionFiles


@dataclass(slots=True)
class AddedFiles:
    """What was added, by kind; Spark gets it at once, or when it starts."""

    spark: LazySpark
    _added: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, statement: SessionFiles) -> Outcome:
        """ADD, LIST or DELETE, as in Hive; what Spark has got already stays with it."""
        added = self._added.setdefault(statement.kind, {})
        match statement.action:
            case "add":
                places = [_place(statement.kind, path) for path in statement.paths]
                for path, place in zip(statement.paths, places, strict=True):
                    self.spark.add_file(statement.kind, place)
                    added[path] = place
                return Outcome(message=f"Added resources: [{', '.join(statement.paths)}]")
            case "delete":
                for path in statement.paths or tuple(added):
                    if place := added.pop(path, ""):
                        self.spark.forget_file(statement.kind, place)
                return Outcome()
        listed = set(statement.paths)
        rows = [(path,) for path in added if not listed or path in listed]
        return Outcome.of_table(["resource"], rows)


def _place(kind: str, path: str) -> str:
    """Tell where Spark finds it, wherever its JVM was started."""
    scheme, mark, rest = path.partition("://")
    if mark and scheme == "ivy" and kind != "jar":
        raise NotSupported(f"ADD {kind.upper()} of an ivy address")
    local = rest if scheme == "file" else path.removeprefix("file:")
    if (not mark or scheme == "file") and not Path(local).exists():
        raise ExecutionError(f"{path} does not exist")
    return path if mark else str(Path(local).absolute())
