"""Partitions of a table as rows; functions take an open connection and never commit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    cast,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)

from hivesql_executor.metastore.database import history_cleanup as cleanup
from hivesql_executor.metastore.database.catalog import table_rows
from hivesql_executor.metastore.database.catalog import tables as catalog
from hivesql_executor.metastore.database.catalog.catalog_values import partitions_of
from hivesql_executor.metastore.database.catalog.partition_storage import (
    is_marked,
    with_storage,
    write_storage,
)
from hivesql_executor.metastore.database.catalog.shared_places import (
    refuse_shared_place,
    refuse_undeleted_places,
)
from hivesql_executor.metastore.database.catalog.tables import give_write_id
from hivesql_executor.metastore.database.connection import now
from hivesql_executor.metastore.database.dialects.execution import run
from hivesql_executor.metastore.database.dialects.registry import terms_of
from hivesql_executor.metastore.database.dialects.terms import Terms
from hivesql_executor.metastore.database.notification_log import note_change
from hivesql_executor.metastore.database.schema import partition_key_vals, partition_params, sds
from hivesql_executor.metastore.database.schema import partitions as rows
from hivesql_executor.metastore.database.transactions import moves
from hivesql_planner.cache.events import EventKind
from hivesql_planner.errors import NoSuchObject, SemanticError, StaleSnapshot
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Partition,
    Table,
    TableName,
    check_partition_name,
    partition_name,
)
from hivesql_planner.predicates.partitions import COMPARE, DATE_LENGTH, MOST_DIGITS, PartitionTest


def passes(value: ColumnElement[str], test: PartitionTest, terms: Terms) -> ColumnElement[bool]:
    """Tell whether a value of PARTITION_KEY_VALS may be wanted."""
    compare = COMPARE[test.operator]
    if test.kind == "integer":
        # Only plain digits are compared here: casts of other texts fail, or are 0.
        number = cast(value, BigInteger)
        plain = and_(func.length(value) <= MOST_DIGITS, terms.has_digits_only(value))
        return case(
            (plain, or_(*(compare(number, int(digits)) for digits in test.values))), else_=true()
        )
    # Code points decide, not a language's order.
    text = terms.by_code_points(value)
    holds = or_(*(compare(text, constant) for constant in test.values))
    if test.kind == "date":
        return case((func.length(value) == DATE_LENGTH, holds), else_=true())
    return holds


Values = Sequence[str | None]

_CHUNK = 500


def partitions(
    db: Connection, name: TableName, tests: Sequence[PartitionTest] = ()
) -> tuple[Partition, ...]:
    """Return the partitions of a table that pass all tests, by name; perhaps some more."""
    table_id = catalog.table_id(db, name)
    query = ROWS.where(rows.c.table_id == table_id)
    for test in tests:
        value = partition_key_vals.alias()
        here = and_(value.c.owner_id == rows.c.id, value.c.position == test.position)
        query = query.join(value, here).where(passes(value.c.value, test, terms_of(db)))
    listed = _listed(db, query)
    if listed and is_marked(db, table_id):
        return with_storage(db, catalog.table(db, name), query, listed)
    return listed


def partition_count(db: Connection, name: TableName) -> int:
    """Tell how many partitions a table has."""
    return int(run(db, COUNT, {"owner": catalog.table_id(db, name)}).scalar() or 0)


def foreign_partitions(db: Connection, name: TableName) -> tuple[Partition, ...]:
    """Find partitions that do not live under their table by their name, or are stored otherwise."""
    table = catalog.table(db, name)
    if is_marked(db, table.id):
        listed = partitions(db, name)
        return tuple(
            partition
            for partition in listed
            if partition.storage or partition.location != table.home_of(partition.values)
        )
    home = literal(f"{table.location}/") + rows.c.name
    return _listed(db, ROWS.where(rows.c.table_id == table.id, sds.c.location != home))


def _listed(db: Connection, query: Select[Any]) -> tuple[Partition, ...]:
    return tuple(partitions_of(db.execute(query)))


def partition(db: Connection, name: TableName, values: Values) -> Partition | None:
    """Return the partition with these values, or None."""
    table = catalog.table(db, name)
    key = partition_name(table.partition_names, values)
    query = ROWS.where(rows.c.table_id == table.id, rows.c.name == key)
    listed = _listed(db, query)
    if listed and is_marked(db, table.id):
        listed = with_storage(db, table, query, listed)
    return listed[0] if listed else None


def add_partitions(
    db: Connection,
    name: TableName,
    new: Collection[Partition],
    *,
    if_not_exists: bool = False,
    txn_id: int = 0,
    for_rows: bool = False,
) -> None:
    """Add partitions; those that exist are left alone or raise SemanticError 10073.

    Those without a location live under the table. Those ``for_rows`` that the transaction writes
    are known to hold none yet.
    """
    table_id = catalog.table_id(db, name, lock=True)
    table = catalog.table(db, name)
    named = {
        partition_name(table.partition_names, partition.values): partition for partition in new
    }
    for key in named:
        check_partition_name(key)
    existing = _ids(db, table_id, list(named))
    if existing and not if_not_exists:
        raise SemanticError(
            f"Partition already exists: {table.name} {', '.join(sorted(existing))}", code=10073
        )
    fresh = {key: partition for key, partition in named.items() if key not in existing}
    if not fresh:
        return
    _refuse_undeleted(db, table, fresh)
    give_write_id(db, txn_id, table)
    note_change(db, EventKind.ADD_PARTITION, table.name, table_id, txn_id=txn_id)
    homes = {key: "" if table.is_view else f"{table.location}/{key}" for key in fresh}
    locations = [partition.location or homes[key] for key, partition in fresh.items()]
    # Those below the table were looked at with its own place: a write may add thousands.
    elsewhere = sorted(set(locations).difference(homes.values()))
    refuse_shared_place(db, table, elsewhere, but=table_id)
    refuse_undeleted_places(db, elsewhere)
    cd_id, created = table_rows.columns_id(db, table_id), now(db) // 1000
    storage = table_rows.add_storage(db, table, cd_id, locations)
    ids = terms_of(db).insert_for_ids(
        db,
        rows,
        [
            {"table_id": table_id, "name": key, "sd_id": sd_id, "created_at": created}
            for key, (_, sd_id) in zip(fresh, storage, strict=True)
        ],
    )
    for partition, (_, sd_id) in zip(fresh.values(), storage, strict=True):
        if partition.storage:
            write_storage(db, table, sd_id, partition.storage)
    # One made for the rows that the transaction writes begins with none.
    marks = table_rows.NO_ROWS if for_rows else {}
    params = [
        {"owner_id": id_, "name": key, "value": text}
        for id_, partition in zip(ids, fresh.values(), strict=True)
        for key, text in {**partition.properties, **marks}.items()
    ]
    if params:
        db.execute(insert(partition_params), params)
    db.execute(
        insert(partition_key_vals),
        [
            {"owner_id": id_, "position": position, "value": value or DEFAULT_PARTITION}
            for id_, partition in zip(ids, fresh.values(), strict=True)
            for position, value in enumerate(partition.values)
        ],
    )


def _refuse_undeleted(db: Connection, table: Table, names: Collection[str]) -> None:
    """Fail where files of a dropped partition of that name are still to be deleted in a store.

    They would be rows again until they are.
    """
    if "://" not in table.location:
        return
    undeleted = {*names} & moves.undeleted_partitions(db, table.id)
    if undeleted:
        error = StaleSnapshot(
            f"files of {table.name} PARTITION {', '.join(sorted(undeleted))}, which was dropped, "
            "could not be deleted yet, and would be rows of the new one. Run the statement again "
            "once the store lets them be deleted"
        )
        error.needs_reaping = True
        raise error


def drop_partitions(
    db: Connection, name: TableName, values: Collection[Values], *, txn_id: int = 0
) -> None:
    """Drop partitions and what the transaction tables know of them; NoSuchObject 10006."""
    table_id = catalog.table_id(db, name, lock=True)
    table = catalog.table(db, name)
    names = [partition_name(table.partition_names, key_values) for key_values in values]
    existing = _ids(db, table_id, names)
    if missing := sorted(set(names) - existing.keys()):
        raise NoSuchObject(f"Partition not found: {table.name} {', '.join(missing)}", code=10006)
    give_write_id(db, txn_id, table)
    note_change(db, EventKind.DROP_PARTITION, table.name, table_id, txn_id=txn_id)
    ids = list(existing.values())
    for start in range(0, len(ids), _CHUNK):
        table_rows.delete_partitions(db, ids[start : start + _CHUNK])
    cleanup.drop_partitions(db, table.name, names)


def alter_partition(
    db: Connection, name: TableName, values: Values, new: Partition, *, txn_id: int = 0
) -> None:
    """Change values or location; a new name goes to the transaction tables too."""
    table_id = catalog.table_id(db, name, lock=True)
    table = catalog.table(db, name)
    old = partition_name(table.partition_names, values)
    to = partition_name(table.partition_names, new.values)
    if to != old:
        check_partition_name(to)
    existing = _ids(db, table_id, [old, to])
    if old not in existing:
        raise NoSuchObject(f"Partition not found: {table.name} {old}", code=10006)
    give_write_id(db, txn_id, table)
    note_change(db, EventKind.ALTER_PARTITION, table.name, table_id, txn_id=txn_id)
    own = existing[old]
    sd_id = db.scalar(select(rows.c.sd_id).where(rows.c.id == own))
    changed = update(sds).where(sds.c.id == sd_id, sds.c.location != new.location)
    moved = bool(db.execute(changed.values(location=new.location)).rowcount)
    if to == old and moved:
        refuse_shared_place(db, table, [new.location], but=table_id)
        refuse_undeleted_places(db, [new.location])
    if to == old and (moved or new.storage):
        # Nobody has counted what is read from now on.
        table_rows.mark_inaccurate(db, partition_params, [own])
    if new.storage or is_marked(db, table_id):
        write_storage(db, table, int(sd_id or 0), new.storage)
    if to == old:
        return
    if to in existing:
        raise SemanticError(f"Partition already exists: {table.name} {to}", code=10118)
    db.execute(update(rows).where(rows.c.id == own).values(name=to))
    for position, value in enumerate(new.values):
        db.execute(
            update(partition_key_vals)
            .where(partition_key_vals.c.owner_id == own, partition_key_vals.c.position == position)
            .values(value=value or DEFAULT_PARTITION)
        )
    cleanup.rename_partition(db, table.name, old, to)


def exchange_partitions(
    db: Connection,
    source: TableName,
    target: TableName,
    moved: Collection[Partition],
    *,
    txn_id: int = 0,
) -> None:
    """Take partitions from one table and give them to another, at their new locations."""
    drop_partitions(db, source, [partition.values for partition in moved], txn_id=txn_id)
    add_partitions(db, target, moved, txn_id=txn_id)


ROWS = (
    select(
        rows.c.name.label("name"),
        sds.c.location.label("location"),
        partition_key_vals.c.value.label("value"),
        partition_key_vals.c.position.label("position"),
    )
    .join(sds, sds.c.id == rows.c.sd_id)
    .join(partition_key_vals, partition_key_vals.c.owner_id == rows.c.id)
)
"""Partitions, one row for each value."""
OF_TABLE = ROWS.where(rows.c.table_id == bindparam("owner"))
COUNT = select(func.count().label("found")).where(rows.c.table_id == bindparam("owner"))


def _ids(db: Connection, table_id: int, names: Sequence[str]) -> dict[str, int]:
    """Ids of the partitions that exist, by name."""
    ids: dict[str, int] = {}
    for start in range(0, len(names), _CHUNK):
        chunk = names[start : start + _CHUNK]
        query = select(rows.c.name, rows.c.id).where(
            rows.c.table_id == table_id, rows.c.name.in_(chunk)
        )
        ids.update((name, int(id_)) for name, id_ in db.execute(query))
    return ids
