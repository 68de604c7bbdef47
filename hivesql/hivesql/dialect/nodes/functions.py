"""What the parser understood of functions of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql_planner.model.hive_type import HiveType

if TYPE_CHECKING:
    from hivesql.dialect.slices import Slice
    from hivesql.dialect.tokens import Name
    from hivesql_planner.model.functions import ResourceKind


@dataclass(frozen=True, slots=True)
class CreateMacroBody:
    """CREATE TEMPORARY MACRO: ``parameters`` are names and types."""

    name: Name
    parameters: tuple[tuple[Name, HiveType], ...]
    body: Slice


@dataclass(frozen=True, slots=True)
class DropFunctionBody:
    """DROP TEMPORARY FUNCTION or MACRO."""

    name: Name
    macro: bool


@dataclass(frozen=True, slots=True)
class StoreFunctionBody:
    """CREATE FUNCTION; the name may have a database."""

    name: Name
    database: Name | None
    java_class: str
    resources: tuple[tuple[ResourceKind, str], ...]


@dataclass(frozen=True, slots=True)
class DropStoredFunctionBody:
    """DROP FUNCTION."""

    name: Name
    database: Name | None
    if_exists: bool


FunctionBodies = CreateMacroBody | DropFunctionBody | StoreFunctionBody | DropStoredFunctionBody
