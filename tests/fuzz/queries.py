"""Statements that only read, and what they must answer."""

from __future__ import annotations

from dataclasses import dataclass

from fuzz.conditions import Condition, named
from fuzz.kinds import BIGINT, Kind
from fuzz.world import Bag, TableModel, World, bag, need, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Some columns of the rows that a condition takes; their number alone without columns."""

    table: str
    columns: tuple[str, ...]
    where: Condition

    @property
    def tables(self) -> frozenset[str]:
        return frozenset()

    def sql(self) -> str:
        names = ", ".join(map(named, self.columns)) or "count(*)"
        return f"SELECT {names} FROM {self.table} WHERE {self.where.sql()}"

    def after(self, world: World) -> World:
        need(table_of(world, self.table), {*self.columns, *self.where.columns})
        return world

    def kinds(self, world: World) -> tuple[Kind, ...]:
        """The types of the answer's columns."""
        table = table_of(world, self.table)
        return tuple(table.columns[name] for name in self.columns) or (BIGINT,)

    def answer(self, world: World) -> Bag:
        """The rows that must come."""
        table = table_of(world, self.table)
        rows = [row for row in map(table.named, table.rows) if self.where.test(row)]
        if not self.columns:
            return bag((BIGINT,), [(len(rows),)])
        return bag(self.kinds(world), (tuple(row[name] for name in self.columns) for row in rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The whole table as it was some writes ago."""

    table: str
    back: int

    @property
    def tables(self) -> frozenset[str]:
        return frozenset()

    def sql(self) -> str:
        return f"-- {self.table} as it was {self.back} writes ago"

    def after(self, world: World) -> World:
        table_of(world, self.table)
        return world


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore(Past):
    """RESTORE of the whole table to what it was some writes ago."""

    def sql(self) -> str:
        return f"-- RESTORE {self.table} to {self.back} writes ago"


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a table held when a write id was its last."""

    write_id: int
    table: TableModel
