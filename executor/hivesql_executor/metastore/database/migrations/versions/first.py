"""The schema before revisions were kept; databases without a revision are at this one."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing: whoever has no revision has these tables."""
