"""Scans of an earlier state: from a write id or a time to a list of visible writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql_planner.acid.time_travel import after_write, check_history, without_writes
from hivesql_planner.errors import DataError

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files
    from hivesql_executor.runtime import Runtime
    from hivesql_executor.transactions.transaction import Transaction
    from hivesql_planner.acid.snapshot import AcidState
    from hivesql_planner.acid.write_ids import ValidWriteIdList
    from hivesql_planner.model.table import TableName
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
            and compaction.state == "succeeded"
            and (compaction.ended or 0) > moment
        ):
            raise DataError(
                f"{table} cannot be read as of {as_of}: a compaction was cleaned since, and the "
                "catalog no longer knows which writes came before that time",
                code=10327,
            )
    return without_writes(now, runtime.metastore.writes_after(table, as_of.time))


def require_history(
    table: TableName,
    location: str,
    state: AcidState,
    then: ValidWriteIdList,
    files: Files,
    runtime: Runtime,
) -> None:
    """Raise DataError 10327 when the directory no longer holds that state."""
    cleaned = (
        compaction.highest_write_id or 0
        for compaction in runtime.metastore.compactions()
        if compaction.table == table and compaction.state == "succeeded"
    )
    check_history(
        files.list(location),
        state,
        then,
        cleaned_up_to=max(cleaned, default=0),
        location=location,
    )
