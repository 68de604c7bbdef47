"""Reads: the language and the front doors; the public package."""
