"""Rows and events of a statement as files in deltas, by jobs of Spark."""
