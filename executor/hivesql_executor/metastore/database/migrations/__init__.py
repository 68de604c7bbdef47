"""Changes of our own metastore's schema, one module each, run by alembic."""
