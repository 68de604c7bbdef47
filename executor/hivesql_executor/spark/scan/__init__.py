"""Rows of ACID tables as frames of Spark: deltas, deletes, pruning and row ids."""
