"""Databases and tables as rows; functions take an open connection and never commit."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Integer,
    Select,
    bindparam,
    delete,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.sql.visitors import replacement_traverse

from hivesql_executor.metastore.api import NewColumns, TableNote
from hivesql_executor.metastore.database import history_cleanup as cleanup
from hivesql_executor.metastore.database.catalog import functions, grants, table_rows
from hivesql_executor.metastore.database.catalog.catalog_values import (
    ESCAPE,
    database_of,
    name_patterns,
)
from hivesql_executor.metastore.database.catalog.partition_storage import (
    keep_columns,
    keep_storage,
    mark,
    share_columns,
)
from hivesql_executor.metastore.database.catalog.shared_places import (
    refuse_shared_place,
    refuse_undeleted_places,
)
from hivesql_executor.metastore.database.catalog.table_rows import add_params, named, params
from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.dialects.execution import Rows, Statement, run, run_all
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.notification_log import latest_event, note, note_change
from hivesql_executor.metastore.database.schema import (
    database_params,
    dbs,
    partitions,
    sds,
    table_params,
    tbls,
)
from hivesql_executor.metastore.database.transactions import snapshots
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.errors import NoSuchObject, SemanticError, StaleSnapshot
from hivesql_planner.model.materialized import MATERIALIZED, Materialized
from hivesql_planner.model.names import check_database, check_table
from hivesql_planner.model.table import TEMPORARY, Database, Table, TableName


def give_write_id(db: Connection, txn_id: int, table: Table) -> None:
    """Give a transaction that changes a table's definition a write id there, unless it has one.

    Only copies of tables need it, so without a notification log none is used up.
    """
    if txn_id and table.is_transactional and latest_event(db) is not None:
        snapshots.allocate_write_id(db, txn_id, table.name, again=False)


_CHUNK = 500


def create_database(
    db: Connection, database: Database, warehouse: str, *, if_not_exists: bool
) -> None:
    """Add a database; without a location it lives at ``default_home``."""
    name = database.name.lower()
    if db.scalar(select(dbs.c.id).where(dbs.c.name == name)) is not None:
        if if_not_exists:
            return
        raise SemanticError(f"Database {name} already exists", code=10242)
    check_database(replace(database, name=name))
    home = database.location or default_home(db, warehouse, name)
    placed = replace(database, location=home)
    values = _database_values(placed) | {"name": name, "created_at": now(db) // 1000}
    new = terms_of(db).insert_for_ids(db, dbs, [values])[0]
    add_params(db, database_params, new, database.properties)
    note(db, Event(kind=EventKind.CREATE_DATABASE, database=name))


def default_home(db: Connection, warehouse: str, name: str) -> str:
    """Return the directory that a new database gets when it names none.

    It lies in that of ``default``, whatever a client was started with; ``warehouse`` is that of a
    metastore that is being made.
    """
    row = run(db, DATABASE, {"database": "default"}).one_or_none()
    home = None if row is None else row.location
    return f"{(home or warehouse).rstrip('/')}/{name.lower()}.db"


def database(db: Connection, name: str) -> Database:
    """Return the database of that name, or NoSuchObject 10072."""
    row = run(db, DATABASE, {"database": name.lower()}).one_or_none()
    if row is None:
        raise NoSuchObject(f"Database does not exist: {name.lower()}", code=10072)
    return database_of(row, params(db, database_params, row.id))


def _database_values(database: Database) -> dict[str, Any]:
    return {
        "location": database.location,
        "managed_location": database.managed_location,
        "comment": database.comment,
        "owner": database.owner,
        "owner_type": database.owner_type,
    }


def alter_database(db: Connection, new: Database) -> None:
    """Replace the description of a database."""
    database_id = _database_id(db, new.name)
    db.execute(update(dbs).where(dbs.c.id == database_id).values(_database_values(new)))
    db.execute(delete(database_params).where(database_params.c.owner_id == database_id))
    add_params(db, database_params, database_id, new.properties)
    note(db, Event(kind=EventKind.ALTER_DATABASE, database=new.name.lower()))


def databases(db: Connection) -> tuple[str, ...]:
    """Names of all databases, sorted."""
    return tuple(sorted(row.name for row in run(db, DATABASES)))


def drop_database(db: Connection, name: str, *, cascade: bool = False) -> None:
    """Drop an empty database, or with ``cascade`` any but ``default``."""
    dropped = _database_id(db, name)
    if name.lower() == "default":
        raise SemanticError("Can not drop default database")
    names = tables(db, name)
    if names and not cascade:
        raise SemanticError(
            f"Database {name.lower()} is not empty. One or more tables exist. "
            "Drop them first, or use DROP DATABASE … CASCADE",
            code=10042,
        )
    if not cascade and functions.has_functions(db, dropped):
        raise SemanticError(
            f"Database {name.lower()} is not empty. One or more functions exist. "
            "Drop them first, or use DROP DATABASE … CASCADE",
            code=10042,
        )
    rows = [(table_name, _table_row(db, table_name)) for table_name in names]
    # Tables that materialized views were made from cannot go before these.
    for table_name, _ in sorted(rows, key=lambda pair: not _is_materialized(pair[1])):
        drop_table(db, table_name)
    functions.drop_functions_of(db, dropped)
    grants.forget_database(db, dropped)
    db.execute(delete(database_params).where(database_params.c.owner_id == dropped))
    db.execute(delete(dbs).where(dbs.c.id == dropped))
    note(db, Event(kind=EventKind.DROP_DATABASE, database=name.lower()))


def create_table(
    db: Connection, new: Table, *, if_not_exists: bool = False, is_empty: bool | None = None
) -> Table:
    """Add a table or view and return it with its id, its location and its time of creation.

    Its statistics say that it ``is_empty``; None: unless it is external.
    """
    name = new.name.lower()
    home = _database_id(db, name.database)
    if _table_row(db, name) is not None:
        if if_not_exists:
            return table(db, name)
        raise SemanticError(f"Table already exists: {name}", code=10073)
    check_table(replace(new, name=name))
    location = new.location
    if not location and not new.is_view:
        location = home_of(db, new)
    placed = replace(
        new, name=name, location=location, created_at=new.created_at or now(db) // 1000
    )
    if location:
        refuse_shared_place(db, placed, [location])
        refuse_undeleted_places(db, [location])
    is_empty = placed.type != "EXTERNAL_TABLE" if is_empty is None else is_empty
    created = table_rows.add_table(db, home, placed, is_empty=is_empty)
    if not name.database.startswith(TEMPORARY):
        grants.grant_to_owner(db, created, placed.owner)
    note_change(db, EventKind.CREATE_TABLE, name, created)
    return table(db, name)


def home_of(db: Connection, new: Table) -> str:
    """Return the directory that a new table gets when it names none."""
    name = new.name.lower()
    return database(db, name.database).home_of(name.name, managed=new.type != "EXTERNAL_TABLE")


def table(db: Connection, name: TableName) -> Table:
    """Return the table of that name, or NoSuchObject 10001."""
    name = name.lower()
    if terms_of(db).has_changing_queries:
        # All at once, each looking for the name: that takes the server less than to be asked again.
        place = _place(name)
        rows, *known = run_all(db, *((query, place) for query in (TABLE, *_of_table())))
        row = rows.one_or_none()
    else:
        row, known = _table_row(db, name), None
    if row is None:
        database(db, name.database)
        raise NoSuchObject(f"Table not found: {name}", code=10001)
    return table_rows.read_table(db, name, row, known)


def table_id(db: Connection, name: TableName, *, lock: bool = False) -> int:
    """Return the id of the table of that name, or NoSuchObject 10001."""
    name = name.lower()
    id_ = run(db, _ID_FOR_UPDATE if lock else _ID, _place(name)).scalar()
    if id_ is None:
        raise NoSuchObject(f"Table not found: {name}", code=10001)
    return int(id_)


def hold_table(db: Connection, name: TableName, beside: Statement) -> tuple[int | None, Rows]:
    """Hold the row of the table of that name; its id, or None, and what is asked ``beside``."""
    ids, rows = run_all(db, (_ID_FOR_UPDATE, _place(name.lower())), beside)
    return ids.scalar(), rows


def tables(db: Connection, database: str) -> tuple[TableName, ...]:
    """Tables and views of a database, sorted."""
    rows = run(db, TABLES, {"owner": _database_id(db, database)})
    return tuple(TableName(database.lower(), name) for name in sorted(row.name for row in rows))


def some_tables(db: Connection, database: str, most: int, near: str = "") -> tuple[TableName, ...]:
    """At most so many of the tables and views, of those that are near a name; sorted."""
    values = {"owner": _database_id(db, database), "most": most, **name_patterns(near)}
    rows = run(db, SOME_TABLES, values)
    return tuple(TableName(database.lower(), name) for name in sorted(row.name for row in rows))


def alter_table(
    db: Connection, name: TableName, new: Table, *, txn_id: int = 0, cascade: bool = True
) -> None:
    """Make the table be what ``new`` says, its name included; it keeps its id and its partitions.

    Without ``cascade`` partitions keep the columns that the table had.

    When it is renamed, partitions under its old location follow it to the new one. With a
    ``txn_id`` the change belongs to that transaction's write in the table, as in the functions
    about partitions: while a notification log is kept, it gets a write id for that.
    """
    name, to = name.lower(), new.name.lower()
    old = table(db, name)
    id_ = table_id(db, name, lock=True)
    if to != name and _table_row(db, to) is not None:
        raise SemanticError(f"Table already exists: {to}", code=10073)
    check_table(replace(new, name=to), old)
    home = _database_id(db, to.database)
    altered = replace(
        new, name=to, location=new.location or old.location, created_at=old.created_at
    )
    renamed_to = to if to != name else None
    fate = (old.location, old.type, old.is_transactional)
    if altered.location and fate != (altered.location, altered.type, altered.is_transactional):
        refuse_shared_place(db, altered, [altered.location], but=id_)
    if altered.location and altered.location != old.location:
        refuse_undeleted_places(db, [altered.location])
    give_write_id(db, txn_id, old)
    note_change(db, EventKind.ALTER_TABLE, name, id_, renamed_to=renamed_to, txn_id=txn_id)
    # All partitions of an Avro table have its schema.
    stored_before = (old.format, altered.with_schema(old.serde_properties))
    converted = stored_before != (altered.format, altered.serde_properties)
    if converted:
        keep_storage(db, old)
    _keep_described(db, old, altered, cascade=cascade)
    table_rows.replace_table(db, id_, home, altered)
    moved = to == name and altered.location != old.location
    if moved or converted:
        # Nobody has counted what is read from now on.
        table_rows.mark_inaccurate(db, table_params, [id_])
    if to != name:
        cleanup.rename_table(db, name, to)
    if to != name and altered.location != old.location:
        _move_partitions(db, id_, old.location, altered.location)


def _keep_described(db: Connection, old: Table, altered: Table, *, cascade: bool) -> None:
    """Leave the partitions of an altered table how they were described, as Hive does."""
    if not old.partition_columns:
        return
    if old.buckets != altered.buckets:
        mark(db, old.id)
    if old.columns == altered.columns:
        return
    if cascade:
        share_columns(db, old.id)
    else:
        keep_columns(db, old)


def drop_table(db: Connection, name: TableName) -> None:
    """Drop a table, its partitions and what the transaction tables know of it."""
    name = name.lower()
    id_ = table_id(db, name, lock=True)
    _check_unused(db, name)
    owned = select(partitions.c.id).where(partitions.c.table_id == id_)
    ids = list(db.scalars(owned))
    for start in range(0, len(ids), _CHUNK):
        table_rows.delete_partitions(db, ids[start : start + _CHUNK])
    note_change(db, EventKind.DROP_TABLE, name, id_)
    grants.forget_table(db, id_)
    table_rows.delete_table(db, id_)
    cleanup.drop_table(db, name)


def _is_materialized(row: table_rows.TableRow | None) -> bool:
    return row is not None and row.type == "MATERIALIZED_VIEW"


def _check_unused(db: Connection, name: TableName) -> None:
    """Refuse to drop a table that materialized views were made from, as Hive does."""
    query = (
        select(dbs.c.name, tbls.c.name, table_params.c.value)
        .join(dbs, dbs.c.id == tbls.c.database_id)
        .join(table_params, table_params.c.owner_id == tbls.c.id)
        .where(tbls.c.type == "MATERIALIZED_VIEW", table_params.c.name == MATERIALIZED)
    )
    views = [
        f"{database}.{view}"
        for database, view, text in db.execute(query)
        if str(name) in Materialized.read(text, rewrite=False).sources
    ]
    if views:
        raise SemanticError(
            f"Cannot drop table as it is used in the following materialized views "
            f"[{', '.join(sorted(views))}]: {name}. Drop them first"
        )


def _move_partitions(db: Connection, table_id: int, old: str, new: str) -> None:
    query = (
        select(sds.c.id, sds.c.location)
        .join(partitions, partitions.c.sd_id == sds.c.id)
        .where(partitions.c.table_id == table_id)
    )
    for sd_id, location in db.execute(query).all():
        if location.startswith(f"{old}/"):
            moved = new + location[len(old) :]
            db.execute(update(sds).where(sds.c.id == sd_id).values(location=moved))


def _of_name(query: Select[Any]) -> Select[Any]:
    return query.join(dbs, dbs.c.id == tbls.c.database_id).where(
        dbs.c.name == bindparam("database"), tbls.c.name == bindparam("table")
    )


DATABASE = select(*named(dbs)).where(dbs.c.name == bindparam("database"))
DATABASES = select(dbs.c.name.label("name"))
TABLE = _of_name(select(*named(tbls)))
TABLES = select(tbls.c.name.label("name")).where(tbls.c.database_id == bindparam("owner"))
SOME_TABLES = TABLES.where(
    or_(*(tbls.c.name.like(bindparam(way), escape=ESCAPE) for way in ("begin", "end")))
).limit(bindparam("most", type_=Integer))
_ID = _of_name(select(tbls.c.id))


@functools.cache
def _of_table() -> tuple[Any, ...]:
    """Compose the queries of ``read_table`` for who knows the table's name, not yet its ids."""
    table_id, sd_id = (_of_name(select(column)) for column in (tbls.c.id, tbls.c.sd_id))
    serde_id, cd_id = (
        _of_name(select(column).join(tbls, tbls.c.sd_id == sds.c.id))
        for column in (sds.c.serde_id, sds.c.cd_id)
    )
    ids = {
        "owner": table_id, "table_id": table_id, "sd_id": sd_id,
        "serde_id": serde_id, "cd_id": cd_id,
    }  # fmt: skip
    subqueries = {key: query.correlate(None).scalar_subquery() for key, query in ids.items()}

    def replace_id(element: Any, **_: Any) -> Any:
        return subqueries.get(element.key) if isinstance(element, BindParameter) else None

    return tuple(replacement_traverse(query, {}, replace_id) for query in table_rows.OF_TABLE)


# Its database's row stays free, which all other tables have too.
_ID_FOR_UPDATE = (
    select(tbls.c.id)
    .where(
        tbls.c.database_id
        == select(dbs.c.id).where(dbs.c.name == bindparam("database")).scalar_subquery(),
        tbls.c.name == bindparam("table"),
    )
    .with_for_update()
)


def _place(name: TableName) -> dict[str, str]:
    return {"database": name.database, "table": name.name}


def _table_row(db: Connection, name: TableName) -> table_rows.TableRow | None:
    row: table_rows.TableRow | None = run(db, TABLE, _place(name)).one_or_none()
    return row


def _database_id(db: Connection, name: str) -> int:
    id_ = db.scalar(select(dbs.c.id).where(dbs.c.name == name.lower()))
    if id_ is None:
        raise NoSuchObject(f"Database does not exist: {name.lower()}", code=10072)
    return int(id_)


def set_property(db: Connection, note: TableNote) -> None:
    """Set it, in the database transaction that commits."""
    owner = table_id(db, note.table)
    rows = table_params
    db.execute(delete(rows).where(rows.c.owner_id == owner, rows.c.name == note.key))
    note_change(db, EventKind.ALTER_TABLE, note.table, owner)
    db.execute(insert(rows).values(owner_id=owner, name=note.key, value=note.value))


def change_columns(db: Connection, note: NewColumns) -> None:
    """Change them, in the database transaction that commits; StaleSnapshot after others."""
    now = table(db, note.table.name)
    if (now.id, now.columns) != (note.table.id, note.table.columns):
        raise StaleSnapshot(
            f"{now.name} got other columns while the statement ran, and this happened again and "
            "again. Run the statement again"
        )
    alter_table(db, now.name, replace(now, columns=note.columns))
