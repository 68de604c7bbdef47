"""Statements that keep a table in order: TRUNCATE, COMPACT, partitions and columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fuzz.kinds import Constant, Kind
from fuzz.statements import Statement, alike, fixed, replaced, spec
from fuzz.world import Inapplicable, Place, TableModel, World, table_of

Spec = tuple[tuple[str, Constant | None], ...]


def place_of(table: TableModel, static: Spec) -> Place:
    """The partition that a spec names."""
    return tuple(fixed(table, static).values())


def is_there(table: TableModel, static: Spec) -> bool:
    """Whether the catalog has the partition."""
    kinds = [kind for _, kind in table.parts]
    return any(alike(place_of(table, static), place, kinds) for place in table.places)


def without(table: TableModel, static: Spec) -> TableModel:
    """The table without the rows of a partition."""
    kinds = [kind for _, kind in table.parts]
    place = place_of(table, static)
    kept = (row for row in table.rows if not alike(table.place_of(row), place, kinds))
    return replace(table, rows=tuple(kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTable:
    """A statement about one table, or one partition of it."""

    table: str
    static: Spec = ()

    @property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    def _table(self, world: World) -> TableModel:
        table = table_of(world, self.table)
        if self.static and not is_there(table, self.static):
            raise Inapplicable(self.table)
        return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate(OnTable):
    """TRUNCATE TABLE, or a partition of it."""

    def sql(self) -> str:
        return f"TRUNCATE TABLE {self.table}{spec(self.static)}"

    def after(self, world: World) -> World:
        table = self._table(world)
        return replaced(
            world, without(table, self.static) if self.static else replace(table, rows=())
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact(OnTable):
    """ALTER TABLE … COMPACT."""

    kind: str

    def sql(self) -> str:
        return f"ALTER TABLE {self.table}{spec(self.static)} COMPACT '{self.kind}'"

    def after(self, world: World) -> World:
        self._table(world)
        return world


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPartition(OnTable):
    """ALTER TABLE … DROP PARTITION."""

    def sql(self) -> str:
        return f"ALTER TABLE {self.table} DROP{spec(self.static)}"

    def after(self, world: World) -> World:
        table = self._table(world)
        place, kinds = place_of(table, self.static), [kind for _, kind in table.parts]
        places = frozenset(one for one in table.places if not alike(one, place, kinds))
        return replaced(world, replace(without(table, self.static), places=places))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartition(OnTable):
    """ALTER TABLE … ADD IF NOT EXISTS PARTITION."""

    def sql(self) -> str:
        return f"ALTER TABLE {self.table} ADD IF NOT EXISTS{spec(self.static)}"

    def after(self, world: World) -> World:
        table = table_of(world, self.table)
        if is_there(table, self.static):
            return world
        return replaced(world, replace(table, places=table.places | {place_of(table, self.static)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumn(OnTable):
    """ALTER TABLE … ADD COLUMNS: NULL in the rows that are there."""

    column: str
    kind: Kind
    cascade: bool = False
    """Partitions that are there have it too: only then does Hive read it of them."""

    def sql(self) -> str:
        cascade = " CASCADE" if self.cascade else ""
        return f"ALTER TABLE {self.table} ADD COLUMNS (`{self.column}` {self.kind.type}){cascade}"

    def after(self, world: World) -> World:
        table = table_of(world, self.table)
        if self.column in table.columns:
            raise Inapplicable(self.table)
        width = len(table.data)
        rows = tuple((*row[:width], None, *row[width:]) for row in table.rows)
        data = (*table.data, (self.column, self.kind))
        return replaced(world, replace(table, data=data, rows=rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Statements in a transaction that is committed, or rolled back."""

    statements: tuple[Statement, ...]
    committed: bool

    @property
    def tables(self) -> frozenset[str]:
        return frozenset().union(*(one.tables for one in self.statements))

    def sql(self) -> str:
        inside = ";\n".join(one.sql() for one in self.statements)
        return f"START TRANSACTION;\n{inside};\n{'COMMIT' if self.committed else 'ROLLBACK'}"

    def after(self, world: World) -> World:
        found = world
        for one in self.statements:
            found = one.after(found)
        if self.committed:
            return found
        # Partitions that a rolled back INSERT added stay, empty.
        return {name: replace(table, places=found[name].places) for name, table in world.items()}
