"""Transactions open; in PostgreSQL by one statement."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    Row,
    Select,
    bindparam,
    delete,
    false,
    func,
    insert,
    select,
    true,
)

from hivesql_executor.metastore.api import TxnType
from hivesql_executor.metastore.database.connection import TryAgain, millis_now, now
from hivesql_executor.metastore.database.dialects.execution import (
    NO_VALUES,
    Rows,
    run,
    run_all,
    run_many,
)
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.notification_log import (
    asking_for_log,
    learn_of_log,
    note,
    write_noted,
)
from hivesql_executor.metastore.database.schema import min_history_level, txn_lock, txns
from hivesql_executor.metastore.database.transactions.servers import (
    asking_server,
    require_server,
)
from hivesql_executor.metastore.database.transactions.snapshots import (
    latest_and_unended,
    note_seen,
)
from hivesql_executor.metastore.database.transactions.transactions import (
    IS_OPEN,
    TYPE_CODES,
    ids_from_before,
    note_start,
)
from hivesql_executor.metastore.database.transactions.txn_rows import OPEN
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.errors import SemanticError

_KEEP_HISTORY = insert(min_history_level).inline()
_FIELDS = ("state", "started", "last_heartbeat", "user", "host", "type")


def open_txns(
    db: Connection, count: int, user: str, host: str, kind: TxnType,
    check: Callable[[int], None] = lambda _: None,
) -> tuple[int, ...]:  # fmt: skip
    """Open ``count`` transactions; their ids, ascending.

    ``check`` is told how many others are open, and raises what stands against more.
    """
    if count <= 0:
        raise SemanticError(f"Invalid input for number of txns: {count}")
    terms = terms_of(db)
    names = {"user": user[:128], "host": host[:128], "type": TYPE_CODES[kind]}
    if terms.has_changing_queries:
        rows, seen = _open_others(db, names, count)
        others, started, after = rows[0].others, rows[0].moment, rows[0].after
        is_logged = learn_of_log(db, rows[0])
        ids = sorted(int(row.id) for row in rows)
        note_seen(db, ids, seen)
        note_start(db, ids, started)
        check(others)
    else:
        terms.lock_txn_table(db, shared=True)
        others, lowest, started = _look(db)
        after, is_logged = started, True
        check(others)
        values = names | {"state": OPEN, "started": started, "last_heartbeat": started}
        ids = sorted(terms.insert_for_ids(db, txns, [values] * count))
        run_many(db, _KEEP_HISTORY, [{"txn_id": id_, "min_open": lowest} for id_ in ids])
    if kind is not TxnType.READ_ONLY:
        note(db, Event(kind=EventKind.OPEN_TXN, txn_ids=tuple(ids)))
        # Waiting for the log belongs to the time that is measured below.
        write_noted(db)
    window = terms.open_window
    if window and kind is not TxnType.READ_ONLY and is_logged:
        after = now(db)
    if window and kind is not TxnType.READ_ONLY and after - started >= window:
        # Snapshots may already count these ids as never used.
        raise TryAgain(f"opening transactions took longer than {window} ms")
    return tuple(ids)


def _open_others(db: Connection, names: dict[str, Any], count: int) -> tuple[list[Row[Any]], Rows]:
    """Open transactions under ids that this process has not had; also what is open by then.

    A crash may have forgotten that somebody here was given an id. By the id alone nobody could
    tell the two apart, so it stays nobody's.
    """
    terms = terms_of(db)
    opening = terms.forgetting(db, asking_server(db, _open(terms.open_window)))
    rows: list[Row[Any]] = []
    while True:
        fresh, seen = run_all(
            db,
            (opening, names | {"many": count - len(rows)}),
            (latest_and_unended(terms.open_window), NO_VALUES),
        )
        require_server(db, fresh[0])
        again = ids_from_before(db, [int(row.id) for row in fresh])
        if again:
            db.execute(delete(min_history_level).where(min_history_level.c.txn_id.in_(again)))
            db.execute(delete(txns).where(txns.c.id.in_(again)))
        rows += [row for row in fresh if row.id not in again]
        if not again:
            return rows, seen


@functools.cache
def _low_watermark(window: int) -> Select[tuple[int]]:
    old = txns.alias()
    query = select(func.max(old.c.id))
    return query.where(old.c.started < millis_now() - window) if window else query


def low_watermark(db: Connection) -> int:
    """Return the greatest id below which no transaction can appear any more."""
    return int(run(db, _low_watermark(terms_of(db).open_window)).scalar() or 0)


def lowest_open(db: Connection) -> int:
    """Every transaction below this id has ended (Hive's minOpenTxn watermark)."""
    return _look(db)[1]


@functools.cache
def _now_open(window: int) -> Select[Any]:
    highest = _low_watermark(window).scalar_subquery()
    return select(
        func.count().label("others"),
        func.min(txns.c.id).label("lowest"),
        highest.label("highest"),
        millis_now().label("moment"),
    ).where(IS_OPEN)


def _look(db: Connection) -> tuple[int, int, int]:
    """Tell how many are open, ``lowest_open``, and the time of the answer in milliseconds."""
    (row,) = run(db, _now_open(terms_of(db).open_window))
    after = int(row.highest or 0) + 1
    lowest = after if row.lowest is None else min(int(row.lowest), after)
    return int(row.others), lowest, int(row.moment)


@functools.cache
def _open(window: int) -> Select[Any]:
    """Look, insert ``:many`` rows, and keep the history since the lowest open one, all at once."""
    seen = _now_open(window).cte("seen")
    many = select(bindparam("many", type_=Integer())).scalar_subquery()
    series = func.generate_series(1, many).table_valued("value")
    series = series.render_derived()
    fresh = select(
        bindparam("state", OPEN, type_=txns.c.state.type),
        seen.c.moment,
        seen.c.moment,
        *(bindparam(name, type_=txns.c[name].type) for name in _FIELDS[3:]),
    ).select_from(seen.join(series, true()))
    opened = (
        insert(txns).from_select(_FIELDS, fresh, include_defaults=False)
        .returning(txns.c.id).cte("opened")
    )  # fmt: skip
    lowest = func.least(seen.c.lowest, func.coalesce(seen.c.highest, 0) + 1, type_=BigInteger())
    history = insert(min_history_level).from_select(
        ["txn_id", "min_open"],
        select(opened.c.id, lowest).select_from(opened.join(seen, true())),
        include_defaults=False,
    )
    return asking_for_log(
        select(opened.c.id, seen.c.others, seen.c.moment, millis_now().label("after"))
        .select_from(opened.join(seen, true()))
        # What deletes nothing locks the table all the same, and commits wait for that.
        .add_cte(history.cte("history"), delete(txn_lock).where(false()).cte("locked"))
    )
