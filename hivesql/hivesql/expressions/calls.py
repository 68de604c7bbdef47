"""A call of a function as rules see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hivesql.dialect.value_types import Type
from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.session_zone import session_zone
from hivesql_planner.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Call:
    """A call: its name in lower case, types of its arguments, and those that are literals."""

    name: str
    types: tuple[Type, ...]
    literals: tuple[str | None, ...]
    """Values of string literals; None for any other argument."""
    texts: tuple[str, ...] = ()
    """The arguments as they are written."""
    settings: Settings | None = None
    """The session's settings; None where no function of a statement is called."""

    @property
    def zone(self) -> str | None:
        """The session's time zone; None for UTC."""
        return session_zone(self.settings) if self.settings is not None else None

    def type(self, i: int) -> Type:
        """Return the type of an argument; None when there is none or it is not known."""
        return self.types[i] if i < len(self.types) else None

    def literal(self, i: int) -> str | None:
        """Return the text of an argument that is a string literal; None of any other one."""
        return self.literals[i] if i < len(self.literals) else None


# What scripts ask for is the Hive whose SQL this is.
_VERSION, _REVISION = "4.1.0", "75e40b7537c91a70ccaa31c397d21823c7528eeb"
_CHECKSUM = "4bd7fbf8668427dd2f0d51ea72d4d64d"
CONSTANTS = {
    "buildversion": f"{_VERSION} from {_REVISION} by zbt source checksum {_CHECKSUM}",
    "version": f"{_VERSION} r{_REVISION}",
}
"""Texts that functions without arguments always give."""

_PLACES = re.compile(r"@([0-9]+)(?!\*)")

Rule = str | Callable[[Call], str | None]
"""A template, or a function from the call to a template; None leaves the call as it is.

``@0`` stands for the first argument, ``@*`` for all of them, ``@1*`` for those from the second.
"""


def takes(least: int, most: int) -> Callable[[Call], None]:
    """Return a check of the number of arguments (Hive's 10015)."""

    def check(call: Call) -> None:
        if not least <= len(call.types) <= most:
            raise SemanticError(
                f"Arguments length mismatch: {call.name} takes {least} to {most} arguments, "
                f"got {len(call.types)}",
                code=10015,
            )

    return check


def require_arguments(call: Call, template: str) -> None:
    """Refuse a call with fewer arguments than its template names (Hive's 10015)."""
    least = 1 + max((int(place) for place in _PLACES.findall(template)), default=-1)
    if len(call.types) < least:
        raise SemanticError(
            f"Arguments length mismatch: {call.name} takes at least {least} arguments, "
            f"got {len(call.types)}",
            code=10015,
        )


def rest(call: Call, start: int) -> list[str]:
    """Return the places of the arguments from ``start`` on."""
    return [f"@{i}" for i in range(start, len(call.types))]


def unknown_if_any_null(test: str, patterns: Sequence[str]) -> str:
    """Return a test of LIKE ANY or ALL: NULL as soon as one pattern is, in Hive."""
    if not patterns:
        return test
    nulls = " OR ".join(f"{pattern} IS NULL" for pattern in patterns)
    return f"CASE WHEN {nulls} THEN CAST(NULL AS BOOLEAN) ELSE {test} END"
