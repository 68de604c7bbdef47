"""What is wrong in a warehouse as a whole, and what to do: what `hivesql doctor` asks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hivesql_executor.activity import Ages, measure_ages
from hivesql_executor.checks.check import find_orphans
from hivesql_executor.checks.finding import Finding, Observation
from hivesql_executor.compaction.initiator import due_compactions
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.compaction.queue import FAILED, INITIATED, READY, SUCCEEDED
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.model.table import TEMPORARY

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import Activity, Compaction, TxnRow
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.compaction.initiator import Candidate
    from hivesql_planner.model.table import TableName

_LONG = 3600.0
_SKEW = 5.0
MOST_PLACES = 500
"""Directories of tables and partitions that are listed unless all are asked for."""
_MOST_NAMES = 2000
_MOST_UNITS = 200
_MOST_NAMED = 5


def observe_activity(runtime: Runtime) -> Iterator[Observation]:
    """Look at clocks, transactions, heartbeats and the compaction queue."""
    before = time.time()
    activity = runtime.metastore.activity()
    middle = (before + time.time()) / 2
    # A Hive Metastore tells no time: the moment is this host's own.
    if runtime.metastore.keeps_rows:
        yield _clock(middle - activity.now / 1000)
    ages = measure_ages(activity, runtime.settings)
    yield _transactions(activity, ages)
    yield _heartbeats(activity, ages, runtime)
    yield from _queue(activity, ages)


def observe_tables(runtime: Runtime, *, every_table: bool = False) -> Iterator[Observation]:
    """Look for tables that need a compaction, and for files that belong to nobody.

    Of the first transactional tables, as far as that is done soon, or of all. Those that cannot be
    looked into are named, and the others looked at all the same.
    """
    failures: dict[TableName, str] = {}
    yield _due(runtime, failures)
    chosen, more = _chosen(runtime, every_table=every_table)
    findings = [
        (name, finding) for name in chosen for finding in _orphans_of(name, runtime, failures)
    ]
    yield from _unseen(failures)
    chosen = [name for name in chosen if name not in failures]
    scope = f"{'the first ' if more else ''}{len(chosen)} transactional tables"
    advice = "doctor --every-table looks at all" if more else ""
    newer = [(name, finding) for name, finding in findings if finding.is_newer]
    if newer:
        yield _older_metastore(newer)
        findings = [pair for pair in findings if not pair[1].is_newer]
        if not findings:
            return
    if not findings:
        yield Observation("ok", "files", f"none without an owner in {scope}", advice)
        return
    for name, finding in findings[:_MOST_NAMED]:
        yield Observation(
            "warning", "files", f"{finding.place}: {finding.problem}",
            f"hivesql check {name} tells more; the cleaner of hivesql services removes what dead "
            "writes left",
        )  # fmt: skip
    if len(findings) > _MOST_NAMED:
        rest = f"{len(findings) - _MOST_NAMED} more such places in {scope}"
        yield Observation("warning", "files", rest, advice)


def _unseen(failures: Mapping[TableName, str]) -> Iterator[Observation]:
    """Name tables that cannot be looked into, and why."""
    for name, reason in list(failures.items())[:_MOST_NAMED]:
        message = f"{name} cannot be looked into: {reason}"
        yield Observation("warning", "files", message, "see the message")
    if len(failures) > _MOST_NAMED:
        rest = f"{len(failures) - _MOST_NAMED} more tables that cannot be looked into"
        yield Observation("warning", "files", rest, "see the messages")


def newer_places(runtime: Runtime) -> list[str]:
    """List directories of writes, in any table, that the metastore does not know."""
    chosen, _ = _chosen(runtime, every_table=True)
    findings: list[Finding] = []
    for name in chosen:
        with suppress(NoSuchObject):  # Dropped meanwhile.
            findings += find_orphans(name, runtime)
    return [finding.place for finding in findings if finding.is_newer]


def _older_metastore(newer: Sequence[tuple[TableName, Finding]]) -> Observation:
    """Tell of a warehouse with writes that the metastore, restored from a backup, has forgotten."""
    names = list(dict.fromkeys(str(name) for name, _ in newer))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return Observation(
        "failed", "restore",
        f"the warehouse is newer than the metastore: {len(newer)} directories, such as "
        f"{newer[0][1].place}, are of writes that it does not know, in "
        f"{', '.join(names[:_MOST_NAMED])}{more}",
        "let nobody write; put the warehouse and the metastore of one moment in place (a write now "
        "would take the ids of these again, and readers the files of both)",
    )  # fmt: skip


def _clock(skew: float) -> Observation:
    if abs(skew) <= _SKEW:
        return Observation("ok", "clock", f"{abs(skew):.1f} s from the metastore's")
    way = "ahead of" if skew > 0 else "behind"
    return Observation(
        "warning", "clock", f"this host is {abs(skew):.0f} s {way} the metastore's database",
        "let both take their time from one server (chrony, systemd-timesyncd)",
    )  # fmt: skip


def _named(rows: list[TxnRow]) -> str:
    names = [f"{row.txn_id} of {row.user}@{row.host}" for row in rows[:_MOST_NAMED]]
    more = len(rows) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _transactions(activity: Activity, ages: Ages) -> Observation:
    long_open = [
        row
        for row in activity.transactions
        if row.state == "open" and activity.now - row.started > _LONG * 1000
    ]
    if not long_open:
        oldest = _time(ages.oldest_transaction)
        return Observation("ok", "transactions", f"the oldest is open for {oldest}")
    ids = " ".join(str(row.txn_id) for row in long_open[:_MOST_NAMED])
    return Observation(
        "warning", "transactions",
        f"open for up to {_time(ages.oldest_transaction)}: {_named(long_open)}; the cleaner waits "
        "for them",
        f"end their programs, or take them back: ABORT TRANSACTIONS {ids}",
    )  # fmt: skip


def _heartbeats(activity: Activity, ages: Ages, runtime: Runtime) -> Observation:
    late = list(ages.late)
    if not late:
        return Observation("ok", "heartbeats", "none is late")
    silence = max(activity.now - row.last_heartbeat for row in late) / 1000
    timeout = runtime.settings.seconds("hive.txn.timeout")
    return Observation(
        "warning", "heartbeats", f"silent for up to {_time(silence)}: {_named(late)}",
        f"their programs have died or hang; any session's start, or hivesql services, aborts them "
        f"{timeout:.0f} s after their last heartbeat",
    )  # fmt: skip


def _queue(activity: Activity, ages: Ages) -> Iterator[Observation]:
    waits = ages.oldest_compactions
    advice = {
        INITIATED: "no worker takes them: run hivesql services, or with more --workers",
        READY: "no cleaner takes them, or an open transaction holds it back: run hivesql services, "
        "and see to the oldest transaction",
    }
    is_good = True
    for state, help_ in advice.items():
        if waits[state] > _LONG:
            count = sum(row.state == state for row in activity.compactions)
            is_good = False
            yield Observation(
                "warning", "compactions",
                f"{count} {state}, the oldest for {_time(waits[state])}", help_,
            )  # fmt: skip
    if failing := _failing(activity.compactions):
        names = ", ".join(_unit(row.table, row.partition) for row in failing[:_MOST_NAMED])
        is_good = False
        yield Observation(
            "warning", "compactions", f"the last one failed of {len(failing)}: {names}",
            "SHOW COMPACTIONS STATUS 'failed' tells why",
        )  # fmt: skip
    if is_good:
        yield Observation("ok", "compactions", "none waits for long, none has failed last")


def _failing(rows: tuple[Compaction, ...]) -> list[Compaction]:
    """Return of each unit the newest that has ended, where that failed."""
    newest: dict[object, Compaction] = {}
    for row in rows:
        if row.state in (SUCCEEDED, FAILED) and (
            row.unit not in newest or newest[row.unit].id < row.id
        ):
            newest[row.unit] = row
    return [row for row in newest.values() if row.state == FAILED]


def _due(runtime: Runtime, failures: dict[TableName, str]) -> Observation:
    def note(candidate: Candidate, error: Exception) -> None:
        failures[candidate.table] = _first_line(error)

    due = [
        f"{_unit(candidate.table, candidate.partition)} ({kind})"
        for candidate, kind in due_compactions(runtime, limit=_MOST_UNITS, on_failure=note)
    ]
    if not due:
        return Observation("ok", "tables", "none needs a compaction that nobody has asked for")
    more = len(due) - _MOST_NAMED
    names = ", ".join(due[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return Observation(
        "warning", "tables", f"need a compaction: {names}",
        "run hivesql services, or ALTER TABLE … COMPACT 'major' AND WAIT",
    )  # fmt: skip


def _chosen(runtime: Runtime, *, every_table: bool) -> tuple[list[TableName], bool]:
    """Choose transactional tables with a bounded number of places; whether there may be more."""
    store, places = runtime.metastore, 0
    chosen: list[TableName] = []
    names = (
        name
        for database in store.databases()
        if not database.startswith(TEMPORARY)
        for name in store.tables(database)
    )
    for number, name in enumerate(names):
        if not every_table and (number >= _MOST_NAMES or places >= MOST_PLACES):
            return chosen, True
        try:
            table = store.table(name)
            if table.is_view or not table.is_transactional:
                continue
            count = store.partition_count(name) if table.partition_columns else 1
        except HiveSqlError:
            # Dropped meanwhile.
            continue
        if not every_table and places + count > MOST_PLACES:
            return chosen, True
        places += count
        chosen.append(name)
    return chosen, False


def _orphans_of(
    name: TableName, runtime: Runtime, failures: dict[TableName, str]
) -> Iterator[Finding]:
    try:
        yield from find_orphans(name, runtime)
    except NoSuchObject:
        return  # Dropped meanwhile.
    except (HiveSqlError, OSError) as error:
        failures[name] = _first_line(error)


def _first_line(error: Exception) -> str:
    return str(translate_error(error)).splitlines()[0]


def _unit(table: TableName, partition: str | None) -> str:
    return f"{table}/{partition}" if partition else str(table)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
