"""A failing walk made short: statements are left out while it still fails."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.sides import WAYS, Differs, Run, Side, sides
from fuzz.statements import Statement
from fuzz.stores import Store
from scratch import in_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Fails = Callable[[Sequence[Statement]], object]
"""Whether a walk fails in the way that is looked for."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A walk that went wrong: at which step, how, and the SQL that had run."""

    step: int
    told: str
    taken: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What two walks that fail in the same way have in common."""
        return re.sub(r"[\d`'\"].*", "", self.told.partition("\n")[0])[:60]


def try_walk(
    statements: Sequence[Statement],
    spark: SparkSession,
    ways: Sequence[str] = tuple(WAYS),
    *,
    checks: bool = True,
    store: Store | None = None,
) -> Failure | None:
    """Take the walk in new warehouses, in a ``store`` if there is one; None when all is well."""
    with (
        tempfile.TemporaryDirectory(prefix="hivesql-fuzz-", dir=in_memory()) as place,
        sides(Path(place), spark, ways, store) as opened,
    ):
        return walk_on_sides(statements, opened, checks=checks)


def walk_on_sides(
    statements: Sequence[Statement], opened: Sequence[Side], *, checks: bool = True
) -> Failure | None:
    """Take the walk; None when all is well."""
    run = Run(opened, checks=checks)
    try:
        run.walk(statements)
    except Differs as error:
        return Failure(error.step, error.told, tuple(run.taken))
    return None


def shorten(
    statements: Sequence[Statement], fails: Fails, *, seconds: float = 120
) -> list[Statement]:
    """The fewest statements found in the time that fail like the given ones."""
    until = time.monotonic() + seconds
    found, size = list(statements), max(1, len(statements) // 2)
    while time.monotonic() < until:
        start, shorter = 0, False
        while start < len(found) and time.monotonic() < until:
            candidate = found[:start] + found[start + size :]
            if candidate and fails(candidate):
                found, shorter = candidate, True
            else:
                start += size
        if size == 1 and not shorter:
            break
        size = max(1, size // 2)
    return found


def as_script(taken: Sequence[str]) -> str:
    """Statements that a person can paste."""
    return "".join(f"{sql};\n" for sql in taken)
