"""Known defects about clients that were taken for dead, cleaned up after, and then went on."""

from __future__ import annotations

from typing import Any

from hivesql_executor.compaction import aborts, cleaner
from hivesql_executor.orc import publish
from hivesql_executor.statements import tables
from hivesql_executor.streaming import batch
from hivesql_executor.transactions import file_changes
from hivesql_planner.acid.layout import METADATA_FILE, VERSION_FILE, VERSION_TEXT, base_name
from simulation.cases import Step
from simulation.defects.of_transactions import Defect, Patch, after


def _writers_never_ask() -> list[Patch]:
    return [(file_changes.FileChanges, "require_alive", lambda self: None)]


def _writers_trust_their_clock() -> list[Patch]:
    ask = file_changes.FileChanges.require_alive

    def require_alive(self: Any) -> None:
        """By a clock that does not tell how the one of the database was set."""
        if self.runtime.clock.monotonic() > 75:
            ask(self)

    return [(file_changes.FileChanges, "require_alive", require_alive)]


def _streams_never_ask() -> list[Patch]:
    return [(batch.Batch, "_require_alive", lambda self: None)]


def _nobody_takes_what_is_staged() -> list[Patch]:
    def leave(*arguments: Any) -> None:
        """What was staged stays."""

    return [(one, "delete_abandoned", leave) for one in (aborts, cleaner)]


def _begun_in_its_place() -> list[Patch]:
    publish_events = publish._publish_events

    def begin_first(rows: Any, staged: Any) -> Any:
        for directory, begun in rows.begun.items():
            rows.files.delete(begun)
            rows.files.make_directories(directory)
            rows.files.write(f"{directory}/{VERSION_FILE}", VERSION_TEXT)
        rows.begun.clear()
        return publish_events(rows, staged)

    return [(publish, "_publish_events", begin_first)]


def _emptied_in_its_place() -> list[Patch]:
    def put(locations: Any, units: Any, table: Any, txn: Any, runtime: Any) -> None:
        files = runtime.files(table.location)
        for location in locations:
            base = f"{location}/{base_name(txn.write_ids[table.name])}"
            files.make_directories(base)
            files.write(f"{base}/{METADATA_FILE}", tables._TRUNCATED)

    return [(tables, "_put_empty_bases", put)]


_FIRST = (("insert", "p", 3, 1), ("insert", "p", 3, 1))


def _services(seconds: float, *steps: Step) -> tuple[Step, ...]:
    """They forget who is silent; the latest transaction is never forgotten."""
    cleaned = (*after(seconds, ("reap",), ("clean",)), *after(20.0, ("house",)))
    return (*cleaned, ("insert", "t", 2, 1), ("house",), *steps)


def _late(step: Step, **more: tuple[Step, ...]) -> dict[str, tuple[Step, ...]]:
    return {"first": _FIRST, "late": after(20.0, step), "services": _services(500.0), **more}


_OVERWRITE: Step = ("overwrite", "p", 3, 1)

DEFECTS_OF_THE_DEAD = (
    Defect(
        "a writer does not ask whether it is taken for dead", "does not see", _writers_never_ask,
        _late(_OVERWRITE), ("late", "point", "hang", 7, 12), seconds=900.0,
    ),
    Defect(
        "a writer trusts its own clock", "does not see", _writers_trust_their_clock,
        {"first": _FIRST, "late": after(10.0, _OVERWRITE), "services": _services(12.0)},
        ("late", "point", "jump", 8, 12), seconds=900.0, then=(1, "hang", 60.0),
    ),
    Defect(
        "a stream does not ask whether it is taken for dead", "must not be there",
        _streams_never_ask,
        _late(("stream", "p", 2, ((3, "commit"),))), ("late", "point", "hang", 9, 16),
        seconds=900.0,
    ),
    Defect(
        "what the dead have staged stays", "does not see", _nobody_takes_what_is_staged,
        _late(_OVERWRITE), ("late", "point", "hang", 16, 18), seconds=900.0,
        then=(3, "crash", 0.0),
    ),
    Defect(
        "what dead compactors have staged stays", "does not see", _nobody_takes_what_is_staged,
        _late(("work",), asks=after(10.0, ("compact", "p", 3, "major"))),
        ("late", "point", "hang", 26, 27), seconds=900.0, then=(1, "crash", 0.0),
    ),
    Defect(
        "a base is begun in its place", "does not see", _begun_in_its_place,
        _late(_OVERWRITE), ("late", "point", "hang", 16, 24), seconds=900.0,
        then=(2, "crash", 0.0),
    ),
    Defect(
        "partitions are emptied in their place", "does not see", _emptied_in_its_place,
        _late(("truncate", "p", 3)), ("late", "point", "hang", 5, 10), seconds=900.0,
        then=(2, "crash", 0.0),
    ),
)  # fmt: skip
