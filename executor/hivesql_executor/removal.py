"""Directories that go together with their catalog entries."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hivesql_executor.storage.files import Files


@contextmanager
def removing(files: Files, locations: Iterable[str]) -> Iterator[None]:
    """Remove directories once the block has dropped their catalog entries.

    They are hidden before: a crash in between must not leave files that a later table or
    partition of the same name would read. When the block fails they are put back.
    """
    hidden: list[tuple[str, str]] = []
    try:
        for location in locations:
            if files.exists(location):
                # One by one: what is hidden must be known when hiding the next one fails.
                hidden.append((location, _hide(files, location)))  # noqa: PERF401
        yield
    except BaseException:
        for location, aside in reversed(hidden):
            files.rename(aside, location)
        raise
    for _, aside in hidden:
        files.delete(aside)


def _hide(files: Files, location: str) -> str:
    parent, _, name = location.rstrip("/").rpartition("/")
    aside = f"{parent}/.hivesql-dropped-{name}-{uuid.uuid4().hex[:8]}"
    files.rename(location, aside)
    return aside


@contextmanager
def moving(files: Files, moves: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Move directories for as long as the block succeeds; missing ones are left out."""
    moved: list[tuple[str, str]] = []
    try:
        for source, target in moves:
            if files.exists(source):
                files.rename(source, target)
                moved.append((source, target))
        yield
    except BaseException:
        for source, target in reversed(moved):
            files.rename(target, source)
        raise
