"""CREATE and DROP of databases, DROP of tables."""

from __future__ import annotations

from hivesql.binding import Binding
from hivesql.dialect.nodes.ddl import (
    DropDatabaseBody,
    DropTableBody,
)
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.statements.bound import (
    DropDatabase,
    DropTable,
)


def bind_drop_database(body: DropDatabaseBody, binding: Binding) -> DropDatabase:
    """DROP DATABASE: an unknown name is no error with IF EXISTS."""
    if not body.if_exists:
        binding.check_database(body.name)
    name = body.name.text
    binding.check_not_system(name, body.name.start)
    database = binding.known_database(name)
    return DropDatabase(
        name=name, if_exists=body.if_exists, cascade=body.cascade, database=database,
        tables=binding.catalog.tables_in(name) if database and body.cascade else (),
    )  # fmt: skip


def bind_drop_table(body: DropTableBody, binding: Binding) -> DropTable:
    """DROP TABLE, DROP VIEW: by default Hive ignores an unknown name also without IF EXISTS."""
    may_miss = body.if_exists or binding.settings.flag("hive.exec.drop.ignorenonexistent")
    try:
        table = binding.table(body.table)
    except NoSuchObject:
        if not may_miss:
            raise
        table = None
    return DropTable(
        name=body.table.full(binding.database), if_exists=body.if_exists or table is None,
        purge=body.purge, kind=body.kind, table=table,
    )  # fmt: skip
