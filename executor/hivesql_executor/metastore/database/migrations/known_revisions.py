"""Which schemas of our own metastore there are: told without SQLAlchemy, for a quick start."""

from __future__ import annotations

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
"""All revisions that this release knows, the oldest first; alembic's directory has the same."""
