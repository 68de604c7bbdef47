"""CREATE of databases, tables and views, and TRUNCATE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.dialect.nodes.commands import Body
from hivesql.dialect.nodes.databases import CreateDatabase
from hivesql.dialect.nodes.ddl import (
    CreateMaterializedBody,
    CreateTableBody,
)
from hivesql.dialect.nodes.parts import slice_of, table_of
from hivesql.dialect.nodes.views import PartitionedOn
from hivesql.dialect.reading import StatementReader
from hivesql.dialect.slices import Slice
from hivesql.dialect.statements.clauses import parse_properties, refuse_object
from hivesql.dialect.statements.constraints import parse_definitions
from hivesql.dialect.statements.storage import (
    parse_buckets,
    parse_file_format,
    parse_row_format,
    parse_skew,
)
from hivesql.dialect.tokens import Cursor, Kind, at
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.avro_schema import LITERAL, URL
from hivesql_planner.model.table import FileFormat

_SELF_DESCRIBING: dict[str, FileFormat] = {"orc": "orc", "parquet": "parquet", "avro": "avro"}

_CREATE_REFUSED = {
    "remote": "CREATE REMOTE DATABASE",
    "index": "CREATE INDEX",
    "macro": "CREATE MACRO",
}

_TABLE_WORDS = ("temporary", "transactional", "external", "managed")


def parse_create(cursor: StatementReader) -> Body:
    """CREATE of what we know."""
    cursor.expect("create")
    token = cursor.peek()
    if token.kind is Kind.WORD and token.value in _CREATE_REFUSED:
        cursor.refuse(_CREATE_REFUSED[token.value])
    refuse_object(cursor, "CREATE")
    if token.is_("function") or (
        token.is_("temporary") and cursor.peek(1).value in ("function", "macro")
    ):
        from hivesql.dialect.statements.functions import parse_create_function, parse_create_macro

        is_macro = cursor.peek(1).value == "macro"
        return parse_create_macro(cursor) if is_macro else parse_create_function(cursor)
    if token.is_("role"):
        from hivesql.dialect.statements.authorization import parse_role

        return parse_role(cursor, drops=False)
    if token.is_("temporary") and cursor.peek(1).value not in ("table", "external"):
        cursor.refuse(f"CREATE TEMPORARY {cursor.peek(1).text.upper()}")
    if token.is_("database") or token.is_("schema"):
        return _create_database(cursor)
    if token.is_("view") or token.is_("or"):
        return _create_view(cursor)
    if token.is_("materialized"):
        return _create_materialized(cursor)
    return _create_table(cursor)


def _create_database(cursor: StatementReader) -> CreateDatabase:
    """DATABASE [IF NOT EXISTS] d [COMMENT] [LOCATION] [WITH DBPROPERTIES]."""
    cursor.next()
    exists = cursor.take("if", "not", "exists")
    name = cursor.identifier("a database name")
    comment = exp.Literal.string(cursor.string()) if cursor.take("comment") else None
    location = cursor.place() if cursor.take("location") else None
    managed = cursor.place() if cursor.take("managedlocation") else None
    properties = cursor.properties() if cursor.take("with", "dbproperties") else None
    cursor.end()
    return CreateDatabase(
        this=name, exists=exists, comment=comment, location=location, managed_location=managed,
        properties=properties,
    )  # fmt: skip


def _if_not_exists(cursor: Cursor) -> bool:
    if not cursor.at("if"):
        return False
    cursor.expect("if", "not", "exists")
    return True


def _create_view(cursor: StatementReader) -> exp.Create:
    replace = cursor.take("or", "replace")
    cursor.expect("view")
    exists = _if_not_exists(cursor)
    table = cursor.table_name()
    if replace and exists:
        error = SemanticError("Can't combine IF NOT EXISTS and OR REPLACE.")
        raise at(error, cursor.text, table_of(table).start)
    this: exp.Expr = table
    if cursor.take("("):
        this = exp.Schema(this=table, expressions=cursor.listed(lambda: _view_column(cursor)))
        cursor.expect(")")
    properties: list[exp.Expr] = []
    if cursor.take("comment"):
        comment = exp.Literal.string(cursor.string())
        properties.append(exp.SchemaCommentProperty(this=comment))
    if cursor.take("partitioned", "on"):
        properties.append(PartitionedOn(expressions=cursor.identifiers()))
    if cursor.take("tblproperties"):
        properties += cursor.properties(keys_alone=True).expressions
    cursor.expect("as")
    return exp.Create(
        this=this, kind="VIEW", replace=replace, exists=exists,
        properties=exp.Properties(expressions=properties), expression=cursor.rest_as_query(),
    )  # fmt: skip


def _view_column(cursor: StatementReader) -> exp.ColumnDef:
    name = cursor.identifier("a column name")
    comments = []
    if cursor.take("comment"):
        kind = exp.CommentColumnConstraint(this=exp.Literal.string(cursor.string()))
        comments.append(exp.ColumnConstraint(kind=kind))
    return exp.ColumnDef(this=name, constraints=comments)


def _create_materialized(cursor: StatementReader) -> CreateMaterializedBody:
    """MATERIALIZED VIEW [IF NOT EXISTS] v [DISABLE REWRITE] … AS, its clauses in Hive's order."""
    cursor.expect("materialized", "view")
    if_not_exists = _if_not_exists(cursor)
    table = cursor.table()
    rewrite = not cursor.take("disable", "rewrite")
    parts: dict[str, Any] = {}
    if cursor.take("comment"):
        parts["comment"] = cursor.string()
    if cursor.take("partitioned", "on"):
        parts["partitioned_by"] = cursor.names("a partition column")
    for word in ("clustered", "distributed", "sorted"):
        if cursor.at(word, "on"):
            cursor.refuse(f"CREATE MATERIALIZED VIEW … {word.upper()} ON")
    for words in (("row", "format"), ("stored", "as"), ("location",), ("tblproperties",)):
        if cursor.at("stored", "by"):
            cursor.refuse("CREATE MATERIALIZED VIEW … STORED BY")
        if cursor.at(*words):
            parts |= _table_clause(cursor)
    cursor.expect("as")
    query = slice_of(cursor.rest_as_query())
    storage = CreateTableBody(
        table=table, if_not_exists=if_not_exists, external=False, transactional=False,
        query=query, **parts,
    )  # fmt: skip
    return CreateMaterializedBody(storage, query, rewrite)


def _create_table(cursor: StatementReader) -> CreateTableBody:
    words = set()
    while not cursor.at("table"):
        if cursor.peek().value not in _TABLE_WORDS:
            cursor.fail("expected TABLE, VIEW or DATABASE")
        words.add(cursor.next().value)
    cursor.expect("table")
    if_not_exists = _if_not_exists(cursor)
    table = cursor.table()
    parts: dict[str, Any] = {}
    if cursor.take("like"):
        if cursor.take("file"):
            parts["like_file"] = _like_file(cursor)
        else:
            parts["like"] = cursor.table()
    elif cursor.at("("):
        parts["columns"], parts["constraints"] = parse_definitions(cursor)
    while not cursor.at_end and not cursor.at("as"):
        parts |= _table_clause(cursor)
    if cursor.take("as"):
        parts["query"] = _query_beside(cursor, parts)
    _check_complete(cursor, parts)
    return CreateTableBody(
        table=table, if_not_exists=if_not_exists, external="external" in words,
        transactional=bool(words & {"transactional", "managed"}),
        temporary="temporary" in words, **parts,
    )  # fmt: skip


def _query_beside(cursor: StatementReader, parts: dict[str, Any]) -> Slice:
    """Read the query of AS, which tells the columns and takes nothing that tells them too."""
    if "like" in parts:
        cursor.fail("CREATE TABLE … LIKE … takes no query")
    error = None
    if "columns" in parts:
        error = SemanticError(
            "CREATE TABLE AS SELECT command cannot specify the list of columns for the target "
            "table",
            code=10065,
        )
    elif "partition_columns" in parts:
        error = SemanticError(
            "CREATE-TABLE-AS-SELECT does not support partitioning in the target table by columns "
            "with types: give PARTITIONED BY names of the query's columns alone",
            code=10068,
        )
    if error is not None:
        raise at(error, cursor.text, cursor.peek().start)
    return slice_of(cursor.rest_as_query())


def _like_file(cursor: Cursor) -> tuple[FileFormat, str]:
    """``ORC '…'``: the format and the path of a file whose columns the table gets."""
    token = cursor.peek()
    format_ = _SELF_DESCRIBING.get(token.value)
    if format_ is None:
        error = SemanticError(
            f"CREATE TABLE LIKE FILE is not supported by the '{token.text.upper()}' file format",
        )
        raise at(error, cursor.text, token.start, token.end)
    cursor.next()
    return format_, cursor.location()


def _check_complete(cursor: Cursor, parts: dict[str, Any]) -> None:
    if "query" in parts:
        return
    properties = {**parts.get("properties", {}), **parts.get("serde_properties", {})}
    column_clauses = {"columns", "like", "like_file"} & parts.keys()
    has_class = parts.get("serde_format") == "thrift"
    if not column_clauses and not has_class and not {LITERAL, URL} & properties.keys():
        what = "Either list of columns or a custom serializer should be specified"
        raise at(SemanticError(what, code=10043), cursor.text, cursor.peek().start)
    if "partitioned_by" in parts:
        cursor.fail("the types of the partition columns are missing")


def _table_clause(cursor: Cursor) -> dict[str, Any]:
    if cursor.at("stored", "by"):
        cursor.refuse("CREATE TABLE … STORED BY")
    if cursor.at("write"):
        cursor.refuse("CREATE TABLE … WRITE ORDERED BY")
    if cursor.at("skewed", "by"):
        return {"skew": parse_skew(cursor)}
    clauses = [clause for clause in _CLAUSES if cursor.at(*clause[0])]
    if not clauses:
        cursor.fail("unexpected clause of CREATE TABLE")
    words, key, read = clauses[0]
    cursor.expect(*words)
    value = read(cursor)
    return {key: value} if key else value


def _partitioned_by(cursor: Cursor) -> dict[str, Any]:
    if cursor.at("spec"):
        cursor.refuse("PARTITIONED BY SPEC")
    only_names = cursor.peek(2).is_(",") or cursor.peek(2).is_(")")
    if only_names:
        return {"partitioned_by": cursor.names("a partition column")}
    columns, constraints = parse_definitions(cursor, of_partitions=True)
    return {"partition_columns": columns, "partition_constraints": constraints}


def _clustered_by(cursor: Cursor) -> dict[str, Any]:
    buckets = parse_buckets(cursor)
    return {
        "bucket_columns": buckets.columns, "sort_columns": buckets.sorting,
        "sort_descending": buckets.descending, "bucket_count": buckets.count,
    }  # fmt: skip


def _row_format(cursor: Cursor) -> dict[str, Any]:
    format_, properties = parse_row_format(cursor)
    parts: dict[str, Any] = {"serde_properties": properties}
    return parts | {"serde_format": format_} if format_ else parts


_CLAUSES: tuple[tuple[tuple[str, ...], str, Callable[[Cursor], Any]], ...] = (
    (("comment",), "comment", Cursor.string),
    (("location",), "location", Cursor.location),
    (("tblproperties",), "properties", parse_properties),
    (("partitioned", "by"), "", _partitioned_by),
    (("clustered", "by"), "", _clustered_by),
    (("row", "format"), "", _row_format),
    (("stored", "as"), "format", parse_file_format),
)
