"""The history of tables: what each statement did to a transactional one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(128)


def upgrade() -> None:
    """Add the table, and what finds rows by table and by time."""
    op.create_table(
        "HIVESQL_HISTORY",
        sa.Column("ID", _ID, primary_key=True),
        sa.Column("DB_NAME", _NAME, nullable=False),
        sa.Column("TBL_NAME", sa.String(256), nullable=False),
        sa.Column("WRITE_ID", sa.BigInteger(), nullable=False),
        sa.Column("TXN_ID", sa.BigInteger(), nullable=False),
        sa.Column("OPERATION", _NAME, nullable=False),
        sa.Column("STATEMENT", sa.Text()),
        sa.Column("USER_NAME", _NAME),
        sa.Column("HOST", _NAME),
        sa.Column("PROGRAM", _NAME),
        sa.Column("STARTED_AT", sa.BigInteger()),
        sa.Column("DURATION", sa.BigInteger()),
        sa.Column("COMMITTED_AT", sa.BigInteger(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger())
            for name in ("ROWS_INSERTED", "ROWS_UPDATED", "ROWS_DELETED", "FILES", "BYTES")
        ),
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_index(
        "HIVESQL_HISTORY_IDX", "HIVESQL_HISTORY", ["DB_NAME", "TBL_NAME", "WRITE_ID"],
        if_not_exists=True,
    )  # fmt: skip
    op.create_index(
        "ix_HIVESQL_HISTORY_COMMITTED_AT", "HIVESQL_HISTORY", ["COMMITTED_AT"], if_not_exists=True
    )
