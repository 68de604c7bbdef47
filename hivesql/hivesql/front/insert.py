"""INSERT and multi-insert, from text to bound statements."""

from __future__ import annotations

from dataclasses import replace

from hivesql.front.binding import DYNAMIC, Binding
from hivesql.front.cursor import Cursor
from hivesql.front.lexer import tokenize
from hivesql.front.query import Names, bind_query, split_union_all
from hivesql.front.slices import query_at
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.plan import Query
from hivesql_planner.statements import (
    InsertRows,
    InsertTarget,
)
from hivesql_planner.table import Table


def bind_insert(cursor: Cursor, binding: Binding) -> InsertRows:
    """``[WITH …] INSERT …`` or ``FROM … INSERT … INSERT …``."""
    names = Names()
    if cursor.sees("FROM"):
        offset = cursor.offset()
        source = cursor.until("INSERT")
        targets = []
        while cursor.take("INSERT"):
            targets.append(_insert_branch(cursor, binding, names, f"{source} ", offset))
        cursor.end()
        _refuse_twice(cursor, targets)
        return InsertRows(targets=tuple(targets))
    prefix = ""
    if cursor.sees("WITH"):
        prefix = cursor.until("INSERT") + " "
    cursor.expect("INSERT")
    target = _insert_branch(cursor, binding, names, prefix, None)
    return InsertRows(targets=(target,))


def _refuse_twice(cursor: Cursor, targets: list[InsertTarget]) -> None:
    seen = set()
    for target in targets:
        key = (target.table.name, tuple(sorted(target.static_partition.items())))
        if key in seen:
            name = target.table.name.name
            raise SemanticError(
                f"The same output cannot be present multiple times:  {name}", code=10087
            )
        seen.add(key)


def _insert_branch(
    cursor: Cursor, binding: Binding, names: Names, prefix: str, source: int | None
) -> InsertTarget:
    overwrite = cursor.take("OVERWRITE")
    if not overwrite:
        cursor.expect("INTO")
    if cursor.sees("LOCAL", "DIRECTORY") or cursor.sees("DIRECTORY"):
        raise NotSupported("INSERT OVERWRITE DIRECTORY")
    cursor.take("TABLE")
    offset = cursor.offset()
    table = binding.read_table(cursor)
    if table.is_view:
        error = SemanticError(f"You cannot insert into a view: {table.name}", code=10090)
        cursor.fail(error, offset)
    spec: dict[str, str | None] = {}
    at = cursor.offset()
    if cursor.take("PARTITION"):
        spec = binding.read_partition(cursor, table)
    if_not_exists = cursor.take("IF", "NOT", "EXISTS")
    columns = read_column_names(cursor, table)
    static, dynamic = _partition_parts(cursor, binding, table, spec, at)
    begin = cursor.offset()
    text = cursor.until("INSERT") if source is not None else cursor.rest()
    if not text:
        cursor.refuse("expected a query")
    text = _defaults_as_null(text)
    arity = len(table.columns) + len(dynamic)
    _check_values(cursor, text, len(columns or ()) or arity, begin)
    whole = prefix + text
    start = begin - len(prefix) if source is None else (source or 0)
    query = query_at(cursor, whole, max(0, start), binding, names)
    branches: tuple[Query, ...] = ()
    parts = split_union_all(text) if not prefix and not columns else [text]
    if len(parts) > 1 and table.is_full_acid:
        fresh = Names()
        branches = tuple(bind_query(part, binding, fresh) for part in parts)
    if columns is not None:
        query = _reordered(query, columns, table, dynamic)
    return InsertTarget(
        table=table,
        query=query,
        overwrite=overwrite,
        static_partition=static,
        dynamic_partition=dynamic,
        if_not_exists=if_not_exists,
        union_branches=branches,
    )


def read_column_names(cursor: Cursor, table: Table) -> list[str] | None:
    """``(a, b)`` before the query; None when a parenthesis opens the query itself."""
    following = cursor.peek(1)
    if not cursor.sees("(") or following is None or following.upper in ("SELECT", "WITH", "VALUES",
                                                                       "FROM"):  # fmt: skip
        return None
    if following.text == "(":
        return None
    cursor.expect("(")
    columns: list[str] = []
    while True:
        offset = cursor.offset()
        name = cursor.name("a column name")
        if name not in {column.name for column in table.all_columns}:
            error = NoSuchObject(
                f"Invalid column reference {name}: {table.name} has no such column", code=10004
            )
            cursor.fail(error, offset)
        if name in columns:
            cursor.fail(SemanticError(f"Duplicate column name: {name}", code=10036), offset)
        columns.append(name)
        if not cursor.list_of():
            break
    cursor.expect(")")
    return columns


def _partition_parts(
    cursor: Cursor, binding: Binding, table: Table, spec: dict[str, str | None], offset: int
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Static values and dynamic columns; without a PARTITION clause all are dynamic."""
    if not table.partition_columns:
        return {}, ()
    names = table.partition_names
    given = spec or dict.fromkeys(names, DYNAMIC)
    missing = [name for name in names if name not in given]
    if missing:
        error = SemanticError(
            f"Partition spec lacks {', '.join(missing)} of {table.name}", code=10001
        )
        cursor.fail(error, offset)
    static = {name: given[name] for name in names if given[name] != DYNAMIC}
    dynamic = tuple(name for name in names if given[name] == DYNAMIC)
    if dynamic:
        _check_dynamic(cursor, binding, names, static, offset)
    return static, dynamic


def _check_dynamic(
    cursor: Cursor,
    binding: Binding,
    names: tuple[str, ...],
    static: dict[str, str | None],
    offset: int,
) -> None:
    settings = binding.settings
    if not settings.flag("hive.exec.dynamic.partition"):
        error = SemanticError(
            "Dynamic partition is disabled. Either enable it by setting "
            "hive.exec.dynamic.partition=true or specify partition column values",
            code=10095,
        )
        cursor.fail(error, offset)
    if settings.text("hive.exec.dynamic.partition.mode").lower() == "strict" and not static:
        error = SemanticError(
            "Dynamic partition strict mode requires at least one static partition column. To turn "
            "this off set hive.exec.dynamic.partition.mode=nonstrict",
            code=10096,
        )
        cursor.fail(error, offset)
    if any(name in static for name in names[len(static) :]):
        error = SemanticError(
            "Dynamic partition cannot be the parent of a static partition", code=10094
        )
        cursor.fail(error, offset)


def _defaults_as_null(text: str) -> str:
    """``DEFAULT`` as a whole value of VALUES is NULL: no column has another default here."""
    tokens = tokenize(text)
    if not tokens or tokens[0].upper != "VALUES":
        return text
    for before, token, after in reversed(list(zip(tokens, tokens[1:], tokens[2:], strict=False))):
        if token.upper == "DEFAULT" and before.text in "(," and after.text in "),":
            text = f"{text[: token.start]}NULL{text[token.end :]}"
    return text


def _check_values(cursor: Cursor, text: str, arity: int, offset: int) -> None:
    """Every row of VALUES must have as many values as there are columns."""
    tokens = tokenize(text)
    if not tokens or tokens[0].upper != "VALUES":
        return
    depth = count = 0
    for token in tokens[1:]:
        if token.text in "([{" and token.kind == "symbol":
            depth += 1
            count = 1 if depth == 1 else count
        elif token.text in ")]}" and token.kind == "symbol":
            depth -= 1
            if depth == 0 and count != arity:
                error = SemanticError(
                    "Cannot insert into target table because column number/types are different: "
                    f"it takes {arity} values, this row has {count}",
                    code=10044,
                )
                cursor.fail(error, offset + token.start)
        elif token.text == "," and depth == 1:
            count += 1


def _reordered(query: Query, columns: list[str], table: Table, dynamic: tuple[str, ...]) -> Query:
    """The query's columns in the table's order; columns not given are NULL."""
    wanted = [*table.column_names, *dynamic]
    given = ", ".join(f"`{name}`" for name in columns)
    chosen = ", ".join(f"`{name}`" if name in columns else "NULL" for name in wanted)
    return replace(query, sql=f"SELECT {chosen} FROM ({query.sql}) AS given({given})")
