"""Conditions with three truth values: one value, and what it tells of partitions, ranges, rows."""
