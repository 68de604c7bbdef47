"""START TRANSACTION, BEGIN, COMMIT, ROLLBACK; LOCK and UNLOCK."""

from __future__ import annotations

from typing import Literal

from hivesql.dialect.nodes.commands import LockBody
from hivesql.dialect.statements.clauses import parse_partition
from hivesql.dialect.tokens import Cursor
from hivesql_planner.statements.bound import EndTransaction, StartTransaction


def parse_start(cursor: Cursor) -> StartTransaction:
    """START TRANSACTION [ISOLATION LEVEL SNAPSHOT] [READ ONLY | READ WRITE]."""
    cursor.expect("start", "transaction")
    read_only = False
    while not cursor.at_end:
        if cursor.take("isolation", "level"):
            if not cursor.take("snapshot"):
                cursor.refuse(f"ISOLATION LEVEL {cursor.peek().text.upper()} (only SNAPSHOT)")
        else:
            cursor.expect("read")
            read_only = cursor.take("only")
            if not read_only:
                cursor.expect("write")
        if not cursor.take(","):
            break
    cursor.end()
    return StartTransaction(read_only=read_only)


def parse_begin(cursor: Cursor) -> StartTransaction:
    """BEGIN [TRANSACTION | WORK]."""
    cursor.expect("begin")
    if not cursor.take("transaction"):
        cursor.take("work")
    cursor.end()
    return StartTransaction()


def parse_end(cursor: Cursor) -> EndTransaction:
    """COMMIT [WORK], ROLLBACK [WORK]."""
    commit = cursor.next().is_("commit")
    cursor.take("work")
    if cursor.at("to"):
        cursor.refuse("ROLLBACK TO a savepoint")
    cursor.end()
    return EndTransaction(commit=commit)


def parse_lock(cursor: Cursor) -> LockBody:
    """LOCK TABLE t [PARTITION (…)] mode, LOCK DATABASE d mode; UNLOCK of both."""
    locks = cursor.next().is_("lock")
    table = database = partition = None
    if cursor.take("database") or cursor.take("schema"):
        database = cursor.name("a database name")
    else:
        cursor.expect("table")
        table = cursor.table()
        if cursor.at("partition"):
            partition = parse_partition(cursor, dynamic=False)
    mode = _mode(cursor) if locks else None
    cursor.end()
    return LockBody(table=table, database=database, partition=partition, mode=mode)


def _mode(cursor: Cursor) -> Literal["SHARED", "EXCLUSIVE"]:
    if cursor.take("shared"):
        return "SHARED"
    if not cursor.take("exclusive"):
        cursor.fail("expected SHARED or EXCLUSIVE")
    return "EXCLUSIVE"
