"""Statements in the cells of a notebook, after ``%load_ext hivesql``."""
