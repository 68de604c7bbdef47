"""The cleaner of aborted writes: their directories disappear without a compaction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hivesql_executor.compaction.cleaner import (
    abort_uploads,
    delete_abandoned,
    delete_writes,
    empty_directories,
    uncompacted,
)
from hivesql_executor.compaction.initiator import abort_limits
from hivesql_executor.compaction.owners import acting_as_owner
from hivesql_executor.compaction.unit import Place, find_place, list_roots, never_added
from hivesql_executor.metastore.api import AbortLimits
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.compaction.initiator import NO_CLEANUP, Candidate, flag_property
from hivesql_planner.errors import NoSuchObject

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import AbortedWrites, Metastore
    from hivesql_planner.acid.write_ids import ValidTxnList
    from hivesql_planner.model.table import TableName


def clean_aborted(runtime: Runtime, limits: AbortLimits | None = None) -> int:
    """Remove what aborted transactions wrote, in units with many or old ones; how many units.

    No reader sees such directories, so none has to be waited for. A unit that fails is tried
    again in the next round.
    """
    store, settings = runtime.metastore, runtime.settings
    units = store.aborted_units(
        limits or abort_limits(settings), limit=settings.integer("metastore.compactor.fetch.size")
    )
    cleaned = 0
    tables: dict[TableName, _TableAborts] = {}
    for unit in units:
        if runtime.cancelled.is_set():
            break  # A service that is to end: the next one goes on.
        try:
            cleaned += _clean_unit(unit, runtime, tables)
        except Exception as error:  # noqa: BLE001 - one directory must not stop all others
            runtime.notify(
                f"aborted writes in {unit.table} could not be removed: {translate_error(error)}"
            )
    return cleaned


@dataclass(kw_only=True)
class _TableAborts:
    """What was aborted in a table, and the places that have been looked through for it.

    All units of the table share it: its own directory has as many entries as it has partitions.
    """

    writes: AbortedWrites
    txns: ValidTxnList
    looked_through: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, table: TableName, store: Metastore) -> _TableAborts:
        """Ask for it, before any directory is listed: who aborts later is cleaned later."""
        return cls(writes=store.aborted_writes(table), txns=store.valid_txns())


def _clean_unit(unit: Candidate, runtime: Runtime, tables: dict[TableName, _TableAborts]) -> bool:
    store = runtime.metastore
    known = tables.get(unit.table) or _TableAborts.of(unit.table, store)
    tables[unit.table] = known
    aborted, txns = known.writes, known.txns
    place = _place(unit, runtime)
    if place is None:
        store.forget_aborted(unit, aborted)
        return True
    if flag_property(place.table.properties, NO_CLEANUP):
        return False
    runtime = acting_as_owner(place, runtime)
    txns = replace(txns, aborted=txns.aborted & aborted.txns)
    retained: frozenset[int] = frozenset()
    roots = list_roots(place, runtime)
    listings, names = {}, {}
    for root in roots:
        listings[root], names[root] = runtime.files(root).survey(root)
    done = known.looked_through
    delete_abandoned(place, names, aborted.txns, runtime, done=done)
    abort_uploads(place, roots, aborted.visible, txns, runtime, done=done)
    done.add(place.table.location)
    for location in roots:
        files = runtime.files(location)
        listing = listings[location]
        state = acid_state(files, location, aborted.visible, txns, listing=listing)
        empty = empty_directories(names[location], listing, state, aborted.visible, txns)
        delete_writes(place, location, (*state.aborted, *empty), runtime)
        retained |= uncompacted(state, aborted.visible.aborted)
    store.forget_aborted(unit, aborted, retained=retained)
    return True


def _place(unit: Candidate, runtime: Runtime) -> Place | None:
    """Tell where the unit lies; None when its table is gone.

    A partition that the catalog does not know may have files all the same: of a write that ended
    before it told the catalog. Forgotten, they would be taken for committed ones later.
    """
    try:
        return find_place(unit.unit, runtime)
    except NoSuchObject:
        return never_added(unit.unit, runtime)
