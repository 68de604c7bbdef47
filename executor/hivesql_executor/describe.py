"""A table as DESCRIBE and SHOW CREATE TABLE tell it."""

from __future__ import annotations

from datetime import UTC, datetime

from hivesql_executor.outcome import Outcome
from hivesql_planner.table import Column, Database, Partition, Table

_COLUMNS = ("col_name", "data_type", "comment")
_FORMATS = {
    "orc": "ORC",
    "parquet": "PARQUET",
    "textfile": "TEXTFILE",
    "avro": "AVRO",
    "json": "JSONFILE",
    "sequencefile": "SEQUENCEFILE",
    "rcfile": "RCFILE",
}
_Row = tuple[str, str, str]


def describe_table(table: Table, partition: Partition | None, style: str) -> Outcome:
    """Columns, then partition columns, then (EXTENDED, FORMATTED) everything else."""
    rows = [_column_row(column) for column in table.all_columns]
    if table.partition_columns:
        rows += [("", "", ""), ("# Partition Information", "", "")]
        rows += [("# col_name", "data_type", "comment")]
        rows += [_column_row(column) for column in table.partition_columns]
    if style:
        rows += _details(table, partition)
    return Outcome.of_table(_COLUMNS, rows)


def describe_database(database: Database, *, extended: bool) -> Outcome:
    """One row for the database."""
    columns = ["db_name", "comment", "location", "owner_name"]
    row = [database.name, database.comment or "", database.location, database.owner]
    if extended:
        columns.append("parameters")
        row.append(str(dict(database.properties)))
    return Outcome.of_table(columns, [row])


def _column_row(column: Column) -> _Row:
    return (column.name, column.type, column.comment or "")


def _details(table: Table, partition: Partition | None) -> list[_Row]:
    created = datetime.fromtimestamp(table.created_at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    rows: list[_Row] = [("", "", ""), ("# Detailed Table Information", "", "")]
    rows += [
        ("Database:", table.name.database, ""),
        ("Table:", table.name.name, ""),
        ("Owner:", table.owner, ""),
        ("CreateTime:", created, ""),
        ("Location:", partition.location if partition else table.location, ""),
        ("Table Type:", table.type, ""),
        ("Format:", _FORMATS[table.format], ""),
        ("Num Buckets:", str(table.bucket_count or -1), ""),
        ("Bucket Columns:", f"[{', '.join(table.bucket_columns)}]", ""),
        ("Sort Columns:", f"[{', '.join(table.sort_columns)}]", ""),
    ]
    if table.view_text:
        rows.append(("View Original Text:", table.view_text, ""))
    rows.append(("Table Parameters:", "", ""))
    rows += [("", key, value) for key, value in sorted(table.properties.items())]
    return rows


def create_statement(table: Table) -> str:
    """Text that would make the table again."""
    if table.is_view:
        return f"CREATE VIEW `{table.name.database}`.`{table.name.name}` AS {table.view_text}"
    external = "EXTERNAL " if table.type == "EXTERNAL_TABLE" else ""
    lines = [f"CREATE {external}TABLE `{table.name.database}`.`{table.name.name}`("]
    lines.append(_column_list(table.columns) + ")")
    if table.comment:
        lines.append(f"COMMENT {_quoted(table.comment)}")
    if table.partition_columns:
        lines.append("PARTITIONED BY (")
        lines.append(_column_list(table.partition_columns) + ")")
    if table.is_bucketed:
        names = ", ".join(f"`{name}`" for name in table.bucket_columns)
        lines.append(f"CLUSTERED BY ({names})")
        if table.sort_columns:
            lines.append(f"SORTED BY ({', '.join(f'`{name}`' for name in table.sort_columns)})")
        lines.append(f"INTO {table.bucket_count} BUCKETS")
    lines.append(f"STORED AS {_FORMATS[table.format]}")
    lines.append(f"LOCATION\n  {_quoted(table.location)}")
    if table.properties:
        lines.append("TBLPROPERTIES (")
        pairs = (f"  {_quoted(k)}={_quoted(v)}" for k, v in sorted(table.properties.items()))
        lines.append(",\n".join(pairs) + ")")
    return "\n".join(lines)


def _column_list(columns: tuple[Column, ...]) -> str:
    return ",\n".join(
        f"  `{c.name}` {c.type}" + (f" COMMENT {_quoted(c.comment)}" if c.comment else "")
        for c in columns
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
