"""LOAD DATA, MSCK and ANALYZE."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.dialect.nodes.ddl import AnalyzeBody, DefinitionBodies, LoadBody, RepairBody
from hivesql.dialect.statements.clauses import parse_partition
from hivesql.dialect.statements.storage import parse_serde
from hivesql.dialect.tokens import Cursor, Name
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE


def parse_load(cursor: Cursor) -> LoadBody:
    """LOAD DATA [LOCAL] INPATH '…' [OVERWRITE] INTO TABLE t [PARTITION (…)]."""
    cursor.expect("load", "data")
    local = cursor.take("local")
    cursor.expect("inpath")
    start = cursor.peek()
    path = cursor.location()
    overwrite = cursor.take("overwrite")
    cursor.expect("into", "table")
    table = cursor.table()
    partition = parse_partition(cursor) if cursor.at("partition") else None
    format_ = None
    if cursor.take("inputformat"):
        given = cursor.peek()
        input_format = cursor.string("a class")
        cursor.expect("serde")
        _, format_ = parse_serde(cursor)
        if STORAGE[format_].input_format != input_format:
            cursor.refuse(f"the INPUTFORMAT '{input_format}' with this SERDE", given)
    cursor.end()
    return LoadBody(table, path, start.start, local, overwrite, partition, format_)


def parse_repair(cursor: Cursor) -> RepairBody:
    """MSCK [REPAIR] TABLE t [ADD | DROP | SYNC PARTITIONS]."""
    cursor.expect("msck")
    repair = cursor.take("repair")
    cursor.expect("table")
    table = cursor.table()
    if cursor.at("partition"):
        cursor.refuse("MSCK … PARTITION")
    add, drop = repair, False
    for word in ("add", "drop", "sync"):
        if cursor.take(word):
            cursor.expect("partitions")
            add, drop = repair and word != "drop", repair and word != "add"
            break
    cursor.end()
    return RepairBody(table, add, drop)


def parse_analyze(cursor: Cursor) -> AnalyzeBody:
    """ANALYZE TABLE t [PARTITION (…)] COMPUTE STATISTICS [NOSCAN | FOR COLUMNS [c, …]]."""
    cursor.expect("analyze", "table")
    table = cursor.table()
    partition = parse_partition(cursor) if cursor.at("partition") else None
    if cursor.at("cache"):
        cursor.refuse("ANALYZE TABLE … CACHE METADATA")
    cursor.expect("compute", "statistics")
    no_scan = cursor.take("noscan")
    columns: list[Name] | None = None
    if not no_scan and cursor.take("for", "columns"):
        columns = []
        while not cursor.at_end:
            columns.append(cursor.name("a column name"))
            if not cursor.take(","):
                break
    cursor.end()
    return AnalyzeBody(table, partition, None if columns is None else tuple(columns), no_scan)


STATEMENTS: dict[str, Callable[[Cursor], DefinitionBodies]] = {
    "load": parse_load,
    "msck": parse_repair,
    "analyze": parse_analyze,
}
