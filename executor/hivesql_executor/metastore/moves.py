"""Directories on their way: noted before they move, so that a death half-way can be mended."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Integer,
    String,
    Table,
    and_,
    case,
    delete,
    exists,
    insert,
    or_,
    select,
)

from hivesql_executor.metastore.catalog_values import OPEN
from hivesql_executor.metastore.connection import Rdbms, now
from hivesql_executor.metastore.move_api import BegunMoves, Move, Remedy
from hivesql_executor.metastore.schema import metadata, partitions, sds, tbls, txns

# Not one of Hive's tables.
moves = Table(
    "HIVESQL_MOVES",
    metadata,
    Column("MOVE_KEY", String(32), key="key", primary_key=True),
    Column("POSITION", Integer(), key="position", primary_key=True),
    Column("TXN_ID", BigInteger(), key="txn_id", nullable=False),
    Column("STARTED_AT", BigInteger(), key="started", nullable=False),
    Column("SOURCE", String(4000), key="source", nullable=False),
    Column("TARGET", String(4000), key="target", nullable=False),
    Column("TBL_ID", BigInteger(), key="table_id", nullable=False),
    Column("PART_NAME", String(767), key="partition", nullable=False),
)


def note_moves(db: Connection, txn_id: int, given: Sequence[Move]) -> str:
    """Note what will move; the key under which it is forgotten."""
    key, started = uuid.uuid4().hex, now(db)
    db.execute(
        insert(moves),
        [
            {"key": key, "position": position, "txn_id": txn_id, "started": started,
             "source": one.source, "target": one.target, "table_id": one.table_id,
             "partition": one.partition}
            for position, one in enumerate(given)
        ],
    )  # fmt: skip
    return key


def lost_moves(db: Connection, timeout: float) -> tuple[BegunMoves, ...]:
    """Those of transactions silent for ``timeout`` seconds or gone, and older ones without any."""
    return _begun(db, are_lost(now(db) - int(timeout * 1000)))


def are_lost(oldest: int) -> ColumnElement[bool]:
    """Moves of transactions silent since before ``oldest`` or gone, and older ones without any."""
    of = moves.c
    alive = exists().where(
        txns.c.id == of.txn_id, txns.c.state == OPEN, txns.c.last_heartbeat >= oldest
    )
    return or_(and_(of.txn_id == 0, of.started < oldest), and_(of.txn_id != 0, ~alive))


def _begun(db: Connection, which: ColumnElement[bool]) -> tuple[BegunMoves, ...]:
    of = moves.c
    part = exists().where(partitions.c.table_id == of.table_id, partitions.c.name == of.partition)
    owned = and_(exists().where(tbls.c.id == of.table_id), or_(of.partition == "", part))
    remedy = case(
        (and_(of.table_id != 0, owned), Remedy.TAKE_BACK),
        (of.table_id != 0, Remedy.DELETE),
        (exists().where(sds.c.location == of.target), Remedy.KEEP),
        else_=Remedy.TAKE_BACK,
    )
    query = (
        select(of.key, of.source, of.target, of.table_id, of.partition, remedy.label("remedy"))
        .where(which)
        .order_by(of.key, of.position)
    )
    found: dict[str, list[tuple[Move, Remedy]]] = {}
    for key, source, target, table_id, partition, name in db.execute(query):
        move = Move(source=source, target=target, table_id=table_id, partition=partition)
        found.setdefault(key, []).append((move, Remedy(name)))
    return tuple(BegunMoves(key=key, moves=tuple(those)) for key, those in found.items())


class MoveCalls:
    """The calls of a metastore about directories on their way."""

    _rdbms: Rdbms

    def note_moves(self, txn_id: int, given: Sequence[Move]) -> str:
        """Note what a transaction (0: none) is about to move; the key to forget it by."""
        return self._rdbms.write(lambda db: note_moves(db, txn_id, given))

    def forget_moves(self, key: str) -> None:
        """Each is where the catalog says."""
        self._rdbms.write(lambda db: db.execute(delete(moves).where(moves.c.key == key)))

    def noted_moves(self, key: str) -> BegunMoves | None:
        """What is noted under a key, and what is left to do with it now; None for nothing."""
        return next(iter(self._rdbms.read(lambda db: _begun(db, moves.c.key == key))), None)

    def lost_moves(self, timeout: float) -> tuple[BegunMoves, ...]:
        """What nobody finishes any more, and what is left to do with it."""
        return self._rdbms.read(lambda db: lost_moves(db, timeout))
