"""SHOW COMPACTIONS and ABORT COMPACTIONS, and what they share with COMPACT."""

from __future__ import annotations

from typing import Any

from hivesql.dialect.statements.clauses import parse_partition
from hivesql.dialect.tokens import Cursor, Kind, Name
from hivesql_planner.compaction.request import CompactionFilter, OrderKey
from hivesql_planner.statements.bound import AbortCompactions

Order = tuple[tuple[Name, OrderKey], ...]


def parse_show_compactions(cursor: Cursor) -> dict[str, Any]:
    """Tell what follows SHOW COMPACTIONS: an id, or a database or table and filters."""
    parts: dict[str, Any] = {}
    if cursor.at("compactionid", "=") or cursor.at("compact_id", "="):
        cursor.expect(cursor.peek().value, "=")
        return {"compactions": CompactionFilter(id=cursor.integer("a compaction's id"))}
    if cursor.take("database") or cursor.take("schema"):
        parts["database"] = cursor.name("a database name")
    elif not cursor.at_end and not _begins_filter(cursor):
        parts["table"] = cursor.table()
        if cursor.at("partition"):
            parts["partition"] = parse_partition(cursor, dynamic=False)
    pool = cursor.string("a pool's name") if cursor.take("pool") else None
    kind = cursor.string("the kind of compaction") if cursor.take("type") else None
    state = cursor.string("a compaction's state") if cursor.take("status") else None
    parts["order"] = parse_order(cursor)
    limit = cursor.integer("how many to show") if cursor.take("limit") else None
    order = tuple(key for _, key in parts["order"])
    parts["compactions"] = CompactionFilter(
        pool=pool, kind=kind, state=state, order=order, limit=limit
    )
    return parts


def parse_abort_compactions(cursor: Cursor) -> AbortCompactions:
    """COMPACTIONS id …."""
    cursor.expect("compactions")
    ids = [cursor.integer("a compaction's id")]
    while not cursor.at_end:
        cursor.take(",")
        ids.append(cursor.integer("a compaction's id"))
    return AbortCompactions(ids=tuple(ids))


def _begins_filter(cursor: Cursor) -> bool:
    """Tell whether no table is named: pool, type and status may also be names of tables."""
    after = cursor.peek(1).kind.value == "string"
    named = any(cursor.at(word) for word in ("pool", "type", "status"))
    return (named and after) or cursor.at("order", "by") or cursor.at("limit")


def parse_buckets(cursor: Cursor) -> int | None:
    """Read ``[CLUSTERED INTO n BUCKETS]``; None where it is left out."""
    if not cursor.take("clustered"):
        return None
    cursor.expect("into")
    token = cursor.peek()
    count = cursor.integer("a number of buckets")
    if count < 1:
        cursor.fail("expected at least one bucket", token)
    cursor.expect("buckets")
    return count


def parse_order(cursor: Cursor, *, curves: bool = False) -> Order:
    """``[ORDER BY a DESC NULLS LAST, …]``, or with ``curves`` also ``[ORDER BY ZORDER(a, …)]``."""
    if not cursor.take("order", "by"):
        return ()
    if curves and cursor.take("zorder", "("):
        return tuple((name, OrderKey(name.text, in_z_order=True)) for name in _columns(cursor))
    keys = [_order_key(cursor, may_be_text=not curves)]
    while cursor.take(","):
        keys.append(_order_key(cursor, may_be_text=not curves))
    return tuple(keys)


def _columns(cursor: Cursor) -> list[Name]:
    names = [cursor.name("a column name")]
    while cursor.take(","):
        names.append(cursor.name("a column name"))
    cursor.expect(")")
    if cursor.at(","):
        cursor.refuse("ORDER BY of ZORDER and something else")
    return names


def _order_key(cursor: Cursor, *, may_be_text: bool) -> tuple[Name, OrderKey]:
    token = cursor.peek()
    if may_be_text and token.kind is Kind.STRING:
        # SHOW COMPACTIONS takes a text for the column (ShowCompactionsAnalyzer).
        name = Name(cursor.string().lower(), token.start)
    else:
        name = cursor.name("a column name")
    if cursor.at("(") or cursor.at("."):
        cursor.refuse("ORDER BY of anything but columns here")
    descending = cursor.take("desc")
    if not descending:
        cursor.take("asc")
    nulls_first = None
    if cursor.take("nulls"):
        nulls_first = cursor.take("first")
        if not nulls_first:
            cursor.expect("last")
    return name, OrderKey(name.text, descending, nulls_first)
