"""Which metastore an address means."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.counters import Counters
from hivesql_executor.metastore.cache.shelf import Limits

if TYPE_CHECKING:
    from ssl import SSLContext

THRIFT = "thrift://"


def open_metastore(
    url: str,
    warehouse: str,
    *,
    timeout: float,
    cache: Limits | None = None,
    encryption: SSLContext | None = None,
) -> Metastore:
    """Open the metastore at a database URL, or a Hive Metastore at ``thrift://host:port``.

    ``warehouse`` is where a new database of our own keeps managed tables; a Hive Metastore has its
    own. ``timeout`` in seconds is for each call of the latter, ``encryption`` for its connections.
    With a ``cache`` of some size, tables and partitions are answered from memory where that is
    right.
    """
    metastore = _open(url, warehouse, timeout, encryption)
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
    found = getattr(metastore, "counters", None)
    return found if isinstance(found, Counters) else None


def _open(url: str, warehouse: str, timeout: float, encryption: SSLContext | None) -> Metastore:
    if url.strip().startswith(THRIFT):
        from hivesql_executor.metastore.hms.metastore import HiveMetastore

        return HiveMetastore.open(url, timeout=timeout, encryption=encryption)
    if url.startswith("sqlite:"):
        from hivesql_executor.metastore.sqlite_fast_start.sqlite_reads import SqliteReads

        if reads := SqliteReads.open(url):
            from hivesql_executor.metastore.sqlite_fast_start.quick_start import QuickStart

            # As above.
            return cast(Metastore, QuickStart(reads, url, warehouse))
    from hivesql_executor.metastore.database.metastore import DatabaseMetastore

    return DatabaseMetastore.open(url, warehouse)
