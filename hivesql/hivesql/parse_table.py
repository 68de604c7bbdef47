"""CREATE, TRUNCATE and ALTER of tables and views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, get_args

from hivesql.parse_command import parse_create_database, parse_properties
from hivesql.parse_query import constant, parse_partition, rest_as_query
from hivesql.parse_types import parse_columns
from hivesql.tokens import Cursor, Kind, Name, TableRef
from hivesql.trees import (
    AddColumnsBody,
    AddPartitionsBody,
    Body,
    CompactBody,
    CreateTableBody,
    CreateViewBody,
    DropPartitionsBody,
    PartitionFilter,
    PartitionItems,
    PropertiesBody,
    RenameBody,
    TruncateBody,
)
from hivesql_planner.table import FileFormat

_FORMATS: dict[str, FileFormat] = {
    **{name: name for name in get_args(FileFormat)},
    "jsonfile": "json",
}
_CREATE_REFUSED = {
    "temporary": "CREATE TEMPORARY",
    "function": "CREATE FUNCTION",
    "role": "CREATE ROLE",
    "materialized": "CREATE MATERIALIZED VIEW",
    "scheduled": "CREATE SCHEDULED QUERY",
    "remote": "CREATE REMOTE DATABASE",
    "index": "CREATE INDEX",
    "resource": "CREATE RESOURCE PLAN",
    "dataconnector": "CREATE DATACONNECTOR",
    "macro": "CREATE MACRO",
}
# ROW FORMAT DELIMITED, by the property that LazySimpleSerDe reads.
_DELIMITERS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("fields", "terminated", "by"), "field.delim"),
    (("collection", "items", "terminated", "by"), "collection.delim"),
    (("map", "keys", "terminated", "by"), "mapkey.delim"),
    (("lines", "terminated", "by"), "line.delim"),
    (("null", "defined", "as"), "serialization.null.format"),
    (("escaped", "by"), "escape.delim"),
)


def parse_create(cursor: Cursor) -> Body:
    """CREATE of what we know."""
    cursor.expect("create")
    token = cursor.peek()
    if token.kind is Kind.WORD and token.value in _CREATE_REFUSED:
        cursor.refuse(_CREATE_REFUSED[token.value])
    if token.is_("database") or token.is_("schema"):
        return parse_create_database(cursor)
    if token.is_("view") or token.is_("or"):
        return _create_view(cursor)
    return _create_table(cursor)


def _if_not_exists(cursor: Cursor) -> bool:
    if not cursor.at("if"):
        return False
    cursor.expect("if", "not", "exists")
    return True


def _create_view(cursor: Cursor) -> CreateViewBody:
    or_replace = cursor.take("or", "replace")
    cursor.expect("view")
    if_not_exists = _if_not_exists(cursor)
    table = cursor.table()
    columns: list[tuple[Name, str | None]] = []
    if cursor.take("("):
        while True:
            name = cursor.name("a column name")
            columns.append((name, cursor.string() if cursor.take("comment") else None))
            if not cursor.take(","):
                break
        cursor.expect(")")
    comment = cursor.string() if cursor.take("comment") else None
    if cursor.at("partitioned"):
        cursor.refuse("CREATE VIEW … PARTITIONED ON")
    properties = parse_properties(cursor) if cursor.take("tblproperties") else {}
    cursor.expect("as")
    return CreateViewBody(
        table=table, if_not_exists=if_not_exists, or_replace=or_replace, columns=tuple(columns),
        comment=comment, properties=properties, query=rest_as_query(cursor),
    )  # fmt: skip


def _create_table(cursor: Cursor) -> CreateTableBody:
    words = set()
    while not cursor.at("table"):
        if cursor.peek().value not in ("transactional", "external", "managed"):
            cursor.fail("expected TABLE, VIEW or DATABASE")
        words.add(cursor.next().value)
    cursor.expect("table")
    if_not_exists = _if_not_exists(cursor)
    table = cursor.table()
    parts: dict[str, Any] = {}
    if cursor.take("like"):
        if cursor.at("file"):
            cursor.refuse("CREATE TABLE … LIKE FILE")
        parts["like"] = cursor.table()
    elif cursor.at("("):
        parts["columns"] = parse_columns(cursor)
    while not cursor.at_end and not cursor.at("as"):
        parts |= _table_clause(cursor)
    if cursor.take("as"):
        if "columns" in parts or "like" in parts:
            cursor.fail("CREATE TABLE … AS SELECT takes its columns from the query")
        parts["query"] = rest_as_query(cursor)
    _check_complete(cursor, parts)
    return CreateTableBody(
        table=table, if_not_exists=if_not_exists, external="external" in words,
        transactional="transactional" in words, **parts,
    )  # fmt: skip


def _check_complete(cursor: Cursor, parts: dict[str, Any]) -> None:
    if "query" in parts:
        if "partition_columns" in parts:
            cursor.fail("PARTITIONED BY of CREATE TABLE … AS SELECT takes names only")
        return
    if "columns" not in parts and "like" not in parts:
        cursor.fail("expected the columns of the table")
    if "partitioned_by" in parts:
        cursor.fail("the types of the partition columns are missing")


def _table_clause(cursor: Cursor) -> dict[str, Any]:
    if cursor.at("skewed"):
        cursor.refuse("CREATE TABLE … SKEWED BY")
    if cursor.at("stored", "by"):
        cursor.refuse("CREATE TABLE … STORED BY")
    known = [clause for clause in _CLAUSES if cursor.at(*clause[0])]
    if not known:
        cursor.fail("unexpected clause of CREATE TABLE")
    words, key, read = known[0]
    cursor.expect(*words)
    found = read(cursor)
    return {key: found} if key else found


def _partitioned_by(cursor: Cursor) -> dict[str, Any]:
    if cursor.at("spec"):
        cursor.refuse("PARTITIONED BY SPEC")
    only_names = cursor.peek(2).is_(",") or cursor.peek(2).is_(")")
    if only_names:
        return {"partitioned_by": cursor.names("a partition column")}
    return {"partition_columns": parse_columns(cursor)}


def _clustered_by(cursor: Cursor) -> dict[str, Any]:
    found: dict[str, Any] = {"bucket_columns": cursor.names()}
    if cursor.take("sorted", "by"):
        cursor.expect("(")
        names = []
        while True:
            names.append(cursor.name("a column name"))
            if not cursor.take("asc"):
                cursor.take("desc")
            if not cursor.take(","):
                break
        cursor.expect(")")
        found["sort_columns"] = tuple(names)
    cursor.expect("into")
    found["bucket_count"] = cursor.integer("the number of buckets")
    cursor.expect("buckets")
    return found


def _delimited(cursor: Cursor) -> dict[str, str]:
    if cursor.at("serde"):
        cursor.refuse("ROW FORMAT SERDE")
    cursor.expect("delimited")
    found: dict[str, str] = {}
    while True:
        for words, key in _DELIMITERS:
            if cursor.take(*words):
                found[key] = cursor.string()
                break
        else:
            break
    if "field.delim" in found:
        found["serialization.format"] = found["field.delim"]
    return found


def _file_format(cursor: Cursor) -> FileFormat:
    if cursor.at("inputformat"):
        cursor.refuse("STORED AS INPUTFORMAT … OUTPUTFORMAT")
    if cursor.at("directories"):
        cursor.refuse("STORED AS DIRECTORIES")
    token = cursor.peek()
    if token.kind is not Kind.WORD or token.value not in _FORMATS:
        cursor.fail(f"expected a file format ({', '.join(_FORMATS)})")
    cursor.next()
    return _FORMATS[token.value]


_CLAUSES: tuple[tuple[tuple[str, ...], str, Callable[[Cursor], Any]], ...] = (
    (("comment",), "comment", Cursor.string),
    (("location",), "location", Cursor.string),
    (("tblproperties",), "properties", parse_properties),
    (("partitioned", "by"), "", _partitioned_by),
    (("clustered", "by"), "", _clustered_by),
    (("row", "format"), "serde_properties", _delimited),
    (("stored", "as"), "format", _file_format),
)


def parse_truncate(cursor: Cursor) -> TruncateBody:
    """TRUNCATE [TABLE] t [PARTITION (…)]."""
    cursor.expect("truncate")
    cursor.take("table")
    table = cursor.table()
    partition = parse_partition(cursor, dynamic=False) if cursor.at("partition") else None
    if cursor.at("columns"):
        cursor.refuse("TRUNCATE TABLE … COLUMNS")
    if cursor.at("force"):
        cursor.refuse("TRUNCATE TABLE … FORCE")
    cursor.end()
    return TruncateBody(table, partition)


def parse_alter(cursor: Cursor) -> Body:
    """ALTER TABLE of what we know."""
    cursor.expect("alter")
    token = cursor.peek()
    if not cursor.take("table"):
        if token.kind is Kind.WORD and token.value in (
            "view", "materialized", "database", "schema", "scheduled", "index", "resource",
            "dataconnector",
        ):  # fmt: skip
            what = "MATERIALIZED VIEW" if token.value == "materialized" else token.text.upper()
            cursor.refuse(f"ALTER {what}")
        cursor.fail("expected TABLE")
    table = cursor.table()
    partition: PartitionItems | None = None
    if cursor.at("partition") and not cursor.at("partition", "column"):
        partition = parse_partition(cursor)
        if not cursor.at("compact"):
            _refuse_alter(cursor, "PARTITION … ")
    found = _alter_action(cursor, table, partition)
    cursor.end()
    return found


def _alter_action(cursor: Cursor, table: TableRef, partition: PartitionItems | None) -> Body:
    if cursor.take("compact"):
        return _compact(cursor, table, partition)
    if cursor.take("rename", "to"):
        return RenameBody(table, cursor.table())
    if cursor.at("set", "tblproperties") or cursor.at("unset", "tblproperties"):
        return _properties(cursor, table)
    if cursor.at("add", "columns"):
        return _add_columns(cursor, table)
    if cursor.at("add", "partition") or cursor.at("add", "if"):
        return _add_partitions(cursor, table)
    if not (cursor.at("drop", "partition") or cursor.at("drop", "if", "exists", "partition")):
        _refuse_alter(cursor)
    return _drop_partitions(cursor, table)


def _properties(cursor: Cursor, table: TableRef) -> PropertiesBody:
    if cursor.take("set", "tblproperties"):
        return PropertiesBody(table, parse_properties(cursor), ())
    cursor.expect("unset", "tblproperties")
    if_exists = cursor.take("if", "exists")
    return PropertiesBody(table, {}, _keys(cursor), if_exists)


def _add_columns(cursor: Cursor, table: TableRef) -> AddColumnsBody:
    start = cursor.expect("add", "columns").start
    columns = parse_columns(cursor)
    if cursor.at("cascade"):
        cursor.refuse("ALTER TABLE … ADD COLUMNS … CASCADE")
    cursor.take("restrict")
    return AddColumnsBody(table, columns, start)


def _refuse_alter(cursor: Cursor, before: str = "") -> NoReturn:
    words: list[str] = []
    for token in cursor.tokens[cursor.position : cursor.position + 3]:
        if token.kind is not Kind.WORD or len(words) == 2 or words == ["CHANGE"]:
            break
        words.append(token.value.upper())
    known = {
        "ADD", "ARCHIVE", "CHANGE", "CLUSTERED", "CONCATENATE", "CONVERT", "CREATE", "DISABLE",
        "DROP", "ENABLE", "EXCHANGE", "EXECUTE", "INTO", "NOT", "PARTITION", "RENAME", "REPLACE",
        "SET", "SKEWED", "TOUCH", "UNARCHIVE", "UNSET", "UPDATE",
    }  # fmt: skip
    if not words or words[0] not in known:
        cursor.fail("expected what to alter")
    cursor.refuse(f"ALTER TABLE … {before}{' '.join(words)}")


def _keys(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("(")
    keys = [cursor.string("a property key")]
    while cursor.take(","):
        keys.append(cursor.string("a property key"))
    cursor.expect(")")
    return tuple(keys)


def _add_partitions(cursor: Cursor, table: TableRef) -> AddPartitionsBody:
    cursor.expect("add")
    if_not_exists = _if_not_exists(cursor)
    found = []
    while cursor.at("partition"):
        items = parse_partition(cursor, dynamic=False)
        found.append((items, cursor.string() if cursor.take("location") else ""))
    if not found:
        cursor.fail("expected PARTITION")
    return AddPartitionsBody(table, tuple(found), if_not_exists)


def _drop_partitions(cursor: Cursor, table: TableRef) -> DropPartitionsBody:
    cursor.expect("drop")
    if_exists = cursor.take("if", "exists")
    start = cursor.peek().start
    found = [_filters(cursor)]
    while cursor.take(","):
        found.append(_filters(cursor))
    return DropPartitionsBody(table, tuple(found), if_exists, cursor.take("purge"), start)


def _filters(cursor: Cursor) -> tuple[PartitionFilter, ...]:
    cursor.expect("partition", "(")
    found = [_filter(cursor)]
    while cursor.take(","):
        found.append(_filter(cursor))
    cursor.expect(")")
    return tuple(found)


def _filter(cursor: Cursor) -> PartitionFilter:
    key = cursor.name("a partition column")
    operator = cursor.peek().text
    if operator not in ("=", "<>", "!=", "<", "<=", ">", ">="):
        cursor.fail("expected a comparison")
    cursor.next()
    return PartitionFilter(key, operator, constant(cursor))


def _compact(cursor: Cursor, table: TableRef, partition: PartitionItems | None) -> CompactBody:
    start = cursor.peek().start
    kind = cursor.string("the kind of compaction")
    if cursor.at("clustered"):
        cursor.refuse("COMPACT … CLUSTERED INTO n BUCKETS")
    wait = cursor.at("and")
    if wait:
        cursor.expect("and", "wait")
    for words, feature in (
        (("pool",), "POOL"),
        (("with", "overwrite"), "WITH OVERWRITE TBLPROPERTIES"),
        (("where",), "WHERE"),
        (("order", "by"), "ORDER BY"),
    ):
        if cursor.at(*words):
            cursor.refuse(f"COMPACT … {feature}")
    return CompactBody(table, kind, start, partition, wait)
