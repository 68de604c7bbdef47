"""Compaction services."""
