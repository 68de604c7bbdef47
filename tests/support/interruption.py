"""Cuts a statement off at its n-th step: its process dies there, or the step fails.

A step is what changes a file or commits to the metastore's database. Who is dead takes no step any
more, so that what stands in ``except`` and ``finally`` does nothing either, as after SIGKILL.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import OperationalError

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_planner.errors import CommitUnknown
from hivesql_planner.older_python import StrEnum

_CHANGES = (
    "write", "sync", "make_directories", "rename", "copy", "delete", "remove_if_empty",
    "replace_tail",
)  # fmt: skip


class Death(BaseException):
    """The process is no more."""


class Cut(StrEnum):
    """What happens at the chosen step."""

    DIES = "the process dies"
    FAILS = "the step fails"
    UNANSWERED = "the step succeeds, and says that it did not"


@dataclass
class Steps:
    """The steps that were taken, and which of them goes wrong (0: none; the first is 1)."""

    cut: Cut = Cut.DIES
    at: int = 0
    taken: list[str] = field(default_factory=list)
    dead: bool = False

    def take(self, name: str, step: Callable[[], Any]) -> Any:
        """Do it, or what goes wrong instead."""
        if self.dead:
            raise Death
        self.taken.append(name)
        if len(self.taken) != self.at:
            return step()
        if self.cut is Cut.DIES:
            self.dead = True
            raise Death
        if self.cut is Cut.UNANSWERED:
            step()
            if name == "commit":
                raise CommitUnknown("the connection broke while a commit was answered")
        raise OSError(errno.EIO, os.strerror(errno.EIO), name)

    @property
    def happened(self) -> bool:
        """Whether there was such a step."""
        return 0 < self.at <= len(self.taken)


@contextmanager
def interrupted(steps: Steps) -> Iterator[Steps]:
    """Count the steps of the block, and let the chosen one go wrong."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _CHANGES:
            patch.setattr(LocalFiles, name, _stepping(steps, name, getattr(LocalFiles, name)))
        patch.setattr(Rdbms, "_write_once", _committing(steps, Rdbms._write_once))
        yield steps


def _stepping(steps: Steps, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def changed(files: LocalFiles, *given: Any) -> Any:
        return steps.take(f"{name} {given[0]}", lambda: original(files, *given))

    return changed


def _committing(steps: Steps, original: Callable[..., Any]) -> Callable[..., Any]:
    def write_once(rdbms: Rdbms, work: Callable[[Connection], Any], engine: Engine) -> Any:
        return steps.take("commit", lambda: original(rdbms, work, engine))

    return write_once


class Lost(sqlite3.OperationalError):
    """The server went away while it committed."""


def lose_answer(
    engine: Any, *, after: bool, times: int = 1, then: Callable[[], object] = int
) -> None:
    """Fail commits, before or after the database has really committed, and do ``then``."""
    left = [times]

    @event.listens_for(engine, "commit")
    def fail(connection: Any) -> None:
        if left[0] == 0 or connection.get_execution_options().get("hivesql_reads"):
            return
        left[0] -= 1
        if after:
            connection.connection.commit()
        else:
            connection.connection.rollback()
        then()
        raise OperationalError("COMMIT", None, Lost("gone"))
