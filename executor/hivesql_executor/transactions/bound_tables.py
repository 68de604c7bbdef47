"""Check that the catalog still has what a statement was bound to before it got its locks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hivesql_planner.errors import NoSuchObject, StaleSnapshot
from hivesql_planner.model.table import uncommented
from hivesql_planner.multi_statement import writes_of
from hivesql_planner.plan import Change, Insert
from hivesql_planner.predicates.partitions import among
from hivesql_planner.relations import Listing

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import Metastore
    from hivesql_planner.definitions.bound_tables import BoundTable
    from hivesql_planner.model.table import Partition, Table
    from hivesql_planner.plan import Body, Plan

_AGAIN = "and this happened again and again. Run the statement again"


def check_tables(plan: Plan, store: Metastore) -> None:
    """Raise StaleSnapshot when a table, or a partition that is named, went or is another one now.

    What would be written where a dropped or renamed table was, nobody would see.
    """
    for bound in plan.bound:
        _check_table(bound.table, store)
        if bound.partitions and _partitions(bound, store) != bound.partitions:
            raise StaleSnapshot(
                f"partitions of {bound.table.name} came, went or changed while the statement "
                f"began, {_AGAIN}"
            )
    written = {table.name: table for table in _written(plan.body)}
    for table in {table.name: table for table in _tables(plan.body)}.values():
        _check_table(table, store, written=written.get(table.name))


def check_listings(plan: Plan, store: Metastore) -> None:
    """Raise StaleSnapshot when partitions came, went or moved since the plan listed them.

    Files of one that moved would be missing. And the snapshot of a statement that is alone in its
    transaction is younger than that list: of a transaction that has written into old and new
    partitions in between, the plan would read a part.
    """
    # Imported late: START TRANSACTION decides nothing.
    from hivesql_planner.transactional_plans import scans

    for scan in scans(plan.body):
        then, name = scan.listing, scan.table.name
        if then is not None and Listing.of(then.tests, store.partitions(name, then.tests)) != then:
            raise StaleSnapshot(
                f"partitions of {name} came, went or moved while the statement began, {_AGAIN}"
            )


def _check_table(table: Table, store: Metastore, *, written: Table | None = None) -> None:
    """Fail where it is another one, or has other columns than rows are ``written`` with."""
    try:
        now = store.table(table.name)
    except NoSuchObject:
        now = None
    if (
        now is None
        or _place(now) != _place(table)
        or (written and uncommented(now.all_columns) != uncommented(written.all_columns))
    ):
        raise StaleSnapshot(f"{table.name} went or changed while the statement began, {_AGAIN}")


def _place(table: Table) -> tuple[object, ...]:
    """Give what decides where and how rows are written."""
    return (
        table.id,
        table.location,
        table.is_transactional,
        table.is_insert_only,
        table.bucket_columns,
        table.bucket_count,
    )


def _written(body: Body) -> Iterator[Table]:
    """List the tables whose rows are written, as the catalog has them."""
    if isinstance(body, Change):
        yield body.table_before
    elif not (isinstance(body, Insert) and body.create is not None):
        yield from (write.table for write in writes_of(body))


def _tables(body: Body) -> Iterator[Table]:
    """List the tables whose rows are written or read."""
    from hivesql_planner.transactional_plans import scans

    yield from _written(body)
    yield from (scan.table for scan in scans(body) if not scan.table.is_frame)


def _partitions(
    bound: BoundTable, store: Metastore
) -> dict[tuple[str | None, ...], Partition | None]:
    """Look the partitions up as they are now."""
    table, expected = bound.table, bound.partitions
    if len(expected) == 1:
        return {values: store.partition(table.name, values) for values in expected}
    # The table may have very many others.
    now = {
        partition.values: partition
        for partition in store.partitions(table.name, among(table, expected))
    }
    return {values: now.get(values) for values in expected}
