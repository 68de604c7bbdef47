"""SHOW CREATE: text that makes a table, view or database again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_planner.model.statistics import BASICS
from hivesql_planner.model.table import Column, Constraint, Database, Table, TableName


def create_statement(table: Table) -> str:
    """CREATE TABLE or CREATE VIEW in Hive's layout."""
    if table.is_view:
        return f"CREATE VIEW {_name(table.name)} AS {table.view_text}"
    return "\n".join(_lines(table))


def create_database_statement(database: Database) -> str:
    """CREATE DATABASE in Hive's layout."""
    lines = [f"CREATE DATABASE `{database.name}`"]
    if database.comment:
        lines += ["COMMENT", f"  {_quoted(database.comment)}"]
    lines += ["LOCATION", f"  {_quoted(database.location)}"]
    if database.managed_location:
        lines += ["MANAGEDLOCATION", f"  {_quoted(database.managed_location)}"]
    if database.properties:
        lines += ["WITH DBPROPERTIES (", f"{_pairs(database.properties)})"]
    return "\n".join(lines)


def _name(name: TableName) -> str:
    """As Hive writes it: without the database where that is ``default``."""
    short = f"`{name.name}`"
    return short if name.database == "default" else f"`{name.database}`.{short}"


def _lines(table: Table) -> Iterator[str]:
    storage = STORAGE[table.format]
    external = "EXTERNAL " if table.type == "EXTERNAL_TABLE" else ""
    yield f"CREATE {external}TABLE {_name(table.name)}("
    parts = [_column_list(table.columns, table.constraints), *_keys_and_checks(table)]
    yield ", \n".join(parts) + ")"
    if table.comment:
        yield f"COMMENT {_quoted(table.comment)}"
    if table.partition_columns:
        yield "PARTITIONED BY ( "
        yield _column_list(table.partition_columns) + ")"
    if table.is_bucketed:
        yield "CLUSTERED BY ( "
        yield ", \n".join(f"  `{name}`" for name in table.bucket_columns) + ") "
        if table.sort_columns:
            yield "SORTED BY ( "
            yield (
                ", \n".join(
                    f"  `{name}` {'DESC' if name in table.sort_descending else 'ASC'}"
                    for name in table.sort_columns
                )
                + ") "
            )
        yield f"INTO {table.bucket_count} BUCKETS"
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
    lasting = {key: value for key, value in table.properties.items() if key not in BASICS}
    if lasting:
        yield "TBLPROPERTIES ("
        yield _pairs(lasting) + ")"


def _column_list(columns: tuple[Column, ...], constraints: tuple[Constraint, ...] = ()) -> str:
    lines = []
    for column in columns:
        own = next((o for o in constraints if _is_inline(o) and o.columns == (column.name,)), None)
        comment = f" COMMENT {_quoted(column.comment)}" if column.comment else ""
        lines.append(f"  `{column.name}` {column.type}{_inline(own)}{comment}")
    return ", \n".join(lines)


def _is_inline(one: Constraint) -> bool:
    return one.kind in ("not null", "default")


def _inline(one: Constraint | None) -> str:
    if one is None:
        return ""
    what = "NOT NULL" if one.kind == "not null" else f"DEFAULT {one.text}"
    return f" CONSTRAINT `{one.name}` {what}{_options(one)}"


def _keys_and_checks(table: Table) -> list[str]:
    lines = []
    for one in table.constraints:
        if _is_inline(one):
            continue
        names = ", ".join(f"`{name}`" for name in one.columns)
        what = f"CHECK ({one.text})" if one.kind == "check" else f"{one.kind.upper()} ({names})"
        if one.parent is not None:
            theirs = ", ".join(f"`{name}`" for name in one.parent_columns)
            what += f" REFERENCES `{one.parent.database}`.`{one.parent.name}`({theirs})"
        lines.append(f"  CONSTRAINT `{one.name}` {what}{_options(one)}")
    return lines


def _options(one: Constraint) -> str:
    state = "ENABLE" if one.enabled else "DISABLE"
    return f" {state} NOVALIDATE {'RELY' if one.rely else 'NORELY'}"


def _pairs(values: Mapping[str, str]) -> str:
    return ", \n".join(f"  {_quoted(k)}={_quoted(v)}" for k, v in sorted(values.items()))


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace("'", "\\'")
    for char, written in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        plain = plain.replace(char, written)
    return "'" + "".join(c if c >= " " else f"\\u{ord(c):04x}" for c in plain) + "'"
