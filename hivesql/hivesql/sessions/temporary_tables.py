"""A session's temporary tables: they shadow tables of the same name and end with the session.

They lie in databases of the session's own, whose names nobody sees, so that everything that
reads and writes tables works on them as on any other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hivesql_executor.metastore.system_databases import find_database, find_table
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.table import TEMPORARY, Database, Partition, Table, TableName
from hivesql_planner.statements.bound import CreateTable, Describe, DropTable, Show, Statement

if TYPE_CHECKING:
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.predicates.partitions import PartitionTest
    from hivesql_planner.statements.export import Dump

_LISTS_TABLES = ("tables", "extended tables", "tables of a type", "table extended")
"""Kinds of SHOW that tell of a session's temporary tables too."""


@dataclass(slots=True)
class TemporaryTables:
    """The metastore as the session sees it."""

    runtime: Runtime
    id: str = field(default_factory=lambda: os.urandom(4).hex())
    hidden: dict[TableName, TableName] = field(default_factory=dict)
    """The name behind each visible name."""
    homes: set[str] = field(default_factory=set)
    """The databases that were made for them."""
    process: int = field(default_factory=os.getpid)
    """Whose session they are: one that is forked from it leaves them to it."""

    def database(self, name: str) -> Database:
        """As the metastore's, or one of those that no metastore holds."""
        return find_database(name, self.runtime.metastore)

    def database_home(self, database: Database) -> str:
        """As the metastore's."""
        return self.runtime.metastore.database_home(database)

    def home_of(self, table: Table) -> str:
        """As the metastore's."""
        return self.runtime.metastore.home_of(table)

    def table(self, name: TableName) -> Table:
        """Return the temporary table of that name, the metastore's, or one that shows it."""
        return find_table(self.hidden.get(name, name), self.runtime.metastore)

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """As the metastore's."""
        return self.runtime.metastore.partitions(name, tests)

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """As the metastore's."""
        return self.runtime.metastore.partition(name, values)

    def partition_count(self, name: TableName) -> int:
        """As the metastore's."""
        return self.runtime.metastore.partition_count(name)

    def tables_in(self, database: str) -> tuple[Table, ...]:
        """Give the metastore's tables and views of a database, but the session's temporary ones."""
        store = self.runtime.metastore
        return tuple(map(store.table, store.tables(database)))

    def export_at(self, path: str) -> Dump:
        """Describe an export by its metadata."""
        # Imported late: hardly any session imports.
        from hivesql_executor.statements.exports.metadata import read_export

        return read_export(path, self.runtime)

    def translated(self, statement: Statement) -> Statement:
        """Give the statement that is carried out: hidden names for tables, visible ones to show."""
        match statement:
            case CreateTable(table=table, temporary=True):
                name = TableName(self._home(table.name.database), table.name.name)
                hidden = replace(table, name=name)
                return replace(statement, table=hidden, home=self.home_of(hidden))
            case DropTable(name=name, kind="TABLE") if name in self.hidden:
                return replace(statement, name=self.hidden[name])
            case Describe(table=Table() as table):
                renamed = replace(table, name=self._visible(table.name) or table.name)
                return replace(statement, table=renamed, stored=table.name)
            case Show(kind="create table", table=Table() as table):
                visible = self._visible(table.name)
                own = {visible.name: table.name} if visible else {}
                renamed = replace(table, name=visible or table.name)
                return replace(statement, table=renamed, temporary=own)
            case Show(kind=kind, database=database) if kind in _LISTS_TABLES:
                own = {
                    by_user.name: at
                    for by_user, at in self.hidden.items()
                    if by_user.database == database
                }
                return replace(statement, temporary=own)
        return self._renamed(statement) if self.hidden else statement

    def _renamed(self, statement: Statement) -> Statement:
        """Give RENAME of a temporary table the hidden name that it makes."""
        from hivesql_planner.statements.ddl import RenameTable

        if not isinstance(statement, RenameTable) or not self._visible(statement.table.name):
            return statement
        if statement.to in self.hidden:
            raise SemanticError(
                f"Cannot rename temporary table to {statement.to.name} - temporary table already "
                "exists with the same name",
                code=40013,
            )
        to = TableName(self._home(statement.to.database), statement.to.name)
        managed = statement.table.type == "MANAGED_TABLE"
        to_home = self.database(to.database).home_of(to.name, managed=managed)
        return replace(statement, to=to, to_home=to_home)

    def remember(self, statement: Statement) -> None:
        """Follow what the statement, as it was asked, did to the temporary tables."""
        match statement:
            case CreateTable(table=table, temporary=True):
                name = TableName(self._database(table.name.database), table.name.name)
                self.hidden[table.name] = name
            case DropTable(name=name, kind="TABLE"):
                self.hidden.pop(name, None)
            case _ if self.hidden:
                self._follow_rename(statement)

    def _follow_rename(self, statement: Statement) -> None:
        from hivesql_planner.statements.ddl import RenameTable

        if isinstance(statement, RenameTable) and (
            user_name := self._visible(statement.table.name)
        ):
            del self.hidden[user_name]
            self.hidden[statement.to] = TableName(
                self._database(statement.to.database), statement.to.name
            )

    def drop_all(self) -> None:
        """Drop what the session leaves."""
        self.hidden.clear()
        if self.process != os.getpid():
            self.homes.clear()
        if self.homes:
            from hivesql_executor.temporary_databases import drop_temporary
        while self.homes:
            # One that could not be made is not there.
            with suppress(NoSuchObject):
                drop_temporary(self.homes.pop(), self.runtime)

    def in_users_words(self, text: str) -> str:
        """Name a text's temporary tables as their user does."""
        return text.replace(f"{TEMPORARY}{self.id}_", "")

    def _visible(self, name: TableName) -> TableName | None:
        names: Iterable[TableName] = (alias for alias, own in self.hidden.items() if own == name)
        return next(iter(names), None)

    def _database(self, database: str) -> str:
        return f"{TEMPORARY}{self.id}_{database}"

    def _root(self) -> str:
        return f"{self.database('default').location}/.hivesql-temporary-{self.id}"

    def _home(self, database: str) -> str:
        """Return the hidden database beside a database, made when it is first needed."""
        # Imported late: most sessions have no temporary tables.
        from hivesql_executor.temporary_databases import drop_orphans, owner_properties

        name = self._database(database)
        if not self.hidden:
            drop_orphans(self.runtime)
        home = Database(
            name=name,
            location=f"{self._root()}/{database}",
            properties=owner_properties(self.runtime),
        )
        self.homes.add(name)
        self.runtime.metastore.create_database(home, if_not_exists=True)
        return name
