"""Hive's statements from text, strictly, with the place of each part."""
