"""Indexes: of transactions that have not committed, of the latest, and of what lies in a place."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_UNENDED = sa.text("\"TXN_STATE\" <> 'c'")


def upgrade() -> None:
    """Add the indexes; of a location MySQL takes no more than a beginning."""
    op.create_index(
        "HIVESQL_TXNS_UNENDED", "TXNS", ["TXN_STATE", "TXN_ID"],
        if_not_exists=True, postgresql_where=_UNENDED, sqlite_where=_UNENDED,
    )  # fmt: skip
    op.create_index("HIVESQL_TXNS_STARTED", "TXNS", ["TXN_STARTED"], if_not_exists=True)
    op.create_index(
        "HIVESQL_SDS_LOCATION", "SDS", ["LOCATION"], if_not_exists=True,
        mysql_length=255,
    )  # fmt: skip
    op.create_index("TBLS_N50", "TBLS", ["SD_ID"], if_not_exists=True)
    op.create_index("PARTITIONS_N50", "PARTITIONS", ["SD_ID"], if_not_exists=True)
