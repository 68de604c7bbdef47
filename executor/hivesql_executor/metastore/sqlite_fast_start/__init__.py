"""Reads of a metastore in SQLite that begin before SQLAlchemy is imported."""
