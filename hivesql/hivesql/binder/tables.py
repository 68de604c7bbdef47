"""CREATE and DROP of databases, DROP of tables."""

from __future__ import annotations

from hivesql.binding import Binding
from hivesql.dialect.nodes.ddl import (
    CreateDatabaseBody,
    DropDatabaseBody,
    DropTableBody,
)
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.model.names import check_database_name
from hivesql_planner.model.table import Database
from hivesql_planner.statements.bound import (
    CreateDatabase,
    DropDatabase,
    DropTable,
)


def bind_create_database(body: CreateDatabaseBody, binding: Binding) -> CreateDatabase:
    """CREATE DATABASE."""
    try:
        special = binding.settings.flag("hive.support.special.characters.tablename")
        check_database_name(body.name.text, special=special)
    except HiveSqlError as error:
        binding.fail(error, body.name.start)
    database = Database(
        name=body.name.text, location=body.location, comment=body.comment,
        properties=dict(body.properties), managed_location=body.managed_location,
    )  # fmt: skip
    return CreateDatabase(database=database, if_not_exists=body.if_not_exists)


def bind_drop_database(body: DropDatabaseBody, binding: Binding) -> DropDatabase:
    """DROP DATABASE: an unknown name is no error with IF EXISTS."""
    if not body.if_exists:
        binding.check_database(body.name)
    name = body.name.text
    by_table = body.cascade and binding.settings.flag("hive.acid.lockless.reads.enabled")
    try:
        tables = binding.catalog.tables_in(name) if by_table else ()
    except NoSuchObject:
        tables = ()
    return DropDatabase(name=name, if_exists=body.if_exists, cascade=body.cascade, tables=tables)


def bind_drop_table(body: DropTableBody, binding: Binding) -> DropTable:
    """DROP TABLE, DROP VIEW: by default Hive ignores an unknown name also without IF EXISTS."""
    if_exists = body.if_exists
    if not if_exists:
        try:
            binding.table(body.table)
        except NoSuchObject:
            if not binding.settings.flag("hive.exec.drop.ignorenonexistent"):
                raise
            if_exists = True
    return DropTable(
        name=body.table.full(binding.database), if_exists=if_exists, purge=body.purge,
        kind=body.kind,
    )  # fmt: skip
