"""Functions in the catalog as rows."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.schema import dbs, function_resources, functions
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.functions import ResourceKind, StoredFunction, check_function_name

# Hive's FunctionType and ResourceType.
_JAVA = 1
_RESOURCES: tuple[ResourceKind, ...] = ("jar", "file", "archive")


def create_function(db: Connection, new: StoredFunction) -> None:
    """Add a function; SemanticError when its database has one of that name."""
    database = new.database.lower()
    owner = db.scalar(select(dbs.c.id).where(dbs.c.name == database))
    if owner is None:
        raise NoSuchObject(f"Database does not exist: {database}", code=10072)
    name = new.name.lower()
    check_function_name(name)
    same = select(functions.c.id).where(functions.c.database_id == owner, functions.c.name == name)
    if db.scalar(same) is not None:
        raise SemanticError(f"Function {name} already exists")
    values = {
        "java_class": new.java_class, "created_at": now(db) // 1000, "database_id": owner,
        "name": name, "type": _JAVA, "owner": new.owner, "owner_type": "USER",
    }  # fmt: skip
    function_id = terms_of(db).insert_for_ids(db, functions, [values])[0]
    places = [
        {
            "owner_id": function_id,
            "type": _RESOURCES.index(kind) + 1,
            "place": place,
            "position": at,
        }
        for at, (kind, place) in enumerate(new.resources)
    ]
    if places:
        db.execute(insert(function_resources), places)


def drop_function(db: Connection, database: str, name: str) -> None:
    """Drop a function, if it is there."""
    owner = select(dbs.c.id).where(dbs.c.name == database.lower()).scalar_subquery()
    here = (functions.c.database_id == owner, functions.c.name == name.lower())
    _drop(db, *db.scalars(select(functions.c.id).where(*here)))


def has_functions(db: Connection, database_id: int) -> bool:
    """Tell whether a database has functions."""
    query = select(functions.c.id).where(functions.c.database_id == database_id)
    return db.scalar(query.limit(1)) is not None


def drop_functions_of(db: Connection, database_id: int) -> None:
    """Drop all functions of a database."""
    _drop(db, *db.scalars(select(functions.c.id).where(functions.c.database_id == database_id)))


def _drop(db: Connection, *ids: int) -> None:
    for function_id in ids:
        db.execute(delete(function_resources).where(function_resources.c.owner_id == function_id))
        db.execute(delete(functions).where(functions.c.id == function_id))


def function(db: Connection, database: str, name: str) -> StoredFunction | None:
    """Return the function of that name; None where there is none."""
    joined = functions.join(dbs, dbs.c.id == functions.c.database_id)
    query = select(functions).select_from(joined)
    row = db.execute(
        query.where(dbs.c.name == database.lower(), functions.c.name == name.lower())
    ).one_or_none()
    if row is None:
        return None
    places = function_resources.c
    needed = select(places.type, places.place).where(places.owner_id == row.id)
    return StoredFunction(
        database=database.lower(), name=row.name, java_class=row.java_class, owner=row.owner,
        created_at=row.created_at,
        resources=tuple(
            (_RESOURCES[kind - 1], place)
            for kind, place in db.execute(needed.order_by(places.position))
        ),
    )  # fmt: skip


def function_names(db: Connection) -> tuple[str, ...]:
    """Return the names of all functions with their databases, sorted."""
    return tuple(sorted(f"{row.database}.{row.name}" for row in db.execute(NAMES)))


NAMES = select(dbs.c.name.label("database"), functions.c.name.label("name")).select_from(
    functions.join(dbs, dbs.c.id == functions.c.database_id)
)
