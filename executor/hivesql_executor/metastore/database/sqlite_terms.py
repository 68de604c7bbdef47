"""What both ways of asking a metastore in an SQLite file have in common."""

from __future__ import annotations

BUSY_SECONDS = 10.0
"""So long a statement waits for another process."""
NOW = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
"""Milliseconds since the epoch."""
