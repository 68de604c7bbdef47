"""Which metastore an address means."""

from __future__ import annotations

from hivesql_executor.metastore.api import Metastore

THRIFT = "thrift://"


def open_metastore(url: str, warehouse: str, *, timeout: float) -> Metastore:
    """Open the metastore at a database URL, or a Hive Metastore at ``thrift://host:port``.

    ``warehouse`` is where a new database of our own keeps managed tables; a Hive Metastore has its
    own. ``timeout`` in seconds is for each call of the latter.
    """
    if url.strip().startswith(THRIFT):
        from hivesql_executor.metastore.hms.metastore import HiveMetastore

        return HiveMetastore.open(url, timeout=timeout)
    from hivesql_executor.metastore.database import DatabaseMetastore

    return DatabaseMetastore.open(url, warehouse)
