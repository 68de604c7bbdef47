"""What a plan gave: rows for the user, or a count of rows changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


HIVE_TYPE = "hivesql.type"
"""Key of a column's metadata: its type in Hive, where Spark's does not tell enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Columns and rows of a query or SHOW, or how many rows a statement changed.

    ``value`` is what the consumer of a SELECT returned; by default its rows.
    """

    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    rows: Sequence[Sequence[Any]] = ()
    value: Any = None
    affected: int | None = None
    message: str | None = None
    schema: StructType | None = None
    """The types of a query's columns, where Spark gave its rows."""
    table: pa.Table | None = None
    """A query's rows, where they came without Spark."""

    @classmethod
    def of_query(cls, frame: DataFrame, value: Any) -> Outcome:
        """The outcome of a SELECT, once its rows have been consumed."""
        rows = value if isinstance(value, list) else ()
        columns = tuple(frame.columns)
        return cls(
            columns=columns,
            types=types_of(frame.schema),
            rows=rows,
            value=value,
            schema=frame.schema,
        )

    @classmethod
    def of_table(cls, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Outcome:
        """A small table made from the metastore; every column is text."""
        return cls(columns=tuple(columns), types=("string",) * len(columns), rows=rows)


def types_of(schema: StructType) -> tuple[str, ...]:
    """The types of a query's columns: Spark's names, but Hive's where there are instants inside."""
    return tuple(
        field.metadata.get(HIVE_TYPE)
        or field.dataType.simpleString().replace("timestamp_ntz", "timestamp")
        for field in schema.fields
    )
