"""UPDATE and DELETE, from text to bound statements."""

from __future__ import annotations

from sqlglot import exp

from hivesql.front.binding import Binding
from hivesql.front.cursor import Cursor
from hivesql.front.prune import conjuncts, prune, search_text
from hivesql.front.query import Names, parse_condition
from hivesql.front.slices import expression_at
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.plan import Expr, Scan, Source
from hivesql_planner.statements import (
    DeleteRows,
    UpdateRows,
)
from hivesql_planner.table import Table

_AFTER_TARGET = ("SET", "WHERE", "USING", "ON", "WHEN")


def read_target(cursor: Cursor, binding: Binding, what: str) -> tuple[Table, str]:
    """The table to change and the name by which expressions call it."""
    if binding.settings.flag("hive.support.concurrency") is False:
        error = SemanticError(
            "Attempt to do update or delete using transaction manager that does not support these "
            "operations: set hive.support.concurrency=true",
            code=10294,
        )
        cursor.fail(error, cursor.offset())
    offset = cursor.offset()
    table = binding.read_table(cursor)
    if table.is_view:
        error = SemanticError(f"You cannot {what} a view: {table.name}", code=10402)
        cursor.fail(error, offset)
    if not table.is_transactional:
        error = SemanticError(
            f"Attempt to {what} table {table.name} that is not transactional. Make it so by ALTER "
            "TABLE … SET TBLPROPERTIES ('transactional'='true')",
            code=10297,
        )
        cursor.fail(error, offset)
    if table.is_insert_only:
        error = SemanticError(
            f"Attempt to {what} table {table.name} that is insert-only transactional", code=10414
        )
        cursor.fail(error, offset)
    alias = table.name.name
    cursor.take("AS")
    token = cursor.peek()
    if token and token.kind in ("word", "name") and token.upper not in _AFTER_TARGET:
        alias = cursor.name("an alias")
    return table, alias


def bind_update(cursor: Cursor, binding: Binding) -> UpdateRows:
    """``UPDATE t SET c = e, … [WHERE …]``."""
    names = Names()
    cursor.expect("UPDATE")
    table, alias = read_target(cursor, binding, "update")
    cursor.expect("SET")
    sources: list[Source] = []
    assignments = read_assignments(cursor, binding, names, table, alias, sources, ("WHERE",))
    where, conditions = _where(cursor, binding, names, table, alias, sources)
    cursor.end()
    return UpdateRows(
        target=changed_scan(binding, table, conditions),
        alias=alias,
        assignments=assignments,
        where=where,
        subqueries=tuple(sources),
    )


def bind_delete(cursor: Cursor, binding: Binding) -> DeleteRows:
    """``DELETE FROM t [WHERE …]``."""
    names = Names()
    cursor.expect("DELETE", "FROM")
    table, alias = read_target(cursor, binding, "delete from")
    sources: list[Source] = []
    where, conditions = _where(cursor, binding, names, table, alias, sources)
    cursor.end()
    target = changed_scan(binding, table, conditions)
    return DeleteRows(target=target, alias=alias, where=where, subqueries=tuple(sources))


def changed_scan(binding: Binding, table: Table, conditions: list[exp.Expr]) -> Scan:
    """The scan of a table whose rows are to be changed, pruned by its conditions."""
    known = binding.catalog.partitions(table.name) if table.partition_columns else ()
    return binding.scan(
        table,
        partitions=prune(table, known, conditions),
        with_row_id=True,
        where=search_text(table, conditions),
    )


def _where(
    cursor: Cursor,
    binding: Binding,
    names: Names,
    table: Table,
    alias: str,
    sources: list[Source],
) -> tuple[Expr | None, list[exp.Expr]]:
    """The condition, and its conjuncts that can prune the target."""
    if not cursor.take("WHERE"):
        return None, []
    offset = cursor.offset()
    text = cursor.until("ORDER", "LIMIT", "RETURNING")
    condition, found = expression_at(cursor, text, offset, binding, names)
    sources += found
    tree = parse_condition(text)
    _check_columns(cursor, tree, table, alias, offset)
    own = [part for part in conjuncts(tree) if part.find(exp.Query) is None]
    return condition, own


def _check_columns(cursor: Cursor, tree: exp.Expr, table: Table, alias: str, offset: int) -> None:
    """Refuse columns that the table does not have (those in subqueries are Spark's to judge)."""
    known = {column.name for column in table.all_columns} | {"row__id"}
    for column in tree.find_all(exp.Column):
        if column.find_ancestor(exp.Query) not in (None, tree.find_ancestor(exp.Query)):
            continue
        first = column.parts[0]
        if first.name.lower() in (alias, table.name.name, table.name.database, "row__id"):
            continue
        if first.name.lower() not in known:
            error = NoSuchObject(
                f"Invalid table alias or column reference '{first.name}': {table.name} has "
                f"({', '.join(c.name for c in table.all_columns)})",
                code=10004,
            )
            cursor.fail(error, offset + first.meta.get("start", 7) - 7)


def read_assignments(
    cursor: Cursor,
    binding: Binding,
    names: Names,
    table: Table,
    alias: str,
    sources: list[Source],
    stops: tuple[str, ...],
    *,
    own_columns_only: bool = True,
) -> dict[str, Expr]:
    """``c = e, …`` with Hive's checks, in Hive's order."""
    assignments: dict[str, Expr] = {}
    while True:
        offset = cursor.offset()
        name = cursor.name("a column name")
        if cursor.take("."):
            name = cursor.name("a column name")
        _check_assignable(cursor, table, name, offset)
        if name in assignments:
            cursor.fail(SemanticError(f"Column {name} is set twice", code=10036), offset)
        cursor.expect("=")
        start = cursor.offset()
        text = cursor.until(*stops, commas=True)
        if text.upper() == "DEFAULT":
            text = "NULL"
        expression, found = expression_at(cursor, text, start, binding, names)
        if own_columns_only:
            _check_columns(cursor, parse_condition(text), table, alias, start)
        sources += found
        assignments[name] = expression
        if not cursor.list_of():
            return assignments


def _check_assignable(cursor: Cursor, table: Table, name: str, offset: int) -> None:
    if name in table.partition_names:
        error = SemanticError("Updating values of partition columns is not supported", code=10292)
        cursor.fail(error, offset)
    if name in table.bucket_columns:
        error = SemanticError(
            f"Updating values of bucketing columns is not supported.  Column {name}.", code=10302
        )
        cursor.fail(error, offset)
    if name not in table.column_names:
        error = NoSuchObject(
            f'Invalid column name "{name}" in SET clause: {table.name} has no such column',
            code=10408,
        )
        cursor.fail(error, offset)
