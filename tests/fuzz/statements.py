"""Statements that write: their SQL, and what they do to the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from fuzz.conditions import Condition, Expression, Row, computed, named
from fuzz.kinds import Constant, Kind, Value, shown, stored
from fuzz.world import Inapplicable, Place, Refused, TableModel, World, need, table_of


class Statement(Protocol):
    """One statement of a walk."""

    def sql(self) -> str: ...

    @property
    def tables(self) -> frozenset[str]:
        """The tables that it may change."""
        ...

    def after(self, world: World) -> World:
        """The tables after it; raises Refused where it must fail."""
        ...


def spec(parts: Sequence[tuple[str, Constant | None]]) -> str:
    """PARTITION (…) with the values that are static."""
    if not parts:
        return ""
    listed = ", ".join(
        f"`{name}`" if constant is None else f"`{name}` = {unsigned(constant.sql)}"
        for name, constant in parts
    )
    return f" PARTITION ({listed})"


def unsigned(sql: str) -> str:
    """A constant of a partition spec, where Hive knows no signs."""
    return f"'{sql}'" if sql.startswith("-") else sql


def fixed(table: TableModel, static: Sequence[tuple[str, Constant | None]]) -> dict[str, Value]:
    """The values of a spec that are static, as their partition keeps them."""
    kinds = dict(table.parts)
    return {name: stored(kinds[name], one.value) for name, one in static if one is not None}


def replaced(world: World, table: TableModel) -> World:
    return {**world, table.name: table}


def alike(left: Place, right: Place, kinds: Sequence[Kind]) -> bool:
    """Whether two partitions are one, by the texts of their values."""
    return all(shown(*one) == shown(*two) for one, two in zip(
        zip(kinds, left, strict=True), zip(kinds, right, strict=True), strict=True))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """A new table."""

    table: TableModel

    @property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table.name})

    def sql(self) -> str:
        return self.table.ddl()

    def after(self, world: World) -> World:
        return replaced(world, self.table)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertValues:
    """INSERT INTO … VALUES; of a part of the columns where ``named`` says so."""

    table: str
    columns: tuple[tuple[str, Kind], ...]
    """What the rows hold: data columns, then dynamic partition columns."""
    rows: tuple[tuple[Constant, ...], ...]
    static: tuple[tuple[str, Constant | None], ...] = ()
    """All partition columns, in order; None for those that are dynamic."""
    listed: bool = False
    overwrite: bool = False

    @property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    def sql(self) -> str:
        into = "OVERWRITE TABLE" if self.overwrite else "INTO"
        names = ", ".join(f"`{column}`" for column, _ in self.columns)
        listed = f" ({names})" if self.listed else ""
        target = f"INSERT {into} {self.table}{spec(self.static)}{listed}"
        if all(constant.is_plain for row in self.rows for constant in row):
            return f"{target} VALUES " + ", ".join(
                f"({', '.join(constant.sql for constant in row)})" for row in self.rows
            )
        # Calls of functions, and types that VALUES has no literals for.
        return f"{target} " + " UNION ALL ".join(
            "SELECT " + ", ".join(_cast(constant, kind) for constant, (_, kind) in
                                  zip(row, self.columns, strict=True))
            for row in self.rows
        )  # fmt: skip

    def after(self, world: World) -> World:
        table = table_of(world, self.table)
        need(table, (column for column, _ in self.columns))
        wanted = [name for name in table.columns if dict(self.static).get(name) is None]
        if not self.listed and len(wanted) != len(self.columns):
            raise Inapplicable(self.table)
        static = fixed(table, self.static)
        made = []
        for row in self.rows:
            cells = zip(row, self.columns, strict=True)
            given = {name: stored(kind, constant.value) for constant, (name, kind) in cells}
            given |= static
            made.append(tuple(given.get(column) for column in table.columns))
        return replaced(world, added(table, made, overwrite=self.overwrite, static=self.static))


def _cast(constant: Constant, kind: Kind) -> str:
    """A constant as a SELECT gives it: NULL needs a type where others follow in a UNION."""
    return constant.sql if "<" in kind.type else f"CAST({constant.sql} AS {kind.type})"


def added(
    table: TableModel,
    made: Sequence[tuple[Value, ...]],
    *,
    overwrite: bool,
    static: Sequence[tuple[str, Constant | None]] = (),
) -> TableModel:
    """The table with more rows, or with these instead of those in the same partitions."""
    made = [table.placed(row) for row in made]
    kinds = [kind for _, kind in table.parts]
    whole = all(constant is not None for _, constant in static)
    places = table.places
    if table.parts and static and whole:
        places |= {tuple(fixed(table, static).values())}
    kept: Iterator[tuple[Value, ...]] = iter(table.rows)
    if overwrite:
        gone = [table.place_of(row) for row in made]
        if whole and static:
            gone.append(tuple(fixed(table, static).values()))
        kept = (row for row in table.rows if table.parts and not any(
            alike(table.place_of(row), place, kinds) for place in gone))  # fmt: skip
    return replace(table, places=places).with_rows([*kept, *made])


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """INSERT … SELECT, alone or one of many of a multi-insert."""

    table: str
    values: tuple[Expression, ...]
    """Of all data columns, then of dynamic partition columns."""
    where: Condition | None = None
    static: tuple[tuple[str, Constant | None], ...] = ()
    overwrite: bool = False

    def head(self) -> str:
        into = "OVERWRITE" if self.overwrite else "INTO"
        return f"INSERT {into} TABLE {self.table}{spec(self.static)}"

    def select(self) -> str:
        return "SELECT " + ", ".join(
            f"{value.sql('s')} AS c{number}" for number, value in enumerate(self.values)
        )

    def condition(self) -> str:
        return f" WHERE {self.where.sql('s')}" if self.where else ""

    def result(self, source: TableModel, target: TableModel) -> TableModel:
        for one in (*self.values, *((self.where,) if self.where else ())):
            need(source, one.columns)
        static = fixed(target, self.static)
        wanted = [(name, kind) for name, kind in target.columns.items() if name not in static]
        if len(wanted) != len(self.values):
            raise Inapplicable(self.table)
        made = []
        for values in source.rows:
            row = source.named(values)
            if self.where is None or self.where.test(row):
                cells = computed([kind for _, kind in wanted], self.values, row)
                found = dict(zip((name for name, _ in wanted), cells, strict=True)) | static
                made.append(tuple(found[column] for column in target.columns))
        return added(target, made, overwrite=self.overwrite, static=self.static)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertSelect:
    """One or several INSERTs of the rows of a table."""

    source: str
    branches: tuple[Branch, ...]

    @property
    def tables(self) -> frozenset[str]:
        return frozenset(branch.table for branch in self.branches)

    def sql(self) -> str:
        if len(self.branches) == 1:
            (one,) = self.branches
            return f"{one.head()} {one.select()} FROM {self.source} s{one.condition()}"
        inserts = (f"{one.head()} {one.select()}{one.condition()}" for one in self.branches)
        return f"FROM {self.source} s " + " ".join(inserts)

    def after(self, world: World) -> World:
        source, found = table_of(world, self.source), world
        for branch in self.branches:
            target = table_of(found, branch.table)
            found = replaced(found, branch.result(source, target))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """UPDATE … SET … WHERE …"""

    table: str
    values: tuple[tuple[str, Expression], ...]
    where: Condition | None = None

    @property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    def sql(self) -> str:
        sets = ", ".join(f"`{column}` = {value.sql()}" for column, value in self.values)
        return f"UPDATE {self.table} SET {sets}" + _where(self.where)

    def after(self, world: World) -> World:
        table = table_of(world, self.table)
        need(table, (column for column, _ in self.values))
        for one in (*(value for _, value in self.values), *((self.where,) if self.where else ())):
            need(table, one.columns)
        rows = []
        for values in table.rows:
            row = table.named(values)
            hit = self.where is None or self.where.test(row)
            rows.append(set_cells(table, values, row, self.values) if hit else values)
        return replaced(world, table.with_rows(rows))


def set_cells(
    table: TableModel, values: tuple[Value, ...], row: Row, sets: Sequence[tuple[str, Expression]]
) -> tuple[Value, ...]:
    """A row of the table after SET; the expressions see the row as it was, and others beside."""
    new = dict(zip(table.columns, values, strict=True))
    for column, value in sets:
        new[column] = stored(table.columns[column], value.value(row))
    return tuple(new.values())


def _where(condition: Condition | None) -> str:
    return f" WHERE {condition.sql()}" if condition else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """DELETE FROM … WHERE …"""

    table: str
    where: Condition | None = None

    @property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    def sql(self) -> str:
        return f"DELETE FROM {self.table}" + _where(self.where)

    def after(self, world: World) -> World:
        table = table_of(world, self.table)
        need(table, self.where.columns if self.where else ())
        kept = (
            values for values in table.rows
            if self.where is not None and not self.where.test(table.named(values))
        )  # fmt: skip
        return replaced(world, replace(table, rows=tuple(kept)))


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A WHEN of a MERGE: an update with ``sets``, an insert with ``values``, else a delete."""

    sets: tuple[tuple[str, Expression], ...] = ()
    values: tuple[Expression, ...] = ()
    condition: Condition | None = None
    """On columns of the target where rows matched, else of the source."""
    by_source: bool = False
    """Of rows of the target alone, by which its values are."""

    def sql(self) -> str:
        also = self.condition.sql("s" if self.values else "t") if self.condition else ""
        told = f" AND {also}" if also else ""
        if self.values:
            listed = ", ".join(value.sql("s") for value in self.values)
            return f" WHEN NOT MATCHED{told} THEN INSERT VALUES ({listed})"
        of = "NOT MATCHED BY SOURCE" if self.by_source else "MATCHED"
        return f" WHEN {of}{told} THEN {self.change()}"

    def change(self) -> str:
        """What becomes of a row of the target."""
        if not self.sets:
            return "DELETE"
        return f"UPDATE SET {self.assigned()}"

    def assigned(self) -> str:
        of = "t" if self.by_source else "s"
        return ", ".join(f"`{column}` = {value.sql(of)}" for column, value in self.sets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """MERGE INTO … USING … ON two columns."""

    table: str
    source: str
    on: tuple[str, str]
    """A column of the target, and one of the source."""
    whens: tuple[When, ...]
    among: Condition | None = None
    """What the source's rows must be."""
    joined: bool = False
    """Whether it is told as UPDATE … FROM or DELETE … USING, which have one WHEN MATCHED."""

    @property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    def sql(self) -> str:
        source = self.source
        if self.among:
            source = f"(SELECT * FROM {self.source} WHERE {self.among.sql()})"
        on = f"{named(self.on[0], 't')} = {named(self.on[1], 's')}"
        if self.joined:
            (when,) = self.whens
            if when.sets:
                return f"UPDATE {self.table} t SET {when.assigned()} FROM {source} s WHERE {on}"
            return f"DELETE FROM {self.table} t USING {source} s WHERE {on}"
        whens = "".join(when.sql() for when in self.whens)
        return f"MERGE INTO {self.table} t USING {source} s ON {on}{whens}"

    def after(self, world: World) -> World:
        target, source = table_of(world, self.table), table_of(world, self.source)
        self._check(target, source)
        chosen = [
            row for row in map(source.named, source.rows)
            if self.among is None or self.among.test(row)
        ]  # fmt: skip
        by_key: dict[Value, list[Row]] = {}
        for row in chosen:
            by_key.setdefault(row[self.on[1]], []).append(row)
        rows: list[tuple[Value, ...]] = []
        seen = set()
        changes = any(not when.values and not when.by_source for when in self.whens)
        if self.joined and not self.whens[0].sets:
            changes = False
        for values in target.rows:
            key = target.named(values)[self.on[0]]
            partners = by_key.get(key, []) if key is not None else []
            seen.add(key)
            if changes and len(partners) > 1:
                raise Refused("cardinality violation")
            rows += self._changed(target, values, partners[0] if partners else None)
        for row in chosen:
            if row[self.on[1]] is None or row[self.on[1]] not in seen:
                rows += self._inserted(target, row)
        return replaced(world, target.with_rows(rows))

    def _check(self, target: TableModel, source: TableModel) -> None:
        need(target, {self.on[0]})
        need(source, {self.on[1], *(self.among.columns if self.among else ())})
        for when in self.whens:
            need(target, (column for column, _ in when.sets))
            for _, value in when.sets:
                need(target if when.by_source else source, value.columns)
            for value in when.values:
                need(source, value.columns)
            if when.values and len(when.values) != len(target.columns):
                raise Inapplicable(self.table)
            if when.condition:
                need(source if when.values else target, when.condition.columns)

    def _changed(
        self, target: TableModel, values: tuple[Value, ...], partner: Row | None
    ) -> list[tuple[Value, ...]]:
        row = target.named(values)
        whens = [
            when for when in self.whens
            if not when.values and when.by_source == (partner is None)
        ]  # fmt: skip
        is_hive = partner is not None and len({bool(when.sets) for when in whens}) == len(whens)
        for when in whens:
            is_met = when.condition is None or when.condition.test(row)
            if is_met is None and is_hive:  # there, a row of which that is not known is left alone
                break
            if is_met:
                seen = row if partner is None else partner
                return [set_cells(target, values, seen, when.sets)] if when.sets else []
        return [values]

    def _inserted(self, target: TableModel, row: Row) -> list[tuple[Value, ...]]:
        for when in self.whens:
            if when.values and (when.condition is None or when.condition.test(row)):
                return [computed(tuple(target.columns.values()), when.values, row)]
        return []
