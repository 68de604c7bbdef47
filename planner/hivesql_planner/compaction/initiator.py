"""Whether a table or partition needs a compaction, and of which kind: Hive's Initiator, pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hivesql_planner.acid.layout import DirectoryKind, parse_directory
from hivesql_planner.compaction.queue import INITIATED, WORKING, Compaction, Unit, fails_too_often

if TYPE_CHECKING:
    from hivesql_planner.acid.snapshot import AcidState, ListedDirectory
    from hivesql_planner.model.table import Database, Table, TableName
    from hivesql_planner.settings.settings import Settings

DELTA_COUNT = "hive.compactor.delta.num.threshold"
DELTA_SHARE = "hive.compactor.delta.pct.threshold"
NO_AUTO = "no_auto_compaction"
NO_CLEANUP = "no_cleanup"
POOL = "hive.compactor.worker.pool"
_OVERRIDE = "compactorthreshold."


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A table or partition that was written to, or that has many or old aborted writes."""

    table: TableName
    partition: str | None = None
    too_many_aborts: bool = False
    old_abort: bool = False

    @property
    def unit(self) -> Unit:
        """Tell what a compaction would be asked for."""
        return self.table, self.partition


@dataclass(frozen=True, slots=True)
class Skip:
    """Why no compaction is asked for; ``record`` it in the history when the user should know."""

    reason: str
    record: bool = False


def skip_unit(
    candidate: Candidate, rows: Sequence[Compaction], settings: Settings, now: int
) -> Skip | None:
    """Tell what the queue and history (any units) say against looking at a candidate, or None."""
    own = [row for row in rows if row.unit == candidate.unit]
    if any(row.state in (INITIATED, WORKING) for row in own):
        return Skip("a compaction is queued or running")
    failing = fails_too_often(
        own,
        threshold=settings.integer("metastore.compactor.initiator.failed.compacts.threshold"),
        retry_after=settings.seconds("metastore.compactor.initiator.failed.retry.time"),
        now=now,
    )
    if failing:
        return Skip("Compaction is not initiated since last consecutive compactions failed", True)
    return None


def skip_table(
    candidate: Candidate, table: Table, database: Database, settings: Settings
) -> Skip | None:
    """Tell what the table and its database say against it; the database wins when it speaks.

    None where nothing does.
    """
    of_database = flag_property(database.properties, NO_AUTO)
    refused = flag_property(table.properties, NO_AUTO) if of_database is None else of_database
    if refused:
        return Skip("automatic compaction is switched off for it")
    if table.is_insert_only and not settings.flag("hive.compactor.compact.insert.only"):
        return Skip("insert-only tables are not compacted")
    if table.partition_columns and candidate.partition is None and not candidate.old_abort:
        return Skip("the partitions of the write are not known")
    return None


def flag_property(properties: Mapping[str, str], key: str) -> bool | None:
    """Return a yes-or-no property under its lower or UPPER case name; None when it is absent."""
    text = properties.get(key, properties.get(key.upper()))
    return None if text is None else text.strip().lower() == "true"


def pool_of(table: Table, database: Database) -> str | None:
    """Return the pool of workers that the table's automatic compactions go to; None: any."""
    return table.properties.get(POOL) or database.properties.get(POOL) or None


def wanted_kind(
    candidate: Candidate, state: AcidState, table: Table, settings: Settings
) -> Literal["minor", "major"] | None:
    """Return the compaction that a directory needs; None when it is fine.

    ``state`` is what the compactor's write-id list sees. Table properties
    ``compactorthreshold.<key>`` replace the two thresholds.
    """
    if candidate.too_many_aborts:
        return "major"
    if candidate.old_abort:
        return "minor"
    base = _size([state.base]) if state.base else sum(file.length for file in state.originals)
    deltas = _size(state.deltas)
    no_base = base == 0 and deltas > 0
    if not no_base and _outgrown(base, deltas, state, table, settings):
        return "major"
    if len(state.deltas) > int(_threshold(DELTA_COUNT, table, settings)):
        return "major" if no_base else "minor"
    return None


def _outgrown(base: int, deltas: int, state: AcidState, table: Table, settings: Settings) -> bool:
    if deltas == 0:
        return any(_is_base(name) for name in state.obsolete)
    return base > 0 and deltas / base > float(_threshold(DELTA_SHARE, table, settings))


def _threshold(key: str, table: Table, settings: Settings) -> str:
    own = table.properties.get(_OVERRIDE + key)
    checked = settings if own is None else settings.with_value(key, own)
    return checked.text(key)


def _is_base(name: str) -> bool:
    directory = parse_directory(name)
    return directory is not None and directory.kind is DirectoryKind.BASE


def _size(entries: Iterable[ListedDirectory]) -> int:
    return sum(file.length for entry in entries for file in entry.files)
