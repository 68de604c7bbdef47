"""Scans of an earlier state: from a write id or a time to a list of visible writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql_planner.acid.time_travel import (
    after_write,
    check_history,
    merging_bases,
    replaced_by,
    without_writes,
)
from hivesql_planner.compaction.queue import READY, SUCCEEDED
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import partition_name

if TYPE_CHECKING:
    from hivesql_executor.runtime import Runtime
    from hivesql_executor.transactions.transaction import Transaction
    from hivesql_planner.acid.snapshot import AcidState
    from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
    from hivesql_planner.compaction.queue import Compaction
    from hivesql_planner.model.table import Partition, Table, TableName
    from hivesql_planner.relations import AsOf


def visible_as_of(
    as_of: AsOf, table: TableName, txn: Transaction, runtime: Runtime
) -> ValidWriteIdList:
    """Return the writes that were committed then; the running transaction's own are not.

    DataError 10327 for a time before the last cleaning: of what a cleaner has removed, the catalog
    forgets when it was committed.
    """
    own = {txn.write_ids[table]} if table in txn.write_ids else frozenset[int]()
    now = without_writes(txn.visible[table], own)
    if as_of.write_id is not None:
        return after_write(now, as_of.write_id)
    assert as_of.time is not None
    moment = as_of.time.timestamp() * 1000
    for compaction in runtime.metastore.compactions():
        if (
            compaction.table == table
            and compaction.state == SUCCEEDED
            and (compaction.ended or 0) > moment
        ):
            raise DataError(
                f"{table} cannot be read as of {as_of}: a compaction was cleaned since, and the "
                "catalog no longer knows which writes came before that time",
                code=10327,
            )
    later = runtime.metastore.writes_after(table, as_of.time)
    if any(now.sees(write_id) for write_id in range(1, later.forgotten + 1)):
        raise DataError(
            f"{table} cannot be read as of {as_of}: the catalog no longer knows which of its "
            f"writes up to {later.forgotten} came before that time. Name a write instead: FOR "
            "SYSTEM_VERSION AS OF",
            code=10327,
        )
    return without_writes(now, later.ids)


def require_history(
    table: Table,
    partition: Partition | None,
    location: str,
    state: AcidState,
    then: ValidWriteIdList,
    runtime: Runtime,
) -> None:
    """Raise DataError 10327 when the directory no longer holds that state, or soon may not.

    It was listed before, so that what no cleaner may delete even now was all there.
    """
    store = runtime.metastore
    compactions = _compactions_of(table, partition, runtime)
    cleaned = [row.highest_write_id or 0 for row in compactions if row.state == SUCCEEDED]
    listing = runtime.files(table.location).list(location)
    check_history(
        listing,
        state,
        then,
        cleaned_up_to=max(cleaned, default=0 if compactions or _may_forget(runtime) else None),
        location=location,
    )
    base = replaced_by(listing, then)
    later = [
        row
        for row in compactions
        if not then.is_valid_base(highest := row.highest_write_id or 0)
        # Who merges deltas alone replaces nothing, but has what an overwrite replaced removed.
        and (row.kind != "minor" or (base is not None and base.max_write_id <= highest))
    ]
    waiting = [row for row in later if row.state == READY]
    now = store.now() if waiting else 0
    if any(row.retained_until <= now for row in waiting):
        raise DataError(
            f"{location} cannot be read as of that time: a compaction has replaced what was "
            "there, which a cleaner may delete by now. hivesql.retention keeps earlier versions",
            code=10327,
        )
    if state.doubt and (not waiting or any(row.state == SUCCEEDED for row in later)):
        raise DataError(state.doubt, code=10327)


def are_events_retained(
    table: Table,
    partition: Partition | None,
    location: str,
    low: int,
    txns: ValidTxnList,
    runtime: Runtime,
) -> bool:
    """Tell whether every compaction that merged events from write ``low`` on has left them.

    The directory was listed before, so that what no cleaner may delete even now was all there.
    """
    merging = merging_bases(runtime.files(table.location).list(location), low, txns)
    now = runtime.metastore.now()
    retained = {
        row.highest_write_id
        for row in _compactions_of(table, partition, runtime)
        if row.kind != "minor" and row.state == READY and row.retained_until > now
    }
    return {directory.max_write_id for directory in merging} <= retained


def _may_forget(runtime: Runtime) -> bool:
    """Tell whether the catalog may know of no compaction of a directory that has been cleaned."""
    known = runtime.settings.integer("metastore.compactor.history.retention.succeeded")
    return not runtime.metastore.keeps_rows or known < 1


def _compactions_of(
    table: Table, partition: Partition | None, runtime: Runtime
) -> list[Compaction]:
    unit = partition and partition_name(table.partition_names, partition.values)
    return [
        row
        for row in runtime.metastore.compactions()
        if row.table == table.name and row.partition in (None, unit)
    ]
