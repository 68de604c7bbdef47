"""LOAD DATA, MSCK and ANALYZE."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.parser.clauses import parse_partition
from hivesql.parser.tokens import Cursor, Name
from hivesql.syntax.ddl import AnalyzeBody, DefinitionBodies, LoadBody, RepairBody

_PATTERN = "*?[]{}"


def parse_load(cursor: Cursor) -> LoadBody:
    """LOAD DATA [LOCAL] INPATH '…' [OVERWRITE] INTO TABLE t [PARTITION (…)]."""
    cursor.expect("load", "data")
    local = cursor.take("local")
    cursor.expect("inpath")
    start = cursor.peek()
    path = cursor.location()
    if any(char in path for char in _PATTERN):
        cursor.refuse("LOAD DATA … INPATH with a pattern", start)
    overwrite = cursor.take("overwrite")
    cursor.expect("into", "table")
    table = cursor.table()
    partition = parse_partition(cursor, dynamic=False) if cursor.at("partition") else None
    if cursor.at("inputformat") or cursor.at("serde"):
        cursor.refuse("LOAD DATA … INPUTFORMAT … SERDE")
    cursor.end()
    return LoadBody(table, path, start.start, local, overwrite, partition)


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
        if repair and cursor.take(word):
            cursor.expect("partitions")
            add, drop = word != "drop", word != "add"
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
