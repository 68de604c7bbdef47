"""What waits for compactions, as far as the history of writes and the statistics tell."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, and_, func, select, union_all

from hivesql_executor.metastore.database.schema import (
    compaction_queue,
    completed_compactions,
    dbs,
    history,
    partition_params,
    partitions,
    table_params,
    tbls,
)
from hivesql_planner.compaction.queue import ENDED, QUEUED, READY, SUCCEEDED
from hivesql_planner.model.table import TableName
from hivesql_planner.write_history import Backlog

_ROWS = "numRows"
_READY = next(code for code, state in QUEUED.items() if state == READY)
_SUCCEEDED = next(code for code, state in ENDED.items() if state == SUCCEEDED)


def greatest_backlogs(db: Connection, limit: int) -> tuple[Backlog, ...]:
    """Return the tables with most writes since their last compaction, most first."""
    compacted = _compacted().subquery()
    of, highest = history.c, func.coalesce(compacted.c.highest, 0)
    count = func.count()
    changed = func.sum(func.coalesce(of.updated, 0) + func.coalesce(of.deleted, 0))
    query = (
        select(tbls.c.id, of.database, of.table, count, changed)
        .join(dbs, dbs.c.name == of.database)
        .join(tbls, and_(tbls.c.database_id == dbs.c.id, tbls.c.name == of.table))
        .outerjoin(
            compacted,
            and_(compacted.c.database == of.database, compacted.c.table == of.table),
        )
        .where(of.write_id > highest)
        .group_by(tbls.c.id, of.database, of.table)
        .order_by(count.desc(), of.database, of.table)
        .limit(limit)
    )
    lines = db.execute(query).all()
    rows = _rows(db, [line[0] for line in lines])
    return tuple(
        Backlog(
            table=TableName(database, name),
            writes=int(writes),
            changed=int(changes or 0),
            rows=rows.get(id_),
        )
        for id_, database, name, writes, changes in lines
    )


def _compacted() -> Any:
    """Select how far each table was compacted: its greatest write id."""
    ends = union_all(
        *(
            select(source.c.database, source.c.table, source.c.highest_write_id).where(
                source.c.state == state, source.c.highest_write_id.is_not(None)
            )
            for source, state in (
                (completed_compactions, _SUCCEEDED), (compaction_queue, _READY),
            )
        )
    ).subquery()  # fmt: skip
    highest = func.max(ends.c.highest_write_id).label("highest")
    return select(ends.c.database, ends.c.table, highest).group_by(ends.c.database, ends.c.table)


def _rows(db: Connection, ids: list[int]) -> dict[int, int]:
    """Return the rows of tables, or of their partitions, that somebody has counted."""
    of_tables = select(table_params.c.owner_id, table_params.c.value).where(
        table_params.c.owner_id.in_(ids), table_params.c.name == _ROWS
    )
    of_partitions = (
        select(partitions.c.table_id, partition_params.c.value)
        .join(partition_params, partition_params.c.owner_id == partitions.c.id)
        .where(partitions.c.table_id.in_(ids), partition_params.c.name == _ROWS)
    )
    counts: dict[int, int] = defaultdict(int)
    for query in (of_tables, of_partitions):
        for id_, text in db.execute(query):
            # A user's property of that name may be no number; -1 says that nobody has counted.
            with suppress(TypeError, ValueError):
                if int(text) >= 0:
                    counts[id_] += int(text)
    return dict(counts)
