"""Partitions and compactions of ALTER TABLE."""

from __future__ import annotations

from hivesql.alter_trees import AddPartitionsBody, DropPartitionsBody
from hivesql.parse_filters import parse_filters
from hivesql.parse_query import parse_partition
from hivesql.slices import PartitionItems
from hivesql.tokens import Cursor, TableRef
from hivesql.trees import CompactBody


def parse_add_partitions(cursor: Cursor, table: TableRef) -> AddPartitionsBody:
    """``ADD [IF NOT EXISTS] PARTITION (…) [LOCATION '…'] …``."""
    cursor.expect("add")
    if_not_exists = cursor.take("if", "not", "exists")
    found = []
    while cursor.at("partition"):
        items = parse_partition(cursor, dynamic=False)
        found.append((items, cursor.string() if cursor.take("location") else ""))
    if not found:
        cursor.fail("expected PARTITION")
    return AddPartitionsBody(table, tuple(found), if_not_exists)


def parse_drop_partitions(cursor: Cursor, table: TableRef) -> DropPartitionsBody:
    """``DROP [IF EXISTS] PARTITION (k op v, …), … [PURGE]``."""
    cursor.expect("drop")
    if_exists = cursor.take("if", "exists")
    start = cursor.peek().start
    found = [parse_filters(cursor)]
    while cursor.take(","):
        found.append(parse_filters(cursor))
    return DropPartitionsBody(table, tuple(found), if_exists, cursor.take("purge"), start)


def parse_compact(cursor: Cursor, table: TableRef, partition: PartitionItems | None) -> CompactBody:
    """What follows COMPACT."""
    start = cursor.peek().start
    kind = cursor.string("the kind of compaction")
    if cursor.at("clustered"):
        cursor.refuse("COMPACT … CLUSTERED INTO n BUCKETS")
    wait = cursor.at("and")
    if wait:
        cursor.expect("and", "wait")
    for words, feature in (
        (("pool",), "POOL"),
        (("with", "overwrite"), "WITH OVERWRITE TBLPROPERTIES"),
        (("where",), "WHERE"),
        (("order", "by"), "ORDER BY"),
    ):
        if cursor.at(*words):
            cursor.refuse(f"COMPACT … {feature}")
    return CompactBody(table, kind, start, partition, wait)
