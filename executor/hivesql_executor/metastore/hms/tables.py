"""Tables, partitions and databases as the Thrift interface describes them, there and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE, format_of
from hivesql_executor.metastore.hms.client import idl
from hivesql_planner.errors import DataError, HiveSqlError, NotSupported
from hivesql_planner.model.avro_schema import (
    declared_literal,
    names_schema,
    with_schema_columns,
)
from hivesql_planner.model.skew import Skew
from hivesql_planner.model.statistics import ACCURATE, BASICS, Statistics, written_basics
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Buckets,
    Column,
    Constraint,
    Database,
    OwnerType,
    Partition,
    Table,
    TableName,
    TableType,
)

_COMMENT, _EXTERNAL = "comment", "EXTERNAL"
_ASCENDING, _DESCENDING = 1, 0


def read_table(answer: Any, constraints: tuple[Constraint, ...]) -> Table:
    """Return the table that the metastore describes."""
    name = TableName(answer.dbName, answer.tableName)
    kind = _table_type(answer.tableType, name)
    properties = dict(answer.parameters or {})
    for key in (*BASICS, ACCURATE):
        # What every write changes is no property of a Table.
        properties.pop(key, None)
    comment = properties.pop(_COMMENT, None)
    if kind == "EXTERNAL_TABLE":
        properties.pop(_EXTERNAL, None)
    storage = answer.sd
    view = kind == "VIRTUAL_VIEW"
    serde = storage.serdeInfo
    table = Table(
        name=name,
        id=answer.id or 0,
        columns=_read_columns(storage.cols),
        partition_columns=_read_columns(answer.partitionKeys),
        location=storage.location or "",
        type=kind,
        format="textfile" if view else format_of(storage.inputFormat, serde.serializationLib, name),
        properties=properties,
        serde_properties=dict(serde.parameters or {}) if serde else {},
        view_text=answer.viewExpandedText if view else None,
        view_original=answer.viewOriginalText if view else None,
        owner=answer.owner or "",
        owner_type=_owner_type(answer.ownerType),
        created_at=answer.createTime or 0,
        comment=comment,
        constraints=constraints,
        skew=_read_skew(storage),
    ).clustered(_read_buckets(storage))
    with suppress(HiveSqlError):
        # Hive alters the schema, and leaves the columns here as they were.
        return with_schema_columns(table)
    return table


def write_table(table: Table, old: Any = None, *, is_empty: bool | None = None) -> Any:
    """Return the same for the metastore; what ``old`` holds beside what a Table tells is kept.

    The statistics of a new one say that it ``is_empty``; None: if it is a managed one.
    """
    wire = idl()
    if old is not None and _read_skew(old.sd) and old.sd.storedAsSubDirectories:
        # The directories of its values cannot be told in this interface.
        raise NotSupported(f"ALTER TABLE of {table.name}, which is stored as directories")
    new = old or wire.Table(lastAccessTime=0, retention=0)
    properties = _statistics(table, old, is_empty=is_empty) | dict(table.properties)
    if table.comment is not None:
        properties[_COMMENT] = table.comment
    if table.type == "EXTERNAL_TABLE":
        properties[_EXTERNAL] = "TRUE"
    new.tableName, new.dbName = table.name.name, table.name.database
    new.owner, new.ownerType = table.owner, wire.PrincipalType._NAMES_TO_VALUES[table.owner_type]
    new.createTime = table.created_at
    new.parameters, new.tableType = properties, table.type
    new.partitionKeys = _write_columns(table.partition_columns)
    # The binary protocol has no null text in required places of older servers.
    new.viewExpandedText = table.view_text
    new.viewOriginalText = table.view_original or table.view_text
    new.sd = _write_storage(table, old.sd if old else None)
    return new


def _statistics(table: Table, old: Any, *, is_empty: bool | None) -> dict[str, str]:
    """Tell what is known of its rows."""
    if old is None:
        begins = table.type == "MANAGED_TABLE" if is_empty is None else is_empty
        is_counted = begins and not table.is_view and not table.partition_columns
        return written_basics(Statistics(rows=0, is_accurate=True)) if is_counted else {}
    parameters = old.parameters or {}
    stated = () if table.properties.keys() & set(BASICS) else (ACCURATE,)
    return {key: parameters[key] for key in (*BASICS, *stated) if key in parameters}


def _write_storage(table: Table, old: Any) -> Any:
    wire, storage = idl(), STORAGE[table.format]
    new = old or wire.StorageDescriptor(compressed=False, parameters={})
    serde = new.serdeInfo or wire.SerDeInfo()
    serde.serializationLib = storage.serde
    serde.parameters = dict(table.serde_properties)
    if old is None or declared_literal(table) is None:
        # As Hive: the columns that a schema tells are no change of those that are here.
        new.cols = _write_columns(table.columns)
    new.location = table.location or None
    new.inputFormat, new.outputFormat = storage.input_format, storage.output_format
    new.serdeInfo = serde
    _write_buckets(new, table)
    skew = table.skew
    new.skewedInfo = wire.SkewedInfo(
        skewedColNames=list(skew.columns) if skew else [],
        skewedColValues=[list(values) for values in skew.values] if skew else [],
    )
    new.storedAsSubDirectories = skew is not None and skew.in_directories
    return new


def _read_skew(storage: Any) -> Skew | None:
    info = storage.skewedInfo
    if not info or not info.skewedColNames:
        return None
    return Skew(
        columns=tuple(info.skewedColNames),
        values=tuple(map(tuple, info.skewedColValues or ())),
        in_directories=bool(storage.storedAsSubDirectories),
    )


def _write_buckets(storage: Any, table: Table) -> None:
    wire = idl()
    storage.numBuckets = table.bucket_count or -1
    storage.bucketCols = list(table.bucket_columns)
    storage.sortCols = [
        wire.Order(col=name, order=_DESCENDING if name in table.sort_descending else _ASCENDING)
        for name in table.sort_columns
    ]


def _read_buckets(storage: Any) -> Buckets:
    orders = storage.sortCols or ()
    return Buckets(
        columns=tuple(column.lower() for column in storage.bucketCols or ()),
        count=max(storage.numBuckets or 0, 0),
        sort_columns=tuple(order.col.lower() for order in orders),
        sort_descending=tuple(order.col.lower() for order in orders if order.order == _DESCENDING),
    )


def read_partition(answer: Any, table: Table) -> Partition:
    """Return a partition, with its storage where that is not its table's."""
    storage, serde = answer.sd, answer.sd.serdeInfo
    values = tuple(None if value == DEFAULT_PARTITION else value for value in answer.values)
    if table.is_view:
        return Partition(values=values, location="")
    format_ = format_of(storage.inputFormat, serde.serializationLib, table.name)
    columns, properties = _read_columns(storage.cols), dict(serde.parameters or {})
    if format_ == "avro":
        properties = table.with_schema(properties)
        if names_schema(table):
            columns = table.columns
    stored = replace(
        table, format=format_, serde_properties=properties, columns=columns or table.columns
    ).clustered(_read_buckets(storage))
    return Partition(
        values=values, location=storage.location or "", storage=table.storage_of(stored)
    )


def write_partition(partition: Partition, table: Table, old: Any = None) -> Any:
    """Return the same for the metastore, with the table's columns."""
    wire = idl()
    new = old or wire.Partition(createTime=0, lastAccessTime=0, parameters={})
    new.values = written_values(partition.values)
    new.dbName, new.tableName = table.name.database, table.name.name
    new.sd = new.sd or _write_storage(table, None)
    stored = table.described_as(partition)
    new.sd.cols = _write_columns(stored.columns)
    _write_buckets(new.sd, stored)
    storage = STORAGE[stored.format]
    new.sd.location = partition.location or None
    new.sd.inputFormat, new.sd.outputFormat = storage.input_format, storage.output_format
    new.sd.serdeInfo.serializationLib = storage.serde
    new.sd.serdeInfo.parameters = dict(stored.serde_properties)
    if old is None:
        # What else a new one takes over of its table's, the metastore knows.
        stated = (*BASICS, ACCURATE)
        new.parameters = {k: v for k, v in partition.properties.items() if k in stated}
    return new


def written_values(values: Sequence[str | None]) -> list[str]:
    """Partition values as the metastore keeps them."""
    return [value or DEFAULT_PARTITION for value in values]


def read_database(answer: Any) -> Database:
    """Return the database that the metastore describes."""
    return Database(
        name=answer.name,
        location=answer.locationUri or "",
        comment=answer.description,
        properties=dict(answer.parameters or {}),
        owner=answer.ownerName or "",
        owner_type=_owner_type(answer.ownerType),
        managed_location=answer.managedLocationUri,
    )


def write_database(database: Database, old: Any = None) -> Any:
    """Return the same for the metastore."""
    wire = idl()
    new = old or wire.Database()
    new.name, new.description = database.name.lower(), database.comment
    new.locationUri = database.location or None
    new.parameters = dict(database.properties)
    new.ownerName = database.owner
    new.ownerType = wire.PrincipalType._NAMES_TO_VALUES[database.owner_type]
    new.managedLocationUri = database.managed_location
    return new


def _read_columns(field_schemas: Iterable[Any] | None) -> tuple[Column, ...]:
    return tuple(
        Column.of(schema.name, schema.type, schema.comment) for schema in field_schemas or ()
    )


def _write_columns(columns: Iterable[Column]) -> list[Any]:
    wire = idl()
    return [
        wire.FieldSchema(name=column.name.lower(), type=str(column.type), comment=column.comment)
        for column in columns
    ]


def _owner_type(code: int | None) -> OwnerType:
    name = idl().PrincipalType._VALUES_TO_NAMES.get(code, "USER")
    return next(owner_type for owner_type in get_args(OwnerType) if owner_type == name)


def _table_type(text: str, name: TableName) -> TableType:
    for table_type in get_args(TableType):
        if table_type == text:
            return table_type  # type: ignore[no-any-return]
    raise DataError(f"{name} has the type {text}, which is not known here")
