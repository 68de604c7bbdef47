"""What opens transactions on a database that has failed over: first files are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.reaper import reap
from hivesql_planner.errors import ExecutionError, MetastoreReplaced

T = TypeVar("T")

_SHOWN = 3


def with_known_server(opening: Callable[[], T], runtime: Runtime) -> T:
    """Open transactions; of another server of the database only if it has forgotten no write.

    Its ids would be given again, and its files mixed with others. What was open before is aborted.
    """
    try:
        return opening()
    except MetastoreReplaced as replaced:
        runtime.notify(
            f"the metastore's database is another server ({replaced.now}) than the one before "
            f"({replaced.known}): looking whether files tell of commits that it has forgotten"
        )
        newer = runtime.newer_files(runtime)
        if newer:
            more = f" and {len(newer) - _SHOWN} more" if len(newer) > _SHOWN else ""
            raise ExecutionError(
                "another server of the metastore's database has taken over and has forgotten "
                f"commits whose files are there: {', '.join(newer[:_SHOWN])}{more}. Transactional "
                "tables are neither read nor written before these directories are moved away, as "
                "their ids would be given again: hivesql doctor --every-table names them all",
                code=replaced.code,
            ) from replaced
        runtime.metastore.accept_server(replaced.known, replaced.now)
        # The transactions that were open have no locks any more, and may have half moved something.
        reap(runtime)
    return opening()
