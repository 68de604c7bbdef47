"""Our own metastore in SQLite, PostgreSQL or MariaDB: its schema, and what its methods do."""
