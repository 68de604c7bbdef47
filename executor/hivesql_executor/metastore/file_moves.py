"""What is noted of files before they move, and what is left to do with them after a death."""

from __future__ import annotations

from dataclasses import dataclass

from hivesql_planner.older_python import StrEnum


class MoveKind(StrEnum):
    """What is about to happen to files, and what decides whether that was right.

    What a commit decides is right once the note is settled: by the commit of the transaction that
    noted it, or by `settle_moves` where there is no transaction.
    """

    MOVED = "moved"
    """``source`` becomes ``target``. The change of the catalog settles it; before, what it says."""
    MADE = "made"
    """The directory ``target`` is made. The catalog decides: it stays where it is named."""
    BORN = "born"
    """The table ``source`` is added at ``target``, and its rows are to come. A commit decides."""
    FILLED = "filled"
    """The directory ``target``, in which nothing was, is filled. A commit decides."""
    BROUGHT = "brought"
    """The file ``source`` becomes ``target``. A commit decides."""
    EMPTIED = "emptied"
    """The files of ``source`` are hidden in ``target``. A commit decides."""
    ASIDE = "aside"
    """``target`` is where a statement works before it publishes: it goes in any case."""


class Remedy(StrEnum):
    """What is left to do with files whose mover has died, or is done."""

    TAKE_BACK = "take back"
    """``source`` is still right."""
    DELETE = "delete"
    """``target`` is nothing that anybody needs any more."""
    KEEP = "keep"
    """``target`` is right."""
    REMOVE_EMPTY = "remove empty"
    """``target`` is not needed, and goes unless somebody has put something there."""
    PUT_BACK = "put back"
    """What is in ``target`` belongs into ``source``."""
    UNDO_BIRTH = "undo birth"
    """The table ``source`` goes, whose rows never came."""
    CLEAR = "clear"
    """Everything in ``target`` goes, but not the directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A directory's, or file's, old and new place.

    MOVED with ``table_id`` is hidden, to be deleted once that table, or the ``partition`` of it,
    is dropped; where both places are one, it is deleted from there. BORN has the id of the new
    table.
    """

    source: str
    target: str
    table_id: int = 0
    partition: str = ""
    kind: MoveKind = MoveKind.MOVED


_DECIDED_BY_COMMIT = {
    MoveKind.BORN: (Remedy.UNDO_BIRTH, Remedy.KEEP),
    MoveKind.FILLED: (Remedy.CLEAR, Remedy.KEEP),
    MoveKind.BROUGHT: (Remedy.TAKE_BACK, Remedy.KEEP),
    MoveKind.EMPTIED: (Remedy.PUT_BACK, Remedy.DELETE),
    MoveKind.ASIDE: (Remedy.DELETE, Remedy.DELETE),
}


def decide_remedy(move: Move, *, named: bool, owned: bool, committed: bool) -> Remedy:
    """Decide what is left to do.

    ``named``: the catalog has something at ``target``; ``owned``: it has the table (or partition)
    of ``table_id``.
    """
    match move.kind:
        case MoveKind.MADE:
            return Remedy.KEEP if named else Remedy.REMOVE_EMPTY
        case MoveKind.MOVED if move.source == move.target:
            # Another table may be there by now.
            return Remedy.KEEP if named or (owned and not committed) else Remedy.DELETE
        case MoveKind.MOVED if move.table_id:
            # Another one of that name may be there by now.
            return Remedy.TAKE_BACK if owned and not committed else Remedy.DELETE
        case MoveKind.MOVED:
            return Remedy.KEEP if named or committed else Remedy.TAKE_BACK
        case _:
            undone, outcome = _DECIDED_BY_COMMIT[move.kind]
            return outcome if committed else undone


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunMoves:
    """What one statement has noted, in its order, and what would put each right.

    ``txn_id`` is the transaction that noted it, 0 for none.
    """

    key: str
    moves: tuple[tuple[Move, Remedy], ...]
    txn_id: int = 0
