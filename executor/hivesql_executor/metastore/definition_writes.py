"""Changes of definitions as writes, so that readers' lists of write ids tell them from before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql_executor.metastore.database.notification_log import latest_event
from hivesql_executor.metastore.database.transactions import snapshots

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hivesql_planner.model.table import Table


def give_write_id(db: Connection, txn_id: int, table: Table) -> None:
    """Give a transaction that changes a table's definition a write id there, unless it has one.

    Only copies of tables need it, so without a notification log none is used up.
    """
    if txn_id and table.is_transactional and latest_event(db) is not None:
        snapshots.allocate_write_id(db, txn_id, table.name, again=False)
