"""Hive's notification log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Two empty tables: the log is kept once a cache asks for it."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "NOTIFICATION_LOG",
        sa.Column("NL_ID", number, primary_key=True),
        sa.Column("EVENT_ID", sa.BigInteger(), nullable=False, unique=True),
        sa.Column("EVENT_TIME", sa.BigInteger(), nullable=False),
        sa.Column("EVENT_TYPE", sa.String(32), nullable=False),
        sa.Column("CAT_NAME", sa.String(256), server_default="hive"),
        sa.Column("DB_NAME", sa.String(128)),
        sa.Column("TBL_NAME", sa.String(256)),
        sa.Column("MESSAGE", sa.Text(), nullable=False),
        sa.Column("MESSAGE_FORMAT", sa.String(16)),
        if_not_exists=True,
    )
    op.create_index(
        "ix_NOTIFICATION_LOG_EVENT_TIME", "NOTIFICATION_LOG", ["EVENT_TIME"], if_not_exists=True
    )
    op.create_table(
        "NOTIFICATION_SEQUENCE",
        sa.Column("NNI_ID", number, primary_key=True),
        sa.Column("NEXT_EVENT_ID", sa.BigInteger(), nullable=False),
        if_not_exists=True,
    )
