"""What binding needs to know: the catalog, the current database, the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hivesql.front.cursor import Cursor
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.plan import Expr, Scan
from hivesql_planner.settings import Settings
from hivesql_planner.table import Database, Partition, Table, TableName


class Catalog(Protocol):
    """The part of a metastore that names are looked up in."""

    def database(self, name: str) -> Database: ...
    def table(self, name: TableName) -> Table: ...
    def partitions(self, name: TableName) -> tuple[Partition, ...]: ...


@dataclass(frozen=True, slots=True)
class Binding:
    """The surroundings of one statement."""

    catalog: Catalog
    database: str
    settings: Settings

    def read_name(self, cursor: Cursor) -> TableName:
        """``t`` or ``db.t``."""
        first = cursor.name("a table name")
        if cursor.take("."):
            return TableName(first, cursor.name("a table name"))
        return TableName(self.database, first)

    def read_table(self, cursor: Cursor) -> Table:
        """An existing table, named at the cursor."""
        offset = cursor.offset()
        name = self.read_name(cursor)
        try:
            return self.catalog.table(name)
        except HiveSqlError as error:
            cursor.fail(error, offset)

    def read_partition(self, cursor: Cursor, table: Table) -> dict[str, str | None]:
        """``PARTITION (k='v', k2)``: values by column; dynamic ones are missing from the value.

        A column without a value maps to the empty marker ``DYNAMIC``.
        """
        offset = cursor.offset()
        if not table.partition_columns:
            error = NoSuchObject(
                f"table is not partitioned but partition spec exists: {table.name}", code=10098
            )
            cursor.fail(error, offset)
        cursor.expect("(")
        spec: dict[str, str | None] = {}
        while True:
            at = cursor.offset()
            key = cursor.name("a partition column")
            if key not in table.partition_names:
                error = NoSuchObject(
                    f"Partition not found: {key} is no partition column of {table.name}", code=10006
                )
                cursor.fail(error, at)
            spec[key] = _value(cursor) if cursor.take("=") else DYNAMIC
            if not cursor.list_of():
                break
        cursor.expect(")")
        return spec

    def matching_partitions(
        self, table: Table, spec: dict[str, str | None]
    ) -> tuple[Partition, ...]:
        """Existing partitions that a (perhaps partial) specification selects."""
        wanted = {table.partition_names.index(key): value for key, value in spec.items()}
        return tuple(
            partition
            for partition in self.catalog.partitions(table.name)
            if all(partition.values[index] == value for index, value in wanted.items())
        )

    def scan(
        self,
        table: Table,
        *,
        partitions: Sequence[Partition] | None = None,
        with_row_id: bool = False,
        where: str | None = None,
    ) -> Scan:
        """A scan of the partitions that are left."""
        known = self.catalog.partitions(table.name) if table.partition_columns else ()
        kept = known if partitions is None else tuple(partitions)
        return Scan(
            table=table,
            partitions=tuple(kept),
            partition_count=len(known),
            with_row_id=with_row_id,
            where=Expr(where) if where else None,
        )


DYNAMIC = "\0dynamic"


def _value(cursor: Cursor) -> str | None:
    """A literal partition value as text."""
    token = cursor.peek()
    if token is None:
        cursor.refuse("expected a partition value")
    if token.kind == "string":
        return cursor.string()
    if cursor.take("NULL"):
        return None
    if cursor.take("DATE") or cursor.take("TIMESTAMP"):
        return cursor.string()
    sign = "-" if cursor.take("-") else ""
    token = cursor.peek()
    if token is None or (token.kind != "number" and token.upper not in ("TRUE", "FALSE")):
        cursor.refuse("expected a literal partition value")
    cursor.at += 1
    return sign + (token.text.lower() if token.kind == "word" else token.text.rstrip("LSYlsy"))
