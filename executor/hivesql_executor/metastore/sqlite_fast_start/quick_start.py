"""A metastore in an SQLite file that loads its database layer when that is first needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from hivesql_executor.metastore.sqlite_fast_start.sqlite_reads import QUESTIONS, SqliteReads
from hivesql_planner.errors import SessionClosed

if TYPE_CHECKING:
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore


class QuickStart:
    """``DatabaseMetastore``, some of whose questions are answered by ``SqliteReads``.

    These have the same methods; what they are not sure of (None), and all other calls, go to the
    metastore behind.
    """

    def __init__(self, reads: SqliteReads, url: str, warehouse: str) -> None:
        self._reads = reads
        self._url = url
        self._warehouse = warehouse
        self._guard = threading.Lock()
        self._opened: DatabaseMetastore | None = None
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        if name not in QUESTIONS:
            return getattr(self._behind(), name)
        answer = getattr(self._reads, name)

        def ask(*arguments: Any, **named: Any) -> Any:
            result = answer(*arguments, **named)
            return getattr(self._behind(), name)(*arguments, **named) if result is None else result

        return ask

    def _behind(self) -> DatabaseMetastore:
        from hivesql_executor.metastore.database.metastore import DatabaseMetastore

        with self._guard:
            if self._closed:
                raise SessionClosed
            if self._opened is None:
                self._opened = DatabaseMetastore.open(self._url, self._warehouse)
            return self._opened

    def close(self) -> None:
        """Let go of the database."""
        with self._guard:
            self._closed = True
        self._reads.close()
        if self._opened is not None:
            self._opened.close()
