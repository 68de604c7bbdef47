"""Databases, tables, partitions, constraints and statistics as rows of the metastore."""
