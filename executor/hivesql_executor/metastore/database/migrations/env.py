"""What alembic runs before the migrations: it gets the open database transaction."""

from __future__ import annotations

from alembic import context

from hivesql_executor.metastore.database.schema import metadata, revision

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=revision.name,
    # SQLite changes a column by copying its table.
    render_as_batch=True,
)
context.run_migrations()
