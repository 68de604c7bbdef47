"""Functions that the catalog keeps, in Hive's tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add two empty tables."""
    op.create_table(
        "FUNCS",
        sa.Column("FUNC_ID", _ID, primary_key=True),
        sa.Column("CLASS_NAME", sa.String(4000)),
        sa.Column("CREATE_TIME", sa.Integer(), nullable=False),
        sa.Column("DB_ID", _ID),
        sa.Column("FUNC_NAME", sa.String(128)),
        sa.Column("FUNC_TYPE", sa.Integer(), nullable=False),
        sa.Column("OWNER_NAME", sa.String(128)),
        sa.Column("OWNER_TYPE", sa.String(10)),
        sa.UniqueConstraint("FUNC_NAME", "DB_ID", name="UNIQUEFUNCTION"),
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_table(
        "FUNC_RU",
        sa.Column("FUNC_ID", _ID, primary_key=True, autoincrement=False),
        sa.Column("RESOURCE_TYPE", sa.Integer(), nullable=False),
        sa.Column("RESOURCE_URI", sa.String(4000)),
        sa.Column("INTEGER_IDX", _ID, primary_key=True, autoincrement=False),
        if_not_exists=True,
    )
