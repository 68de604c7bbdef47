"""SHOW and DESCRIBE: small tables made from the metastore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hivesql_executor.metastore.system_databases import (
    find_database,
    find_table,
    find_tables,
)
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.show.compactions import show_compactions
from hivesql_executor.statements.show.create_table import create_statement
from hivesql_executor.statements.show.describe import (
    basics_shown,
    describe_column,
    describe_database,
    describe_table,
    stored_properties,
)
from hivesql_executor.statements.show.functions import describe_function, show_functions
from hivesql_executor.statements.show.history import show_history
from hivesql_executor.statements.show.tables import (
    match_expression,
    matching,
    show_create_database,
    show_materialized_views,
    show_table_extended,
    show_table_types,
    show_tables_of_type,
)
from hivesql_executor.transactions.object_locks import show_object_locks
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.statistics import Statistics, of_partition_column
from hivesql_planner.model.table import TEMPORARY, Table, TableName, decoded_name, partition_name
from hivesql_planner.settings.transaction_keys import DUMMY_TXN_MANAGER
from hivesql_planner.statements.bound import Describe, Show

LOCK_COLUMNS = (
    "lockid", "database", "table", "partition", "lock_state", "blocked_by", "lock_type",
    "transaction_id", "last_heartbeat", "acquired_at", "user", "hostname", "agent_info",
)  # fmt: skip
_FORMAT = "hive.ddl.output.format"
TXN_COLUMNS = ("txnid", "state", "startedtime", "lastheartbeattime", "user", "host")


def show(statement: Show, runtime: Runtime) -> Outcome:
    """Return the rows of a SHOW statement, in Hive's columns."""
    make = _KINDS.get(statement.kind)
    if make is None:
        raise NotSupported(f"SHOW {statement.kind.upper()}")
    if not wants_json(runtime):
        return _headed(make(statement, runtime), _HEADINGS.get(statement.kind))
    # Imported late: hardly anybody asks for it.
    from hivesql_executor.statements.show.json_format import rows_as_json, tables_as_json

    if statement.kind == "table extended":
        return tables_as_json(statement, runtime)
    return rows_as_json(statement, make(statement, runtime))


_CONF_TYPES = {
    "bool": "BOOLEAN", "int": "INT", "float": "FLOAT", "text": "STRING", "duration": "STRING(TIME)",
}  # fmt: skip
"""The types of settings, as Hive's SHOW CONF tells them."""
_HEADINGS = {
    "extended tables": ("# Table Name", "Table Type"),
    "materialized views": ("# MV Name", "Rewriting Enabled", "Mode", "Incremental rebuild"),
}
"""What Hive gives as a first row, unless there is none."""


def _headed(outcome: Outcome, heading: tuple[str, ...] | None) -> Outcome:
    if not heading or not outcome.rows:
        return outcome
    return replace(outcome, rows=(heading, *outcome.rows), of_server=outcome.rows)


def describe(statement: Describe, runtime: Runtime) -> Outcome:
    """Return the rows of a DESCRIBE statement."""
    if wants_json(runtime):
        return _described_as_json(statement, runtime)
    if statement.table is None:
        database = find_database(statement.database or "default", runtime.metastore)
        return describe_database(database, extended=bool(statement.style))
    partition = statement.partition
    statistics = None
    has_statistics = (statement.style and statement.column is None) or _tells_of_column(statement)
    has_statistics = has_statistics or statement.style == "formatted"
    if has_statistics and not statement.table.is_system:
        stored = statement.stored or statement.table.name
        values = partition.values if partition else None
        statistics = runtime.metastore.statistics(stored, values)
    if statement.column is not None:
        statistics = statistics and _with_partition_columns(statement, statistics, runtime)
        return describe_column(statement.table, statement, statement.style, statistics)
    separately = runtime.settings.flag("hive.display.partition.cols.separately")
    return describe_table(
        statement.table, partition, statement.style, statistics, separately=separately,
        is_outdated=_is_outdated(statement, runtime),
    )  # fmt: skip


def _is_outdated(statement: Describe, runtime: Runtime) -> bool | None:
    """Tell whether a materialized view has not read all that its tables have; None: unknown."""
    materialized = statement.table.materialized if statement.table else None
    if materialized is None or statement.style != "formatted":
        return None
    store = runtime.metastore
    names = tuple(TableName(*name.split(".", 1)) for name in materialized.sources)
    visible = store.valid_write_ids(store.valid_txns(), names)
    return materialized.is_outdated({str(name): writes for name, writes in visible.items()})


def wants_json(runtime: Runtime) -> bool:
    """Tell whether the session asks for JSON; SemanticError where it asks for something else."""
    format_ = runtime.settings.text(_FORMAT).strip().lower()
    if format_ not in ("text", "json"):
        raise SemanticError(f"{_FORMAT} must be text or json, not {format_!r}")
    return format_ == "json"


def _described_as_json(statement: Describe, runtime: Runtime) -> Outcome:
    from hivesql_executor.statements.show.json_format import (
        columns_as_json,
        database_as_json,
        table_as_json,
    )

    table = statement.table
    if table is None:
        database = find_database(statement.database or "default", runtime.metastore)
        return database_as_json(database, extended=bool(statement.style))
    if statement.column is not None:
        return columns_as_json(describe_column(table, statement, "").rows)
    return table_as_json(table, statement.partition, statement.style)


def _tells_of_column(statement: Describe) -> bool:
    """Tell whether the rows say which statistics are accurate: Hive does of a table's column."""
    table = statement.table
    if statement.column is None or table is None:
        return False
    return not table.partition_columns and not table.is_view


def _with_partition_columns(
    statement: Describe, statistics: Statistics, runtime: Runtime
) -> Statistics:
    """Add what the values of the partitions tell, where a partition column is asked for."""
    table = statement.table
    assert table is not None
    for i, column in enumerate(table.partition_columns):
        if column.name == statement.column:
            values = [partition.values[i] for partition in runtime.metastore.partitions(table.name)]
            return replace(statistics, columns=(of_partition_column(column, values),))
    return statistics


def _databases(statement: Show, runtime: Runtime) -> Outcome:
    databases = runtime.metastore.databases()
    names = [name for name in databases if not name.startswith(TEMPORARY)]
    matches = matching(names, statement.pattern, stars=False, choices=False)
    return Outcome.of_table(["database_name"], matches)


def _tables(statement: Show, runtime: Runtime) -> Outcome:
    tables = find_tables(statement.database or "default", runtime.metastore)
    names = {*(name.name for name in tables), *statement.temporary}
    return Outcome.of_table(["tab_name"], matching(names, statement.pattern, dots=True))


def _views(statement: Show, runtime: Runtime) -> Outcome:
    store = runtime.metastore
    names = find_tables(statement.database or "default", store)
    views = [name.name for name in names if find_table(name, store).is_view]
    return Outcome.of_table(["tab_name"], matching(views, statement.pattern, dots=True))


def _table(statement: Show) -> Table:
    assert statement.table is not None
    return statement.table


def _columns(statement: Show, runtime: Runtime) -> Outcome:
    names = [column.name for column in _table(statement).all_columns]
    matches = names if statement.pattern is None else match_expression(names, statement.pattern)
    rows = [(name,) for name in matches]
    return Outcome.of_table(["field"], sorted(rows) if statement.extended else rows)


def _partitions(statement: Show, runtime: Runtime) -> Outcome:
    table = _table(statement)
    if statement.names is not None:
        shown = [(_shown_name(name, runtime),) for name in statement.names]
        return Outcome.of_table(["partition"], shown)
    names = [
        partition_name(table.partition_names, partition.values)
        for partition in runtime.metastore.partitions(table.name)
    ]
    return Outcome.of_table(
        ["partition"], [(_shown_name(name, runtime),) for name in sorted(names)]
    )


def _shown_name(name: str, runtime: Runtime) -> str:
    """Write a partition's name as the session wants it: as a directory, or as it is."""
    return decoded_name(name) if runtime.settings.flag("hive.decode.partition.name") else name


def _properties(statement: Show, runtime: Runtime) -> Outcome:
    table = _table(statement)
    properties = stored_properties(table)
    if not (table.is_view or table.is_system or table.partition_columns):
        # As in Hive; those of partitions are not added up here.
        properties |= basics_shown(runtime.metastore.statistics(table.name))
    columns = ["prpt_name", "prpt_value"]
    if statement.key is None:
        return Outcome.of_table(columns, sorted(properties.items()))
    value = properties.get(statement.key)
    missing = f"Table {table.name} does not have property: {statement.key}"
    if value is None:
        return Outcome.of_table(columns, [(missing, "")], of_server=[(missing, None)])
    return Outcome.of_table(columns, [(statement.key, value)])


def _create_table(statement: Show, runtime: Runtime) -> Outcome:
    if _table(statement).is_system:
        raise NotSupported(f"SHOW CREATE TABLE of {_table(statement).name}, which nobody creates")
    text = create_statement(
        _table(statement),
        temporary=bool(statement.temporary),
        qualified=statement.database is not None,
    )
    lines = text.splitlines()
    return Outcome.of_table(["createtab_stmt"], [(line,) for line in lines])


def _conf(statement: Show, runtime: Runtime) -> Outcome:
    from hivesql_planner.settings.settings import KEYS, present_name

    setting = KEYS.get(present_name(statement.key or ""))
    if setting is None:
        raise NotSupported(f"SHOW CONF '{statement.key}': no such key")
    row = (setting.default, _CONF_TYPES[setting.kind], setting.meaning)
    return Outcome.of_table(["default", "type", "desc"], [row])


def _locks(statement: Show, runtime: Runtime) -> Outcome:
    if runtime.settings.text("hive.txn.manager") == DUMMY_TXN_MANAGER:
        return show_object_locks(statement, runtime)
    table = statement.table_name
    rows = runtime.metastore.locks(
        table.database if table else statement.database,
        table.name if table else None,
        statement.partition,
    )
    lock_rows = [
        (
            f"{row.lock_id}.{row.internal_id}",
            row.database,
            row.table or "NULL",
            row.partition or "NULL",
            row.state.value,
            row.blocked_by or " " * 12,
            row.type.value,
            str(row.txn_id) if row.txn_id else "NULL",
            str(row.last_heartbeat or 0),
            str(row.acquired_at) if row.acquired_at else "NULL",
            row.user,
            row.host,
            row.agent_info or "NULL",
        )
        for row in rows
    ]
    return Outcome.of_table(LOCK_COLUMNS, lock_rows)


def _transactions(statement: Show, runtime: Runtime) -> Outcome:
    rows = [
        (str(r.txn_id), r.state.upper(), str(r.started), str(r.last_heartbeat), r.user, r.host)
        for r in runtime.metastore.transactions()
    ]
    return Outcome.of_table(TXN_COLUMNS, rows)


_KINDS: dict[str, Callable[[Show, Runtime], Outcome]] = {
    "databases": _databases,
    "tables": _tables,
    "views": _views,
    "extended tables": show_table_types,
    "tables of a type": show_tables_of_type,
    "table extended": show_table_extended,
    "create database": show_create_database,
    "materialized views": show_materialized_views,
    "functions": show_functions,
    "function": describe_function,
    "columns": _columns,
    "partitions": _partitions,
    "tblproperties": _properties,
    "create table": _create_table,
    "conf": _conf,
    "locks": _locks,
    "transactions": _transactions,
    "compactions": show_compactions,
    "history": show_history,
}
