"""Compaction as jobs of Spark."""
