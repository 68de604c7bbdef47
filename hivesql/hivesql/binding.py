"""What binding a statement needs: the catalog, the session's state, and the statement's text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from hivesql.dialect.slices import PartitionItems
from hivesql.dialect.tokens import Name, TableRef, Token, at, tokenize
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.names import check_table_name
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.model.privileges import NOBODY, SessionUser
from hivesql_planner.model.table import DEFAULT_PARTITION, Database, Partition, Table, TableName
from hivesql_planner.predicates.partitions import PartitionTest, equal_to
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.export import Dump
from hivesql_planner.statements.functions import Macro, OwnFunction
from hivesql_planner.system_tables.definitions import SYSTEM_DATABASES

# Spark calls its own otherwise.
_CATALOG = "hive"


class Catalog(Protocol):
    """The part of a metastore that names are looked up in.

    Unknown objects raise NoSuchObject (10001 table, 10072 database). Homes are where a new
    database or table will live, empty where only its creation tells. An export is described by
    its own metadata: SemanticError 10027 where there is none.
    """

    def database(self, name: str) -> Database: ...
    def database_home(self, database: Database) -> str: ...
    def home_of(self, table: Table) -> str: ...
    def table(self, name: TableName) -> Table: ...
    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]: ...
    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None: ...
    def partition_count(self, name: TableName) -> int: ...
    def tables_in(self, database: str) -> tuple[Table, ...]: ...
    def export_at(self, path: str) -> Dump: ...


class SparkNames(Protocol):
    """What queries can read that only Spark knows."""

    def view(self, name: str) -> Table | None:
        """Look up a temporary view of the user's Spark; None where there is none."""

    def table(self, catalog: str, database: str, name: str) -> Table | None:
        """Look up a table of another catalog of Spark; None where there is no such catalog."""


class NoSpark:
    """Nothing is read but what the catalog knows."""

    def view(self, name: str) -> Table | None:
        """Find nothing."""

    def table(self, catalog: str, database: str, name: str) -> Table | None:
        """Find nothing."""


_NO_TABLE = 10001
OwnFunctions = Mapping[str, OwnFunction | Macro]
"""The session's own functions and macros, and those of the catalog with their databases.

Names are in lower case. That a name is there is told without a look at the function.
"""


@dataclass(slots=True)
class Binding:
    """The surroundings of one statement, or of the text of a view that it reads."""

    catalog: Catalog
    database: str
    settings: Settings
    text: StatementText
    counts: Counter[str] = field(default_factory=Counter)
    """How often each table is read: view names are unique in the statement."""
    views: tuple[Table, ...] = ()
    """The views whose text this is, outermost first."""
    defined_view: TableName | None = None
    """The view whose new text this is, which nothing that it reads may read."""
    spark: SparkNames = field(default_factory=NoSpark)
    """Finds what names mean that no table has; nothing inside of a view."""
    functions: OwnFunctions = field(default_factory=dict)
    reads: set[TableName] = field(default_factory=set)
    """The catalog's tables and views that queries name; what views read is not among them."""
    session_database: str = ""
    """Whose functions may be called without it: that of the session, in views as well."""
    user: SessionUser = NOBODY
    gives_write_id: bool = False
    """Whether rows are for an INSERT into a table of write ids, from which surrogate_key counts."""
    _tokens: tuple[Token, ...] = ()

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the text."""
        if not self._tokens:
            self._tokens = tokenize(self.text)
        return self._tokens

    def function(self, name: str) -> OwnFunction | Macro | None:
        """Look up what is called by a name; None for what is Hive's own, or unknown.

        Of one name the session's own is before the catalog's, and that before Hive's.
        """
        function = self.functions.get(name)
        if function is None and "." not in name:
            function = self.functions.get(f"{self.session_database or self.database}.{name}")
        return function

    def of_session(self, function: str) -> str | None:
        """Say in Spark's words what a function tells of the session; None for other functions.

        Raises SemanticError 40000 for surrogate_key where no write id is.
        """
        if function == "surrogate_key" and not self.gives_write_id:
            what = "Could not obtain Write ID for the surrogate_key function: it numbers rows that "
            raise SemanticError(f"{what}INSERT writes into a transactional table", code=40000)
        value = self.session_value(function)
        if value is None:
            return None
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    def session_value(self, function: str) -> str | None:
        """Return what a function without arguments tells of the session; None for all others."""
        if function in ("current_database", "current_schema"):
            return self.session_database or self.database
        if self.user.name and (
            function == "current_user" or (function == "logged_in_user" and self.user.is_logged_in)
        ):
            return self.user.name
        return _CATALOG if function == "current_catalog" else None

    def fail(self, error: HiveSqlError, start: int, end: int | None = None) -> NoReturn:
        """Raise the error, placed at a part of the text; without an end, at the name there."""
        raise at(error, self.text, start, end)

    def known_database(self, name: str) -> Database | None:
        """Return the database of that name, if there is one."""
        try:
            return self.catalog.database(name)
        except NoSuchObject:
            return None

    def known_table(self, name: TableName) -> Table | None:
        """Return the table of that name, if there is one."""
        try:
            return self.catalog.table(name)
        except NoSuchObject:
            return None

    def table(self, ref: TableRef, *, only_tells: bool = False) -> Table:
        """Look a table up; NoSuchObject for what only queries can read, too.

        A statement that changes the table cannot name one that shows the metastore; one that
        ``only_tells`` of it can.
        """
        name = ref.full(self.database)
        try:
            table = self.catalog.table(name)
        except NoSuchObject as error:
            error = _no_such_table(name, error)
            if ref.database is None and self.spark.view(name.name) is not None:
                error = NoSuchObject(
                    f"Table not found: {name}. {name.name} is a temporary view of Spark, which "
                    "queries can read and other statements cannot use",
                    code=error.code,
                )
            self.fail(error, ref.start)
        if table.is_system and not only_tells:
            self.fail(_read_only(name.database, str(name)), ref.start)
        return table

    def readable(self, name: str, database: str | None, start: int, catalog: str = "") -> Table:
        """Look up what a query reads: a table, or else a view or table that only Spark knows."""
        if catalog:
            return self._in_catalog(catalog, database or "", name, start)
        full = TableName(database or self.database, name)
        try:
            return self.note_read(self.catalog.table(full))
        except NoSuchObject as error:
            view = None if database else self.spark.view(name)
            if view is None:
                self.fail(_no_such_table(full, error), start)
            return view

    def note_read(self, table: Table) -> Table:
        """Note that a query names this table or view of the catalog, which it returns."""
        if not self.views:
            self.reads.add(table.name)
        return table

    def _in_catalog(self, catalog: str, database: str, name: str, start: int) -> Table:
        try:
            table = self.spark.table(catalog, database, name)
        except HiveSqlError as error:
            self.fail(error, start)
        if table is None:
            self.fail(
                NotSupported(
                    f"names of three parts (metadata tables and branches) other than tables of "
                    f"Spark's catalogs; spark.sql.catalog.{catalog} is not set"
                ),
                start,
            )
        return table

    def table_named(self, name: TableName, start: int) -> Table:
        """Look a table up by its full name."""
        try:
            return self.catalog.table(name)
        except NoSuchObject as error:
            self.fail(_no_such_table(name, error), start)

    def check_database(self, name: Name) -> str:
        """Return the name of a database that exists."""
        try:
            return self.catalog.database(name.text).name
        except NoSuchObject as error:
            self.fail(error, name.start)

    def check_not_system(self, database: str, start: int) -> None:
        """Fail at a database that shows the metastore, where something in it would change."""
        if (
            database in SYSTEM_DATABASES
            and self.known_database(database) is (SYSTEM_DATABASES[database])
        ):
            self.fail(_read_only(database, database), start)

    def check_new_name(self, name: TableName, start: int) -> None:
        """Fail at a table's or view's name that Hive refuses."""
        self.check_not_system(name.database, start)
        special = self.settings.flag("hive.support.special.characters.tablename")
        try:
            check_table_name(name.name, special=special)
        except HiveSqlError as error:
            self.fail(error, start)

    def view_name(self, table: TableName) -> str:
        """Return a new name under which the statement's text speaks of a scan of the table."""
        name = f"{table.database}__{table.name}".replace("`", "_")
        self.counts[name] += 1
        return f"{name}__{self.counts[name]}"

    def of_view(self, view: Table, start: int) -> Binding:
        """Return the binding of a view's own text."""
        outer = [view.name for view in self.views]
        if view.name == self.defined_view or view.name in outer:
            chain = dict.fromkeys((*filter(None, [self.defined_view]), *outer, view.name))
            cycle = " -> ".join(map(str, (*chain, view.name)))
            what = f"Recursive view {view.name} detected (cycle: {cycle})"
            self.fail(SemanticError(what), start)
        return Binding(
            self.catalog, view.name.database, self.settings,
            StatementText(view.view_text or "", f"view {view.name}", is_of_view=True),
            self.counts, (*self.views, view), self.defined_view, functions=self.functions,
            session_database=self.session_database or self.database, user=self.user,
        )  # fmt: skip

    def partition_values(self, table: Table, items: PartitionItems) -> dict[str, str | None]:
        """Values of a partition specification by column, checked against the table."""
        types = {column.name: column.type for column in table.partition_columns}
        values: dict[str, str | None] = {}
        for item in items:
            name = item.key.text
            if name not in types:
                error = SemanticError(
                    f"{table.name} has no partition column {name} "
                    f"(it has: {', '.join(types) or 'none'})",
                    code=10006,
                    choices=types,
                )
                self.fail(error, item.key.start)
            if name in values:
                self.fail(SemanticError(f"partition column {name} is given twice"), item.key.start)
            if item.is_static:
                if item.value is None:
                    error = SemanticError(
                        f"Cannot add partition column {name} of type void as it cannot be "
                        f"converted to type {types[name]}. The partition of rows without a value "
                        f"is '{DEFAULT_PARTITION}'",
                        code=10248,
                    )
                    self.fail(error, item.key.start, item.end)
                values[name] = partition_value(item.value)
        return values

    def matching(self, table: Table, items: PartitionItems) -> tuple[Partition, ...]:
        """Return the partitions that a full or partial specification names; none is an error."""
        for item in items:
            if item.is_static and item.value is None:
                self.fail(
                    _no_such_partition(table, f"{item.key.text}=NULL"), item.key.start, item.end
                )
        values = self.partition_values(table, items)
        partitions = self.partitions_of(table, values)
        if not partitions:
            specification = ", ".join(f"{key}={value}" for key, value in values.items())
            self.fail(_no_such_partition(table, specification), items[0].key.start, items[-1].end)
        return partitions

    def partitions_of(
        self, table: Table, specification: Mapping[str, str | None]
    ) -> tuple[Partition, ...]:
        """List the partitions with these values by column; a column that is not there has any."""
        types = {column.name: column.type for column in table.partition_columns}
        normal = {
            name: value if value is None else normal_value(value, types[name])
            for name, value in specification.items()
        }
        return tuple(
            partition
            for partition in self.catalog.partitions(table.name, equal_to(table, normal))
            if all(
                name not in specification or _is_same(specification[name], value, types[name])
                for name, value in zip(types, partition.values, strict=True)
            )
        )


def _no_such_table(name: TableName, error: NoSuchObject) -> NoSuchObject:
    """Say that a table is not there, whether or not its database is, as Hive."""
    if error.code == _NO_TABLE:
        return error
    return NoSuchObject(f"Table not found: {name}. {error.message}", code=_NO_TABLE)


def _read_only(database: str, what: str) -> SemanticError:
    return SemanticError(
        f"{what} cannot be changed: the database {database} shows what the metastore holds, and "
        "is read only"
    )


def _no_such_partition(table: Table, specification: str) -> NoSuchObject:
    return NoSuchObject(f"Partition not found {specification} in {table.name}", code=10006)


def _is_same(constant: str | None, value: str | None, type_: HiveType) -> bool:
    """Tell whether a constant names a partition: ``01`` names ``1`` of an INT."""
    if constant == value or constant is None or value is None:
        return constant == value
    normal = normal_value(constant, type_)
    return normal is not None and normal == normal_value(value, type_)


def partition_value(value: str | None) -> str | None:
    """Give a constant's text as partitions keep it: that of the default partition is None."""
    return None if value == DEFAULT_PARTITION else value
