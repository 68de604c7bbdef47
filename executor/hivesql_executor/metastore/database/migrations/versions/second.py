"""Idempotency keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add a table of what was committed under a key; one without a revision may have it already."""
    op.create_table(
        "HIVESQL_IDEMPOTENCE",
        sa.Column(
            "IDEMPOTENCY_KEY", sa.Text().with_variant(sa.String(768), "mysql"), primary_key=True
        ),
        sa.Column("LAST_NUMBER", sa.BigInteger()),
        sa.Column("DIGEST", sa.String(32), nullable=False),
        sa.Column("TXN_ID", sa.BigInteger(), nullable=False),
        sa.Column("COMMITTED_AT", sa.BigInteger(), nullable=False),
        if_not_exists=True,
    )
