"""Which server of a database gave out its ids: one that has taken over may have forgotten some.

A standby that was behind when it was promoted knows nothing of the last commits, whose files are
there. It would give their ids again, and readers would take the files of both.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from sqlalchemy import Connection, Row, Select, insert, select, update

from hivesql_executor.metastore.database.dialects.execution import (
    NO_VALUES,
    Statement,
    run_later,
)
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.dialects.terms import Terms
from hivesql_executor.metastore.database.schema import aux, txns
from hivesql_executor.metastore.database.transactions.transactions import IS_OPEN, abort_txns
from hivesql_planner.errors import MetastoreReplaced, TransactionLost

_NAME = "HiveSqlServer"
_MINE = (aux.c.name == _NAME, aux.c.value == 0)
_FIRST = insert(aux).inline()


def asking_server(db: Connection) -> tuple[Statement, ...]:
    """Compose what asks which server answers, and which one did before; () where nobody can tell.

    It goes together with other statements, and its answer to one of the functions below.
    """
    terms = terms_of(db)
    return ((_asking(terms), NO_VALUES),) if terms.tells_server(db) else ()


@functools.cache
def _asking(terms: Terms) -> Select[tuple[str | None, str | None]]:
    known = select(aux.c.comment).where(*_MINE).scalar_subquery()
    return select(terms.server.label("now"), known.label("known"))


def require_server(db: Connection, answers: Iterable[Iterable[Row[tuple[str, str]]]]) -> None:
    """Raise MetastoreReplaced where another server has taken over; the first one is noted."""
    for (answer,) in answers:
        if answer.known is None and answer.now is not None:
            run_later(db, _FIRST, {"name": _NAME, "value": 0, "comment": answer.now})
        elif _is_other(answer):
            raise MetastoreReplaced.of_servers(answer.known, answer.now)


def require_same_server(txn_id: int, answers: Iterable[Iterable[Row[tuple[str, str]]]]) -> None:
    """Raise TransactionLost where another one has taken over: what it forgot, nobody knows."""
    for (answer,) in answers:
        if _is_other(answer):
            raise TransactionLost(
                f"transaction {txn_id} was open when another server of the metastore's database "
                "took over, which may have forgotten its locks and write ids: nothing that it "
                "wrote is visible. Run it again"
            )


def accept_server(db: Connection, known: str, now: str) -> None:
    """Let the other server give out ids from now on; what was open before is aborted."""
    taken = update(aux).where(*_MINE, aux.c.comment == known).values(comment=now)
    if db.execute(taken).rowcount:
        abort_txns(db, db.scalars(select(txns.c.id).where(IS_OPEN)).all(), "database failed over")


def _is_other(answer: Row[tuple[str, str]]) -> bool:
    return answer.known is not None and answer.now is not None and answer.now != answer.known
