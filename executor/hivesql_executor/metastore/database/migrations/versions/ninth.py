"""What finds the transactions that have not committed, and the latest, among all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_UNENDED = sa.text("\"TXN_STATE\" <> 'c'")


def upgrade() -> None:
    """Add two indexes."""
    op.create_index(
        "HIVESQL_TXNS_UNENDED", "TXNS", ["TXN_STATE", "TXN_ID"],
        if_not_exists=True, postgresql_where=_UNENDED, sqlite_where=_UNENDED,
    )  # fmt: skip
    op.create_index("HIVESQL_TXNS_STARTED", "TXNS", ["TXN_STARTED"], if_not_exists=True)
