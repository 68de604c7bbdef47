"""CREATE, DROP, ALTER and TRUNCATE, from text to bound statements."""

from __future__ import annotations

from dataclasses import replace

from hivesql.front.binding import Binding
from hivesql.front.columns import read_columns, read_names, read_properties
from hivesql.front.cursor import Cursor
from hivesql.front.query import Names
from hivesql.front.slices import query_at
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.plan import Query
from hivesql_planner.statements import (
    CreateDatabase,
    CreateTable,
    CreateView,
    DropDatabase,
    DropTable,
    Statement,
)
from hivesql_planner.table import Column, Database, FileFormat, Table

_FORMATS: dict[str, FileFormat] = {
    "ORC": "orc",
    "PARQUET": "parquet",
    "TEXTFILE": "textfile",
    "AVRO": "avro",
    "JSONFILE": "json",
    "SEQUENCEFILE": "sequencefile",
    "RCFILE": "rcfile",
}


def bind_create(cursor: Cursor, binding: Binding) -> Statement:
    """CREATE DATABASE, TABLE or VIEW."""
    cursor.expect("CREATE")
    if cursor.take("DATABASE") or cursor.take("SCHEMA"):
        return _create_database(cursor)
    replaces = cursor.take("OR", "REPLACE")
    if cursor.take("VIEW"):
        return _create_view(cursor, binding, or_replace=replaces)
    for word in ("TEMPORARY", "MATERIALIZED", "FUNCTION", "MACRO", "ROLE", "SCHEDULED", "INDEX",
                 "REMOTE", "CONNECTOR", "RESOURCE"):  # fmt: skip
        if cursor.sees(word):
            raise NotSupported(f"CREATE {word}")
    external = transactional = False
    while not cursor.sees("TABLE"):
        if cursor.take("EXTERNAL"):
            external = True
        elif cursor.take("TRANSACTIONAL"):
            transactional = True
        elif not cursor.take("MANAGED"):
            cursor.refuse("expected TABLE")
    cursor.expect("TABLE")
    return _create_table(cursor, binding, external=external, transactional=transactional)


def _if_not_exists(cursor: Cursor) -> bool:
    return cursor.take("IF", "NOT", "EXISTS")


def _create_database(cursor: Cursor) -> CreateDatabase:
    if_not_exists = _if_not_exists(cursor)
    name = cursor.name("a database name")
    comment, location, properties = None, "", {}
    while not cursor.ended:
        if cursor.take("COMMENT"):
            comment = cursor.string()
        elif cursor.take("LOCATION"):
            location = cursor.string()
        elif cursor.take("WITH", "DBPROPERTIES"):
            properties = read_properties(cursor)
        elif cursor.sees("MANAGEDLOCATION"):
            raise NotSupported("CREATE DATABASE … MANAGEDLOCATION")
        else:
            cursor.refuse("unexpected")
    database = Database(name=name, location=location, comment=comment, properties=properties)
    return CreateDatabase(database=database, if_not_exists=if_not_exists)


def _create_view(cursor: Cursor, binding: Binding, *, or_replace: bool) -> CreateView:
    if_not_exists = _if_not_exists(cursor)
    name = binding.read_name(cursor)
    binding.catalog.database(name.database)
    columns: tuple[Column, ...] = ()
    if cursor.take("("):
        columns = tuple(Column(one, "") for one in read_names(cursor))
    comment = cursor.string() if cursor.take("COMMENT") else None
    properties = read_properties(cursor) if cursor.take("TBLPROPERTIES") else {}
    cursor.expect("AS")
    offset = cursor.offset()
    text = cursor.rest()
    query_at(cursor, text, offset, binding, Names())
    view = Table(
        name=name,
        columns=columns,
        location="",
        type="VIRTUAL_VIEW",
        view_text=text,
        comment=comment,
        properties=properties,
    )
    return CreateView(table=view, if_not_exists=if_not_exists, or_replace=or_replace)


def _create_table(
    cursor: Cursor, binding: Binding, *, external: bool, transactional: bool
) -> CreateTable:
    if_not_exists = _if_not_exists(cursor)
    at = cursor.offset()
    name = binding.read_name(cursor)
    try:
        binding.catalog.database(name.database)
    except HiveSqlError as error:
        cursor.fail(error, at)
    table = Table(
        name=name, columns=(), location="", type="EXTERNAL_TABLE" if external else "MANAGED_TABLE",
        format="textfile",
    )  # fmt: skip
    if cursor.take("LIKE"):
        table = _like(cursor, binding, table)
    elif cursor.take("("):
        table = replace(table, columns=read_columns(cursor))
    table, rows = _clauses(cursor, binding, table)
    properties = dict(table.properties)
    if transactional:
        properties.setdefault("transactional", "true")
    table = _checked(replace(table, properties=properties), binding, cursor, at)
    if rows is None and not table.columns:
        cursor.fail(SemanticError(f"CREATE TABLE {name} has no columns"), at)
    return CreateTable(table=table, if_not_exists=if_not_exists, rows=rows)


def _like(cursor: Cursor, binding: Binding, table: Table) -> Table:
    model = binding.read_table(cursor)
    if model.is_view:
        raise NotSupported("CREATE TABLE LIKE a view")
    return replace(
        model, id=0, name=table.name, location="", type=table.type, comment=None, created_at=0
    )


def _clauses(cursor: Cursor, binding: Binding, table: Table) -> tuple[Table, Query | None]:
    """Everything after the column list, in any order."""
    while not cursor.ended:
        if cursor.take("AS"):
            return _as_select(cursor, binding, table)
        table = _clause(cursor, table)
    return table, None


def _clause(cursor: Cursor, table: Table) -> Table:
    if cursor.take("COMMENT"):
        return replace(table, comment=cursor.string())
    if cursor.take("PARTITIONED", "BY"):
        cursor.expect("(")
        return replace(table, partition_columns=read_columns(cursor))
    if cursor.take("CLUSTERED", "BY"):
        return _clustered(cursor, table)
    if cursor.take("ROW", "FORMAT"):
        return _row_format(cursor, table)
    if cursor.take("STORED", "AS"):
        word = cursor.name("a file format").upper()
        if word not in _FORMATS:
            raise NotSupported(f"STORED AS {word}")
        return replace(table, format=_FORMATS[word])
    if cursor.take("LOCATION"):
        return replace(table, location=cursor.string().rstrip("/"))
    if cursor.sees("STORED") or cursor.sees("SKEWED"):
        raise NotSupported(f"CREATE TABLE … {cursor.rest()}")
    if not cursor.take("TBLPROPERTIES"):
        cursor.refuse("unexpected")
    return replace(table, properties={**table.properties, **read_properties(cursor)})


def _clustered(cursor: Cursor, table: Table) -> Table:
    cursor.expect("(")
    names = read_names(cursor)
    sorts: tuple[str, ...] = ()
    if cursor.take("SORTED", "BY"):
        cursor.expect("(")
        sorts = read_names(cursor, orders=True)
    cursor.expect("INTO")
    count = cursor.number()
    cursor.expect("BUCKETS")
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise NoSuchObject(f"Invalid column reference {missing[0]} in CLUSTERED BY", code=10002)
    return replace(table, bucket_columns=names, bucket_count=count, sort_columns=sorts)


def _row_format(cursor: Cursor, table: Table) -> Table:
    if cursor.sees("SERDE"):
        raise NotSupported("ROW FORMAT SERDE: use STORED AS")
    cursor.expect("DELIMITED")
    serde = dict(table.serde_properties)
    while True:
        if cursor.take("FIELDS", "TERMINATED", "BY"):
            serde["field.delim"] = cursor.string()
            if cursor.sees("ESCAPED"):
                raise NotSupported("ROW FORMAT DELIMITED … ESCAPED BY")
        elif cursor.take("LINES", "TERMINATED", "BY"):
            if cursor.string() != "\n":
                raise NotSupported("LINES TERMINATED BY anything but a newline")
        elif cursor.take("NULL", "DEFINED", "AS"):
            serde["serialization.null.format"] = cursor.string()
        elif cursor.sees("COLLECTION") or cursor.sees("MAP"):
            raise NotSupported("collections in a text table")
        else:
            return replace(table, serde_properties=serde)


def _as_select(cursor: Cursor, binding: Binding, table: Table) -> tuple[Table, Query]:
    offset = cursor.offset()
    text = cursor.rest()
    if table.partition_columns or table.columns:
        cursor.fail(
            SemanticError("CREATE TABLE AS SELECT cannot declare columns", code=10065), offset
        )
    query = query_at(cursor, text, offset, binding, Names())
    return table, query


def _checked(table: Table, binding: Binding, cursor: Cursor, offset: int) -> Table:
    """Hive's rules for transactional tables (TransactionalValidationListener)."""
    properties = {
        (key.lower() if key.lower().startswith("transactional") else key): value
        for key, value in table.properties.items()
    }
    flag = properties.get("transactional", "").lower()
    if flag not in ("", "true", "false"):
        problem = "'transactional' property of TBLPROPERTIES may only have value 'true'"
        cursor.fail(SemanticError(problem), offset)
    if flag == "false":
        properties.pop("transactional")
    acid = binding.settings.flag("hive.create.as.acid")
    if not flag and acid and table.type == "MANAGED_TABLE" and table.format == "orc":
        flag = properties["transactional"] = "true"
    if table.is_bucketed:
        properties.setdefault("bucketing_version", "2")
    if flag == "true":
        properties["transactional"] = "true"
        properties["transactional_properties"] = _kind(table, properties, cursor, offset)
        properties.setdefault("bucketing_version", "2")
    return replace(table, properties=properties)


def _kind(table: Table, properties: dict[str, str], cursor: Cursor, offset: int) -> str:
    kind = properties.get("transactional_properties", "default").lower()
    problem = None
    if kind not in ("default", "insert_only"):
        problem = f"unknown value {kind!r} for transactional_properties"
    elif table.type == "EXTERNAL_TABLE":
        problem = f"{table.name} cannot be declared transactional because it's an external table"
    elif kind == "default" and table.format != "orc":
        problem = (
            f"The table must be stored using an ACID compliant format (such as ORC): {table.name}"
        )
    elif kind == "default" and table.sort_columns:
        problem = f"{table.name} cannot support full ACID functionality since it is sorted"
    if problem:
        cursor.fail(SemanticError(problem), offset)
    return kind


def bind_drop(cursor: Cursor, binding: Binding) -> Statement:
    """DROP DATABASE, TABLE or VIEW."""
    cursor.expect("DROP")
    if cursor.take("DATABASE") or cursor.take("SCHEMA"):
        if_exists = cursor.take("IF", "EXISTS")
        name = cursor.name("a database name")
        cascade = cursor.take("CASCADE")
        if not cascade:
            cursor.take("RESTRICT")
        cursor.end()
        return DropDatabase(name=name, if_exists=if_exists, cascade=cascade)
    view = cursor.take("VIEW")
    if not view and not cursor.take("TABLE"):
        raise NotSupported(f"DROP {cursor.rest().split()[0].upper() if not cursor.ended else ''}")
    if_exists = cursor.take("IF", "EXISTS")
    table = binding.read_name(cursor)
    purge = cursor.take("PURGE")
    cursor.end()
    return DropTable(name=table, if_exists=if_exists, purge=purge, view=view)
