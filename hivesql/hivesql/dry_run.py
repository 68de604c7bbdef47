"""Plans of a whole script without running it: what CREATE and DROP would do is only remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hivesql.binder.statement import bind
from hivesql.binding import Catalog, OwnFunctions
from hivesql.dialect.double_quotes import with_back_quotes
from hivesql.dialect.statements.statement import parse
from hivesql.script import split, split_key
from hivesql.session import Session
from hivesql.sessions.settings import assign
from hivesql_executor.runtime import CurrentRoles, Runtime
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.explain import explain
from hivesql_planner.model.hive_type import STRING
from hivesql_planner.model.table import Database, Partition, Table, TableName
from hivesql_planner.planning import plan
from hivesql_planner.predicates.partitions import PartitionTest, may_pass
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.authorization import SetRole
from hivesql_planner.statements.bound import (
    CreateDatabase,
    CreateTable,
    CreateView,
    DropDatabase,
    DropTable,
    FileSystemShell,
    InsertRows,
    MergeRows,
    SessionFiles,
    SetSetting,
    Statement,
    UpdateRows,
    UseDatabase,
)
from hivesql_planner.statements.ddl import (
    AddPartitions,
    AlterTable,
    AlterView,
    DropPartitions,
    LoadData,
    RenamePartition,
    RenameTable,
    RepairTable,
)
from hivesql_planner.statements.export import Dump, ImportTable
from hivesql_planner.statements.functions import (
    CreateFunction,
    CreateMacro,
    DropFunction,
    DropStoredFunction,
    Macro,
    OwnFunction,
    StoreFunction,
)

Name = TypeVar("Name", str, TableName)

_UNKNOWN_TYPE = STRING
"""Of a CREATE TABLE AS SELECT column: only Spark knows it, and names are enough to plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A statement of the script with its plan, or with the error that planning gave."""

    text: str
    place: str
    lines: tuple[str, ...] = ()
    error: HiveSqlError | None = None


@dataclass(slots=True)
class _Overlay:
    """A catalog as it would be by now; None stands for what was dropped."""

    under: Catalog
    databases: dict[str, Database | None] = field(default_factory=dict)
    tables: dict[TableName, Table | None] = field(default_factory=dict)
    changed: dict[TableName, tuple[Partition, ...]] = field(default_factory=dict)
    growing: set[TableName] = field(default_factory=set)
    """Tables whose partitions only the run would tell: one that is named may be there."""

    def database(self, name: str) -> Database:
        """As the metastore's, with NoSuchObject."""
        if name not in self.databases:
            return self.under.database(name)
        if database := self.databases[name]:
            return database
        raise NoSuchObject(f"Database does not exist: {name}", code=10072)

    def database_home(self, database: Database) -> str:
        """As the metastore's."""
        return self.under.database_home(database)

    def home_of(self, table: Table) -> str:
        """As the metastore's, or in a database that would be there."""
        database = self.databases.get(table.name.database)
        if database is None:
            return self.under.home_of(table)
        managed = table.type != "EXTERNAL_TABLE"
        return table.location or database.home_of(table.name.name, managed=managed)

    def table(self, name: TableName) -> Table:
        """As the metastore's, with NoSuchObject."""
        if name not in self.tables and name.database not in self.databases:
            return self.under.table(name)
        if table := self.tables.get(name):
            return table
        raise NoSuchObject(f"Table not found {name}", code=10001)

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """Partitions that are there, or would be."""
        partitions = self.changed.get(name)
        if partitions is None:
            partitions = () if name in self.tables else self.under.partitions(name, tests)
        if name in self.growing and not any(
            all(may_pass(partition.values[test.position], test) for test in tests)
            for partition in partitions
        ):
            return (*partitions, *self._grown(self.table(name), tests))
        return partitions

    @staticmethod
    def _grown(table: Table, tests: Sequence[PartitionTest]) -> tuple[Partition, ...]:
        """Return the partition that the tests name, if they name one."""
        equal = {test.position: test.values[0] for test in tests if test.operator == "="}
        if set(equal) != set(range(len(table.partition_columns))):
            return ()
        values = tuple(equal[position] for position in sorted(equal))
        return (Partition(values=values, location=table.home_of(values)),)

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """Return the partition with these values, if there is one, or would be."""
        if name in self.tables or name in self.changed:
            partitions = self.partitions(name)
            return next(
                (partition for partition in partitions if partition.values == tuple(values)), None
            )
        return self.under.partition(name, values)

    def partition_count(self, name: TableName) -> int:
        """Tell how many partitions there are, or would be."""
        if name in self.changed:
            return len(self.changed[name])
        return 0 if name in self.tables else self.under.partition_count(name)

    def tables_in(self, database: str) -> tuple[Table, ...]:
        """Tables and views that a database has, or would have."""
        stored = () if database in self.databases else self.under.tables_in(database)
        there = {table.name: table for table in stored} | self.tables
        return tuple(table for name, table in there.items() if table and name.database == database)

    def export_at(self, path: str) -> Dump:
        """As the catalog's."""
        return self.under.export_at(path)

    @staticmethod
    def _has(find: Callable[[Name], object], name: Name) -> bool:
        try:
            find(name)
        except NoSuchObject:
            return False
        return True

    def apply(self, statement: Statement) -> None:
        """Remember what the statement would change."""
        match statement:
            case CreateDatabase(database=database, home=home):
                if not self._has(self.database, database.name):
                    self.databases[database.name] = replace(database, location=home)
            case DropDatabase(name=name):
                self.databases[name] = None
                self.tables |= {table.name: None for table in self.tables_in(name)}
            case CreateTable(table=table) if self._has(self.table, table.name):
                pass  # IF NOT EXISTS
            case CreateTable(table=table, rows=rows):
                self.changed.pop(table.name, None)
                self.growing = (self.growing - {table.name}) | ({table.name} if rows else set())
                columns = rows.columns if rows and not table.columns else table.columns
                self.tables[table.name] = _typed(replace(table, columns=columns))
            case CreateView(table=table):
                self.tables[table.name] = _typed(table)
            case DropTable(name=name):
                self.tables[name] = None
            case RenameTable(table=table, to=to):
                self.tables |= {table.name: None, to: replace(table, name=to)}
                self.changed[to] = self.partitions(table.name)
                self.growing |= {to} if table.name in self.growing else set()
            case AlterTable(altered=altered) | AlterView(altered=altered):
                self.changed[altered.name] = self.partitions(altered.name)
                self.tables[altered.name] = altered
            case _:
                self._apply_to_partitions(statement)

    def _apply_to_partitions(self, statement: Statement) -> None:
        match statement:
            case ImportTable(table=table, is_new=True, partitions=partitions):
                self.tables[table.name] = table
                self.changed[table.name] = partitions
            case InsertRows(targets=targets):
                self.growing |= {grown.table.name for grown in targets}
            case MergeRows(target=target, added=added):
                self.growing.add(target.table.name)
                if added:
                    self.changed[target.table.name] = self.partitions(target.table.name)
                    self.tables[target.table.name] = target.table
            case UpdateRows(target=target, assignments=assignments):
                moves = not set(target.table.partition_names).isdisjoint(assignments)
                self.growing |= {target.table.name} if moves else set()
            case LoadData(table=table) | RepairTable(table=table) | ImportTable(table=table):
                self.growing.add(table.name)
            case AddPartitions(table=table, partitions=partitions):
                before = self.partitions(table.name)
                values = {partition.values for partition in before}
                fresh = (partition for partition in partitions if partition.values not in values)
                self.changed[table.name] = (*before, *fresh)
            case DropPartitions(table=table, partitions=partitions):
                gone = {partition.values for partition in partitions}
                before = self.partitions(table.name)
                self.changed[table.name] = tuple(p for p in before if p.values not in gone)
            case RenamePartition(table=table, partition=old, values=values):
                self.changed[table.name] = tuple(
                    replace(partition, values=values)
                    if partition.values == old.values
                    else partition
                    for partition in self.partitions(table.name)
                )


@dataclass(slots=True)
class _Functions(Mapping[str, OwnFunction | Macro]):
    """Functions as they would be by now; None stands for what was dropped."""

    under: OwnFunctions
    changed: dict[str, OwnFunction | Macro | None] = field(default_factory=dict)

    def __getitem__(self, name: str) -> OwnFunction | Macro:
        function = self.changed[name] if name in self.changed else self.under[name]
        if function is None:
            raise KeyError(name)
        return function

    def __contains__(self, name: object) -> bool:
        if name in self.changed:
            return self.changed[str(name)] is not None
        return name in self.under

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys((*self.under, *self.changed))
        return (name for name in names if self.changed.get(name, name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def apply(self, statement: Statement) -> None:
        """Remember what the statement would change."""
        match statement:
            case CreateFunction(name=name, java_class=java_class):
                self.changed[name] = OwnFunction(name=name, java_class=java_class)
            case StoreFunction(function=function):
                name = function.full_name
                self.changed[name] = OwnFunction(
                    name=name, java_class=function.java_class, is_stored=True
                )
            case CreateMacro(macro=macro):
                self.changed[macro.name] = macro
            case DropFunction(name=name):
                self.changed[name] = None
            case DropStoredFunction(database=database, name=name):
                self.changed[f"{database}.{name}"] = None


def _typed(table: Table) -> Table:
    columns = tuple(
        replace(column, type=column.type if column.type.is_known else _UNKNOWN_TYPE)
        for column in table.columns
    )
    return replace(table, columns=columns)


def rehearse(session: Session, text: str, file: str | None) -> Iterator[Step]:
    """Yield the steps of a script in order, planned with the session's settings and variables.

    Nothing is run and the session stays as it is. After a step with an error the following ones
    are planned as if it had not been there. Raises HiveSqlError when the text cannot be split.
    """
    overlay = _Overlay(session.temporary)
    variables = dict(session.variables)
    settings, database = session.settings, session.database
    functions = _Functions(session.functions)
    runtime = replace(session.runtime, roles=CurrentRoles(session.runtime.roles.names))
    for statement in split(text, file, variables):
        place = f"{file or '<input>'}:{statement.line}:{statement.column}"
        if statement.text.startswith("!"):
            yield Step(text=statement.text, place=place, lines=("a command of the shell",))
            continue
        try:
            reads: set[TableName] = set()
            bound = bind(
                parse(with_back_quotes(statement, settings)), overlay, database=database,
                settings=settings, spark=session.spark_views(), functions=functions, reads=reads,
                user=runtime.session_user,
            )  # fmt: skip
            if settings.asks_for_privileges or session.settings.asks_for_privileges:
                _authorize(bound, reads, runtime)
            lines = _lines(bound, settings)
            if isinstance(bound, UseDatabase):
                database = bound.name
            elif isinstance(bound, SetSetting):
                settings = _set(bound, settings, variables)
            functions.apply(bound)
            overlay.apply(bound)
        except HiveSqlError as error:
            placed_error = error.at(file, statement.line, statement.column)
            yield Step(text=statement.text, place=place, error=placed_error)
            continue
        yield Step(text=statement.text, place=place, lines=lines)


def _authorize(statement: Statement, reads: set[TableName], runtime: Runtime) -> None:
    # Imported late: hardly any warehouse asks for privileges.
    from hivesql_executor.statements.authorization import authorize, set_role

    authorize(statement, reads, runtime, rehearsed=True)
    if isinstance(statement, SetRole):
        set_role(statement.name, runtime)


def _lines(statement: Statement, settings: Settings) -> tuple[str, ...]:
    if isinstance(statement, SetSetting | SessionFiles | FileSystemShell):
        return ()
    return tuple(explain(plan(statement, settings)).splitlines())


def _set(statement: SetSetting, settings: Settings, variables: dict[str, str]) -> Settings:
    if statement.key is None or statement.value is None:
        return settings
    space, key = split_key(statement.key)
    if space == "hivevar":
        variables[f"hivevar:{key}"] = statement.value
    if space != "hiveconf" or key.startswith("spark."):
        return settings
    return assign(settings, variables, key, statement.value)
