"""Partitions of ALTER TABLE."""

from __future__ import annotations

from hivesql.parse_filters import parse_filters
from hivesql.parser.clauses import parse_partition
from hivesql.parser.tokens import Cursor, TableRef
from hivesql.syntax.alter import AddPartitionsBody, DropPartitionsBody


def parse_add_partitions(
    cursor: Cursor, table: TableRef, *, view: bool = False
) -> AddPartitionsBody:
    """``ADD [IF NOT EXISTS] PARTITION (…) [LOCATION '…'] …``."""
    cursor.expect("add")
    if_not_exists = cursor.take("if", "not", "exists")
    found = []
    while cursor.at("partition"):
        items = parse_partition(cursor, dynamic=False)
        located = not view and cursor.take("location")
        found.append((items, cursor.location() if located else ""))
    if not found:
        cursor.fail("expected PARTITION")
    return AddPartitionsBody(table, tuple(found), if_not_exists, view)


def parse_drop_partitions(
    cursor: Cursor, table: TableRef, *, view: bool = False
) -> DropPartitionsBody:
    """``DROP [IF EXISTS] PARTITION (k op v, …), … [PURGE]``."""
    cursor.expect("drop")
    if_exists = cursor.take("if", "exists")
    start = cursor.peek().start
    found = [parse_filters(cursor)]
    while cursor.take(","):
        found.append(parse_filters(cursor))
    purge = not view and cursor.take("purge")
    return DropPartitionsBody(table, tuple(found), if_exists, purge, start, view)
