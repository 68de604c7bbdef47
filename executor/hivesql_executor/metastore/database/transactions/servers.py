"""Which server of a database gave out its ids: one that has taken over may have forgotten some.

A standby that was behind when it was promoted knows nothing of the last commits, whose files are
there. It would give their ids again, and readers would take the files of both.
"""

from __future__ import annotations

import functools
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Dialect, Row, Select, insert, select, update

from hivesql_executor.metastore.database.dialects.execution import run, run_later
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.dialects.terms import Terms
from hivesql_executor.metastore.database.schema import aux, txns
from hivesql_executor.metastore.database.transactions.transactions import IS_OPEN, abort_txns
from hivesql_planner.errors import MetastoreReplaced, TransactionLost

_NAME = "HiveSqlServer"
_MINE = (aux.c.name == _NAME, aux.c.value == 0)
_FIRST = insert(aux).inline()
# The servers that this process has met, by their tokens.
_by_token: WeakKeyDictionary[Dialect, dict[str, str | None]] = WeakKeyDictionary()


def asking_server(db: Connection, query: Select[Any]) -> Select[Any]:
    """Let a query tell which server answers, and which one did before, where anybody can.

    Its answer goes to one of the functions below.
    """
    terms = terms_of(db)
    return _asking(terms, query) if terms.tells_server(db) else query


@functools.cache
def _asking(terms: Terms, query: Select[Any]) -> Select[Any]:
    known = select(aux.c.comment).where(*_MINE).scalar_subquery()
    # In a query of its own it is computed once, however many rows there are.
    token = select(terms.server_token).scalar_subquery()
    return query.add_columns(token.label("server_token"), known.label("server_known"))


@functools.cache
def _naming(terms: Terms) -> Select[tuple[str | None]]:
    return select(terms.server.label("now"))


def require_server(db: Connection, row: Row[Any]) -> None:
    """Raise MetastoreReplaced where another server has taken over; the first one is noted."""
    known, now = _servers(db, row)
    if known is None and now is not None:
        run_later(db, _FIRST, {"name": _NAME, "value": 0, "comment": now})
    elif _is_other(known, now):
        raise MetastoreReplaced.of_servers(str(known), str(now))


def require_same_server(db: Connection, txn_id: int, row: Row[Any]) -> None:
    """Raise TransactionLost where another one has taken over: what it forgot, nobody knows."""
    if _is_other(*_servers(db, row)):
        raise TransactionLost(
            f"transaction {txn_id} was open when another server of the metastore's database "
            "took over, which may have forgotten its locks and write ids: nothing that it "
            "wrote is visible. Run it again"
        )


def _servers(db: Connection, row: Row[Any]) -> tuple[str | None, str | None]:
    """Return the server that is known, and the one that answers; None for what nobody tells."""
    token = getattr(row, "server_token", None)
    if token is None:
        return None, None
    tokens = _by_token.setdefault(db.dialect, {})
    if token not in tokens:
        tokens[token] = run(db, _naming(terms_of(db))).scalar()
    return row.server_known, tokens[token]


def accept_server(db: Connection, known: str, now: str) -> None:
    """Let the other server give out ids from now on; what was open before is aborted."""
    taken = update(aux).where(*_MINE, aux.c.comment == known).values(comment=now)
    if db.execute(taken).rowcount:
        abort_txns(db, db.scalars(select(txns.c.id).where(IS_OPEN)).all(), "database failed over")


def _is_other(known: str | None, now: str | None) -> bool:
    return known is not None and now is not None and now != known
