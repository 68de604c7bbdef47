"""SHOW of tables, their columns and their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import compress

from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_executor.metastore.system_databases import (
    find_database,
    find_table,
    find_tables,
)
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.show.create_table import create_database_statement
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.materialized import IncrementalRebuild
from hivesql_planner.model.table import Column, Partition, Table
from hivesql_planner.predicates.wildcards import ANY, ONE, compile_wildcards, literal
from hivesql_planner.statements.bound import Show

FileSizes = tuple[tuple[str, int], ...]
_MARK = re.compile(r"\\+(_)|\\+(%)|([*%])|([_.])|(.)", re.DOTALL)


def matching(
    names: Iterable[str],
    pattern: str | None,
    *,
    stars: bool = True,
    choices: bool = True,
    dots: bool = False,
) -> list[tuple[str]]:
    """Return the names that match, sorted, each as a row.

    ``%`` stands for anything; case is ignored. ``_`` stands for one character, unless a
    backslash is before it; with ``stars``, ``*`` is as ``%``; with ``choices``, ``|`` is
    between patterns of which one must match; with ``dots``, ``.`` is as ``_``.
    """
    if pattern is None:
        return [(name,) for name in sorted(names)]
    singles = "_" + "." * dots
    expressions = [
        compile_wildcards(_wildcards(part, singles, stars=stars), ignores_case=True)
        for part in (map(str.strip, pattern.split("|")) if choices else [pattern])
    ]
    return [(name,) for name in sorted(names) if any(e.fullmatch(name) for e in expressions)]


def match_expression(names: Sequence[str], pattern: str) -> list[str]:
    """Return the names that match Hive's pattern for columns: Java's, in which ``*`` is ``.*``.

    Arrow's matcher takes a time that the pattern's length bounds, other than Python's.
    """
    # Imported late: what no other SHOW needs.
    import pyarrow as pa
    import pyarrow.compute as pc

    expression = f"^(?:{pattern.replace('*', '.*')})$"
    try:
        matches = pc.match_substring_regex(pa.array(names), expression, ignore_case=True)
    except pa.ArrowInvalid as error:
        why = str(error).removeprefix("Invalid regular expression: ").partition(":")[0]
        raise SemanticError(
            f"'{pattern}' is no pattern of columns ({why}). Write names, * for anything, and | "
            "between patterns",
            code=40000,
        ) from error
    return list(compress(names, matches.to_pylist()))


def _wildcards(pattern: str, singles: str, *, stars: bool) -> str:
    def meaning_of(match: re.Match[str]) -> str:
        escaped, percent, anything, single, other = match.groups()
        if anything and (stars or anything == "%"):
            return ANY
        if single and single in singles:
            return ONE
        return literal(escaped or percent or anything or single or other)

    return _MARK.sub(meaning_of, pattern)


_THRIFT = {
    "tinyint": "byte", "smallint": "i16", "int": "i32", "bigint": "i64", "boolean": "bool",
    "array": "list",
}  # fmt: skip
"""Thrift's words for Hive's; all others are the same."""


def show_table_types(statement: Show, runtime: Runtime) -> Outcome:
    """SHOW EXTENDED TABLES: names with their types."""
    rows = [(name, table.type) for name, table in matching_tables(statement, runtime)]
    return Outcome.of_table(["tab_name", "table_type"], rows)


def show_tables_of_type(statement: Show, runtime: Runtime) -> Outcome:
    """SHOW TABLES … WHERE `table_type` = '…'."""
    names = [
        (name,)
        for name, table in matching_tables(statement, runtime)
        if table.type == statement.key
    ]
    return Outcome.of_table(["tab_name"], names)


def show_table_extended(statement: Show, runtime: Runtime) -> Outcome:
    """SHOW TABLE EXTENDED: a paragraph for each table."""
    lines: list[str] = []
    for name, table in matching_tables(statement, runtime):
        lines += [f"tableName:{name}", *_paragraph(table, statement.part, runtime), ""]
    return Outcome.of_table(["tab_name"], [(line,) for line in lines])


def show_create_database(statement: Show, runtime: Runtime) -> Outcome:
    """SHOW CREATE DATABASE."""
    database = find_database(statement.database or "default", runtime.metastore)
    lines = create_database_statement(database).splitlines()
    return Outcome.of_table(["createdb_stmt"], [(line,) for line in lines])


_REBUILT: dict[IncrementalRebuild, str] = {
    "all": "Available", "inserts": "Available for insert operations only", "none": "Not available",
}  # fmt: skip
"""What Hive says of its incremental rebuild; here a rebuild is always whole."""


def show_materialized_views(statement: Show, runtime: Runtime) -> Outcome:
    """SHOW MATERIALIZED VIEWS: whether and how long Hive may rewrite queries to read them."""
    views = [pair for pair in matching_tables(statement, runtime) if pair[1].is_materialized_view]
    columns = ["mv_name", "rewrite_enabled", "mode", "incremental_rebuild"]
    return Outcome.of_table(columns, [_of_materialized(name, view) for name, view in views])


def _of_materialized(name: str, view: Table) -> tuple[str, str, str, str]:
    materialized = view.materialized
    rewrites = materialized is not None and materialized.rewrite
    window = view.properties.get("rewriting.time.window")
    lasting = ""
    if window is not None:
        number = re.match(r"\s*(-?\d+)", window)
        window_length = int(number[1]) if number else 0
        valid = (
            "always"
            if window_length < 0
            else f"for {window}"
            if window_length
            else "until source tables modified"
        )
        lasting = f" (Valid {valid})"
    rebuilt = _REBUILT[materialized.incremental if materialized and rewrites else "none"]
    return name, "Yes" if rewrites else "No", f"Manual refresh{lasting}", rebuilt


def matching_tables(statement: Show, runtime: Runtime) -> list[tuple[str, Table]]:
    """Return the tables that match by the names that the session sees."""
    store = runtime.metastore
    names = {name.name: name for name in find_tables(statement.database or "default", store)}
    names |= statement.temporary
    # Those two take the pattern of LIKE, and no more.
    is_like = statement.kind in ("table extended", "materialized views")
    rows = matching(
        list(names), statement.pattern, stars=not is_like, choices=not is_like, dots=not is_like
    )
    return [(name, find_table(names[name], store)) for (name,) in rows]


def _paragraph(table: Table, partition: Partition | None, runtime: Runtime) -> list[str]:
    storage = STORAGE[table.stored_as(partition).format]
    location = partition.location if partition else table.location
    lines = [f"owner:{table.owner}"]
    described = [
        f"location:{'null' if table.is_view else location}",
        f"inputformat:{storage.input_format}",
        f"outputformat:{storage.output_format}",
        f"columns:struct columns {{ {_thrift(table.columns)}}}",
        f"partitioned:{str(bool(table.partition_columns)).lower()}",
        f"partitionColumns:struct partition_columns {{ {_thrift(table.partition_columns)}}}"
        if table.partition_columns
        else "partitionColumns:",
    ]
    sizes = file_sizes(table, partition, runtime) or ()
    return [*lines, *described, *(f"{key}:{size}" for key, size in sizes)]


def file_sizes(table: Table, partition: Partition | None, runtime: Runtime) -> FileSizes | None:
    """Return how many files a table or partition has and how long they are; None for views."""
    if table.is_view or table.is_system:
        return None
    from hivesql_executor.snapshot.listing import data_sizes, table_roots

    partitions = [partition] if partition else list(runtime.metastore.partitions(table.name))
    files = runtime.files(table.location)
    if table.partition_columns and not partitions:
        return None
    roots = table_roots(table, partitions)
    sizes = [size for _, root in roots for size in data_sizes(files.list(root))]
    return (
        ("totalNumberFiles", len(sizes)),
        ("totalFileSize", sum(sizes)),
        ("maxFileSize", max(sizes, default=0)),
        ("minFileSize", min(sizes, default=0)),
    )


def _thrift(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{_thrift_type(str(column.type))} {column.name}" for column in columns)


def _thrift_type(text: str) -> str:
    """Write a type in Thrift's words, also inside of arrays, maps and structs."""
    return re.sub(r"\w+", lambda word: _THRIFT.get(word[0], word[0]), text)
