"""Hive's ACID layout as values: row ids, directory names, write ids, snapshots."""
