"""Conditions with three truth values, and what they tell of partitions, ranges and rows."""
