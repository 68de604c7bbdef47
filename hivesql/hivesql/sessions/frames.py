"""Rows that the caller holds, into tables: the INSERT or MERGE that means it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hivesql.dbapi_literals import literal
from hivesql.script import StatementText
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.constraints import default_of
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import (
    FRAMES,
    SPARK_TABLES,
    SPARK_VIEWS,
    Database,
    Partition,
    Table,
    TableName,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hivesql.binding import Catalog
    from hivesql.sessions.spark_start import LazySpark
    from hivesql_executor.spark.write.user_frames import Frame
    from hivesql_planner.predicates.partitions import PartitionTest
    from hivesql_planner.statements.export import Dump

_NAME = TableName(FRAMES, "rows")
FRAME = f"{quote_name(FRAMES)}.`rows`"
"""How a statement names the rows of its frame."""
Assignments = bool | Mapping[str, str]
"""True for every column that both sides have, or expressions by column."""


@dataclass(frozen=True, slots=True)
class FrameRows:
    """Rows that a statement reads under a name of their own."""

    table: Table
    rows: DataFrame

    @classmethod
    def of(cls, frame: Frame, spark: SparkSession) -> FrameRows:
        """Return the rows of a DataFrame of Spark or pandas, or of an Arrow table."""
        from hivesql_executor.spark.write.user_frames import columns_of, import_frame

        rows = import_frame(frame, spark)
        return cls(Table(name=_NAME, columns=columns_of(rows), location=""), rows)


@dataclass(slots=True)
class SparkViews:
    """Views and tables that only Spark knows and one statement reads, as they were found."""

    spark: LazySpark
    tables: dict[TableName, FrameRows] = field(default_factory=dict)

    def view(self, name: str) -> Table | None:
        """Return the temporary view of that name; None where there is none, or no Spark runs."""
        return self._look_up(TableName(SPARK_VIEWS, name), lambda: self.spark.temporary_view(name))

    def table(self, catalog: str, database: str, name: str) -> Table | None:
        """Return a table of another catalog of Spark; None where no catalog has that name.

        NoSuchObject 10001 when the catalog has no such table.
        """
        parts = (catalog, database, name)
        full = TableName(SPARK_TABLES, ".".join(parts))
        return self._look_up(full, lambda: self.spark.catalog_table(*parts))

    def _look_up(self, full: TableName, find: Callable[[], DataFrame | None]) -> Table | None:
        if full not in self.tables:
            rows = find()
            if rows is None:
                return None
            frame = FrameRows.of(rows, self.spark())
            self.tables[full] = replace(frame, table=replace(frame.table, name=full))
        return self.tables[full].table


@dataclass(frozen=True, slots=True)
class WithFrame:
    """A catalog that also knows the rows of one frame."""

    under: Catalog
    frame: FrameRows

    def database(self, name: str) -> Database:
        """As the catalog's."""
        return self.under.database(name)

    def database_home(self, database: Database) -> str:
        """As the catalog's."""
        return self.under.database_home(database)

    def home_of(self, table: Table) -> str:
        """As the catalog's."""
        return self.under.home_of(table)

    def table(self, name: TableName) -> Table:
        """Return the frame, or the catalog's."""
        return self.frame.table if name == _NAME else self.under.table(name)

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """As the catalog's."""
        return self.under.partitions(name, tests)

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """As the catalog's."""
        return self.under.partition(name, values)

    def partition_count(self, name: TableName) -> int:
        """As the catalog's."""
        return self.under.partition_count(name)

    def tables_in(self, database: str) -> tuple[Table, ...]:
        """As the catalog's."""
        return self.under.tables_in(database)

    def export_at(self, path: str) -> Dump:
        """As the catalog's."""
        return self.under.export_at(path)


def append_text(
    table: Table, source: Table, *, overwrite: bool, partition: Mapping[str, Any]
) -> StatementText:
    """INSERT of the frame's rows, columns matched by name."""
    fixed = {name.lower(): value for name, value in partition.items()}
    unknown = [name for name in fixed if name not in table.partition_names]
    if unknown:
        raise SemanticError(f"{table.name} has no partition column {unknown[0]}", code=10006)
    columns = _listed(source.column_names)
    into, chosen = f"INTO {table.name.quoted}", columns
    if overwrite:
        into, chosen = f"OVERWRITE TABLE {table.name.quoted}", _all(table, source, fixed)
    if fixed:
        parts = (
            quote_name(name) + (f"={literal(fixed[name])}" if name in fixed else "")
            for name in table.partition_names
        )
        into += f" PARTITION ({', '.join(parts)})"
    if not overwrite:
        into += f" ({columns})"
    text = f"INSERT {into} SELECT {chosen} FROM {FRAME}"
    return StatementText(text, f"append to {table.name}")


def _all(table: Table, source: Table, fixed: Mapping[str, Any]) -> str:
    """Tell what INSERT OVERWRITE selects, as Hive has no list of columns there."""
    dynamic = [name for name in table.partition_names if name not in fixed]
    names = [*table.column_names, *dynamic]
    for name in source.column_names:
        if name not in names:
            raise SemanticError(f"'{name}' is not a column of {table.name}", code=10004)
    for name in dynamic:
        if name not in source.column_names:
            text = f"the dynamic partition column {name} is not in the frame"
            raise SemanticError(text, code=10044)
    return ", ".join(
        quote_name(name)
        if name in source.column_names
        else f"({default_of(table, name) or 'NULL'})"
        for name in names
    )


def merge_text(
    table: Table,
    source: Table,
    on: str | Sequence[str],
    *,
    update: Assignments,
    insert: Assignments,
    delete: str | None,
    update_if: str | None,
    insert_if: str | None,
) -> StatementText:
    """MERGE of the frame's rows, called ``source``, into the table, called ``target``."""
    names = [on] if isinstance(on, str) and on.lower() in source.column_names else on
    keys = () if isinstance(names, str) else tuple(key.lower() for key in names)
    condition = names if isinstance(names, str) else _equal(keys)
    text = f"MERGE INTO {table.name.quoted} AS target USING {FRAME} AS source ON {condition}"
    if delete is not None:
        text += f" WHEN MATCHED AND ({delete}) THEN DELETE"
    if update:
        fixed = {*keys, *table.bucket_columns}
        free = [name for name in table.column_names if name not in fixed]
        sets = _assigned(update, free, source)
        if not sets:
            raise SemanticError(f"the frame has no column to update {table.name} with")
        listed = ", ".join(f"{quote_name(name)} = {value}" for name, value in sets.items())
        text += f" WHEN MATCHED{_and(update_if)} THEN UPDATE SET {listed}"
    if insert:
        values = _assigned(insert, [column.name for column in table.all_columns], source)
        text += (
            f" WHEN NOT MATCHED{_and(insert_if)} THEN INSERT ({_listed(values)}) "
            f"VALUES ({', '.join(values.values())})"
        )
    return StatementText(text, f"merge into {table.name}")


def _equal(keys: Sequence[str]) -> str:
    if not keys:
        raise SemanticError("MERGE needs a condition, or names of columns that must be equal: on=")
    return " AND ".join(f"target.{quote_name(key)} = source.{quote_name(key)}" for key in keys)


def _assigned(assignments: Assignments, names: Sequence[str], source: Table) -> dict[str, str]:
    if isinstance(assignments, Mapping):
        return {name.lower(): text for name, text in assignments.items()}
    both = (name for name in names if name in source.column_names)
    return {name: f"source.{quote_name(name)}" for name in both}


def _and(condition: str | None) -> str:
    return f" AND ({condition})" if condition is not None else ""


def _listed(names: Sequence[str] | Mapping[str, str]) -> str:
    return ", ".join(map(quote_name, names))
