"""Which metastore an address means."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.counters import Counters
from hivesql_executor.metastore.cache.shelf import Limits

if TYPE_CHECKING:
    from hivesql_executor.metastore.hms.access.transports import Access

THRIFT = "thrift://"
SQLITE = "sqlite:///"


def open_metastore(
    url: str,
    warehouse: str,
    *,
    timeout: float,
    cache: Limits | None = None,
    access: Access | None = None,
    notify: Callable[[str], None] = lambda line: None,
) -> Metastore:
    """Open the metastore at a database URL, or a Hive Metastore at ``thrift://host:port``.

    ``warehouse`` is where a new database of our own keeps managed tables; a Hive Metastore has its
    own. ``timeout`` in seconds is for each answer of a server, ``access`` says how to connect to
    the latter.
    With a ``cache`` of some size, tables and partitions are answered from memory where that is
    right. An SQLite file that may not be written is read from a copy, which ``notify`` is told.
    """
    if (path := _read_only_file(url)) is not None:
        from hivesql_executor.metastore.read_only import ReadOnlyCopy

        copy = ReadOnlyCopy.of(path, warehouse)
        notify(copy.notice)
        return copy
    metastore = _open(url, warehouse, timeout, access)
    if cache is None:
        return metastore
    from hivesql_executor.metastore.cache.metastore import CachingMetastore

    try:
        # It hands on whatever it does not answer itself, which no type can say.
        return cast(Metastore, CachingMetastore(metastore, cache))
    except BaseException:
        metastore.close()
        raise


def counters_of(metastore: Metastore) -> Counters | None:
    """Tell what the cache in front of a metastore has done; None without one."""
    counters = getattr(metastore, "counters", None)
    return counters if isinstance(counters, Counters) else None


def _open(url: str, warehouse: str, timeout: float, access: Access | None) -> Metastore:
    if url.strip().startswith(THRIFT):
        from hivesql_executor.metastore.hms.metastore import HiveMetastore

        return HiveMetastore.open(url, timeout=timeout, access=access)
    if url.startswith("sqlite:"):
        from hivesql_executor.metastore.sqlite_fast_start.sqlite_reads import SqliteReads

        if reads := SqliteReads.open(url):
            from hivesql_executor.metastore.sqlite_fast_start.quick_start import QuickStart

            # As above.
            return cast(Metastore, QuickStart(reads, url, warehouse))
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore

    return DatabaseMetastore.open(url, warehouse, timeout)


def _read_only_file(url: str) -> Path | None:
    """Return the SQLite file of a metastore that is there and may not be written; else None.

    SQLite also makes files beside it, unless they are there.
    """
    path = Path(url.removeprefix(SQLITE)).absolute()
    if not url.startswith(SQLITE) or "?" in url or "file:" in url or not path.is_file():
        return None
    beside = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    if _may_write(path) and (_may_write(path.parent) or all(map(_may_write, beside))):
        return None
    return path


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
