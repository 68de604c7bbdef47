"""SHOW and DESCRIBE as one line of JSON: ``hive.ddl.output.format=json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.show.describe import stored_properties, stored_serde_properties
from hivesql_executor.statements.show.tables import FileSizes, file_sizes, matching_tables
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Column,
    Database,
    Partition,
    Table,
    parse_partition_name,
)
from hivesql_planner.statements.bound import Show

_Rows = Sequence[Sequence[Any]]


def rows_as_json(statement: Show, outcome: Outcome) -> Outcome:
    """Return what SHOW gave as JSON; as it is where Hive has no JSON for it."""
    write = _WRITERS.get(statement.kind)
    return outcome if write is None else _line(write(outcome.rows))


def tables_as_json(statement: Show, runtime: Runtime) -> Outcome:
    """SHOW TABLE EXTENDED."""
    statuses = [
        _status(name, table, statement.part, file_sizes(table, statement.part, runtime))
        for name, table in matching_tables(statement, runtime)
    ]
    return _line({"tables": statuses})


def database_as_json(database: Database, *, extended: bool) -> Outcome:
    """DESCRIBE DATABASE."""
    description = {
        "database": database.name,
        "comment": database.comment,
        "location": database.location,
        "managedLocation": database.managed_location,
        "owner": database.owner,
        "ownerType": database.owner_type,
        "connector_name": "",
        "remote_dbname": "",
    }
    if extended and database.properties:
        description["params"] = dict(sorted(database.properties.items()))  # type: ignore[assignment]
    return _line(description)


def columns_as_json(rows: _Rows) -> Outcome:
    """DESCRIBE of one column, or of what is inside."""
    return _line({"columns": _columns(Column.of(*row) for row in rows)})


def table_as_json(table: Table, partition: Partition | None, style: str) -> Outcome:
    """DESCRIBE of a table or partition."""
    table = table.described_as(partition)
    columns = table.columns if style == "formatted" else table.all_columns
    description: dict[str, Any] = {"columns": _columns(columns)}
    if style == "extended" and partition:
        description["partitionInfo"] = _partition_info(table, partition)
    elif style == "extended":
        description["tableInfo"] = _table_info(table)
    return _line(description)


def _line(value: Mapping[str, Any]) -> Outcome:
    present = {key: member for key, member in value.items() if member is not None}
    text = json.dumps(present, ensure_ascii=False, separators=(",", ":"))
    return Outcome.of_table(["json"], [(text,)])


def _columns(columns: Iterable[Column]) -> list[dict[str, str]]:
    return [
        {"name": column.name, "type": str(column.type)}
        | ({} if column.comment is None else {"comment": column.comment})
        for column in columns
    ]


def _named(key: str) -> Callable[[_Rows], dict[str, Any]]:
    def write(rows: _Rows) -> dict[str, Any]:
        return {key: [row[0] for row in rows]}

    return write


def _types(rows: _Rows) -> dict[str, Any]:
    return {"tables": [{"Table Name": name, "Table Type": type_} for name, type_ in rows]}


def _partitions(rows: _Rows) -> dict[str, Any]:
    partitions = []
    for (name,) in rows:
        keys = [part.partition("=")[0] for part in name.split("/")]
        values = [value or DEFAULT_PARTITION for value in parse_partition_name(name)]
        pairs = list(zip(keys, values, strict=True))
        partitions.append({
            "name": ",".join(f"{key}='{value}'" for key, value in pairs),
            "values": [{"columnName": key, "columnValue": value} for key, value in pairs],
        })  # fmt: skip
    return {"partitions": partitions}


def _status(
    name: str, table: Table, partition: Partition | None, sizes: FileSizes | None
) -> dict[str, Any]:
    storage = STORAGE[table.stored_as(partition).format]
    status: dict[str, Any] = {
        "tableName": name,
        "ownerType": table.owner_type,
        "owner": table.owner,
        "location": partition.location if partition else table.location or None,
        "inputFormat": storage.input_format,
        "outputFormat": storage.output_format,
        "columns": _columns(table.columns),
        "partitioned": bool(table.partition_columns),
    }
    if table.partition_columns:
        status["partitionColumns"] = _columns(table.partition_columns)
    if sizes is not None:
        status |= dict(sizes)
    return {key: value for key, value in status.items() if value is not None}


def _table_info(table: Table) -> dict[str, Any]:
    return {
        "tableName": table.name.name,
        "dbName": table.name.database,
        "owner": table.owner,
        "createTime": table.created_at,
        "lastAccessTime": 0,
        "retention": 0,
        "sd": _storage_info(table, table.location),
        "partitionKeys": _columns(table.partition_columns),
        "parameters": dict(sorted(stored_properties(table).items())),
        "viewOriginalText": table.view_original or table.view_text,
        "viewExpandedText": table.view_text,
        "tableType": table.type,
        "ownerType": table.owner_type,
    }


def _partition_info(table: Table, partition: Partition) -> dict[str, Any]:
    return {
        "values": [value or DEFAULT_PARTITION for value in partition.values],
        "dbName": table.name.database,
        "tableName": table.name.name,
        "lastAccessTime": 0,
        "sd": _storage_info(table, partition.location),
    }


def _storage_info(table: Table, location: str) -> dict[str, Any]:
    storage = STORAGE[table.format]
    return {
        "cols": _columns(table.columns),
        "location": location or None,
        "inputFormat": storage.input_format,
        "outputFormat": storage.output_format,
        "compressed": False,
        "numBuckets": table.bucket_count or -1,
        "serdeInfo": {
            "serializationLib": None if table.is_view else storage.serde,
            "parameters": dict(sorted(stored_serde_properties(table).items())),
        },
        "bucketCols": list(table.bucket_columns),
        "sortCols": [
            {"col": name, "order": 0 if name in table.sort_descending else 1}
            for name in table.sort_columns
        ],
    }


_WRITERS: dict[str, Callable[[_Rows], dict[str, Any]]] = {
    "databases": _named("databases"),
    "tables": _named("tables"),
    "tables of a type": _named("tables"),
    "views": _named("tables"),
    "extended tables": _types,
    "partitions": _partitions,
}
