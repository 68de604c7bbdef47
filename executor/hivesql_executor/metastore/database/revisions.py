"""The revision of our own metastore's schema: made, recognised, raised, or too new."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, insert, inspect, select

from hivesql_executor.metastore.database import schema
from hivesql_executor.metastore.database.catalog import grants
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.migrations.known_revisions import REVISIONS
from hivesql_executor.metastore.database.notification_schema import notification_sequence as _  # noqa: F401 - makes the tables known
from hivesql_executor.metastore.database.transactions.txn_rows import COMMITTED
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import Database

MIGRATIONS = Path(__file__).with_name("migrations")


def current_revision(db: Connection) -> str | None:
    """Give the revision of the schema that is there; None when there is none or it is not told."""
    if not db.dialect.has_table(db, schema.revision.name):
        return None
    return db.scalar(select(schema.revision.c.revision))


def prepare(db: Connection, warehouse: str, *, locations: Sequence[Path] = ()) -> None:
    """Create the tables of an empty database, or bring older ones up to date.

    ``locations`` are directories with further migrations. SemanticError when the schema is newer
    than this release.
    """
    with terms_of(db).creating(db):
        _prepare(db, warehouse, locations)


def _prepare(db: Connection, warehouse: str, locations: Sequence[Path]) -> None:
    current = current_revision(db)
    if current is None and not terms_of(db).has_transactional_ddl:
        _clear(db)
    if current is None and not inspect(db).has_table(schema.version.name):
        # The first table: of those whose making was cut off, it tells that they are ours.
        schema.revision.create(db, checkfirst=True)
        schema.metadata.create_all(db)
        _seed(db, warehouse)
        current = REVISIONS[-1]
        db.execute(insert(schema.revision).values(revision=current))
    elif current is None:
        # Made before revisions were kept, perhaps before the latest of the first tables.
        schema.metadata.create_all(db)
        current = REVISIONS[0]
        db.execute(insert(schema.revision).values(revision=current))
    elif current not in REVISIONS and not locations:
        raise SemanticError(
            f"the metastore's schema has revision {current}, and this release knows revisions up "
            f"to {REVISIONS[-1]}: it was opened by a newer HiveSQL. Use that one, or a newer one"
        )
    if current != REVISIONS[-1] or locations:
        _upgrade(db, locations)


def _clear(db: Connection) -> None:
    """Drop tables whose making was cut off; SemanticError where they are not ours, or have rows.

    Where tables are made one by one, there were revisions from the first release.
    """
    there = inspect(db).has_table(schema.revision.name)
    names = set(inspect(db).get_table_names()) & set(schema.metadata.tables)
    if (names and not there) or (schema.dbs.name in names and db.scalar(select(schema.dbs.c.id))):
        raise SemanticError(
            f"the database {db.engine.url.database} has tables of a metastore that is not ours. Of "
            "a Hive Metastore, give the address (thrift://host:9083), else an empty database"
        )
    if names:
        schema.metadata.drop_all(db)


def _upgrade(db: Connection, locations: Sequence[Path]) -> None:
    # Imported late: most openings find the latest revision, and must be fast.
    from alembic.command import upgrade
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "newline")
    places = [MIGRATIONS / "versions", *locations]
    config.set_main_option("version_locations", "\n".join(map(str, places)))
    config.attributes["connection"] = db
    upgrade(config, "head")


def _seed(db: Connection, warehouse: str) -> None:
    db.execute(insert(schema.version).values(id=1, version=schema.SCHEMA_VERSION))
    for counter in (schema.next_lock_id, schema.next_compaction_id):
        db.execute(insert(counter).values(next=1))
    db.execute(insert(schema.txn_lock).values(lock=1))
    terms_of(db).seed(db)
    # Hive's seed: snapshots of an empty metastore have a high watermark.
    seed = {"id": 0, "state": COMMITTED, "started": 0, "last_heartbeat": 0}
    db.execute(insert(schema.txns).values(seed | {"user": "", "host": ""}))
    default = Database(name="default", location=warehouse, comment="Default Hive database")
    catalog.create_database(db, default, warehouse, if_not_exists=True)
    grants.seed_roles(db)
