"""Databases and tables in a Hive Metastore."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from hivesql_executor.metastore.hms.client import Client, idl
from hivesql_executor.metastore.hms.constraints import (
    change_constraints,
    constraint_lists,
    fetch_constraints,
)
from hivesql_executor.metastore.hms.tables import (
    read_database,
    read_table,
    write_database,
    write_table,
)
from hivesql_planner.definitions.places import usual_location
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.names import check_database, check_table, halves
from hivesql_planner.model.statistics import ACCURATE
from hivesql_planner.model.table import Database, Table, TableName

# What HiveServer2 announces; a client that announces less gets no ACID tables.
CAPABILITIES = (
    "EXTWRITE", "EXTREAD", "HIVEBUCKET2", "HIVEFULLACIDREAD", "HIVEFULLACIDWRITE",
    "HIVECACHEINVALIDATE", "HIVEMANAGESTATS", "HIVEMANAGEDINSERTWRITE", "HIVEMANAGEDINSERTREAD",
    "HIVESQL", "HIVEMQT", "HIVEONLYMQTWRITE", "ACCEPTS_UNMODIFIED_METADATA",
)  # fmt: skip
IDENTIFIER = "hivesql"
_PURGE = "external.table.purge"
_EXISTS = 10073


class CatalogCalls:
    """Calls of Metastore about databases and tables."""

    _client: Client

    def create_database(self, database: Database, *, if_not_exists: bool = False) -> None:
        """Add a database; SemanticError 10242 when it exists."""
        check_database(replace(database, name=database.name.lower()))
        try:
            self._client.call("create_database", write_database(database))
        except SemanticError as error:
            if not (if_not_exists and error.code == 10242):
                raise

    def database(self, name: str) -> Database:
        """Return the database of that name."""
        return read_database(self._fetch_database(name))

    def databases(self) -> tuple[str, ...]:
        """Names of all databases, sorted."""
        return tuple(sorted(self._client.call("get_all_databases", again=True)))

    def alter_database(self, database: Database) -> None:
        """Replace the description of a database."""
        old = self._fetch_database(database.name)
        self._client.call("alter_database", old.name, write_database(database, old))

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Drop an empty database, or with ``cascade`` any but ``default``."""
        if self._client.is_old:
            # It would answer with a null pointer of its own.
            self._fetch_database(name)
        self._client.call("drop_database", name.lower(), False, cascade)

    def create_table(
        self, table: Table, *, if_not_exists: bool = False, is_empty: bool | None = None
    ) -> Table:
        """Add a table or view; the metastore chooses what it does not say.

        A managed table that is not transactional comes back as an external one, as in Hive 4.
        """
        name = lower(table.name)
        check_table(replace(table, name=name))
        new = write_table(replace(table, name=name), is_empty=is_empty)
        lists = constraint_lists(name, table.constraints)
        with self._client.noticing_parts():
            try:
                if self._client.is_old:
                    constraints = [lists.get(field, []) for field in _CONSTRAINT_FIELDS]
                    self._client.call("create_table_with_constraints", new, *constraints)
                else:
                    request = idl().CreateTableRequest(
                        table=new,
                        processorCapabilities=list(CAPABILITIES),
                        processorIdentifier=IDENTIFIER,
                        **lists,
                    )
                    self._client.call("create_table_req", request)
            except SemanticError as error:
                if error.code == _EXISTS and not if_not_exists:
                    raise SemanticError(f"Table already exists: {name}", code=_EXISTS) from error
                if error.code != _EXISTS:
                    self.database(name.database)
                    raise
            return self.table(name)

    def table(self, name: TableName) -> Table:
        """Return the table or view of that name."""
        name = lower(name)
        answer = self._fetch_table(name)
        return read_table(answer, fetch_constraints(self._client, name))

    def tables(self, database: str) -> tuple[TableName, ...]:
        """Tables and views of a database, sorted."""
        name = database.lower()
        names = self._client.call("get_all_tables", name, again=True)
        if not names:
            self.database(name)
        return tuple(TableName(name, table) for table in sorted(names))

    def some_tables(self, database: str, most: int, near: str = "") -> tuple[TableName, ...]:
        """At most so many of the tables and views, of those that are near a name; sorted.

        Only by owners, times and parameters could the metastore choose: it gives so many of all.
        """
        name, (begin, end) = database.lower(), halves(near.lower())
        names = self._client.call("get_table_names_by_filter", name, "", most, again=True)
        return tuple(
            TableName(name, table)
            for table in sorted(names)
            if table.startswith(begin) or table.endswith(end)
        )

    def table_at(self, places: Collection[str], *, below: bool) -> tuple[TableName, str] | None:
        """Find a transactional table whose rows files at a place may be, and its directory.

        The metastore cannot be asked for places: tables are found in their databases' directories
        alone, by their names there. With ``below`` also one of a database in it.
        """
        paths = [_parts(place) for place in places]
        for name in self.databases():
            database = self._fetch_database(name)
            managed = getattr(database, "managedLocationUri", None)
            for home in filter(None, (database.locationUri, managed)):
                above = _parts(home)
                names = {path[len(above)] for path in paths if path[: len(above)] == above != path}
                if below and any(above[: len(path)] == path for path in paths):
                    names |= {table.name for table in self.tables(name)}
                for table in sorted(names):
                    place = self._transactional_place(TableName(name, table))
                    if place is not None and any(_meet(_parts(place), path) for path in paths):
                        return TableName(name, table), place
        return None

    def _transactional_place(self, name: TableName) -> str | None:
        try:
            table = read_table(self._fetch_table(lower(name)), ())
        except NoSuchObject:
            return None
        is_owned = table.type == "MANAGED_TABLE" and table.is_transactional
        return table.location if is_owned else None

    def alter_table(
        self, name: TableName, table: Table, *, txn_id: int = 0, cascade: bool = True
    ) -> None:
        """Replace the description of a table, its name included.

        Not one transaction: constraints change before all else, and when the table is renamed,
        partitions under its old location follow it afterwards.
        """
        name, to = lower(name), lower(table.name)
        old = self._fetch_table(name)
        before = read_table(old, ())
        check_table(replace(table, name=to, constraints=()), before)
        if to != name and to in self.tables(to.database):
            raise SemanticError(f"Table already exists: {to}", code=_EXISTS)
        change_constraints(
            self._client, name, fetch_constraints(self._client, name), table.constraints
        )
        altered = replace(
            table,
            name=to,
            location=table.location or before.location,
            created_at=before.created_at,
        )
        parted = bool(before.partition_columns)
        cascades = cascade and parted and altered.columns != before.columns
        # Without a list of writes the metastore would call no statistics accurate any more.
        keeps = ACCURATE in (old.parameters or {}) and to == name
        state = self._state(name, old.writeId or 0) if keeps else {}
        context = {"CASCADE": "true"} if cascades else {}
        self._send_table(name, write_table(altered, old), context, **state)
        if to != name and altered.location != before.location:
            self._move_partitions(to, before.location, altered.location)

    def drop_table(self, name: TableName) -> None:
        """Drop a table or view with its partitions and its write history.

        Files stay, but for an external table with external.table.purge=true, as in Hive.
        """
        name = lower(name)
        answer = self._fetch_table(name)
        purges = (answer.parameters or {}).get(_PURGE, "").lower() == "true"
        self._client.call(
            "drop_table_with_environment_context", name.database, name.name, purges, None
        )

    def _send_table(self, name: TableName, new: Any, context: dict[str, str], **more: Any) -> None:
        wire = idl()
        # Else the metastore lists the table's directory to count its files.
        environment = wire.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"} | context)
        if self._client.is_old:
            self._client.call(
                "alter_table_with_environment_context", name.database, name.name, new, environment
            )
            return
        request = wire.AlterTableRequest(
            dbName=name.database,
            tableName=name.name,
            table=new,
            environmentContext=environment,
            processorCapabilities=list(CAPABILITIES),
            processorIdentifier=IDENTIFIER,
            **more,
        )
        self._client.call("alter_table_req", request)

    def _state(self, name: TableName, write_id: int) -> dict[str, Any]:
        raise NotImplementedError

    def _move_partitions(self, name: TableName, old: str, new: str) -> None:
        raise NotImplementedError

    def _fetch_database(self, name: str) -> Any:
        return self._client.call("get_database", name.lower(), again=True)

    def _fetch_table(self, name: TableName) -> Any:
        wire = idl()
        request = wire.GetTableRequest(
            dbName=name.database,
            tblName=name.name,
            capabilities=wire.ClientCapabilities(values=[wire.ClientCapability.INSERT_ONLY_TABLES]),
            processorCapabilities=list(CAPABILITIES),
            processorIdentifier=IDENTIFIER,
        )
        try:
            return self._client.call("get_table_req", request, again=True).table
        except NoSuchObject:
            self.database(name.database)
            raise NoSuchObject(f"Table not found: {name}", code=10001) from None


_CONSTRAINT_FIELDS = (
    "primaryKeys", "foreignKeys", "uniqueConstraints", "notNullConstraints", "defaultConstraints",
    "checkConstraints",
)  # fmt: skip


def _parts(location: str) -> tuple[str, ...]:
    """Return the parts of a place; in which way it is written makes no difference."""
    usual = usual_location(location.removeprefix("file:").replace("///", "/"))
    return PurePosixPath(usual).parts


def _meet(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Tell whether one of two places is the other, or in it."""
    shorter = min(len(left), len(right))
    return left[:shorter] == right[:shorter]


def lower(name: TableName) -> TableName:
    """Return the name as the metastore keeps it."""
    return TableName(name.database.lower(), name.name.lower())
