"""Which statements need no Spark, and what they do instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql_planner.local.conditions import table_condition
from hivesql_planner.local.new_rows import constraint, is_carried, meant_condition, new_value
from hivesql_planner.local.values import (
    Unclear,
    partition_text,
    same_kind,
    stored,
)
from hivesql_planner.model.partition_values import default_partition
from hivesql_planner.model.table import DEFAULT_PARTITION, Table
from hivesql_planner.plan import Body, Change, ChangeBranch, Insert, InsertBranch, Select, WriteKind
from hivesql_planner.predicates.predicate import (
    Computed,
    Constant,
    OldValue,
    SmallChange,
    SmallInsert,
)
from hivesql_planner.relations import Query
from hivesql_planner.rewrite.orc_files import codec_of, with_orc_settings
from hivesql_planner.settings.settings import Settings

MOST_BYTES = "hivesql.local.max.bytes"
MOST_SOURCE_ROWS = "hivesql.local.source.max"
MOST_ROWS = 500_000
"""Files may be small and hold many rows: delete events compress to almost nothing."""
_TIMES = 8
"""Of rows that may match, ids and keys alone are read: so many times more need no Spark."""
MOST_MATCHING = MOST_ROWS * _TIMES
_CODECS = ("zlib", "none", "snappy", "zstd")


def with_small_ways(body: Body, settings: Settings) -> Body:
    """Return the same body; what can be done without Spark says how."""
    most = settings.integer(MOST_BYTES)
    match body:
        case Insert(create=None, branches=branches) if most:
            return replace(
                body, branches=tuple(_insert_branch(branch, settings) for branch in branches)
            )
        case Change() if most and (body.source or body.queries):
            return _merge_body(body, settings)
        case Change() if most:
            return _change_body(body, settings)
        case Select(query=query) if most:
            return _select_body(query, most)
        case _:
            return body


def is_small(
    lengths: Iterable[int], rows: Iterable[int], most_bytes: int, most_rows: int = MOST_ROWS
) -> bool:
    """Tell whether pieces of these lengths, with these numbers of rows, are worth no Spark job."""
    return sum(lengths) <= most_bytes and sum(rows) <= most_rows


def _change_body(change: Change, settings: Settings) -> Change:
    try:
        return replace(change, small=_change(change, settings))
    except Unclear:
        return change


def _merge_body(change: Change, settings: Settings) -> Change:
    most_rows = settings.integer(MOST_SOURCE_ROWS)
    if change.default_partition != DEFAULT_PARTITION:
        return change
    if not most_rows or not _is_plain(change.target.table, settings):
        return change
    from hivesql_planner.local.merge import small_merge

    try:
        most_bytes = settings.integer(MOST_BYTES)
        small = small_merge(change, most_bytes, most_rows, most_bytes * _TIMES)
    except Unclear:
        return change
    return replace(change, merge=small)


def _select_body(query: Query, most: int) -> Select:
    from hivesql_planner.local.select import small_select

    try:
        return Select(query=query, small=small_select(query, most))
    except Unclear:
        return Select(query=query)


def _insert_branch(branch: InsertBranch, settings: Settings) -> InsertBranch:
    write = branch.write
    if branch.query.sources or len(branch.query.sql) > settings.integer(MOST_BYTES):
        return branch
    try:
        literals = _literals(branch, default_partition(settings))
    except Unclear:
        return branch
    if write.kind is WriteKind.DELTA and _is_plain(write.table, settings):
        try:
            return replace(branch, small=_insert(branch, literals))
        except Unclear:
            pass
    return replace(branch, literals=literals)


def _is_plain(table: Table, settings: Settings) -> bool:
    """Tell whether the table's files are of a kind that is written without Spark."""
    codec = codec_of(with_orc_settings(table, settings)).lower()
    return table.is_full_acid and codec in _CODECS


def _insert(branch: InsertBranch, literals: SmallInsert) -> SmallInsert:
    table = branch.write.table
    _check_hashed(table)
    return replace(literals, check=constraint(branch.check, table))


def _literals(branch: InsertBranch, default: str) -> SmallInsert:
    """Return the rows that stand in the statement; Unclear where one is not known before Spark."""
    table, rows = branch.write.table, branch.query.rows
    if rows is None:
        raise Unclear
    types = {column.name: column.type for column in table.all_columns}
    data = [column.type for column in table.columns]
    dynamic = [types[name] for name in branch.dynamic_partition]
    width = len(data) + len(dynamic)
    if any(len(row) != width for row in rows):
        raise Unclear
    if not all(map(same_kind, zip(*rows, strict=True), (*data, *dynamic))):
        raise Unclear
    return SmallInsert(
        rows=tuple(tuple(map(stored, row, data)) for row in rows),
        partitions=tuple(
            tuple(
                partition_text(*pair, default)
                for pair in zip(row[len(data) :], dynamic, strict=True)
            )
            for row in rows
        ),
    )


def _check_hashed(table: Table) -> None:
    nested = {column.name for column in table.columns if column.type.is_nested}
    if table.is_bucketed and not nested.isdisjoint(table.bucket_columns):
        raise Unclear


def _change(change: Change, settings: Settings) -> SmallChange:
    table = change.target.table
    if change.source or change.queries or len(change.branches) != 1:
        raise Unclear
    if not _is_plain(table, settings):
        raise Unclear
    if change.target.as_of or change.target.changes:
        raise Unclear
    (branch,) = change.branches
    if branch.condition or branch.moves or not all(map(is_carried, table.columns)):
        raise Unclear
    return SmallChange(
        where=table_condition(meant_condition(change.on), table) if change.on else None,
        values=_new_row(branch, table) if branch.insert else None,
        check=constraint(change.check, table) if branch.insert else None,
        most_bytes=settings.integer(MOST_BYTES),
    )


def _new_row(branch: ChangeBranch, table: Table) -> tuple[OldValue | Constant | Computed, ...]:
    types = {column.name: column.type for column in table.columns}
    pairs = zip(branch.values, table.columns, strict=True)
    return tuple(new_value(value.meaning, column, types) for value, column in pairs)
