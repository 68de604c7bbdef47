"""The history of tables: entered by the commit itself, read with what Hive's own tables know."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from hivesql_executor.metastore.database.connection import millis_now, now
from hivesql_executor.metastore.database.dialects.execution import run_many
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.schema import completed_txn_components, history, txns
from hivesql_planner.model.table import TableName
from hivesql_planner.write_history import RowCounts, TableWrite, unknown_counts

_of = history.c
# The writer's clock may be wrong: by it alone is known how long ago a statement began.
_ENTER = (
    insert(history)
    .inline()
    .values(committed=millis_now(), started=millis_now() - bindparam("ago", type_=_of.started.type))
)


def enter(db: Connection, txn_id: int, writes: Collection[TableWrite]) -> None:
    """Keep what the statements of a transaction did, in the database transaction of its commit."""
    if not writes:
        return
    writers_now = round(time.time() * 1000)
    run_many(
        db,
        _ENTER,
        [
            {
                "database": write.table.database,
                "table": write.table.name,
                "write_id": write.write_id,
                "txn_id": txn_id,
                "operation": write.operation,
                "statement": write.statement,
                "user": write.user and write.user[:128],
                "host": write.host and write.host[:128],
                "program": write.program and write.program[:128],
                "ago": None if write.started is None else writers_now - write.started,
                "duration": write.duration,
                "inserted": write.counts.inserted,
                "updated": write.counts.updated,
                "deleted": write.counts.deleted,
                "files": write.counts.files,
                "bytes": write.counts.bytes,
            }
            for write in writes
        ],
    )


def writes(
    db: Connection, *, table: TableName | None = None, database: str | None = None,
    limit: int | None = None,
) -> tuple[TableWrite, ...]:  # fmt: skip
    """Return the writes to a table, to those of a database, or to all; the latest first.

    Those that another program has made are told as far as the transaction tables know them: until
    a compaction is cleaned, and of many writes to the same place the latest.
    """
    query = select(history).order_by(_of.committed.desc(), _of.id.desc())
    for column, value in _wanted(_of, table, database):
        query = query.where(column == value)
    if limit is not None:
        query = query.limit(limit)
    lines = [_write(row) for row in db.execute(query)]
    lines += _others(db, table, database)
    lines.sort(key=lambda write: (write.committed or 0, write.txn_id or 0), reverse=True)
    return tuple(lines[:limit])


def _wanted(
    columns: Any, table: TableName | None, database: str | None
) -> Iterator[tuple[Any, str]]:
    if table is not None:
        yield columns.database, table.database
        yield columns.table, table.name
    elif database is not None:
        yield columns.database, database


def _write(row: Any) -> TableWrite:
    return TableWrite(
        table=TableName(row.database, row.table),
        write_id=row.write_id,
        operation=row.operation,
        counts=RowCounts(
            inserted=row.inserted, updated=row.updated, deleted=row.deleted, files=row.files,
            bytes=row.bytes,
        ),
        statement=row.statement,
        user=row.user,
        host=row.host,
        program=row.program,
        started=row.started,
        duration=row.duration,
        committed=row.committed,
        txn_id=row.txn_id,
    )  # fmt: skip


def _others(db: Connection, table: TableName | None, database: str | None) -> list[TableWrite]:
    """Return the writes that were committed without a line in the history."""
    done = completed_txn_components.c
    moment = func.max(terms_of(db).commit_millis(done.timestamp)).label("moment")
    query = (
        select(
            done.database, done.table, done.write_id, done.txn_id,
            func.max(done.update_delete).label("flag"), moment,
            func.max(txns.c.user).label("user"), func.max(txns.c.host).label("host"),
        )
        .outerjoin(txns, txns.c.id == done.txn_id)
        .outerjoin(history, (_of.txn_id == done.txn_id) & (_of.write_id == done.write_id)
                   & (_of.database == done.database) & (_of.table == done.table))
        .where(done.write_id.is_not(None), done.table.is_not(None), _of.id.is_(None))
        .group_by(done.database, done.table, done.write_id, done.txn_id)
    )  # fmt: skip
    for column, value in _wanted(done, table, database):
        query = query.where(column == value)
    return [
        TableWrite(
            table=TableName(row.database, row.table),
            write_id=row.write_id,
            operation="WRITE" if row.flag == "Y" else "INSERT",
            counts=unknown_counts(),
            user=row.user,
            host=row.host,
            committed=int(row.moment),
            txn_id=row.txn_id,
        )
        for row in db.execute(query)
    ]


def forget(db: Connection, seconds: float) -> None:
    """Forget writes that were committed so many seconds ago."""
    db.execute(delete(history).where(_of.committed < now(db) - int(seconds * 1000)))
