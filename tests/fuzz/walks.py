"""Random walks: tables, and statements that make sense where the walk is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from fuzz.conditions import Expression, Same, Schema, pick_condition, pick_expression
from fuzz.kinds import NESTED, SCALAR, Constant, Kind
from fuzz.queries import Past, Query, Restore
from fuzz.shapes import OURS, Flavour, kinds_of, names_of, pick_table
from fuzz.statements import (
    Branch,
    Create,
    Delete,
    InsertSelect,
    InsertValues,
    Merge,
    Statement,
    Update,
    When,
)  # fmt: skip
from fuzz.upkeep import (
    AddColumn,
    AddPartition,
    Compact,
    DropPartition,
    Spec,
    Together,
    Truncate,
)  # fmt: skip
from fuzz.world import Refused, TableModel, World
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import default_value

MOST_ROWS = 120
MERGE_KEYS = {"int", "bigint", "string", "date", "smallint", "boolean"}


@dataclass(slots=True)
class Walk:
    """A walk as it is being made."""

    chance: Random
    flavour: Flavour
    world: World
    statements: list[Statement]

    def add(self, statement: Statement) -> None:
        """Take a step; in Hive, one that fails may leave files, which nobody here tells apart."""
        try:
            self.world = statement.after(self.world)
        except Refused:
            if self.flavour.for_hive:
                return
        self.statements.append(statement)

    def table(self, wanted: Callable[[TableModel], bool] = lambda table: True) -> TableModel | None:
        """One of the tables that are wanted."""
        found = [table for table in self.world.values() if wanted(table)]
        return self.chance.choice(found) if found else None

    def spec(self, table: TableModel, *, dynamic: bool) -> Spec:
        """PARTITION (…) for an INSERT."""
        statics = self.chance.randint(0, len(table.parts))
        if not dynamic:
            statics = len(table.parts)
        return tuple(
            (name, kind.pick(self.chance, nulls=0) if number < statics else None)
            for number, (name, kind) in enumerate(table.parts)
        )

    def place(self, table: TableModel) -> Spec:
        """The spec of a partition that is there; empty where none can be named."""
        named = [
            place
            for place in sorted(table.places, key=repr)
            if not any(
                value == default_value(HiveType.parse(kind.type))
                for value, (_, kind) in zip(place, table.parts, strict=True)
            )
        ]
        bases = {kind.base for _, kind in table.parts}
        # Hive finds partitions for TRUNCATE and COMPACT by the very text that is their name.
        if not named or (self.flavour.for_hive and bases & {"decimal", "char", "float", "double"}):
            return ()
        place = self.chance.choice(named)
        return tuple(
            (name, _constant(kind, value))
            for (name, kind), value in zip(table.parts, place, strict=True)
        )


def _constant(kind: Kind, value: object) -> Constant:
    return next(one for one in kind.constants if _same(kind, one.value, value))


def _same(kind: Kind, one: object, other: object) -> bool:
    if kind.base == "char":
        return str(one).ljust(kind.width) == other
    return one == other


def dynamic_pick(walk: Walk, kind: Kind) -> Constant:
    """A value of a dynamic partition."""
    if kind.base == "boolean" or (walk.flavour.for_hive and kind.base in TEXTS):
        return kind.pick(walk.chance, nulls=0)
    if kind.base in ("string", "varchar") and walk.chance.random() < 0.05:
        return Constant("", "''")
    return kind.pick(walk.chance, nulls=0.1)


TEXTS = {"string", "varchar", "char"}
"""Of their default partition Hive contradicts itself in queries, of that of BOOLEAN always."""


def insert_values(walk: Walk) -> Statement | None:
    table, chance = walk.table(), walk.chance
    assert table is not None
    static = walk.spec(table, dynamic=True) if table.parts else ()
    dynamic = [(name, kind) for name, kind in table.parts if dict(static)[name] is None]
    data, listed = list(table.data), False
    if len(dynamic) == len(table.parts):
        if chance.random() < 0.3:
            static = ()
            listed = chance.random() < 0.5
        if listed:
            data = chance.sample(data, chance.randint(1, len(data)))
    count = chance.choice((1, 1, 2, 3, 6))
    rows = tuple(
        (
            # In Hive, NULL and a nested value make no column of a UNION.
            *(
                kind.pick(chance, nulls=0.15 * (count == 1 or "<" not in kind.type))
                for _, kind in data
            ),
            *(dynamic_pick(walk, kind) for _, kind in dynamic),
        )
        for _ in range(count)
    )
    overwrite = not listed and chance.random() < 0.08
    if overwrite and table.is_full_acid:
        rows = rows[:1]  # Hive refuses OVERWRITE with UNION ALL there, and so do we
    return InsertValues(table=table.name, columns=(*data, *dynamic), rows=rows, static=static,
                        listed=listed, overwrite=overwrite)  # fmt: skip


def branch(walk: Walk, source: TableModel, target: TableModel, *, overwrite: bool) -> Branch:
    chance = walk.chance
    static = walk.spec(target, dynamic=True) if target.parts else ()
    schema = source.columns
    values = [pick_expression(chance, kind, schema) for _, kind in target.data]
    for name, kind in target.parts:
        if dict(static)[name] is None:
            alike = [column for column, other in source.parts if other == kind]
            if alike and chance.random() < 0.6:
                values.append(Same(chance.choice(alike)))
            else:
                values.append(pick_expression(chance, _only(kind, walk), {}))
    where = pick_condition(chance, schema) if chance.random() < 0.7 else None
    return Branch(
        table=target.name, values=tuple(values), where=where, static=static, overwrite=overwrite
    )


def _only(kind: Kind, walk: Walk) -> Kind:
    return replace(kind, constants=(dynamic_pick(walk, kind),))


def insert_select(walk: Walk) -> Statement | None:
    source, target, chance = walk.table(), walk.table(), walk.chance
    assert source is not None
    assert target is not None
    if len(target.rows) + len(source.rows) > MOST_ROWS:
        return None
    overwrite = chance.random() < 0.25
    found = [branch(walk, source, target, overwrite=overwrite)]
    others = [one for one in walk.world.values() if one.name != target.name]
    if others and chance.random() < 0.25 and not overwrite:
        found.append(branch(walk, source, chance.choice(others), overwrite=False))
    return InsertSelect(source=source.name, branches=tuple(found))


def update(walk: Walk) -> Statement | None:
    table, chance = walk.table(lambda one: one.is_full_acid and bool(one.settable)), walk.chance
    if table is None:
        return None
    values = assignments(walk, table, dict(table.data), 3)
    where = pick_condition(chance, table.columns) if chance.random() < 0.85 else None
    return Update(table=table.name, values=values, where=where)


def assignments(
    walk: Walk, table: TableModel, schema: Schema, most: int
) -> tuple[tuple[str, Expression], ...]:
    """What some columns are set to; with us, those too that tell where a row lies."""
    chance, settable = walk.chance, table.settable
    if not walk.flavour.for_hive and chance.random() < 0.3:
        settable = (*table.data, *table.parts)
    chosen = chance.sample(settable, chance.randint(1, min(most, len(settable))))
    return tuple(
        (name, pick_expression(chance, _only(kind, walk), {}) if (name, kind) in table.parts
         else pick_expression(chance, kind, schema))
        for name, kind in chosen
    )  # fmt: skip


def delete(walk: Walk) -> Statement | None:
    table, chance = walk.table(lambda one: one.is_full_acid), walk.chance
    if table is None:
        return None
    where = pick_condition(chance, table.columns) if chance.random() < 0.95 else None
    return Delete(table=table.name, where=where)


def merge(walk: Walk) -> Statement | None:
    target, chance = walk.table(lambda one: one.is_full_acid), walk.chance
    source = walk.table()
    if target is None or source is None or len(target.rows) + len(source.rows) > MOST_ROWS:
        return None
    pairs = [
        (left, right)
        for left, kind in target.data for right, other in source.data
        if kind == other and kind.type in MERGE_KEYS
    ]  # fmt: skip
    if not pairs:
        return None
    pair = ("id", "id") if chance.random() < 0.7 else chance.choice(pairs)
    whens: list[When] = []
    kinds = chance.sample(("update", "delete", "insert"), chance.randint(1, 3))
    if not target.settable and "update" in kinds:
        kinds.remove("update")
    matched = [one for one in kinds if one != "insert"]
    if matched and not walk.flavour.for_hive and chance.random() < 0.25:
        matched.append(chance.choice(matched))
    for number, kind in enumerate(matched):
        must = number < len(matched) - 1
        condition = (
            pick_condition(chance, target.columns) if must or chance.random() < 0.4 else None
        )
        sets = assignments(walk, target, source.columns, 2) if kind == "update" else ()
        whens.append(When(sets=sets, condition=condition))
    if "insert" in kinds:
        values = [pick_expression(chance, kind, source.columns) for _, kind in target.data]
        values += [pick_expression(chance, _only(kind, walk), {}) for _, kind in target.parts]
        condition = pick_condition(chance, source.columns) if chance.random() < 0.4 else None
        whens.append(When(values=tuple(values), condition=condition))
    if not walk.flavour.for_hive and chance.random() < 0.4:
        whens += by_source(walk, target)
    if not whens:
        return None
    # Real Hive sees a cardinality violation where a filter leaves nothing but NULL of the key.
    others = {name: kind for name, kind in source.columns.items() if name != pair[1]}
    among = pick_condition(chance, others) if others and chance.random() < 0.5 else None
    alone = len(whens) == 1 and not whens[0].values and not whens[0].condition
    return Merge(
        table=target.name, source=source.name, on=pair, whens=tuple(whens), among=among,
        joined=alone and not whens[0].by_source and not walk.flavour.for_hive,
    )  # fmt: skip


def by_source(walk: Walk, target: TableModel) -> list[When]:
    """One or two clauses for rows that the source does not match."""
    chance, found = walk.chance, []
    for is_last in chance.choice(((True,), (False, True))):
        conditioned = not is_last or chance.random() < 0.5
        condition = pick_condition(chance, target.columns) if conditioned else None
        sets = assignments(walk, target, target.columns, 2) if chance.random() < 0.5 else ()
        found.append(When(sets=sets, condition=condition, by_source=True))
    return found


def truncate(walk: Walk) -> Statement | None:
    table = walk.table()
    assert table is not None
    static = walk.place(table) if walk.chance.random() < 0.6 else ()
    return Truncate(table=table.name, static=static)


def compact(walk: Walk) -> Statement | None:
    table = walk.table(lambda one: one.is_transactional)
    if table is None:
        return None
    static = walk.place(table)
    if table.parts and not static:
        return None
    return Compact(table=table.name, static=static, kind=walk.chance.choice(("minor", "major")))


def drop_partition(walk: Walk) -> Statement | None:
    table = walk.table(lambda one: bool(one.parts))
    static = walk.place(table) if table else ()
    return DropPartition(table=table.name, static=static) if table and static else None


def add_partition(walk: Walk) -> Statement | None:
    table = walk.table(lambda one: bool(one.parts))
    return AddPartition(table=table.name, static=walk.spec(table, dynamic=False)) if table else None


def add_column(walk: Walk) -> Statement | None:
    table, chance = walk.table(), walk.chance
    assert table is not None
    free = [one for one in names_of(table.format) if one not in table.columns]
    return AddColumn(
        table=table.name,
        column=chance.choice(free),
        kind=chance.choice(kinds_of(SCALAR + NESTED, walk.flavour)),
        cascade=bool(table.parts),
    )


def query(walk: Walk) -> Statement | None:
    table, chance = walk.table(), walk.chance
    assert table is not None
    where = pick_condition(chance, table.columns, depth=3)
    if chance.random() < 0.25:
        return Query(table=table.name, columns=(), where=where)
    count = chance.randint(1, len(table.columns))
    return Query(
        table=table.name, columns=tuple(chance.sample(list(table.columns), count)), where=where
    )


def past(walk: Walk) -> Statement | None:
    table = walk.table(lambda one: one.is_full_acid)
    return Past(table=table.name, back=walk.chance.randrange(4)) if table else None


def restore(walk: Walk) -> Statement | None:
    table = walk.table(lambda one: one.is_full_acid)
    return Restore(table=table.name, back=walk.chance.randrange(4)) if table else None


def together(walk: Walk) -> Statement | None:
    inside: list[Statement] = []
    world = walk.world
    for _ in range(walk.chance.randint(2, 4)):
        make = walk.chance.choice((insert_values, insert_select, update, delete))
        one = make(walk)
        if one is None or not all(world[name].is_full_acid for name in one.tables):
            continue
        if getattr(one, "overwrite", False) or any(
            branch.overwrite for branch in getattr(one, "branches", ())
        ):
            continue
        inside.append(one)
        walk.world = one.after(walk.world)
    walk.world = world
    return (
        Together(statements=tuple(inside), committed=walk.chance.random() < 0.7) if inside else None
    )


STEPS: Sequence[tuple[int, Callable[[Walk], Statement | None]]] = (
    (24, insert_values), (14, insert_select), (14, update), (10, delete), (12, merge),
    (2, truncate), (8, compact), (3, drop_partition), (2, add_partition), (3, add_column),
    (8, query), (3, past), (4, restore), (3, together),
)  # fmt: skip
NOT_IN_HIVE = {query, past, restore, together}


def make_walk(seed: str, length: int, flavour: Flavour = OURS) -> list[Statement]:
    """The walk of a seed: some tables, then so many statements."""
    chance = Random(seed)
    walk = Walk(chance, flavour, {}, [])
    for number in range(chance.choice((2, 2, 3))):
        walk.add(Create(table=pick_table(chance, f"t{number}", flavour)))
    makers = [(weight, make) for weight, make in STEPS
              if not (flavour.for_hive and make in NOT_IN_HIVE)]  # fmt: skip
    while len(walk.statements) < length:
        (make,) = chance.choices([make for _, make in makers], [weight for weight, _ in makers])
        statement = make(walk)
        if statement is not None:
            walk.add(statement)
    return walk.statements
