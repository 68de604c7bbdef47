"""MERGE, from text to a bound statement."""

from __future__ import annotations

from sqlglot import exp

from hivesql.front.binding import Binding
from hivesql.front.change import changed_scan, read_assignments, read_target
from hivesql.front.cursor import Cursor
from hivesql.front.insert import read_column_names
from hivesql.front.prune import conjuncts
from hivesql.front.query import Names, parse_condition
from hivesql.front.slices import expression_at, query_at
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.plan import Expr, Query, Source
from hivesql_planner.statements import (
    MergeClause,
    MergeRows,
)
from hivesql_planner.table import Table


def bind_merge(cursor: Cursor, binding: Binding) -> MergeRows:
    """``MERGE INTO t USING s ON … WHEN …``."""
    names = Names()
    cursor.expect("MERGE", "INTO")
    table, alias = read_target(cursor, binding, "update or delete")
    cursor.expect("USING")
    source, source_alias = _merge_source(cursor, binding, names)
    cursor.expect("ON")
    offset = cursor.offset()
    text = cursor.until("WHEN")
    sources: list[Source] = []
    on, found = expression_at(cursor, text, offset, binding, names)
    sources += found
    if not cursor.sees("WHEN"):
        cursor.refuse("Must have at least 1 WHEN clause in MERGE statement")
    clauses: list[MergeClause] = []
    at = cursor.offset()
    while cursor.take("WHEN"):
        clauses.append(_clause(cursor, binding, names, table, alias, sources, clauses))
    cursor.end()
    tree = parse_condition(text)
    _check_clauses(cursor, clauses, tree, alias, table, at)
    own = [part for part in conjuncts(tree) if _speaks_only_of(part, alias)]
    return MergeRows(
        target=changed_scan(binding, table, own),
        alias=alias,
        source=source,
        source_alias=source_alias,
        on=on,
        clauses=tuple(clauses),
        subqueries=tuple(sources),
    )


def _speaks_only_of(condition: exp.Expr, alias: str) -> bool:
    columns = list(condition.find_all(exp.Column))
    plain = condition.find(exp.Query) is None
    return plain and bool(columns) and all(column.table.lower() == alias for column in columns)


def _merge_source(cursor: Cursor, binding: Binding, names: Names) -> tuple[Query, str]:
    offset = cursor.offset()
    if cursor.take("("):
        inside = cursor.offset()
        text = cursor.until()
        cursor.expect(")")
        query = query_at(cursor, text, inside, binding, names)
        cursor.take("AS")
        return query, cursor.name("an alias for the source")
    name = binding.read_name(cursor)
    text = cursor.text[offset : cursor.tokens[cursor.at - 1].end]
    query = query_at(
        cursor, f"SELECT * FROM {text}", offset - len("SELECT * FROM "), binding, names
    )
    alias = name.name
    cursor.take("AS")
    if not cursor.sees("ON"):
        alias = cursor.name("an alias for the source")
    return query, alias


def _clause(
    cursor: Cursor,
    binding: Binding,
    names: Names,
    table: Table,
    alias: str,
    sources: list[Source],
    before: list[MergeClause],
) -> MergeClause:
    negative = cursor.take("NOT")
    cursor.expect("MATCHED")
    if cursor.sees("BY"):
        raise NotSupported("MERGE … WHEN NOT MATCHED BY SOURCE")
    if before and before[-1].kind == "insert":
        cursor.refuse("WHEN NOT MATCHED must be the last clause")
    condition = None
    if cursor.take("AND"):
        offset = cursor.offset()
        condition, found = expression_at(cursor, cursor.until("THEN"), offset, binding, names)
        sources += found
    cursor.expect("THEN")
    if negative:
        if not cursor.take("INSERT"):
            cursor.refuse("WHEN NOT MATCHED takes INSERT")
        values = _merge_values(cursor, binding, names, table, sources)
        return MergeClause(kind="insert", condition=condition, values=values)
    if cursor.take("DELETE"):
        return MergeClause(kind="delete", condition=condition)
    if cursor.sees("INSERT"):
        cursor.refuse("WHEN MATCHED takes UPDATE or DELETE")
    cursor.expect("UPDATE", "SET")
    if cursor.sees("*"):
        raise NotSupported("MERGE … UPDATE SET *")
    assignments = read_assignments(
        cursor, binding, names, table, alias, sources, ("WHEN",), own_columns_only=False
    )
    return MergeClause(kind="update", condition=condition, assignments=assignments)


def _merge_values(
    cursor: Cursor, binding: Binding, names: Names, table: Table, sources: list[Source]
) -> tuple[Expr, ...]:
    """One expression per column of the table, data columns first."""
    if cursor.sees("*"):
        raise NotSupported("MERGE … INSERT *")
    columns = read_column_names(cursor, table)
    cursor.expect("VALUES")
    at = cursor.offset()
    cursor.expect("(")
    values: list[Expr] = []
    while True:
        offset = cursor.offset()
        text = cursor.until(commas=True)
        text = "NULL" if text.upper() == "DEFAULT" else text
        value, found = expression_at(cursor, text, offset, binding, names)
        sources += found
        values.append(value)
        if not cursor.list_of():
            break
    cursor.expect(")")
    wanted = [column.name for column in table.all_columns]
    given = columns or wanted
    if len(values) != len(given):
        error = SemanticError(
            f"INSERT of the MERGE gives {len(values)} values for {len(given)} columns", code=10044
        )
        cursor.fail(error, at)
    by_name = dict(zip(given, values, strict=True))
    return tuple(by_name.get(name, Expr("NULL")) for name in wanted)


def _check_clauses(
    cursor: Cursor,
    clauses: list[MergeClause],
    on: exp.Expr,
    alias: str,
    table: Table,
    offset: int,
) -> None:
    kinds: list[str] = [clause.kind for clause in clauses]
    for kind, code in (("delete", 10405), ("update", 10406), ("insert", 10406)):
        if kinds.count(kind) > 1:
            error = SemanticError(
                f"MERGE statement can have only 1 WHEN ... {kind.upper()} clause", code=code
            )
            cursor.fail(error, offset)
    matched = [clause for clause in clauses if clause.kind != "insert"]
    if len(matched) > 1 and matched[0].condition is None:
        error = SemanticError(
            'MERGE statement with both UPDATE and DELETE clauses requires "AND <boolean>" on '
            "the 1st WHEN MATCHED clause",
            code=10404,
        )
        cursor.fail(error, offset)
    mentions = {c.table.lower() for c in on.find_all(exp.Column)}
    names = {c.name.lower() for c in on.find_all(exp.Column) if not c.table}
    own = {column.name for column in table.all_columns}
    if "insert" in kinds and alias not in mentions and not names & own:
        error = SemanticError(
            f"No columns from target table '{alias}' found in ON clause of MERGE", code=10149
        )
        cursor.fail(error, offset)
