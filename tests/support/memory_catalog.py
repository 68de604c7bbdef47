"""A catalog of dataclasses, for tests that bind without a metastore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.materialized import Materialized
from hivesql_planner.model.skew import Skew
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName
from hivesql_planner.predicates.partitions import PartitionTest
from hivesql_planner.statements.alter import Change, apply_change
from hivesql_planner.statements.ddl import AlterTable
from hivesql_planner.statements.export import Dump

ACID = {"transactional": "true", "transactional_properties": "default"}
INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}


def columns(text: str) -> tuple[Column, ...]:
    """``id int, name string`` as columns."""
    return tuple(Column.of(*part.split(maxsplit=1)) for part in text.split(", ") if part)


def table(name: str, data: str, partitioned: str = "", **more: object) -> Table:
    """A table of database ``default`` unless the name says otherwise; full ACID by default."""
    database, _, short = name.rpartition(".")
    given: dict[str, object] = {"properties": ACID, **more}
    return Table(
        name=TableName(database or "default", short),
        columns=columns(data),
        partition_columns=columns(partitioned),
        location=f"/warehouse/{short}",
        **given,  # type: ignore[arg-type]
    )


def altering(target: Table, change: Change) -> AlterTable:
    """A change and what the table becomes by it."""
    return AlterTable(table=target, change=change, altered=apply_change(target, change))


@dataclass
class MemoryCatalog:
    """Tables and their partitions, by name."""

    tables: dict[TableName, Table] = field(default_factory=dict)
    kept: dict[TableName, tuple[Partition, ...]] = field(default_factory=dict)
    exports: dict[str, Dump] = field(default_factory=dict)
    """Exports by their paths."""

    @classmethod
    def of(cls, *tables: Table) -> MemoryCatalog:
        """A catalog of these tables, without partitions."""
        return cls({one.name: one for one in tables})

    def with_partitions(self, name: str, *values: tuple[str | None, ...]) -> MemoryCatalog:
        """Add partitions to a table of database ``default``."""
        self.kept[TableName("default", name)] = tuple(
            Partition(values=row, location=f"/warehouse/{name}/{'/'.join(map(str, row))}")
            for row in values
        )
        return self

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """The partition with these values, or None."""
        found = self.partitions(name)
        return next((one for one in found if one.values == tuple(values)), None)

    def partition_count(self, name: TableName) -> int:
        """How many partitions a table has."""
        return len(self.partitions(name))

    def tables_in(self, database: str) -> tuple[Table, ...]:
        """The tables of a database."""
        return tuple(one for name, one in self.tables.items() if name.database == database)

    def database(self, name: str) -> Database:
        """Any database of a table, and ``default``."""
        if name != "default" and name not in {one.database for one in self.tables}:
            raise NoSuchObject(f"Database does not exist: {name}", code=10072)
        return Database(name=name, location=f"/warehouse/{name}.db")

    def database_home(self, database: Database) -> str:
        """Where a database will live."""
        return database.location or f"/warehouse/{database.name}.db"

    def home_of(self, new: Table) -> str:
        """Where a table will live."""
        managed = new.type != "EXTERNAL_TABLE"
        home = self.database(new.name.database).home_of(new.name.name, managed=managed)
        return new.location or home

    def table(self, name: TableName) -> Table:
        """The table, or NoSuchObject 10001."""
        if name not in self.tables:
            raise NoSuchObject(f"Table not found {name}", code=10001)
        return self.tables[name]

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """Its partitions, whatever they are tested for."""
        return self.kept.get(name, ())

    def export_at(self, path: str) -> Dump:
        """The export at a path; SemanticError 10027 where there is none."""
        if path not in self.exports:
            raise SemanticError(f"Invalid path '{path}'", code=10027)
        return self.exports[path]


def warehouse() -> MemoryCatalog:
    """The tables that the tests speak of."""
    return MemoryCatalog.of(
        table("t", "id int, name string, amount decimal(10,2)"),
        table("s", "id int, name string, op string"),
        table("p", "id int, v string, day date", "ds string, hr int"),
        table("b", "id int, v string", bucket_columns=("id",), bucket_count=2),
        table("plain", "id int, v string", properties={}),
        table("clumped", "id int", properties={}, bucket_columns=("id",), bucket_count=2),
        table("texts", "id int", properties={}, format="textfile"),
        table("lumpy", "id int", properties={}, format="rcfile",
              skew=Skew(columns=("id",), values=(("1",),), in_directories=True)),
        table("outside", "id int", properties={}, type="EXTERNAL_TABLE"),
        table("only", "id int, v string", properties=INSERT_ONLY),
        table("undead", "id int", properties={**ACID, "acid.fetch.deleted.rows": "true"}),
        table("n", "s struct<f:int,g:struct<h:string>>, m map<string,int>, a array<int>"),
        table("db2.t", "k int, w string"),
        table("p1", "a int", "ds string", properties={}),
        table("p2", "a int", "ds string", properties={}),
        table("p3", "b int", "ds string", properties={}),
        table("v", "id int, name string", properties={}, type="VIRTUAL_VIEW",
              view_text="SELECT `id`, `name` FROM `default`.`t` `x` WHERE id > 1"),
        table("renamed", "a int, c string", properties={}, type="VIRTUAL_VIEW",
              view_text="SELECT id, name FROM t"),
        table("kept", "id int", properties={}, type="MATERIALIZED_VIEW",
              view_text="SELECT `t`.`id` FROM `default`.`t`",
              materialized=Materialized(sources={"default.t": "1:9223372036854775807::"})),
        table("kept_plain", "id int", properties={}, type="MATERIALIZED_VIEW",
              view_text="SELECT `plain`.`id` FROM `default`.`plain`",
              materialized=Materialized(sources={"default.plain": None}, rewrite=False)),
        table("ring", "", properties={}, type="VIRTUAL_VIEW", view_text="SELECT * FROM ring"),
    ).with_partitions(
        "p", ("2024-01-01", "1"), ("2024-01-01", "12"), ("2024-01-02", "2"), (None, "3"),
        ("2024-01-03", None),
    ).with_partitions("p1", ("1",))  # fmt: skip
