"""What was written, and what was aborted; functions take an open connection and never commit."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, func, or_, select

from hivesql_executor.metastore.api import AbortedWrites, AbortLimits
from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.schema import (
    completed_txn_components,
    next_write_id,
    txn_components,
    txn_to_write_id,
    txns,
)
from hivesql_executor.metastore.database.transactions.txn_rows import ABORTED, OPEN
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.compaction.initiator import Candidate
from hivesql_planner.locks.lock import Operation
from hivesql_planner.model.table import TableName

_CHUNK = 500


def written_units(db: Connection, *, limit: int = 1000) -> tuple[Candidate, ...]:
    """Units with committed writes that no compaction has covered yet, sorted."""
    of = completed_txn_components.c
    columns = (of.database, of.table, of.partition)
    query = select(*columns).where(of.table.is_not(None)).distinct().order_by(*columns)
    return tuple(
        Candidate(table=TableName(database, table), partition=partition)
        for database, table, partition in db.execute(query.limit(limit))
    )


def aborted_units(
    db: Connection, limits: AbortLimits, *, limit: int = 1000
) -> tuple[Candidate, ...]:
    """Units with more aborted writes than ``limits.count``, or one as old as ``limits.age``."""
    of = txn_components.c
    columns = (of.database, of.table, of.partition)
    count, oldest = func.count(), func.min(txns.c.started)
    since = None if limits.age is None else now(db) - int(limits.age * 1000)
    exceeds = count > limits.count if since is None else or_(count > limits.count, oldest < since)
    query = (
        select(*columns, count, oldest)
        .join(txns, txns.c.id == of.txn_id)
        .where(txns.c.state == ABORTED, of.table.is_not(None))
        .group_by(*columns)
        .having(exceeds)
        .order_by(*columns)
        .limit(limit)
    )
    return tuple(
        Candidate(
            table=TableName(database, table),
            partition=partition,
            too_many_aborts=many > limits.count,
            old_abort=since is not None and started < since,
        )
        for database, table, partition, many, started in db.execute(query)
    )


def aborted_writes(db: Connection, table: TableName) -> AbortedWrites:
    """Every aborted and open write id of a table, and its aborted transactions."""
    owned, of = txn_to_write_id.c, txn_components.c
    here = (owned.database == table.database, owned.table == table.name)
    states: dict[str, set[int]] = {OPEN: set(), ABORTED: set()}
    query = select(owned.write_id, txns.c.state).join(txns, txns.c.id == owned.txn_id).where(*here)
    for write_id, state in db.execute(query.where(txns.c.state.in_(states))):
        states[state].add(int(write_id))
    counter = next_write_id.c
    following = db.scalar(
        select(counter.next).where(counter.database == table.database, counter.table == table.name)
    )
    wrote = (
        select(of.txn_id)
        .join(txns, txns.c.id == of.txn_id)
        .where(of.database == table.database, of.table == table.name, txns.c.state == ABORTED)
    )
    return AbortedWrites(
        visible=ValidWriteIdList(
            int(following or 1) - 1,
            frozenset(states[OPEN]),
            frozenset(states[ABORTED]),
            str(table),
        ),
        txns=frozenset(int(txn_id) for txn_id in db.scalars(wrote)),
    )


def forget_aborted(
    db: Connection, unit: Candidate, aborted: AbortedWrites, *, retained: Collection[int] = ()
) -> None:
    """Forget what is in ``aborted`` and not ``retained``: what was aborted since may have files."""
    of = txn_components.c
    gone = sorted(aborted.visible.aborted - set(retained))
    here = (
        of.database == unit.table.database,
        of.table == unit.table.name,
        of.partition.is_not_distinct_from(unit.partition),
    )
    by = sorted(aborted.txns)
    for start in range(0, len(by), _CHUNK):
        theirs = (*here, of.txn_id.in_(by[start : start + _CHUNK]))
        without_files = or_(of.operation == Operation.COMPACT.value, of.write_id.is_(None))
        db.execute(delete(txn_components).where(*theirs, without_files))
    for start in range(0, len(gone), _CHUNK):
        writes = of.write_id.in_(gone[start : start + _CHUNK])
        owned = txn_to_write_id.c
        owners = (
            select(owned.txn_id)
            .join(txns, txns.c.id == owned.txn_id)
            .where(
                owned.database == unit.table.database,
                owned.table == unit.table.name,
                owned.write_id == of.write_id,
                txns.c.state == ABORTED,
            )
        )
        db.execute(delete(txn_components).where(*here, writes, of.txn_id.in_(owners)))
