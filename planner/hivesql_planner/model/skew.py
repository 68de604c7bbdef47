"""SKEWED BY: values that many rows have, as the catalog keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hivesql_planner.errors import SemanticError

SKEWED = "hivesql.skewed"
"""A parameter that is no property: what SKEWED BY says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """The columns and their frequent values. Nothing here reads or writes otherwise for them."""

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    in_directories: bool = False
    """STORED AS DIRECTORIES: Hive gives each value of a plain table a directory of its own."""

    def written(self) -> str:
        """Write it down as the catalog keeps it."""
        return json.dumps([self.columns, self.values, self.in_directories])

    @classmethod
    def read(cls, text: str) -> Skew:
        """Read what ``written`` wrote."""
        columns, values, in_directories = json.loads(text)
        return cls(
            columns=tuple(columns),
            values=tuple(map(tuple, values)),
            in_directories=in_directories,
        )

    def renamed(self, old: str, new: str) -> Skew:
        """Return it after a column got another name."""
        return replace(
            self, columns=tuple(new if column == old else column for column in self.columns)
        )


def check_skew(skew: Skew, names: Sequence[str]) -> None:
    """Raise SemanticError where Hive refuses it for a table with columns of these names."""
    for i, name in enumerate(skew.columns):
        if name in skew.columns[:i]:
            raise SemanticError(f"Duplicate skewed column name: {name}", code=10202, about=name)
        if name not in names:
            raise SemanticError(f"Invalid skewed column name: {name}", code=10203, about=name)
    for values in skew.values:
        if len(values) != len(skew.columns):
            raise SemanticError(
                "The number of skewed column names and the number of skewed column values are "
                f"different: {len(skew.columns)} : {len(values)}",
                code=10206,
            )
