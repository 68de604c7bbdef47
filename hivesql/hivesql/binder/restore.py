"""RESTORE TABLE: an earlier state comes back by the events that undo what was done since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from hivesql.binder.change import bind_merge
from hivesql.binder.insert import bind_insert
from hivesql.binding import Binding
from hivesql.dbapi_literals import literal
from hivesql.dialect.nodes.parts import partition_of, table_of
from hivesql.dialect.slices import RANGE
from hivesql.dialect.statements.statement import parse
from hivesql.python_sqlglot import exp
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError, SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Partition, Table, default_value
from hivesql_planner.statements.bound import InsertRows, MergeRows

_ALL_OF_IT = {
    "hive.mapred.mode": "nonstrict",
    "hive.exec.dynamic.partition": "true",
    "hive.exec.dynamic.partition.mode": "nonstrict",
}
"""Neither filters nor partitions are asked for: whoever restores a table means all of it."""

_NOW, _THEN, _ID = "row__now", "row__then", "row__then__id"


def bind_restore(node: exp.Expr, binding: Binding) -> MergeRows | InsertRows:
    """Bind RESTORE as the MERGE of the earlier state by row ids: rows that are in both stay.

    Insert-only tables have no row ids: what has changed of them is overwritten.
    """
    ref, moment = table_of(node.this), node.args["moment"].meta[RANGE]
    table = binding.table(ref)
    if not table.is_transactional:
        what = f"{table.name} is not transactional: it has no earlier state to RESTORE"
        binding.fail(SemanticError(what, code=10414), ref.start)
    items = partition_of(node.args["partition"]) or ()
    # No partition at all is an error at its place.
    partitions = binding.matching(table, items) if items else None
    values = binding.partition_values(table, items)
    clause = f"{node.args['kind'].name} AS OF {node.args['moment'].name}"
    clause = "FOR SYSTEM_" + clause.replace("TIMESTAMP", "TIME", 1)
    sql = (_merge if table.is_full_acid else _overwrite)(table, clause, values)
    text = StatementText(sql, f"restore {table.name}")
    settings = binding.settings
    for key, value in _ALL_OF_IT.items():
        settings = settings.with_value(key, value)
    inner = replace(binding, text=text, settings=settings, _tokens=())
    try:
        bound = (bind_merge if table.is_full_acid else bind_insert)(_parsed(text), inner)
    except HiveSqlError as error:
        _fail_at(error, binding, *moment)
    if isinstance(bound, InsertRows):
        return _of_partitions(bound, partitions)
    (source,) = bound.source.sources
    state = source.scan.as_of
    gone = replace(source, scan=replace(source.scan, restores=state))
    return replace(
        bound,
        operation="RESTORE",
        target=replace(bound.target, restores=state),
        source=replace(bound.source, sources=(gone,)),
    )


def _of_partitions(bound: InsertRows, partitions: tuple[Partition, ...] | None) -> InsertRows:
    """Let an INSERT of an earlier state empty these partitions too; None: all of the table's.

    Those that it reads are those that it may empty, so that no filter's pruning is relied on.
    """
    (target,) = bound.targets
    (source,) = target.query.sources
    scan = source.scan
    if partitions is not None:
        scan = replace(scan, partitions=partitions)
    query = replace(target.query, sources=(replace(source, scan=scan),))
    return InsertRows(targets=(replace(target, query=query, restores=scan.as_of),))


def _overwrite(table: Table, clause: str, values: Mapping[str, str | None]) -> str:
    columns = ", ".join(quote_name(column.name) for column in table.all_columns)
    name = table.name.quoted
    only = " AND ".join(_is(key, value, table) for key, value in values.items()) or "true"
    return f"INSERT OVERWRITE TABLE {name} SELECT {columns} FROM {name} {clause} WHERE {only}"


def _merge(table: Table, clause: str, values: Mapping[str, str | None]) -> str:
    """Return the MERGE; ``values`` of partition columns say of which partitions the rows are."""
    name = table.name.quoted
    columns = [quote_name(column.name) for column in table.all_columns]
    only = [_is(key, value, table) for key, value in values.items()]
    same = [f"{_NOW}.ROW__ID = {_THEN}.{_ID}"]
    keys = map(quote_name, table.partition_names)
    same += [f"{_NOW}.{key} <=> {_THEN}.{key}" for key in keys]
    earlier = f"SELECT ROW__ID AS {_ID}, {', '.join(columns)} FROM {name} {clause}"
    if only:
        earlier += f" WHERE {' AND '.join(only)}"
    new = [f"AND {_NOW}.{condition}" for condition in only]
    old = ", ".join(f"{_THEN}.{column}" for column in columns)
    return (
        f"MERGE INTO {name} AS {_NOW} USING ({earlier}) AS {_THEN} ON {' AND '.join(same)} "
        f"WHEN NOT MATCHED BY SOURCE {' '.join(new)} THEN DELETE "
        f"WHEN NOT MATCHED THEN INSERT VALUES ({old})"
    )


def _is(key: str, value: str | None, table: Table) -> str:
    """Write that a row is of the partition, by what queries read of it."""
    types = {column.name: column.type for column in table.partition_columns}
    read = default_value(types[key]) if value is None else value
    if read is None:
        return f"{quote_name(key)} IS NULL"
    return f"{quote_name(key)} = CAST({literal(read)} AS {types[key]})"


def _parsed(text: StatementText) -> exp.Expr:
    body = parse(text).body
    assert isinstance(body, exp.Expr)
    return body


def _fail_at(error: HiveSqlError, binding: Binding, start: int, end: int) -> NoReturn:
    """Raise an error of the MERGE where the statement says what is to be restored."""
    error.file = error.line = error.column = error.end = error.text = error.about = None
    binding.fail(error, start, end)
