"""Directories on their way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add an empty table: what statements are about to move."""
    op.create_table(
        "HIVESQL_MOVES",
        sa.Column("MOVE_KEY", sa.String(32), primary_key=True),
        sa.Column("POSITION", sa.Integer(), primary_key=True),
        sa.Column("TXN_ID", sa.BigInteger(), nullable=False),
        sa.Column("STARTED_AT", sa.BigInteger(), nullable=False),
        sa.Column("SOURCE", sa.String(4000), nullable=False),
        sa.Column("TARGET", sa.String(4000), nullable=False),
        sa.Column("TBL_ID", sa.BigInteger(), nullable=False),
        sa.Column("PART_NAME", sa.String(767), nullable=False),
        if_not_exists=True,
    )
