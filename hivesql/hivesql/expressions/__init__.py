"""Expressions of Hive rewritten for Spark so that they mean the same."""
