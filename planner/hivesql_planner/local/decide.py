"""Which statements need no Spark, and what they do instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql_planner.local.conditions import condition, literals, named_column, table_condition
from hivesql_planner.local.spark_sql_reader import Literal, Node, Operation, Reader, Unclear
from hivesql_planner.local.values import base_type, operand, partition_text, same_kind, stored
from hivesql_planner.model.table import Column, Table
from hivesql_planner.plan import Body, Change, ChangeBranch, Insert, InsertBranch, Select, WriteKind
from hivesql_planner.predicates.predicate import (
    Computed,
    Given,
    Kept,
    Predicate,
    SmallChange,
    SmallInsert,
)
from hivesql_planner.relations import Expr, Query
from hivesql_planner.settings.settings import Settings

MOST_BYTES = "hivesql.local.max.bytes"
MOST_ROWS = 500_000
"""Files may be small and hold many rows: delete events compress to almost nothing."""
_CODECS = ("zlib", "none", "snappy", "zstd")


def with_small_ways(body: Body, settings: Settings) -> Body:
    """Return the same body; what can be done without Spark says how."""
    most = settings.integer(MOST_BYTES)
    match body:
        case Insert(create=None, branches=branches) if most:
            return replace(body, branches=tuple(_insert_branch(one, most) for one in branches))
        case Change() if most:
            return _change_body(body, most)
        case Select(query=query) if most:
            return _select_body(query, most)
        case _:
            return body


def is_small(lengths: Iterable[int], rows: Iterable[int], most_bytes: int) -> bool:
    """Tell whether pieces of these lengths, with these numbers of rows, are worth no Spark job."""
    return sum(lengths) <= most_bytes and sum(rows) <= MOST_ROWS


def _change_body(change: Change, most: int) -> Change:
    try:
        return replace(change, small=_change(change, most))
    except (Unclear, RecursionError):
        return change


def _select_body(query: Query, most: int) -> Select:
    from hivesql_planner.local.select import small_select

    try:
        return Select(query=query, small=small_select(query, most))
    except (Unclear, RecursionError):
        return Select(query=query)


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
    """Tell whether the table's files are of a kind that is written without Spark."""
    codec = table.properties.get("orc.compress", "ZLIB").lower()
    return table.is_full_acid and codec in _CODECS


def _insert(branch: InsertBranch) -> SmallInsert:
    table = branch.write.table
    rows = [literals(row) for row in Reader(branch.query.sql).query()]
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


def _change(change: Change, most: int) -> SmallChange:
    table = change.target.table
    if change.source or change.queries or len(change.branches) != 1 or not _is_plain(table):
        raise Unclear
    if change.target.as_of or change.target.changes:
        raise Unclear
    (branch,) = change.branches
    if branch.condition or not all(map(is_carried, table.columns)):
        raise Unclear
    names = {(change.target_alias,), ()}
    where = table_condition(Reader(change.on.sql).expression(), names, table) if change.on else None
    return SmallChange(
        where=where,
        values=_new_row(branch, table, names) if branch.insert else None,
        check=_constraint(change.check, table) if branch.insert else None,
        most_bytes=most,
    )


def is_carried(column: Column) -> bool:
    """Tell whether old values go over into new files as they are."""
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
        name = named_column(old, aliases, types)
        if " ".join(types[name].lower().split()) != " ".join(column.type.lower().split()):
            raise Unclear
        if number is None:
            found.append(Kept(name))
        else:
            assert isinstance(node, Operation)
            found.append(Computed(name, node.kind, operand(number, node.kind, types[name])))
    return tuple(found)


def _operands(node: Operation) -> tuple[Node, Literal]:
    """Take a sum, difference or product apart: what is computed with a number, and the number."""
    if node.kind not in ("+", "-", "*"):
        raise Unclear
    left, right = node.operands
    if isinstance(left, Literal) and node.kind != "-":
        left, right = right, left
    if not isinstance(right, Literal):
        raise Unclear
    return left, right


def _constraint(check: Expr | None, table: Table) -> Predicate | None:
    if check is None:
        return None
    types = {column.name: column.type for column in table.columns}
    return condition(Reader(check.sql).expression(), {("row",)}, types)
