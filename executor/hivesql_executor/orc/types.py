"""Hive types that ORC encodes like plainer ones, and types of columns that an engine tells."""

from __future__ import annotations

from collections.abc import Iterable

from hivesql_executor.orc.tail_bytes import StoredType
from hivesql_planner.model.hive_type import SIZED_TEXTS, STRING, HiveType, Kind


def stored_types(hive_types: Iterable[HiveType], first: int) -> dict[int, StoredType]:
    """Return the columns of an ORC file that Spark or Arrow gives a plainer type, by their ids.

    These are TIMESTAMP WITH LOCAL TIME ZONE, CHAR and VARCHAR; ``first`` is the id of the first
    column.
    """
    inner = (type_ for hive_type in hive_types for type_ in hive_type.walk())
    return {
        first + i: StoredType(type_.kind.value, type_.length)
        for i, type_ in enumerate(inner)
        if type_.kind is Kind.INSTANT or type_.kind in SIZED_TEXTS
    }


def instants(hive_types: Iterable[HiveType], first: int) -> dict[int, StoredType]:
    """Return the TIMESTAMP WITH LOCAL TIME ZONE columns among ``stored_types``."""
    types = stored_types(hive_types, first)
    return {column: stored for column, stored in types.items() if stored.length is None}


def hive_type(spark_name: str) -> HiveType:
    """Give a Spark column's Hive type, for CREATE TABLE AS SELECT; a bare NULL becomes string."""
    return HiveType.parse(spark_name).exchange((Kind.VOID,), STRING)
