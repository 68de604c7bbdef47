"""Which statements need no Spark, and what they do instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hivesql_planner.plan import Body, Change, ChangeBranch, Expr, Insert, InsertBranch, WriteKind
from hivesql_planner.settings import Settings
from hivesql_planner.small.nodes import (
    AllOf,
    AnyOf,
    Compare,
    Computed,
    Given,
    IsNull,
    IsTrue,
    Kept,
    Not,
    Predicate,
    SmallChange,
    SmallInsert,
    Stored,
    UnlessFalse,
    columns_of,
)
from hivesql_planner.small.syntax import Literal, Name, Node, Operation, Reader, Unclear
from hivesql_planner.small.values import (
    WHOLE,
    base_type,
    compared,
    partition_text,
    same_kind,
    stored,
)
from hivesql_planner.table import Column, Table

MOST_BYTES = "hivesql.local.max.bytes"
MOST_ROWS = 500_000
"""Files may be small and hold many rows: delete events compress to almost nothing."""
_CODECS = ("zlib", "none", "snappy", "zstd")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def with_small_ways(body: Body, settings: Settings) -> Body:
    """The same body; what can be done without Spark says how."""
    most = settings.integer(MOST_BYTES)
    match body:
        case Insert(create=None, branches=branches) if most:
            return replace(body, branches=tuple(_insert_branch(one, most) for one in branches))
        case Change() if most:
            return _change_body(body, most)
        case _:
            return body


def is_small(lengths: Iterable[int], rows: Iterable[int], most_bytes: int) -> bool:
    """Whether pieces of these lengths, with these numbers of rows, are worth no Spark job."""
    return sum(lengths) <= most_bytes and sum(rows) <= MOST_ROWS


def _change_body(change: Change, most: int) -> Change:
    try:
        return replace(change, small=_change(change, most))
    except (Unclear, RecursionError):
        return change


def _insert_branch(branch: InsertBranch, most: int) -> InsertBranch:
    write = branch.write
    fits = write.kind is WriteKind.DELTA and not branch.query.sources
    if not fits or len(branch.query.sql) > most or not _is_plain(write.table):
        return branch
    try:
        return replace(branch, small=_insert(branch))
    except (Unclear, RecursionError):
        return branch


def _is_plain(table: Table) -> bool:
    """Whether the table's files are of a kind that is written without Spark."""
    codec = table.properties.get("orc.compress", "ZLIB").lower()
    return table.is_full_acid and codec in _CODECS


def _insert(branch: InsertBranch) -> SmallInsert:
    table = branch.write.table
    rows = [_literals(row) for row in Reader(branch.query.sql).query()]
    types = {column.name: column.type for column in table.all_columns}
    data = [column.type for column in table.columns]
    dynamic = [types[name] for name in branch.dynamic_partition]
    width = len(data) + len(dynamic)
    if any(len(row) != width for row in rows):
        raise Unclear
    if not all(map(same_kind, zip(*rows, strict=True), (*data, *dynamic))):
        raise Unclear
    _check_hashed(table)
    return SmallInsert(
        rows=tuple(tuple(map(stored, row, data)) for row in rows),
        partitions=tuple(tuple(map(partition_text, row[len(data) :], dynamic)) for row in rows),
        check=_constraint(branch.check, table),
    )


def _check_hashed(table: Table) -> None:
    kinds = {column.name: base_type(column.type)[0] for column in table.columns}
    if table.is_bucketed and any("<" in kinds[name] for name in table.bucket_columns):
        raise Unclear


def _literals(row: Sequence[Node]) -> tuple[Literal, ...]:
    found = tuple(one for one in row if isinstance(one, Literal))
    if len(found) != len(row):
        raise Unclear
    return found


def _change(change: Change, most: int) -> SmallChange:
    table = change.target.table
    if change.source or change.queries or len(change.branches) != 1 or not _is_plain(table):
        raise Unclear
    if change.target.as_of or change.target.changes:
        raise Unclear
    (branch,) = change.branches
    if branch.condition or not all(map(_is_carried, table.columns)):
        raise Unclear
    names = {(change.target_alias,), ()}
    where = _predicate(change.on, table, names, table.all_columns)
    partitioned = {column.name: base_type(column.type)[0] for column in table.partition_columns}
    for name in columns_of(where) if where else ():
        if partitioned.get(name, "string") not in (*WHOLE, "string", "date"):
            raise Unclear
    return SmallChange(
        where=where,
        values=_new_row(branch, table, names) if branch.insert else None,
        check=_constraint(change.check, table) if branch.insert else None,
        most_bytes=most,
    )


def _is_carried(column: Column) -> bool:
    """Whether old values go over into new files as they are."""
    text = column.type.lower()
    nested_time = "<" in text and "timestamp" in text
    return not nested_time and "local" not in text and "uniontype" not in text


def _new_row(
    branch: ChangeBranch, table: Table, aliases: set[tuple[str, ...]]
) -> tuple[Kept | Given | Computed, ...]:
    types = {column.name: column.type for column in table.columns}
    found: list[Kept | Given | Computed] = []
    for value, column in zip(branch.values, table.columns, strict=True):
        node = Reader(value.sql).value()
        if isinstance(node, Literal):
            found.append(Given(stored(node, column.type)))
            continue
        old, number = _operands(node) if isinstance(node, Operation) else (node, None)
        name = _column(old, aliases, types)
        if " ".join(types[name].lower().split()) != " ".join(column.type.lower().split()):
            raise Unclear
        if number is None:
            found.append(Kept(name))
        else:
            assert isinstance(node, Operation)
            found.append(Computed(name, node.kind, _operand(number, types[name])))
    return tuple(found)


def _operands(node: Operation) -> tuple[Node, Literal]:
    """Of a sum, difference or product: what is computed with a number, and the number."""
    if node.kind not in ("+", "-", "*"):
        raise Unclear
    left, right = node.operands
    if isinstance(left, Literal) and node.kind != "-":
        left, right = right, left
    if not isinstance(right, Literal):
        raise Unclear
    return left, right


def _operand(number: Literal, hive_type: str) -> int:
    """A number that leaves the result of the column's type: an INT, beside INT or BIGINT."""
    if number.kind != "int" or base_type(hive_type)[0] not in ("int", "integer", "bigint"):
        raise Unclear
    value = stored(number, "int")
    assert isinstance(value, int)
    return value


def _column(node: Node, aliases: set[tuple[str, ...]], types: dict[str, str]) -> str:
    if not isinstance(node, Name) or node.parts[:-1] not in aliases or node.parts[-1] not in types:
        raise Unclear
    return node.parts[-1]


def _constraint(check: Expr | None, table: Table) -> Predicate | None:
    return _predicate(check, table, {("row",)}, table.columns)


def _predicate(
    expr: Expr | None,
    table: Table,
    aliases: set[tuple[str, ...]],
    columns: Sequence[Column],
) -> Predicate | None:
    if expr is None:
        return None
    types = {column.name: column.type for column in columns}
    return _condition(Reader(expr.sql).expression(), aliases, types)


def _condition(node: Node, aliases: set[tuple[str, ...]], types: dict[str, str]) -> Predicate:
    def inner(part: Node) -> Predicate:
        return _condition(part, aliases, types)

    if not isinstance(node, Operation):
        return IsTrue(_boolean_column(node, aliases, types))
    first, *rest = node.operands
    match node.kind:
        case "and":
            return AllOf(tuple(map(inner, node.operands)))
        case "or":
            return AnyOf(tuple(map(inner, node.operands)))
        case "not":
            return Not(inner(first))
        case "unless false":
            return UnlessFalse(inner(first))
        case "is null":
            return IsNull(_column(first, aliases, types))
        case "in":
            return _one_of(_column(first, aliases, types), rest, types)
        case sign:
            return _comparison(sign, (first, *rest), aliases, types)


def _boolean_column(node: Node, aliases: set[tuple[str, ...]], types: dict[str, str]) -> str:
    name = _column(node, aliases, types)
    if base_type(types[name])[0] != "boolean":
        raise Unclear
    return name


def _comparison(
    sign: str, sides: tuple[Node, ...], aliases: set[tuple[str, ...]], types: dict[str, str]
) -> Compare:
    left, right = sides
    if isinstance(left, Literal):
        left, right, sign = right, left, _MIRRORED[sign]
    name = _column(left, aliases, types)
    return Compare(name, sign, _other_side(right, types[name]))


def _one_of(name: str, items: Sequence[Node], types: dict[str, str]) -> Predicate:
    literals = _literals(items)
    if not same_kind(literals, types[name]):
        raise Unclear
    return AnyOf(tuple(Compare(name, "=", _other_side(one, types[name])) for one in literals))


def _other_side(node: Node, hive_type: str) -> Stored:
    if not isinstance(node, Literal):
        raise Unclear
    return compared(node, hive_type)
