"""What a running plan may touch: Spark, metastore, files, clock, settings. Injected, frozen."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hivesql_executor.beats import repeat_beside
from hivesql_executor.hadoop_user import system_user
from hivesql_planner.errors import Cancelled, NotSupported
from hivesql_planner.model.privileges import SessionUser
from hivesql_planner.settings.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hivesql_executor.files.api import Files
    from hivesql_executor.metastore.api import Metastore, Once
    from hivesql_planner.model.table import Table, TableName


def _monotonic() -> float:
    """Tell seconds that go on while the machine sleeps, as those of others do."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time, so that tests can bring their own."""

    monotonic: Callable[[], float] = _monotonic
    sleep: Callable[[float], object] = time.sleep
    repeat: Callable[[float, Callable[[], bool], str], Callable[[], None]] = repeat_beside

    def ended_by(self, cancelled: threading.Event) -> Clock:
        """Give the same runtime, whose sleep ends when a statement is cancelled; not a test's."""
        return replace(self, sleep=cancelled.wait) if self.sleep is time.sleep else self


@dataclass(slots=True)
class CurrentRoles:
    """The names of the roles that a session has in force; None before anybody asked."""

    names: frozenset[str] | None = None


def _no_other_user(user: str, work: Any, runtime: Any) -> Any:
    raise NotSupported(f"working as {user} outside of `hivesql services`")


def _no_server(query_id: str) -> None:
    raise NotSupported(
        "KILL QUERY outside of a server (hivesql serve): whoever runs a statement stops it, by "
        "Ctrl-C or Session.cancel()"
    )


def _nobody_looks(runtime: Any) -> Sequence[str]:
    raise NotSupported("looking for writes that the metastore has forgotten, outside of a session")


def _no_system_rows(table: Table) -> Sequence[Sequence[Any]]:
    raise NotSupported(f"reading {table.name} outside of a session's statements")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Everything with an effect that a statement may use.

    ``spark`` starts Spark when first called; statements that only ask the metastore never do.
    ``files`` gives the file system of a location. ``notify`` receives lines for the user, such
    as whose lock is being waited for. ``cancelled`` is set when the user stops the statement.
    """

    metastore: Metastore
    spark: Callable[[], SparkSession]
    files: Callable[[str], Files]
    settings: Settings = field(default_factory=Settings)
    user: str = field(default_factory=system_user)
    is_logged_in: bool = False
    """Whether a server has let the user in: nobody logs in to a process of their own."""
    host: str = field(default_factory=lambda: os.uname().nodename)
    clock: Clock = field(default_factory=Clock)
    notify: Callable[[str], None] = lambda line: None
    rewrite_as: Callable[[str, Any, Runtime], Any] = _no_other_user
    """Does in another user's name what a compaction does with files: see ``rewriting``."""
    newer_files: Callable[[Runtime], Sequence[str]] = _nobody_looks
    """Lists directories of writes that the metastore does not know: see ``replaced_servers``."""
    kill_query: Callable[[str], None] = _no_server
    """Cancels another session's statement by its id; a notice where there is none of that id."""
    program: str = "hivesql"
    """Who writes, as the history of a table tells it."""
    query_id: str = ""
    query_text: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)
    explain: Callable[[Exception], BaseException] = lambda error: error
    """Gives an error in our words, for notices of what goes on beside statements."""
    must_end: threading.Event = field(default_factory=threading.Event)
    """Set when services that were to end have had their time: their Spark jobs are stopped."""
    frames: Mapping[TableName, DataFrame] = field(default_factory=dict)
    """Rows that the caller handed to the statement, by the name under which it reads them."""
    system_rows: Callable[[Table], Sequence[Sequence[Any]]] = _no_system_rows
    """Gives the rows of a table of ``sys`` or ``information_schema``, read once a statement."""
    once: Once | None = None
    """Recorded with the statement's commit, so that it cannot happen twice."""
    roles: CurrentRoles = field(default_factory=CurrentRoles)
    on_open: Callable[[int], None] = lambda txn_id: None
    """Told of each transaction that is opened."""
    on_work: Callable[[str, int], None] = lambda what, count: None
    """Told how many ``reaped_transactions`` and ``cleaned_directories`` there are more."""
    on_statement: Callable[[str, BaseException | None, float], None] = lambda *_: None
    """Told of each statement that has ended: its text, its error, the seconds that it took."""

    @property
    def session_user(self) -> SessionUser:
        """Whose session it is, as its statements may ask."""
        return SessionUser(self.user, self.is_logged_in)

    def with_settings(self, settings: Settings) -> Runtime:
        """Return the same runtime under other settings."""
        return replace(self, settings=settings)

    def check_cancelled(self) -> None:
        """Raise Cancelled when the user has stopped the statement."""
        if self.cancelled.is_set():
            raise Cancelled("cancelled by the user; nothing that the statement wrote is visible")
