"""SHOW CREATE: text that makes a table, view or database again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.statistics import BASICS
from hivesql_planner.model.table import (
    Column,
    Constraint,
    ConstraintKind,
    Database,
    Table,
)

_ORDER: tuple[ConstraintKind, ...] = (
    "primary key", "foreign key", "unique", "default", "check", "not null",
)  # fmt: skip


SORTED_IN_BUCKETS = "SORTBUCKETCOLSPREFIX"
_FROM_SERDE = "from deserializer"


def commented(table: Table) -> Table:
    """Return a table whose columns have the comments that their SerDe tells, as Hive shows them."""
    match table.format:
        case "json" | "thrift":
            columns = (replace(column, comment=_FROM_SERDE) for column in table.columns)
        case "avro" | "regex":
            columns = (replace(column, comment=column.comment or "") for column in table.columns)
        case _:
            return table
    return replace(table, columns=tuple(columns))


def create_statement(table: Table, *, temporary: bool = False, qualified: bool = False) -> str:
    """CREATE TABLE or CREATE VIEW in Hive's layout; what adds constraints follows behind ``;``.

    ``qualified``: with the database in front of the name, as who asks has written it.
    """
    name = table.name.quoted if qualified else quote_name(table.name.name)
    if table.is_view:
        names = ", ".join(map(quote_name, table.partition_names))
        on = f" PARTITIONED ON ({names})" if names else ""
        return f"CREATE VIEW {name}{on} AS {table.view_text}"
    text = "\n".join(_lines(table, "TEMPORARY " if temporary else "", name))
    added = list(_constraint_statements(table))
    return "\n".join([f"{text};", *added]) if added else text


def create_database_statement(database: Database) -> str:
    """CREATE DATABASE in Hive's layout."""
    lines = [f"CREATE DATABASE {quote_name(database.name)}"]
    if database.comment:
        lines += ["COMMENT", f"  {_escaped(database.comment)}"]
    lines += ["LOCATION", f"  {_quoted(database.location)}"]
    if database.managed_location:
        lines += ["MANAGEDLOCATION", f"  {_quoted(database.managed_location)}"]
    if database.properties:
        lines += ["WITH DBPROPERTIES (", f"{_pairs(database.properties)})"]
    return "\n".join(lines)


def _lines(table: Table, kind: str, name: str) -> Iterator[str]:
    storage = STORAGE[table.format]
    external = "EXTERNAL " if table.type == "EXTERNAL_TABLE" else ""
    yield f"CREATE {kind}{external}TABLE {name}("
    yield _column_list(commented(table).columns) + ")"
    if table.comment:
        yield f"COMMENT {_escaped(table.comment)}"
    if table.partition_columns:
        yield "PARTITIONED BY ( "
        yield _column_list(table.partition_columns) + ")"
    if table.is_bucketed:
        yield "CLUSTERED BY ("
        yield ", \n".join(f"  {quote_name(name)}" for name in table.bucket_columns) + ")"
        if table.sort_columns:
            yield "SORTED BY ( "
            yield (
                ", \n".join(
                    f"  {quote_name(name)} {'DESC' if name in table.sort_descending else 'ASC'}"
                    for name in table.sort_columns
                )
                + ") "
            )
        yield f"INTO {table.bucket_count} BUCKETS"
    if table.skew is not None:
        yield f"SKEWED BY ({','.join(map(quote_name, table.skew.columns))})"
        values = (f"({','.join(map(_escaped, row))})" for row in table.skew.values)
        yield f"  ON ({','.join(values)})"
        if table.skew.in_directories:
            yield "  STORED AS DIRECTORIES"
    yield "ROW FORMAT SERDE "
    yield f"  {_quoted(storage.serde)} "
    if table.serde_properties:
        yield "WITH SERDEPROPERTIES ( "
        yield _pairs(table.serde_properties) + ") "
    yield "STORED AS INPUTFORMAT "
    yield f"  {_quoted(storage.input_format)} "
    yield "OUTPUTFORMAT "
    yield f"  {_quoted(storage.output_format)}"
    yield "LOCATION"
    yield f"  {_quoted(table.location)}"
    unsaid = (*BASICS, SORTED_IN_BUCKETS, "EXTERNAL")
    lasting = {key: value for key, value in table.properties.items() if key not in unsaid}
    if lasting:
        yield "TBLPROPERTIES ("
        yield _pairs(lasting) + ")"


def _column_list(columns: tuple[Column, ...]) -> str:
    lines = []
    for column in columns:
        comment = "" if column.comment is None else f" COMMENT {_escaped(column.comment)}"
        lines.append(f"  {quote_name(column.name)} {column.type.in_ddl}{comment}")
    return ", \n".join(lines)


def _constraint_statements(table: Table) -> Iterator[str]:
    """Give one ALTER TABLE for each constraint, as in Hive: a column may have several."""
    types = {column.name: column.type for column in table.columns}
    altered = f"ALTER TABLE {table.name.quoted}"
    for constraint in sorted(
        filter(_is_in_force, table.constraints),
        key=lambda constraint: (_ORDER.index(constraint.kind), constraint.name),
    ):
        called = f"CONSTRAINT {quote_name(constraint.name)}"
        if constraint.kind in ("not null", "default"):
            (name,) = constraint.columns
            what = "NOT NULL" if constraint.kind == "not null" else f"DEFAULT {constraint.text}"
            change = (
                f"CHANGE COLUMN {quote_name(name)} {quote_name(name)} {types[name]} {called} {what}"
            )
        else:
            change = f"ADD {called} {_key_or_check(constraint)}"
        yield f"{altered} {change}{_options(constraint)};"


def _is_in_force(constraint: Constraint) -> bool:
    """Tell whether Hive writes a constraint: what is enforced, and keys that one may rely on."""
    if constraint.kind in ("check", "default"):
        return constraint.enabled
    return constraint.rely


def _key_or_check(constraint: Constraint) -> str:
    if constraint.kind == "check":
        return f"CHECK ({constraint.text})"
    quoted = [quote_name(name) for name in constraint.columns]
    if constraint.parent is None:
        return f"{constraint.kind.upper()} ({','.join(quoted)})"
    names = ", ".join(quoted)
    theirs = ", ".join(map(quote_name, constraint.parent_columns))
    return f"FOREIGN KEY ({names}) REFERENCES {constraint.parent.quoted}({theirs})"


def _options(constraint: Constraint) -> str:
    state = "ENABLE" if constraint.enabled else "DISABLE"
    return f" {state} NOVALIDATE {'RELY' if constraint.rely else 'NORELY'}"


def _pairs(values: Mapping[str, str]) -> str:
    return ", \n".join(f"  {_quoted(k)}={_escaped(v)}" for k, v in sorted(values.items()))


def _escaped(text: str) -> str:
    """Quote a text whose semicolons do not end the statement where it is run again, as Hive."""
    return _quoted(text).replace(";", "\\;")


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace("'", "\\'")
    for char, written in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        plain = plain.replace(char, written)
    return "'" + "".join(c if c >= " " else f"\\u{ord(c):04x}" for c in plain) + "'"
