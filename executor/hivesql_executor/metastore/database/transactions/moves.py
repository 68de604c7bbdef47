"""Files on their way: noted before they change, so that a death half-way can be mended."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence

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
    func,
    insert,
    or_,
    select,
    update,
)

from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.schema import dbs, metadata, partitions, sds, tbls, txns
from hivesql_executor.metastore.database.transactions.transactions import require_open
from hivesql_executor.metastore.database.transactions.txn_rows import OPEN
from hivesql_executor.metastore.file_moves import BegunMoves, Move, MoveKind, Remedy, decide_remedy
from hivesql_planner.errors import TransactionLost

# What SETTLED says: what was noted may be undone, is right, or is undone by whoever took it.
_NOTED, _SETTLED, _TAKEN = 0, 1, 2
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
    Column("KIND", String(16), key="kind", nullable=False, server_default=MoveKind.MOVED),
    Column("SETTLED", Integer(), key="settled", nullable=False, server_default="0"),
)


def note_moves(db: Connection, txn_id: int, planned: Sequence[Move], key: str = "") -> str:
    """Note what will move, beside what is noted under the key; the key, a new one for ``""``.

    A transaction that has ended, or was taken for dead, moves nothing: others have its locks by
    now, or will.
    """
    require_going_on(db, txn_id, key)
    key, started = key or uuid.uuid4().hex, now(db)
    first = int(db.scalar(select(func.max(moves.c.position) + 1).where(moves.c.key == key)) or 0)
    db.execute(
        insert(moves),
        [
            {"key": key, "position": position, "txn_id": txn_id, "started": started,
             "source": move.source, "target": move.target, "table_id": move.table_id,
             "partition": move.partition, "kind": move.kind, "settled": _NOTED}
            for position, move in enumerate(planned, first)
        ],
    )  # fmt: skip
    return key


def require_going_on(db: Connection, txn_id: int, key: str) -> None:
    """Raise TransactionLost unless a transaction (0: none) is open and nobody took what it noted.

    Whoever takes what is noted undoes it: a change of the catalog that came later would not fit.
    ``key`` stands for what was noted; empty for nothing.
    """
    if txn_id:
        require_open(db, txn_id)
    of = moves.c
    if key and db.scalar(select(func.max(of.settled)).where(of.key == key)) in (None, _TAKEN):
        raise _taken(txn_id)


def settle_moved(db: Connection, key: str) -> None:
    """Settle directories that moved for a change of the catalog: a part of that change."""
    if key:
        settle(db, and_(moves.c.key == key, moves.c.kind == MoveKind.MOVED))


def _taken(txn_id: int) -> TransactionLost:
    who = f"Transaction txnid:{txn_id}" if txn_id else "The statement"
    return TransactionLost(
        f"{who} was silent for so long that it was taken for dead, and its files were put back. "
        "Run it again"
    )


def take_lost(db: Connection, timeout: float, of: Collection[int]) -> tuple[BegunMoves, ...]:
    """Take from those who noted them what is lost, and tell what to do with it.

    Lost is what was noted by a transaction that is gone, or silent for ``timeout`` seconds, or one
    ``of`` these.
    """
    which = _lost(db, timeout, of)
    begun = _begun(db, which)
    db.execute(update(moves).where(which, moves.c.settled == _NOTED).values(settled=_TAKEN))
    return begun


def _lost(db: Connection, timeout: float, of: Collection[int]) -> ColumnElement[bool]:
    return or_(are_lost(now(db) - int(timeout * 1000)), moves.c.txn_id.in_(sorted(of)))


def are_lost(oldest: int | ColumnElement[int]) -> ColumnElement[bool]:
    """Tell which are taken, of transactions silent since before ``oldest`` or gone, or old."""
    of = moves.c
    alive = exists().where(
        txns.c.id == of.txn_id, txns.c.state == OPEN, txns.c.last_heartbeat >= oldest
    )
    is_lost = or_(and_(of.txn_id == 0, of.started < oldest), and_(of.txn_id != 0, ~alive))
    return or_(of.settled == _TAKEN, is_lost)


def settle(db: Connection, which: ColumnElement[bool]) -> int:
    """Make right what was noted to be decided by a commit; how much that is."""
    mine = and_(which, moves.c.settled != _TAKEN)
    return db.execute(update(moves).where(mine).values(settled=_SETTLED)).rowcount


def settle_txn(db: Connection, txn_id: int) -> None:
    """Settle what a transaction has noted: a part of its commit; TransactionLost where it cannot.

    Nothing is left where somebody took it for dead, or what that one takes.
    """
    if not settle(db, moves.c.txn_id == txn_id):
        raise _taken(txn_id)


def _begun(db: Connection, which: ColumnElement[bool]) -> tuple[BegunMoves, ...]:
    of = moves.c
    part = exists().where(partitions.c.table_id == of.table_id, partitions.c.name == of.partition)
    owned = and_(exists().where(tbls.c.id == of.table_id), or_(of.partition == "", part))
    place = or_(dbs.c.location == of.target, dbs.c.managed_location == of.target)
    named = or_(exists().where(sds.c.location == of.target), exists().where(place))
    query = select(
        of.key, of.txn_id, of.source, of.target, of.table_id, of.partition, of.kind, of.settled,
        case((owned, 1), else_=0), case((named, 1), else_=0),
    ).where(which).order_by(of.key, of.position)  # fmt: skip
    moves_by_key: dict[tuple[str, int], list[tuple[Move, Remedy]]] = {}
    for row in db.execute(query):
        key, txn_id, source, target, table_id, partition, kind, settled, is_owned, is_named = row
        move = Move(
            source=source,
            target=target,
            table_id=table_id,
            partition=partition,
            kind=MoveKind(kind),
        )
        remedy = decide_remedy(
            move, named=bool(is_named), owned=bool(is_owned), committed=settled == _SETTLED
        )
        moves_by_key.setdefault((key, txn_id), []).append((move, remedy))
    return tuple(
        BegunMoves(key=key, txn_id=txn_id, moves=tuple(those))
        for (key, txn_id), those in moves_by_key.items()
    )


def forget_moves(db: Connection, key: str, target: str | None = None) -> None:
    """Forget what is noted under a key, or one ``target`` of it: nothing is left to do with it."""
    gone = delete(moves).where(moves.c.key == key)
    if target is not None:
        gone = gone.where(moves.c.target == target)
    db.execute(gone)


def settle_noted(db: Connection, key: str) -> bool:
    """Decide, without a transaction, what a commit would; False if it is decided, or undone."""
    return settle(db, and_(moves.c.key == key, moves.c.settled == _NOTED)) > 0


def is_decided(db: Connection, key: str) -> bool:
    """Tell whether what is noted under the key was decided to be right."""
    query = select(moves.c.key).where(moves.c.key == key, moves.c.settled == _SETTLED)
    return db.execute(query.limit(1)).first() is not None


def renew_moves(db: Connection, key: str) -> None:
    """Tell who noted it is alive, though it has no transaction."""
    db.execute(update(moves).where(moves.c.key == key).values(started=now(db)))


def noted_moves(db: Connection, key: str, *, is_taken: bool = False) -> BegunMoves | None:
    """Tell what is noted under a key, and what is left to do with it now; None for nothing.

    What was taken is for those alone who took it (``is_taken``).
    """
    which = moves.c.key == key
    if not is_taken:
        which = and_(which, moves.c.settled != _TAKEN)
    return next(iter(_begun(db, which)), None)


def undeleted_partitions(db: Connection, table_id: int) -> set[str]:
    """Return the names of dropped partitions of which files are to be deleted where they lie."""
    of = moves.c
    in_place = and_(of.table_id == table_id, of.partition != "", of.source == of.target)
    query = select(of.partition).distinct().where(in_place, of.settled != _NOTED)
    return {*db.scalars(query)}


def undeleted_directories(db: Connection) -> set[str]:
    """Return the directories of dropped tables of which files are to be deleted where they lie."""
    of = moves.c
    in_place = and_(of.table_id != 0, of.partition == "", of.source == of.target)
    return {*db.scalars(select(of.target).where(in_place, of.settled != _NOTED))}


def has_lost(db: Connection, timeout: float, of: Collection[int]) -> bool:
    """Tell whether something is noted that nobody finishes any more, or that is ``of`` these."""
    return bool(db.scalar(select(exists().where(_lost(db, timeout, of)))))
