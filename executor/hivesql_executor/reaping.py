"""The end of those that died: their transactions, and directories that they had half moved."""

from __future__ import annotations

from hivesql_executor.metastore.api import BegunMoves, Remedy
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import HiveSqlError


def reap(runtime: Runtime) -> None:
    """Put directories where the catalog says, then abort whoever is silent.

    In this order: as long as the dead transaction has its locks, nobody misses the files.
    """
    timeout = runtime.settings.seconds("hive.txn.timeout")
    for begun in runtime.metastore.lost_moves(timeout):
        try:
            mend(begun, runtime)
        except (HiveSqlError, OSError) as error:
            # The next one that comes by tries again; this one has other work to do.
            runtime.notify(f"a statement died between files and catalog, not mended yet: {error}")
    runtime.metastore.reap(timeout)


def mend(begun: BegunMoves, runtime: Runtime) -> None:
    """Put directories where the catalog says they are, or delete them, and forget the moves."""
    for move, remedy in reversed(begun.moves):
        files = runtime.files(move.source)
        if remedy is Remedy.DELETE:
            files.delete(move.target)
        elif remedy is Remedy.TAKE_BACK and files.exists(move.target):
            files.rename(move.target, move.source)
    runtime.metastore.forget_moves(begun.key)
