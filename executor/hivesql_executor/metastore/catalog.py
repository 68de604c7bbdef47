"""Databases, tables and partitions as rows. Functions take an open ``db`` and never commit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection, Table as SqlTable, delete, insert, select, update

from hivesql_executor.metastore import schema as s
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.table import (
    Column,
    Database,
    FileFormat,
    Partition,
    Table,
    TableName,
    TableType,
    parse_partition_name,
    partition_name,
)

_PARTITION_BATCH = 500


def _database_id(db: Connection, name: str) -> int:
    found = db.scalar(select(s.dbs.c.DB_ID).where(s.dbs.c.NAME == name.lower()))
    if found is None:
        raise NoSuchObject(f"Database does not exist: {name}", code=10072)
    return int(found)


def _params(db: Connection, table: SqlTable, key: str, value: int) -> dict[str, str]:
    rows = db.execute(select(table.c.PARAM_KEY, table.c.PARAM_VALUE).where(table.c[key] == value))
    return {row[0]: row[1] for row in rows}


def _set_params(
    db: Connection, table: SqlTable, key: str, value: int, params: Mapping[str, str]
) -> None:
    db.execute(delete(table).where(table.c[key] == value))
    if params:
        rows = [{key: value, "PARAM_KEY": k, "PARAM_VALUE": v} for k, v in params.items()]
        db.execute(insert(table), rows)


def create_database(db: Connection, database: Database) -> None:
    """Add a database; SemanticError 10242 when there is one of that name."""
    name = database.name.lower()
    if db.scalar(select(s.dbs.c.DB_ID).where(s.dbs.c.NAME == name)) is not None:
        raise SemanticError(f"Database {name} already exists", code=10242)
    row = {
        "NAME": name,
        "DB_LOCATION_URI": database.location,
        "DESC": database.comment,
        "OWNER_NAME": database.owner,
    }
    db.execute(insert(s.dbs).values(row))
    _set_params(db, s.database_params, "DB_ID", _database_id(db, name), database.properties)


def database(db: Connection, name: str) -> Database:
    """One database."""
    row = db.execute(select(s.dbs).where(s.dbs.c.NAME == name.lower())).mappings().first()
    if row is None:
        raise NoSuchObject(f"Database does not exist: {name}", code=10072)
    return Database(
        name=row["NAME"],
        location=row["DB_LOCATION_URI"],
        comment=row["DESC"],
        owner=row["OWNER_NAME"] or "",
        properties=_params(db, s.database_params, "DB_ID", row["DB_ID"]),
    )


def databases(db: Connection) -> tuple[str, ...]:
    """All names, sorted."""
    return tuple(db.scalars(select(s.dbs.c.NAME).order_by(s.dbs.c.NAME)))


def drop_database(db: Connection, name: str) -> None:
    """Remove an empty database."""
    db_id = _database_id(db, name)
    if db.scalar(select(s.tbls.c.TBL_ID).where(s.tbls.c.DB_ID == db_id).limit(1)) is not None:
        raise SemanticError(
            f"Database {name} is not empty. One or more tables exist: use CASCADE to drop them too"
        )
    db.execute(delete(s.database_params).where(s.database_params.c.DB_ID == db_id))
    db.execute(delete(s.dbs).where(s.dbs.c.DB_ID == db_id))


def _table_row(db: Connection, name: TableName) -> Mapping[str, Any] | None:
    db_id = _database_id(db, name.database)
    query = select(s.tbls).where(s.tbls.c.DB_ID == db_id, s.tbls.c.TBL_NAME == name.name.lower())
    return cast("Mapping[str, Any] | None", db.execute(query).mappings().first())


def table_id(db: Connection, name: TableName) -> int:
    """The table's id; NoSuchObject 10001 when there is none."""
    row = _table_row(db, name)
    if row is None:
        raise NoSuchObject(f"Table not found {name}", code=10001)
    return int(row["TBL_ID"])


def create_table(db: Connection, table: Table, now: int) -> Table:
    """Add a table; ``now`` is in milliseconds. SemanticError 10073 when the name is taken."""
    home = database(db, table.name.database)
    if _table_row(db, table.name) is not None:
        raise SemanticError(f"Table already exists: {table.name}", code=10073)
    location = table.location or f"{home.location}/{table.name.name}"
    table = replace(table, location=location, created_at=now // 1000)
    sd_id = db.execute(insert(s.sds).values(_storage(table))).inserted_primary_key[0]
    row = {
        "DB_ID": _database_id(db, table.name.database),
        "TBL_NAME": table.name.name,
        "TBL_TYPE": table.type,
        "OWNER": table.owner,
        "CREATE_TIME": table.created_at,
        "SD_ID": sd_id,
        "VIEW_ORIGINAL_TEXT": table.view_text,
    }
    tbl_id = int(db.execute(insert(s.tbls).values(row)).inserted_primary_key[0])
    _write_details(db, table, tbl_id, int(sd_id))
    return replace(table, id=tbl_id)


def _storage(table: Table) -> dict[str, Any]:
    return {
        "LOCATION": table.location,
        "INPUT_FORMAT": table.format,
        "NUM_BUCKETS": table.bucket_count,
    }


def _write_details(db: Connection, table: Table, tbl_id: int, sd_id: int) -> None:
    """Columns, keys and properties; replaces what was there."""
    comment = {"comment": table.comment} if table.comment else {}
    _set_params(db, s.table_params, "TBL_ID", tbl_id, {**table.properties, **comment})
    _set_params(db, s.serde_params, "SERDE_ID", sd_id, table.serde_properties)
    _replace_rows(
        db, s.columns_v2, "CD_ID", sd_id,
        [{"COLUMN_NAME": c.name, "TYPE_NAME": c.type, "COMMENT": c.comment} for c in table.columns],
    )  # fmt: skip
    _replace_rows(
        db, s.partition_keys, "TBL_ID", tbl_id,
        [
            {"PKEY_NAME": c.name, "PKEY_TYPE": c.type, "PKEY_COMMENT": c.comment}
            for c in table.partition_columns
        ],
    )  # fmt: skip
    buckets = [{"BUCKET_COL_NAME": name} for name in table.bucket_columns]
    _replace_rows(db, s.bucketing_cols, "SD_ID", sd_id, buckets)
    sorts = [{"COLUMN_NAME": name, "ORDER": 1} for name in table.sort_columns]
    _replace_rows(db, s.sort_cols, "SD_ID", sd_id, sorts)


def _replace_rows(
    db: Connection, table: SqlTable, key: str, value: int, rows: Iterable[Mapping[str, Any]]
) -> None:
    db.execute(delete(table).where(table.c[key] == value))
    numbered = [{key: value, "INTEGER_IDX": i, **row} for i, row in enumerate(rows)]
    if numbered:
        db.execute(insert(table), numbered)


def table(db: Connection, name: TableName) -> Table:
    """One table with everything about it but its partitions."""
    row = _table_row(db, name)
    if row is None:
        raise NoSuchObject(f"Table not found {name}", code=10001)
    sd_id = row["SD_ID"]
    storage = db.execute(select(s.sds).where(s.sds.c.SD_ID == sd_id)).mappings().one()
    properties = _params(db, s.table_params, "TBL_ID", row["TBL_ID"])
    return Table(
        id=row["TBL_ID"],
        name=TableName(name.database.lower(), row["TBL_NAME"]),
        columns=_columns(db, s.columns_v2, "CD_ID", sd_id),
        partition_columns=_columns(db, s.partition_keys, "TBL_ID", row["TBL_ID"]),
        location=storage["LOCATION"],
        type=cast("TableType", row["TBL_TYPE"]),
        format=cast("FileFormat", storage["INPUT_FORMAT"]),
        comment=properties.pop("comment", None),
        properties=properties,
        serde_properties=_params(db, s.serde_params, "SERDE_ID", sd_id),
        bucket_columns=_ordered(db, s.bucketing_cols, "BUCKET_COL_NAME", sd_id),
        bucket_count=storage["NUM_BUCKETS"] or 0,
        sort_columns=_ordered(db, s.sort_cols, "COLUMN_NAME", sd_id),
        view_text=row["VIEW_ORIGINAL_TEXT"],
        owner=row["OWNER"] or "",
        created_at=row["CREATE_TIME"] or 0,
    )


def _columns(db: Connection, table: SqlTable, key: str, value: int) -> tuple[Column, ...]:
    rows = db.execute(select(table).where(table.c[key] == value).order_by(table.c.INTEGER_IDX))
    return tuple(Column(row[2], row[3], row[4]) for row in rows)


def _ordered(db: Connection, table: SqlTable, column: str, sd_id: int) -> tuple[str, ...]:
    query = select(table.c[column]).where(table.c.SD_ID == sd_id).order_by(table.c.INTEGER_IDX)
    return tuple(db.scalars(query))


def tables(db: Connection, name: str) -> tuple[TableName, ...]:
    """Names of a database's tables and views, sorted."""
    query = select(s.tbls.c.TBL_NAME).where(s.tbls.c.DB_ID == _database_id(db, name))
    return tuple(TableName(name.lower(), one) for one in sorted(db.scalars(query)))


def alter_table(db: Connection, name: TableName, altered: Table) -> None:
    """Replace a table's description; another name in ``altered`` renames it."""
    row = _table_row(db, name)
    if row is None:
        raise NoSuchObject(f"Table not found {name}", code=10001)
    if altered.name != name and _table_row(db, altered.name) is not None:
        raise SemanticError(f"Table already exists: {altered.name}", code=10073)
    values = {
        "DB_ID": _database_id(db, altered.name.database),
        "TBL_NAME": altered.name.name,
        "TBL_TYPE": altered.type,
        "OWNER": altered.owner,
        "VIEW_ORIGINAL_TEXT": altered.view_text,
    }
    db.execute(update(s.tbls).where(s.tbls.c.TBL_ID == row["TBL_ID"]).values(values))
    storage = update(s.sds).where(s.sds.c.SD_ID == row["SD_ID"]).values(_storage(altered))
    db.execute(storage)
    _write_details(db, altered, row["TBL_ID"], row["SD_ID"])


def drop_table(db: Connection, name: TableName) -> None:
    """Remove a table and its partitions."""
    row = _table_row(db, name)
    if row is None:
        raise NoSuchObject(f"Table not found {name}", code=10001)
    tbl_id, sd_id = row["TBL_ID"], row["SD_ID"]
    _delete_partitions(db, select(s.partitions.c.PART_ID).where(s.partitions.c.TBL_ID == tbl_id))
    for table, key, value in (
        (s.table_params, "TBL_ID", tbl_id),
        (s.partition_keys, "TBL_ID", tbl_id),
        (s.columns_v2, "CD_ID", sd_id),
        (s.serde_params, "SERDE_ID", sd_id),
        (s.bucketing_cols, "SD_ID", sd_id),
        (s.sort_cols, "SD_ID", sd_id),
        (s.sds, "SD_ID", sd_id),
        (s.tbls, "TBL_ID", tbl_id),
    ):
        db.execute(delete(table).where(table.c[key] == value))


def partitions(db: Connection, name: TableName) -> tuple[Partition, ...]:
    """All partitions, by name."""
    part = s.partitions.c
    query = select(part.PART_NAME, part.LOCATION).where(part.TBL_ID == table_id(db, name))
    return tuple(
        Partition(values=parse_partition_name(row[0]), location=row[1])
        for row in db.execute(query.order_by(part.PART_NAME))
    )


def _names(described: Table, values: Collection[Sequence[str | None]]) -> list[str]:
    return [partition_name(described.partition_names, one) for one in values]


def partition(db: Connection, name: TableName, values: Sequence[str | None]) -> Partition | None:
    """One partition, or None."""
    described = table(db, name)
    part = s.partitions.c
    query = select(part.LOCATION).where(
        part.TBL_ID == described.id, part.PART_NAME == _names(described, [values])[0]
    )
    location = db.scalar(query)
    return None if location is None else Partition(values=tuple(values), location=location)


def add_partitions(
    db: Connection, name: TableName, added: Collection[Partition], *, if_not_exists: bool
) -> None:
    """Add partitions; SemanticError 10118 for one that is there already."""
    if not added:
        return
    described = table(db, name)
    query = select(s.partitions.c.PART_NAME).where(s.partitions.c.TBL_ID == described.id)
    known = set(db.scalars(query))
    for one, part_name in zip(added, _names(described, [p.values for p in added]), strict=True):
        if part_name in known:
            if if_not_exists:
                continue
            raise SemanticError(f"Partition already exists: {name} {part_name}", code=10118)
        known.add(part_name)
        location = one.location or f"{described.location}/{part_name}"
        row = {"TBL_ID": described.id, "PART_NAME": part_name, "LOCATION": location}
        part_id = db.execute(insert(s.partitions).values(row)).inserted_primary_key[0]
        keys = [
            {"PART_ID": part_id, "INTEGER_IDX": i, "PART_KEY_VAL": value}
            for i, value in enumerate(one.values)
        ]
        db.execute(insert(s.partition_key_vals), keys)


def drop_partitions(
    db: Connection, name: TableName, values: Collection[tuple[str | None, ...]]
) -> tuple[str, ...]:
    """Remove partitions; their names."""
    described = table(db, name)
    names = _names(described, values)
    part = s.partitions.c
    for start in range(0, len(names), _PARTITION_BATCH):
        batch = names[start : start + _PARTITION_BATCH]
        ids = select(part.PART_ID).where(part.TBL_ID == described.id, part.PART_NAME.in_(batch))
        _delete_partitions(db, ids)
    return tuple(names)


def _delete_partitions(db: Connection, ids: Any) -> None:
    keys, part = s.partition_key_vals, s.partitions
    found = list(db.scalars(ids))
    for start in range(0, len(found), _PARTITION_BATCH):
        batch = found[start : start + _PARTITION_BATCH]
        db.execute(delete(keys).where(keys.c.PART_ID.in_(batch)))
        db.execute(delete(part).where(part.c.PART_ID.in_(batch)))
