"""Notes of files that a commit decides about."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Call what is noted before of the first kind, and settled by the catalog."""
    there = {
        description["name"]
        for description in sa.inspect(op.get_bind()).get_columns("HIVESQL_MOVES")
    }
    if "KIND" in there:
        return
    for column in (
        sa.Column("KIND", sa.String(16), nullable=False, server_default="moved"),
        sa.Column("SETTLED", sa.Integer(), nullable=False, server_default="0"),
    ):
        op.add_column("HIVESQL_MOVES", column)
