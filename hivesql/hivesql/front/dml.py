"""INSERT, UPDATE, DELETE and MERGE, from text to bound statements."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from hivesql.front.binding import DYNAMIC, Binding
from hivesql.front.cursor import Cursor
from hivesql.front.lexer import tokenize
from hivesql.front.prune import conjuncts, prune, search_text
from hivesql.front.query import Names, bind_expression, bind_query, parse_condition, split_union_all
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.plan import Expr, Query, Source
from hivesql_planner.statements import (
    DeleteRows,
    InsertRows,
    InsertTarget,
    MergeClause,
    MergeRows,
    UpdateRows,
)
from hivesql_planner.table import Table

_AFTER_TARGET = ("SET", "WHERE", "USING", "ON", "WHEN")


def query_at(cursor: Cursor, text: str, offset: int, binding: Binding, names: Names) -> Query:
    """Bind a query that lies at an offset of the statement, errors placed there."""
    try:
        return bind_query(text, binding, names)
    except HiveSqlError as error:
        raise _moved(cursor, error, offset) from error.__cause__


def expression_at(
    cursor: Cursor, text: str, offset: int, binding: Binding, names: Names
) -> tuple[Expr, list[Source]]:
    """Bind an expression that lies at an offset of the statement."""
    try:
        return bind_expression(text, binding, names)
    except HiveSqlError as error:
        raise _moved(cursor, error, offset) from error.__cause__


def _moved(cursor: Cursor, error: HiveSqlError, offset: int) -> HiveSqlError:
    """An error placed within a slice, placed within the statement."""
    before = cursor.text[:offset]
    line, column = error.line or 1, error.column or 1
    error.line = before.count("\n") + line
    error.column = column if line > 1 else offset - (before.rfind("\n") + 1) + column
    return error


# ------------------------------------------------------------------ INSERT
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
    columns = _column_list(cursor, table)
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


def _column_list(cursor: Cursor, table: Table) -> list[str] | None:
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


def _reordered(
    query: Query, columns: list[str], table: Table, dynamic: tuple[str, ...]
) -> Query:
    """The query's columns in the table's order; columns not given are NULL."""
    wanted = [*table.column_names, *dynamic]
    given = ", ".join(f"`{name}`" for name in columns)
    chosen = ", ".join(f"`{name}`" if name in columns else "NULL" for name in wanted)
    return replace(query, sql=f"SELECT {chosen} FROM ({query.sql}) AS given({given})")


# ------------------------------------------------------------------ UPDATE, DELETE
def _target(cursor: Cursor, binding: Binding, what: str) -> tuple[Table, str]:
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
    table, alias = _target(cursor, binding, "update")
    cursor.expect("SET")
    sources: list[Source] = []
    assignments = _assignments(cursor, binding, names, table, alias, sources, ("WHERE",))
    where, conditions = _where(cursor, binding, names, table, alias, sources)
    cursor.end()
    return UpdateRows(
        target=_changed(binding, table, conditions),
        alias=alias,
        assignments=assignments,
        where=where,
        subqueries=tuple(sources),
    )


def bind_delete(cursor: Cursor, binding: Binding) -> DeleteRows:
    """``DELETE FROM t [WHERE …]``."""
    names = Names()
    cursor.expect("DELETE", "FROM")
    table, alias = _target(cursor, binding, "delete from")
    sources: list[Source] = []
    where, conditions = _where(cursor, binding, names, table, alias, sources)
    cursor.end()
    target = _changed(binding, table, conditions)
    return DeleteRows(target=target, alias=alias, where=where, subqueries=tuple(sources))


def _changed(binding: Binding, table: Table, conditions: list[exp.Expression]):  # type: ignore[no-untyped-def]
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
) -> tuple[Expr | None, list[exp.Expression]]:
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


def _check_columns(
    cursor: Cursor, tree: exp.Expression, table: Table, alias: str, offset: int
) -> None:
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


def _assignments(
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
        error = SemanticError(
            "Updating values of partition columns is not supported", code=10292
        )
        cursor.fail(error, offset)
    if name in table.bucket_columns:
        error = SemanticError(
            f"Updating values of bucketing columns is not supported.  Column {name}.", code=10302
        )
        cursor.fail(error, offset)
    if name not in table.column_names:
        error = NoSuchObject(
            f"Invalid column name \"{name}\" in SET clause: {table.name} has no such column",
            code=10408,
        )
        cursor.fail(error, offset)


# ------------------------------------------------------------------ MERGE
def bind_merge(cursor: Cursor, binding: Binding) -> MergeRows:
    """``MERGE INTO t USING s ON … WHEN …``."""
    names = Names()
    cursor.expect("MERGE", "INTO")
    table, alias = _target(cursor, binding, "update or delete")
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
        target=_changed(binding, table, own),
        alias=alias,
        source=source,
        source_alias=source_alias,
        on=on,
        clauses=tuple(clauses),
        subqueries=tuple(sources),
    )


def _speaks_only_of(condition: exp.Expression, alias: str) -> bool:
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
    query = query_at(cursor, f"SELECT * FROM {text}", offset - len("SELECT * FROM "), binding, names)
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
    assignments = _assignments(
        cursor, binding, names, table, alias, sources, ("WHEN",), own_columns_only=False
    )
    return MergeClause(kind="update", condition=condition, assignments=assignments)


def _merge_values(
    cursor: Cursor, binding: Binding, names: Names, table: Table, sources: list[Source]
) -> tuple[Expr, ...]:
    """One expression per column of the table, data columns first."""
    if cursor.sees("*"):
        raise NotSupported("MERGE … INSERT *")
    columns = _column_list(cursor, table)
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
    on: exp.Expression,
    alias: str,
    table: Table,
    offset: int,
) -> None:
    kinds = [clause.kind for clause in clauses]
    for kind, code in (("delete", 10405), ("update", 10406), ("insert", 10406)):
        if kinds.count(kind) > 1:
            error = SemanticError(
                f"MERGE statement can have only 1 WHEN ... {kind.upper()} clause", code=code
            )
            cursor.fail(error, offset)
    matched = [clause for clause in clauses if clause.kind != "insert"]
    if len(matched) > 1 and matched[0].condition is None:
        error = SemanticError(
            "MERGE statement with both UPDATE and DELETE clauses requires \"AND <boolean>\" on "
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
