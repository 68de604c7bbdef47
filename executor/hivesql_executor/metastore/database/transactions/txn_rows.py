"""Rows of TXNS as values, whoever has read them, and the letters of their states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import TxnRow

OPEN, ABORTED, COMMITTED = "o", "a", "c"
"""TXNS.TXN_STATE."""


def txn_row(row: Any) -> TxnRow:
    """Give one row of SHOW TRANSACTIONS."""
    from hivesql_executor.metastore.api import TxnRow

    return TxnRow(
        txn_id=row.id,
        state="open" if row.state == OPEN else "aborted",
        started=row.started,
        last_heartbeat=row.last_heartbeat,
        user=row.user,
        host=row.host,
    )
