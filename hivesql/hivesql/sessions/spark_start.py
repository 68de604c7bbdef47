"""Spark, started when a statement first needs it."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Unfinished
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any

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

    context: SparkContext
    process: Popen[bytes] | None
    """The JVM; None where it was there before, as it is below ``spark-submit``."""
    conf: Mapping[str, str]
    users: int = 0

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
        self._gave_up = threading.Event()
        self.must_end: threading.Event | None = None
        """Once set, nobody waits any more for Spark to start."""
        self._closed = False
        self._used = False
        self._with: dict[str, str] | None = None
        self._file_systems: tuple[dict[str, str], dict[str, str] | None] | None = None

    def __call__(self) -> SparkSession:
        self._check_open()
        if self._session is not None and not (self._shares and self._shares.has_ended):
            return self._session
        if self._user_session is not None or threading.current_thread() is threading.main_thread():
            return self._get()
        start = self._start_beside()
        self._waiting += 1
        try:
            while True:
                try:
                    return start.result(_LOOK_EVERY)
                except Unfinished:
                    if start.done():
                        raise
                if self._gave_up.is_set() or (self.must_end and self.must_end.is_set()):
                    raise Cancelled(CANCELLED)
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
            start = self._start = Future()
            threading.Thread(
                target=carried(self._fulfil), args=(start,), name="start-spark", daemon=True
            ).start()
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
        with _starting:
            self._forget_ended()
            if self._session is None:
                from hivesql_executor.spark.functions import register_function
                from hivesql_executor.spark.session import give_file, isolate, set_all

                session = isolate(self._find_session())
                try:
                    set_all(session, self._conf, self._shares.conf if self._shares else {})
                except Exception:
                    self._leave(session)
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
        running = next(reversed([*self._places()]), None) if wanted else None
        if running is None:
            return []
        context: Any = running.sparkContext  # Hadoop's settings have no other door
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
        self._gave_up.clear()

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
        self._gave_up.set()
        if self._session is None:
            return
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        with suppress(Py4JError, PySparkException, OSError):  # It has ended, and its jobs with it.
            self._session.sparkContext.cancelJobsWithTag(query_id)

    def temporary_view(self, name: str) -> DataFrame | None:
        """Return a temporary view that somebody made in this session's Spark, or in the user's.

        None where there is none; a Spark that does not run is not started to be asked.
        """
        for place in self._places():
            from hivesql_executor.spark.session import temporary_view

            if (view := temporary_view(place, name)) is not None:
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
        for place in reversed([*self._places()]):
            if is_own or place.conf.get(key, None) is not None:
                return catalog_table(place, catalog, database, name)
        return catalog_table(self(), catalog, database, name) if is_own else None

    def _places(self) -> Iterator[SparkSession]:
        """Yield this session's Spark and the user's, as far as they run."""
        if self._user_session is None and "pyspark" not in sys.modules:
            return
        from hivesql_executor.spark.session import running_spark

        has_ended = self._shares is not None and self._shares.has_ended
        places = () if has_ended else (self._session, self._user_session or running_spark())
        yield from (place for place in places if place is not None)

    def progress(self, query_id: str) -> Progress | None:
        """Tasks of the statement's running stages; None when none run."""
        if self._session is None:
            return None
        context: Any = self._session.sparkContext
        tracker = context.statusTracker()
        # PySpark's tracker knows no tags.
        job_ids = context._jsc.sc().statusTracker().getJobIdsForTag(query_id)
        completed = total = active = 0
        for job in map(tracker.getJobInfo, job_ids):
            if job is None or job.status != "RUNNING":
                continue
            for stage in filter(None, map(tracker.getStageInfo, job.stageIds)):
                total += stage.numTasks
                completed += stage.numCompletedTasks
                active += stage.numActiveTasks
        return Progress(completed, total, active) if total else None

    def stop(self) -> None:
        """Stop Spark if it was started here and no other session uses it.

        One that is only starting is stopped when it has: nobody waits for that, nor does a session
        that never asked for Spark wait for the start of another one's.
        """
        self._closed = True
        if self._used and not self.starting:
            self._let_go()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed

    def _let_go(self) -> None:
        with _starting:
            session, self._session, self._user_session = self._session, None, None
            self._leave(session)

    def _leave(self, session: SparkSession | None) -> None:
        """Use the shared Spark no longer; the last one stops it."""
        global _started
        shares, self._shares, self._with = self._shares, None, None
        if shares is None:
            return
        shares.users -= 1
        if shares.users == 0:
            from pyspark import SparkContext

            from hivesql_executor.spark.session import stop_spark

            if _started is shares:
                _started = None
            # Somebody else may have stopped it, and started another one.
            if session is not None and SparkContext._active_spark_context is shares.context:
                stop_spark(session)

    def _find_session(self) -> SparkSession:
        """Return the given Spark, the one that runs in this process, or a new one."""
        global _started
        from pyspark import SparkContext

        from hivesql_executor.spark.session import running_spark, start_spark

        session = self._user_session or running_spark()
        if session is None:
            self._with = dict(self._conf)
            session = start_spark(conf=self._with, proxy_user=self._proxy_user)
            gateway: Any = session.sparkContext._gateway
            process = getattr(gateway, "proc", None)
            _started = _Started(session.sparkContext, process, self._with)
        is_ours = _started is not None and _started.context is session.sparkContext
        # A Spark of the user's own works as they have decided, unless this session says otherwise.
        if is_ours or self._proxy_user is not None:
            from hivesql_executor.impersonation.launch import require_user

            require_user(session, self._proxy_user)
        active = SparkContext._active_spark_context
        if _started is not None and _started.context is active is session.sparkContext:
            _started.users += 1
            self._shares = _started
        return session
