"""Defects about uploads and objects, as a store without renames has them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hivesql_executor.compaction import aborts, cleaner
from hivesql_executor.transactions import file_changes
from hivesql_planner.acid.layout import parse_directory
from hivesql_planner.acid.write_ids import Range, ValidTxnList, ValidWriteIdList
from simulation.cases import Step
from simulation.defects.of_transactions import Defect, Patch, after
from simulation.file_systems.object_store import SimulatedStore


def _every_upload_is_completed() -> list[Patch]:
    """Also what an attempt that failed has uploaded to the same place."""

    def complete(self: SimulatedStore, uploaded: Any) -> None:
        paths = dict.fromkeys(path for path, _ in uploaded)
        for path, word in [pair for pair in self.all_waiting() if pair[0] in paths][::-1]:
            self._ask("complete", path, lambda path=path, word=word: self._complete(path, word))

    return [(SimulatedStore, "complete", complete)]


def _the_dead_put() -> list[Patch]:
    """Nobody looks, after the last file, whether its writer was taken for dead meanwhile."""

    @contextmanager
    def removing(self: Any, location: str) -> Iterator[Any]:
        yield file_changes.BegunWrite()

    return [
        (file_changes.FileChanges, "removing_on_failure", removing),
        (SimulatedStore, "begin", _told_whole),
    ]


def _told_whole(self: SimulatedStore, path: str, data: bytes) -> str:
    """A small file, which its task tells the driver."""
    return f"={base64.urlsafe_b64encode(data).decode()}"


def _uploads_stay() -> list[Patch]:
    def leave(*_: Any, done: Any = ()) -> None:
        """Nothing."""

    return [(module, "abort_uploads", leave) for module in (aborts, cleaner)]


def _late_uploads_stay() -> list[Patch]:
    """Only those of writes that were rolled back are given up."""

    def has_failed(name: str, visible: ValidWriteIdList, txns: ValidTxnList) -> bool:
        directory = parse_directory(name)
        if directory is None:
            return False
        _, low, high, _, made_by = directory
        if made_by:
            return txns.is_aborted(made_by)
        return visible.range_aborted(low, high) is Range.ALL

    return [(cleaner, "_has_ended", has_failed)]


def _markers_stay() -> list[Patch]:
    """Nobody looks for directories in which there is nothing."""
    looking = cleaner.empty_directories

    def look(names: Iterable[str], listing: Any, *rest: Any) -> tuple[str, ...]:
        full = {status.path.partition("/")[0] for status in listing}
        return looking([name for name in names if name in full], listing, *rest)

    def leave(*_: Any) -> None:
        """Nothing."""

    modules = (aborts, cleaner)
    return [
        (SimulatedStore, "remove_if_empty", leave),
        *((module, "empty_directories", look) for module in modules),
    ]


_ROWS: Step = ("insert", "p", 3, 1)
_UPLOADED: Step = ("overwrite", "p", 3, 2)

DEFECTS_OF_STORES = (
    Defect(
        "an attempt that failed becomes visible", "cannot be read", _every_upload_is_completed,
        {"writer": (_ROWS, _UPLOADED)}, stored=True,
    ),
    Defect(
        "who was taken for dead puts files when its write is forgotten", "does not see",
        _the_dead_put,
        {
            "first": (_ROWS,),
            "slow": after(20.0, _UPLOADED),
            "services": (
                *after(500.0, ("reap",), ("clean",)), *after(20.0, ("house",)),
                ("insert", "p", 2, 1), ("house",),
            ),
        },
        ("slow", "point", "hang", 8, 12), seconds=900.0, stored=True,
    ),
    Defect(
        "uploads of the dead stay for ever", "uploads are left over", _uploads_stay,
        {"dies": (_ROWS, _UPLOADED)}, ("dies", "file", "broken", 6, 10), stored=True,
    ),
    Defect(
        "uploads of attempts that came too late stay for ever", "uploads are left over",
        _late_uploads_stay, {"writer": (_ROWS, _UPLOADED, _UPLOADED, _UPLOADED)}, stored=True,
    ),
    Defect(
        "markers of directories that failed writes have left stay", "markers are left over",
        _markers_stay, {"fails": (_ROWS, _UPLOADED)}, ("fails", "file", "broken", 7, 9),
        stored=True,
    ),
)  # fmt: skip
