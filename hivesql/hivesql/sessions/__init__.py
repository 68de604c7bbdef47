"""Parts of a session: its Spark, open transaction, temporary tables, frames, files and settings."""
