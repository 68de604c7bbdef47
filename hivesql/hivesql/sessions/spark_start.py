"""Spark, started when a statement first needs it."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any

from hivesql_executor.beats import has_ended
from hivesql_executor.impersonation import inherited_spark
from hivesql_executor.statement_log import carried
from hivesql_planner.errors import Cancelled, SessionClosed, SparkEnded
from hivesql_planner.settings.file_system_keys import OF_HADOOP

if TYPE_CHECKING:
    from subprocess import Popen

    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

    from hivesql_planner.statements.functions import FunctionKind

_OWN_CATALOG = "spark_catalog"
_LOOK_EVERY = 0.1
_EXITING = 5.0
"""What a JVM has to exit, in seconds, once it takes no calls."""
CANCELLED = "cancelled; nothing that the statement wrote is visible"
_SHOWN = 200
"""So many characters of a statement are shown in the lists of Spark's web pages."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the running statement's Spark jobs are, in tasks; ``active`` of them run now."""

    done: int
    total: int
    active: int


@dataclass(slots=True, eq=False)
class _Started:
    """A Spark that a session started, and how many sessions use it: the last one stops it."""

    session: SparkSession
    process: Popen[bytes] | None
    """The JVM; None where it was there before, as it is below ``spark-submit``."""
    conf: Mapping[str, str]
    users: int = 0

    @property
    def context(self) -> SparkContext:
        """Return what is one for all sessions."""
        return self.session.sparkContext

    @property
    def has_ended(self) -> bool:
        """Tell whether somebody has killed the JVM."""
        return self.process is not None and self.process.poll() is not None

    def end_deaf(self) -> None:
        """End a JVM that takes no calls any more: one short of memory may hang while it exits."""
        if self.process is None or self._takes_calls():
            return
        try:
            self.process.wait(_EXITING)
        except TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _takes_calls(self) -> bool:
        context: Any = self.context
        place = context._gateway.gateway_parameters
        try:
            socket.create_connection((place.address, place.port), _EXITING).close()
        except ConnectionRefusedError:
            return False
        except OSError:
            pass  # It is busy, perhaps.
        return True


_started: _Started | None = None
_starting = threading.Lock()
"""Whoever has it starts Spark, or stops it."""
_counting = threading.Lock()
"""Whoever has it reads or changes who uses the Spark that was started here, for a moment."""
_wanting = 0
"""How many sessions wait for ``_starting`` to use Spark: they need no second one to start."""
_is_changing = False
"""From the beginning of a start or a stop to its end: nobody else may ask Spark for anything."""


def _forget_parents() -> None:
    """Begin anew in a forked process: its parent's threads, which may have turns, are not here."""
    global _starting, _counting, _wanting, _is_changing
    _starting, _counting, _wanting, _is_changing = threading.Lock(), threading.Lock(), 0, False


inherited_spark.call_after_fork(_forget_parents)


@contextmanager
def _taking_turns() -> Iterator[None]:
    """Let one session after the other start Spark, or leave it.

    One that was started here ends with the turn of whoever was the last to use it, or to want it.
    """
    global _wanting
    with _counting:
        _wanting += 1
    try:
        _starting.acquire()
    except BaseException:
        with _counting:
            _wanting -= 1
        raise
    try:
        yield
    finally:
        with _counting:
            _wanting -= 1
        try:
            _stop_unused()
        finally:
            _starting.release()


@contextmanager
def _changing() -> Iterator[None]:
    """Let nobody find a Spark that is only half there."""
    global _is_changing
    with _counting:
        _is_changing = True
    try:
        yield
    finally:
        with _counting:
            _is_changing = False


def _stop_unused() -> None:
    """Stop the Spark that was started here if nobody uses it; in a turn of one's own."""
    global _started
    with _counting:
        shares = _started
        if shares is None or shares.users > 0 or _wanting > 0:
            return
        _started = None
    from pyspark import SparkContext

    from hivesql_executor.spark.session import stop_spark

    # Somebody else may have stopped it, and started another one.
    if SparkContext._active_spark_context is shares.context:
        with _changing():
            stop_spark(shares.session)


@contextmanager
def _borrowed() -> Iterator[SparkSession | None]:
    """Give the Spark that runs in this process, which does not end meanwhile; None for none.

    One that is being started or stopped is none, and not waited for.
    """
    from hivesql_executor.spark.session import running_spark

    with _counting:
        shares = None if _is_changing else _started
        is_nobodys = _is_changing or (shares is not None and shares.has_ended)
        if shares is not None:
            shares.users += 1
    try:
        yield None if is_nobodys else running_spark()
    finally:
        if shares is not None:
            with _counting:
                shares.users -= 1
                is_unused = shares.users == 0
            if is_unused:
                with _taking_turns():
                    pass


class LazySpark:
    """Starts Spark at the first call, once, whoever calls; a given session is used as it is.

    ``proxy_user`` is in whose name it works; None: of who logs in.
    """

    def __init__(
        self,
        session: SparkSession | None = None,
        conf: Mapping[str, str] | None = None,
        *,
        proxy_user: str | None = None,
    ) -> None:
        self._proxy_user = proxy_user
        self.pool: str | None = None
        """Of Spark's scheduler, whose share the jobs of statements have; None for the thread's."""
        self._session: SparkSession | None = None
        self._user_session = session
        self._conf = dict(conf or {})
        self._first = dict(self._conf)
        self._files: dict[tuple[str, str], None] = {}
        self._functions: dict[str, tuple[str, str]] = {}
        self._shares: _Started | None = None
        self._start: Future[SparkSession] | None = None
        self._waiting = 0
        self._cancels = 0
        self.must_end: threading.Event | None = None
        """Once set, nobody waits any more for Spark to start."""
        self._closed = False
        self._used = False
        self._with: dict[str, str] | None = None
        self._file_systems: tuple[dict[str, str], dict[str, str] | None] | None = None

    def __call__(self) -> SparkSession:
        self._check_open()
        inherited_spark.check()
        if self._session is not None and not (self._shares and self._shares.has_ended):
            return self._session
        if self._user_session is not None or threading.current_thread() is threading.main_thread():
            return self._get()
        start, cancels = self._start_beside(), self._cancels
        self._waiting += 1
        try:
            while not has_ended(start, _LOOK_EVERY):
                # That of an earlier statement counts no more; one of this is told again and again.
                if self._cancels > cancels or (self.must_end and self.must_end.is_set()):
                    raise Cancelled(CANCELLED)
            return start.result()
        finally:
            self._waiting -= 1

    def begin(self) -> None:
        """Start it beside the program, which does not wait; whoever needs it waits for the rest."""
        self._check_open()
        if self._session is None and self._user_session is None:
            self._start_beside()

    def _start_beside(self) -> Future[SparkSession]:
        """Start in a thread of its own: a start takes seconds, and nothing can interrupt it."""
        start = self._start
        if start is None or start.done():
            start = Future()
            threading.Thread(
                target=carried(self._fulfil), args=(start,), name="start-spark", daemon=True
            ).start()
            # Only now: else a start for which there was no thread would be waited for for ever.
            self._start = start
        return start

    def _fulfil(self, start: Future[SparkSession]) -> None:
        try:
            session = self._get()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            start.set_exception(error)
        else:
            start.set_result(session)
        if self._closed:
            self._let_go()

    def _get(self) -> SparkSession:
        self._used = True
        with _taking_turns():
            # It may have been closed while the start of another session's was waited for.
            self._check_open()
            self._forget_ended()
            if self._session is None:
                from hivesql_executor.spark.functions import register_function
                from hivesql_executor.spark.session import give_file, isolate, set_all

                try:
                    session = isolate(self._find_session())
                    set_all(session, self._conf, self._shares.conf if self._shares else {})
                except BaseException:
                    self._leave()
                    raise
                self._session = session
                for kind, path in self._files:
                    give_file(self._session, kind, path)
                for called, function in self._functions.items():
                    register_function(self._session, called, *function)
            return self._session

    def _forget_ended(self) -> None:
        """Let go of a Spark whose JVM was killed, so that the next statement has one."""
        global _started
        shares, session = self._shares, self._session
        if shares is None or session is None or not shares.has_ended:
            return
        self._shares = self._session = self._with = None
        if _started is shares:
            from hivesql_executor.spark.session import stop_spark

            _started = None
            with _changing():
                stop_spark(session)

    @property
    def settings(self) -> Mapping[str, str]:
        """Return what Spark is, or will be, started with beside what is set for each."""
        return dict(self._conf)

    @property
    def started(self) -> bool:
        """Tell whether there is a Spark to speak to."""
        return self._session is not None

    @property
    def awaited(self) -> bool:
        """Tell whether a statement waits for its start."""
        return self._waiting > 0

    @property
    def starting(self) -> bool:
        """Tell whether it is being started in the background."""
        return self._start is not None and not self._start.done()

    def set(self, key: str, value: str) -> None:
        """Set a Spark setting, now or for when Spark starts."""
        self._check_open()
        self._conf[key] = value
        if self._session is not None and not key.startswith(OF_HADOOP):
            self._session.conf.set(key, value)

    def file_systems(self) -> Mapping[str, str] | None:
        """Return Hadoop's settings of file systems; None where only the Spark that runs has them.

        Those of one that is started here are known, and stay when others are set later.
        """
        if self._user_session is not None:
            return None
        if self._session is None and "pyspark" in sys.modules:
            from pyspark import SparkContext

            if SparkContext._active_spark_context is not None:
                return None
        if self._session is not None and self._with is None:
            return None
        conf = self._conf if self._with is None else self._with
        if self._file_systems is None or self._file_systems[0] != conf:
            from hivesql.sessions.hive_site import file_system_settings

            self._file_systems = dict(conf), file_system_settings(conf)
        return self._file_systems[1]

    def unheeded(self, keys: Collection[str] = ()) -> list[str]:
        """Return which of these settings of file systems, or of all, a running Spark has not.

        Its file systems were made with those that it was started with.
        """
        wanted = [key for key in keys or self._conf if key.startswith(OF_HADOOP)]
        if wanted and self._start is not None:
            with suppress(Exception):  # whoever waits for Spark is told
                self._start.result()
        if not wanted:
            return []
        with self._places() as places:
            if not places:
                return []
            context: Any = places[-1].sparkContext  # Hadoop's settings have no other door
            has = context._jsc.hadoopConfiguration().get
            return [key for key in wanted if has(key.removeprefix(OF_HADOOP)) != self._conf[key]]

    def reset(self, keys: Collection[str] = ()) -> None:
        """Give these settings, or all that were made since, the values that they had at first."""
        for key in [key for key in self._conf if not keys or key in keys]:
            first = self._first.get(key)
            if first == self._conf[key]:
                continue  # Spark refuses to set some again, though to the same
            if first is not None:
                self.set(key, first)
                continue
            del self._conf[key]
            if self._session is not None and not key.startswith(OF_HADOOP):
                self._session.conf.unset(key)

    def add_file(self, kind: str, path: str) -> None:
        """Give a jar, file or archive to Spark, now or when it starts."""
        self._check_open()
        with _starting:
            self._files[kind, path] = None
            if self._session is not None:
                from hivesql_executor.spark.session import give_file

                give_file(self._session, kind, path)

    def forget_file(self, kind: str, path: str) -> None:
        """Do not give it to a Spark that starts later; one that runs keeps it."""
        self._files.pop((kind, path), None)

    def add_function(self, called: str, name: str, java_class: str) -> FunctionKind:
        """Let queries call a class of Hive's functions as ``called``; which kind it is."""
        from hivesql_executor.spark.functions import register_function

        kind = register_function(self(), called, name, java_class)
        self._functions[called] = (name, java_class)
        return kind

    def forget_function(self, called: str) -> None:
        """Do not give it to a Spark that starts later; in one that runs nobody calls it."""
        self._functions.pop(called, None)

    @contextmanager
    def group(
        self, query_id: str, text: str, cancelled: threading.Event
    ) -> Iterator[Callable[[], SparkSession]]:
        """Spark for one statement, whose jobs can be watched and cancelled by ``query_id``.

        Cancelled where ``cancelled`` is set before there is a Spark that can be told.
        """
        settings = ExitStack()
        is_grouped = False

        def grouped() -> SparkSession:
            nonlocal is_grouped
            session = self()
            if not is_grouped:
                from hivesql_executor.spark.lines import active
                from hivesql_executor.spark.long_texts import as_long_as_it_is
                from hivesql_executor.spark.session import called_jobs

                is_grouped = True
                # The thread, and perhaps Spark, belong to the user.
                settings.enter_context(active(session))
                description = " ".join(text[:_SHOWN].split())
                settings.enter_context(called_jobs(session, query_id, description, self.pool))
                settings.enter_context(as_long_as_it_is(session, text))
                if cancelled.is_set():
                    raise Cancelled(CANCELLED)
            return session

        try:
            yield grouped
        except Exception as error:
            if not self._has_ended_with(error):
                raise
            raise SparkEnded from error
        finally:
            if self._session is not None:
                settings.close()

    def _has_ended_with(self, error: Exception) -> bool:
        """Tell whether a statement failed because Spark takes no calls; the next has another."""
        if self._shares is None or not isinstance(error.__cause__ or error, ConnectionRefusedError):
            return False
        self._shares.end_deaf()
        return self._shares.has_ended

    def cancel(self, query_id: str) -> None:
        """Stop the statement's jobs that run now, or its waiting for Spark."""
        self._cancels += 1
        session = self._session
        if session is None:
            return
        from hivesql_executor.spark.session import stop_jobs

        stop_jobs(session, query_id)

    def temporary_view(self, name: str) -> DataFrame | None:
        """Return a temporary view that somebody made in this session's Spark, or in the user's.

        None where there is none; a Spark that does not run is not started to be asked.
        """
        with self._places() as places:
            for place in places:
                from hivesql_executor.spark.session import temporary_view

                if (view := temporary_view(place, name)) is not None:
                    self._hold(place)
                    return view
        return None

    def catalog_table(self, catalog: str, database: str, name: str) -> DataFrame | None:
        """Return a table of a catalog that the settings of Spark name; None for no such catalog.

        Spark starts for it where it has to. NoSuchObject 10001 when the catalog has no such table.
        """
        from hivesql_executor.spark.session import catalog_table

        key = f"spark.sql.catalog.{catalog}"
        is_own = catalog == _OWN_CATALOG
        if key in self._conf:
            return catalog_table(self(), catalog, database, name)
        # A catalog remembers tables and their files: the user's knows what its user has written.
        with self._places() as places:
            for place in reversed(places):
                if is_own or place.conf.get(key, None) is not None:
                    self._hold(place)
                    return catalog_table(place, catalog, database, name)
        return catalog_table(self(), catalog, database, name) if is_own else None

    @contextmanager
    def _places(self) -> Iterator[Sequence[SparkSession]]:
        """Give this session's Spark and the user's, as far as they run, for as long as they do."""
        has_ended = self._shares is not None and self._shares.has_ended
        if (
            has_ended
            or inherited_spark.is_used()
            or (self._user_session is None and "pyspark" not in sys.modules)
        ):
            yield ()
            return
        with ExitStack() as stack:
            users = self._user_session or stack.enter_context(_borrowed())
            yield [place for place in (self._session, users) if place is not None]

    def _hold(self, place: SparkSession) -> None:
        """Use a Spark from now on whose rows were asked for: it shall not end before they come."""
        if _started is not None and self._shares is None and place is _started.session:
            self()

    def progress(self, query_id: str) -> Progress | None:
        """Tasks of the statement's running stages; None when none run, or Spark cannot tell."""
        session = self._session
        if session is None:
            return None
        from hivesql_executor.spark.session import running_tasks

        tasks = running_tasks(session, query_id)
        return Progress(*tasks) if tasks else None

    def stop(self) -> None:
        """Stop Spark if it was started here and no other session uses it.

        One that is only starting is stopped when it has: nobody waits for that, nor does a session
        that never asked for Spark wait for the start of another one's.
        """
        self._closed = True
        if self._used and not inherited_spark.is_used() and not self.starting:
            self._let_go()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed

    def _let_go(self) -> None:
        with _taking_turns():
            self._session = self._user_session = None
            self._leave()

    def _leave(self) -> None:
        """Use the shared Spark no longer; the last one's turn stops it."""
        shares, self._shares, self._with = self._shares, None, None
        if shares is not None:
            with _counting:
                shares.users -= 1

    def _find_session(self) -> SparkSession:
        """Return the given Spark, the one that runs in this process, or a new one."""
        global _started
        from pyspark import SparkContext

        from hivesql_executor.spark.session import running_spark, start_spark

        session = self._user_session or running_spark()
        if session is None:
            self._with = dict(self._conf)
            with _changing():
                session = start_spark(conf=self._with, proxy_user=self._proxy_user)
                gateway: Any = session.sparkContext._gateway
                process = getattr(gateway, "proc", None)
                _started = _Started(session, process, self._with)
        is_ours = _started is not None and _started.context is session.sparkContext
        # A Spark of the user's own works as they have decided, unless this session says otherwise.
        if is_ours or self._proxy_user is not None:
            from hivesql_executor.impersonation.launch import require_user

            require_user(session, self._proxy_user)
        active = SparkContext._active_spark_context
        if _started is not None and _started.context is active is session.sparkContext:
            with _counting:
                _started.users += 1
            self._shares = _started
        return session
