"""A function that the catalog keeps: a name in a database, and the class behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from hivesql_planner.errors import SemanticError

ResourceKind = Literal["jar", "file", "archive"]

_NAME = re.compile(r"[\w]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFunction:
    """What CREATE FUNCTION says; ``resources`` are kinds and places of files that it needs."""

    database: str
    name: str
    java_class: str
    resources: tuple[tuple[ResourceKind, str], ...] = ()
    owner: str | None = None
    created_at: int = 0
    """Seconds since the epoch."""

    @property
    def full_name(self) -> str:
        """The name under which every database can call it."""
        return f"{self.database}.{self.name}"


def check_function_name(name: str) -> None:
    """Fail at a name that Hive's metastore refuses."""
    if not _NAME.fullmatch(name):
        raise SemanticError(f"{name} is not a valid object name")
