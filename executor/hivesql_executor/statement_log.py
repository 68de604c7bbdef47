"""What a log line is about: the statement, transaction and compaction that a thread works on."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

LOG = logging.getLogger("hivesql")
"""Notices, and statements that begin and end. Programs that set nothing up see none of it."""
LOG.addHandler(logging.NullHandler())
STATEMENTS = logging.getLogger("hivesql.statement")
COMPACTIONS = logging.getLogger("hivesql.compaction")
_FACTS = "hivesql_facts"
"""The attribute of a record with what it tells beside its message."""


@dataclass(slots=True)
class Levels:
    """How grave it is that a statement failed: an error where it ends, not where it is raised."""

    failure: int = logging.INFO


LEVELS = Levels()
"""Those of this process: the command line's own programs set them."""


@dataclass(slots=True)
class Work:
    """What a thread is about; empty and 0 where it is about none."""

    statement: str = ""
    transaction: int = 0
    compaction: int = 0
    is_reserved: bool = False
    """Its id waits for the statement that is about to begin."""
    cancelled: threading.Event | None = None
    """Set when the statement is cancelled, where somebody can."""

    def fields(self) -> dict[str, str | int]:
        """Return what lines and spans carry."""
        known: dict[str, str | int] = {
            "statement_id": self.statement,
            "transaction_id": self.transaction,
            "compaction_id": self.compaction,
        }
        return {name: value for name, value in known.items() if value}


_NOTHING = Work()
_WORK: ContextVar[Work] = ContextVar("hivesql_work", default=_NOTHING)


def current_work() -> Work:
    """Return what this thread is about."""
    return _WORK.get()


def note(
    *,
    transaction: int | None = None,
    compaction: int | None = None,
    cancelled: threading.Event | None = None,
) -> None:
    """Add to what this thread is about, where it is about anything."""
    work = _WORK.get()
    if work is _NOTHING:
        return
    if transaction is not None:
        work.transaction = transaction
    if compaction is not None:
        work.compaction = compaction
    if cancelled is not None:
        work.cancelled = cancelled


@contextmanager
def working() -> Iterator[Work]:
    """Let what is noted in the block be forgotten after it."""
    with _about(replace(_WORK.get(), is_reserved=False)) as work:
        yield work


@contextmanager
def reserving(statement: str) -> Iterator[Work]:
    """Give the next statement of the block an id that others know already."""
    with _about(Work(statement=statement, is_reserved=True)) as work:
        yield work


@contextmanager
def beginning() -> Iterator[Work]:
    """Run a statement in the block, under the id that is reserved or one of its own."""
    work = _WORK.get()
    if work.is_reserved:
        work.is_reserved = False
        yield work
        return
    with _about(Work(statement=f"hivesql_{os.urandom(16).hex()}")) as work:
        yield work


@contextmanager
def _about(work: Work) -> Iterator[Work]:
    token = _WORK.set(work)
    try:
        yield work
    finally:
        _WORK.reset(token)


def carried(call: Callable[P, R]) -> Callable[P, R]:
    """Give a function that other threads run as a part of what this one is about."""
    context = copy_context()

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        # A copy each: no two threads may be in the same.
        return context.copy().run(call, *args, **kwargs)

    return run


def log_notice(line: str) -> None:
    """Log a line for the user, where nobody else takes it."""
    log(LOG, line)


def without_failures(notify: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function of the user's for such lines, whose failures are logged and no more.

    It is called while locks are waited for, beside statements, and after commits: what it raises
    would end heartbeats, or be taken for the failure of what is done.
    """

    def notify_if_possible(line: str) -> None:
        try:
            notify(line)
        except Exception:
            LOG.warning("notify failed on: %s", line, exc_info=True)

    return notify_if_possible


def log(
    logger: logging.Logger,
    message: str,
    facts: Mapping[str, object] | None = None,
    *,
    level: int = logging.INFO,
) -> None:
    """Log a line with facts, which are members of a line of JSON."""
    if logger.isEnabledFor(level):
        logger.log(level, "%s", message, extra={_FACTS: facts or {}}, stacklevel=2)


def with_id(line: str) -> str:
    """Add the statement's id, or else the compaction's, to a line that is text alone."""
    work = _WORK.get()
    name = work.statement
    if not name and work.compaction:
        name = f"compaction {work.compaction}"
        name += f", transaction {work.transaction}" if work.transaction else ""
    return f"{line} [{name}]" if name and name not in line else line


class StatementFields(logging.Filter):
    """Gives records ``statement_id``, ``transaction_id`` and ``compaction_id``.

    A filter of a handler: records of other libraries that a statement causes have them too. They
    are ``-`` and 0 where a record is about none.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass each record."""
        work = _WORK.get()
        record.statement_id = work.statement or "-"
        record.transaction_id = work.transaction
        record.compaction_id = work.compaction
        return True


class JsonLines(logging.Formatter):
    """Writes records as lines of JSON, with the ids of what they are about."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        moment = datetime.fromtimestamp(record.created, tz=timezone.utc)
        line: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **current_work().fields(),
            "thread": record.threadName,
            **getattr(record, _FACTS, {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """Writes records as lines for a person, each with its statement's id at the end."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        return with_id(super().format(record))
