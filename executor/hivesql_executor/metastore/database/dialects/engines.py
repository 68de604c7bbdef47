"""Engines of SQLAlchemy, which all sessions of a process at one database share.

Fifty clients of a server would otherwise have fifty pools of connections, compile each query fifty
times, and meet in SQLite's busy handler.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool

from hivesql_executor.metastore.database.dialects.forks import CALLS
from hivesql_executor.metastore.database.dialects.registry import terms_named
from hivesql_executor.metastore.database.dialects.terms import ANSWER_SECONDS, POOL
from hivesql_executor.metastore.database.dialects.turns import FileTurn
from hivesql_planner.errors import SemanticError

_PASSWORD = re.compile(r"(//[^/:@]*):[^/@]*@")


class SharedEngine:
    """An engine, and the turn that its writers wait for; its pool ends with its last user."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # Who writes for a second session inside of a first one's write is told by SQLite.
        self.turn: AbstractContextManager[Any] = (
            FileTurn(str(engine.url.database))
            if terms_named(engine.dialect.name).has_one_writer
            else nullcontext()
        )
        self.users = 0

    def end(self) -> None:
        """Close what it has open."""
        with CALLS:
            self.engine.dispose()
        if isinstance(self.turn, FileTurn):
            self.turn.close()


class _Engines:
    """The shared engines of this process."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.by_place: dict[Hashable, SharedEngine] = {}

    def take(self, url: URL, seconds: float) -> SharedEngine:
        with self.guard:
            place = _place(url, seconds)
            shared = self.by_place.get(place)
            if shared is None:
                shared = SharedEngine(_create(url, seconds))
                if place is not None:
                    self.by_place[place] = shared
            shared.users += 1
            return shared

    def give_back(self, shared: SharedEngine) -> None:
        with self.guard:
            shared.users -= 1
            if shared.users > 0:
                return
            for place, other in list(self.by_place.items()):
                if other is shared:
                    del self.by_place[place]
        shared.end()


_engines = _Engines()


def _forget_parents() -> None:
    """Begin anew in a forked process: connections are its parent's."""
    for shared in _engines.by_place.values():
        if isinstance(shared.turn, FileTurn):
            shared.turn.forget_parent()
        shared.engine.dispose(close=False)
    _engines.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)


def take_engine(url: str, seconds: float = ANSWER_SECONDS) -> SharedEngine:
    """Return the engine of a database, new or not; SemanticError where there can be none.

    A server may take ``seconds`` for each answer.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise _unusable(url) from error
    except ValueError as error:
        # SQLAlchemy's own words are "invalid literal for int()".
        raise _unusable(url, "its port is no number") from error
    name = parsed.get_backend_name()
    try:
        terms_named(name)
    except KeyError as error:
        raise _unusable(parsed.render_as_string()) from error
    if name == "sqlite":
        # Of one in memory each connection, and each process, would have its own.
        if parsed.database in (None, "", ":memory:") or parsed.query.get("mode") == "memory":
            raise _unusable(parsed.render_as_string())
        # Releases of SQLAlchemy differ: some take percent signs for escapes. Here a path is a path.
        parsed = parsed.set(database=url.partition(":///")[2].partition("?")[0])
    return _engines.take(parsed, seconds)


def give_back_engine(shared: SharedEngine) -> None:
    """Let go of an engine; its connections are closed with the last user's call."""
    _engines.give_back(shared)


def _place(url: URL, seconds: float) -> Hashable:
    """Tell what has one engine; None for a file that is not there yet.

    Another file in the place of one that was removed is another database.
    """
    address = url.render_as_string(hide_password=False)
    if url.get_backend_name() != "sqlite":
        return address, seconds
    try:
        status = Path(str(url.database)).stat()
    except OSError:
        return None
    return address, status.st_dev, status.st_ino


def _is_no_lost_reset(record: logging.LogRecord) -> bool:
    """Keep quiet that a connection was lost when it had no more to do: the pool makes another."""
    return record.msg != "Exception during reset or similar"


logging.getLogger(f"{QueuePool.__module__}.{QueuePool.__name__}.{POOL}").addFilter(
    _is_no_lost_reset
)


def _create(url: URL, seconds: float) -> Engine:
    try:
        return terms_named(url.get_backend_name()).create_engine(url, seconds)
    except (ArgumentError, NoSuchModuleError) as error:
        raise _unusable(url.render_as_string(), str(error)) from error


def _unusable(url: str, why: str = "") -> SemanticError:
    masked = _PASSWORD.sub(r"\1:***@", url)
    return SemanticError(
        f"the metastore cannot live in {masked}{why and f' ({why})'}: give a file as "
        "sqlite:///path/metastore.db, postgresql://user@host/database, or "
        f"mysql://user@host/database{_meant(masked)}"
    )


def _meant(address: str) -> str:
    """Say which address a file's name, JDBC's or a server's other name for itself stands for."""
    scheme, separator, rest = address.removeprefix("jdbc:").partition("://")
    if not separator:
        return f"; did you mean sqlite:///{address}?" if address.endswith(".db") else ""
    if scheme == "sqlite" and rest.endswith(".db"):
        return f"; did you mean sqlite:///{rest}?"
    known = {"postgres": "postgresql", "mariadb": "mysql"}.get(scheme, scheme)
    if known in ("postgresql", "mysql") and f"{known}://{rest}" != address:
        return f"; did you mean {known}://{rest}?"
    return ""
