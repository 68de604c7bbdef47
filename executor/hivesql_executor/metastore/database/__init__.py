"""Our own metastore in SQLite or PostgreSQL: its schema, and the calls of the metastore's API."""
