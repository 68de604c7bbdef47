"""A client's session: one of ours, a thread that runs its statements, and its operations."""

from __future__ import annotations

import hmac
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import hivesql
from hivesql.script import is_processor
from hivesql.server.operation import Operation
from hivesql.server.options import ServerOptions
from hivesql.server.protocol import (
    FACTS_LOGGER,
    HANDLE_BYTES,
    IDEMPOTENCY_KEY,
    LINEAGE_LOGGER,
    POST_HOOKS,
    POST_PRINTER,
    BadHandleError,
    name_as_written,
)
from hivesql.server.refusals import check_setting, refuse_local, statement_of
from hivesql.server.row_spool import ResultLimits, ResultMemory
from hivesql.session import Session
from hivesql.sessions.open_transaction import LostTransaction
from hivesql.sessions.spark_start import LazySpark
from hivesql.sessions.statement_thread import OneThread
from hivesql_executor.statement_log import log_notice, reserving
from hivesql_executor.statements.context import OrRows
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.errors import (
    Cancelled,
    ExecutionError,
    HiveSqlError,
    NotSupported,
    SemanticError,
)
from hivesql_planner.plan_facts import tables_read, tables_written, views_read
from hivesql_planner.settings.file_system_keys import cover_beginning, cover_secrets
from hivesql_planner.settings.settings import (
    FETCH_SIZE,
    LOG_LEVEL,
    LOGS_OPERATIONS,
    NULLS_LAST,
    UNIQUE_NAMES,
)
from hivesql_planner.statements.authorization import ShowGrant, ShowRoles
from hivesql_planner.statements.bound import (
    AbortCompactions,
    Describe,
    FileSystemShell,
    SessionFiles,
    SetSetting,
    Show,
    Statement,
)
from hivesql_planner.statements.ddl import RepairTable

AUDIT = logging.getLogger("hivesql.server.audit")
_MAY_HAVE_ROWS = (
    AbortCompactions, Describe, FileSystemShell, RepairTable, SessionFiles, SetSetting, Show,
    ShowGrant, ShowRoles,
)  # fmt: skip
"""Statements that are quick, and have rows or not, as their end tells. Of all others only queries,
and EXPLAIN, have some."""
_USE = "use:database"
_SETTING, _VARIABLE = "set:hiveconf:", "set:hivevar:"
_UNSUPPORTED = ("set:system:", "set:metaconf:")
_PROXY = "hive.server2.proxy.user"
_POOL = "hivesql-"
"""How pools of Spark's scheduler begin; it never forgets one, so their numbers are used again."""
_TIMEOUT = "hive.query.timeout.seconds"
_OF_DRIVERS = (FETCH_SIZE, NULLS_LAST)
"""Settings of the server that drivers look for in the answer to OpenSession: without the second
Hive's JDBC driver cannot say how NULLs are sorted."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a message: the user that the connection has proved, or said, to be."""

    user: str
    address: str
    connection: str
    """A secret of the connection, or of the user where many connections are one client's."""


Kill = Callable[["ClientSession", str], None]
"""Cancels a statement of any session, by its id, in the name of the session that wants it."""


class ClientSession:
    """One session of a client; its statements run one after the other."""

    def __init__(
        self, caller: Caller, version: int, options: ServerOptions, *, memory: ResultMemory,
        number: int = 0, kill: Kill,
    ) -> None:  # fmt: skip
        """Open it; ``number``, of its share of Spark, is no other open session's.

        Its results share ``memory`` with those of all sessions, whose statements KILL QUERY finds
        by ``kill``.
        """
        self.number = number
        self.caller = caller
        self.version = version
        self.options = options
        self.limits: ResultLimits = ResultLimits(options.most_result_bytes, memory)
        self.guid: bytes = secrets.token_bytes(HANDLE_BYTES)
        self.secret: bytes = secrets.token_bytes(HANDLE_BYTES)
        self.used: float = time.monotonic()
        self._operations: dict[bytes, Operation] = {}
        self._running: Operation | None = None
        self._lost = LostTransaction()
        self._guard = threading.Lock()
        self._turn = threading.Lock()
        """Whoever has it knows which statement is cancelled: none begins and none ends."""
        self._thread = OneThread("hivesql-session")
        self.session: Session = hivesql.connect(
            **options.of_sessions, user=caller.user, notify=self._tell
        )
        self.session.runtime = replace(
            self.session.runtime,
            is_logged_in=True,
            kill_query=lambda query_id: kill(self, query_id),
        )
        settings = self.session.settings
        self.server_settings: dict[str, str] = {key: settings.text(key) for key in _OF_DRIVERS}
        """What its client learns of the server; as in Hive nothing that the client configures."""
        if isinstance(spark := self.session.runtime.spark, LazySpark):
            spark.pool = f"{_POOL}{number}"
        if options.metrics is not None:
            from hivesql.metrics.register import register_metrics

            register_metrics(self.session, options.metrics)

    def configure(self, configuration: Mapping[str, str]) -> None:
        """Apply what the client wants of the session when it opens."""
        for key, value in configuration.items():
            if key == _USE:
                self.session.database = self.session.runtime.metastore.database(value.lower()).name
            elif key.startswith(_VARIABLE):
                self.session.set(f"hivevar:{key.removeprefix(_VARIABLE)}", value)
            elif key.startswith(_UNSUPPORTED):
                raise NotSupported(f"{key} in a connection's configuration")
            else:
                self._configure(key.removeprefix(_SETTING), value)

    def _configure(self, key: str, value: str) -> None:
        if key == _PROXY and value != self.caller.user:
            raise SemanticError(f"{self.caller.user} may not act for {value}: {_PROXY}")
        if key == _PROXY:
            return
        if not self.options.allow_local:
            check_setting(key, value)
        self.session.set(key, value)

    # -- statements
    def execute(self, text: str, *, overlay: Mapping[str, str], timeout: int) -> Operation:
        """Let a statement run as soon as those before it have ended. ``timeout`` in seconds."""
        operation = Operation("EXECUTE_STATEMENT", text, limits=self.limits, on_end=self._audit)
        self.add(operation)
        try:
            self._thread.submit(self._run, operation, dict(overlay), timeout)
        except RuntimeError as error:
            operation.fail(translate_error(error, of_user_too=True))
            self.close_operation(operation)
            if self.session.closed:
                raise BadHandleError("the session is closed") from None
            raise
        return operation

    def add(self, operation: Operation) -> None:
        """Give a handle to an operation; ExecutionError where there are too many."""
        with self._guard:
            if len(self._operations) >= self.options.most_operations:
                raise ExecutionError(
                    f"the session has {len(self._operations)} operations that are not closed: "
                    "close some of them"
                )
            self._operations[operation.guid] = operation

    def operation(self, guid: bytes, secret: bytes) -> Operation:
        """Return the operation of a handle; BadHandleError where it is none of the session's."""
        self.used = time.monotonic()
        operation = self._operations.get(guid)
        if operation is None or not hmac.compare_digest(operation.secret, secret):
            raise BadHandleError("no such operation")
        operation.used = self.used
        return operation

    def owns(self, guid: bytes) -> bool:
        """Tell whether an operation is the session's."""
        return guid in self._operations

    def cancel(self, operation: Operation) -> None:
        """End a statement as Ctrl-C does in the shell; nothing where it has ended."""
        operation.cancelled.set()
        with self._turn:
            if self._running is operation:
                self.session.cancel()

    def running(self, query_id: str) -> Operation | None:
        """Return the operation of an id, if it has not ended."""
        operations = list(self._operations.values())
        return next((of for of in operations if of.is_running and of.query_id == query_id), None)

    def tell(self, line: str) -> None:
        """Add a line to the log of the statement that runs."""
        self._tell(line)

    def note_progress(self, operation: Operation) -> None:
        """Let an operation know how far Spark is with it."""
        progress = self.session.progress() if self._running is operation else None
        operation.progress = progress or operation.progress

    def close_operation(self, operation: Operation) -> None:
        """Forget an operation; a statement that runs is cancelled."""
        if operation.is_running:
            self.cancel(operation)
        with self._guard:
            self._operations.pop(operation.guid, None)
        operation.close()

    def close_idle_operations(self, before: float) -> None:
        """Forget operations whose client has not asked for them since a moment."""
        for operation in list(self._operations.values()):
            if not operation.is_running and operation.used < before:
                self.close_operation(operation)

    @property
    def is_busy(self) -> bool:
        """Tell whether a statement runs or waits."""
        return any(operation.is_running for operation in list(self._operations.values()))

    def cancel_all(self) -> None:
        """End all that runs or waits."""
        for operation in list(self._operations.values()):
            if operation.is_running:
                self.cancel(operation)

    def close(self) -> None:
        """Roll back what is open, and let go of everything."""
        self.cancel_all()
        self._thread.close(wait=False)
        with suppress(HiveSqlError):  # Nobody is left to be told; the reaper frees what stays.
            self.session.close()
        for operation in list(self._operations.values()):
            operation.close()

    def _tell(self, line: str) -> None:
        log_notice(line)
        running = getattr(self, "_running", None)
        if running is not None:
            running.tell(f"INFO  : {line}")

    def _run(self, operation: Operation, overlay: dict[str, str], timeout: int) -> None:
        with reserving(operation.query_id):
            self._run_timed(operation, overlay, timeout)

    def _run_timed(self, operation: Operation, overlay: dict[str, str], timeout: int) -> None:
        timer = None
        try:
            if seconds := self._seconds_for(overlay, timeout):
                timer = threading.Timer(seconds, self._time_out, [operation, seconds])
                timer.daemon = True
                timer.start()
            operation.begin()
            with self._turn:
                self._running = operation
            self._run_statement(operation, overlay)
        except BaseException as error:  # noqa: BLE001 - whoever asks for the status gets it
            self._lost.end(self.session)
            operation.fail(name_as_written(self._as_error(error), operation.text))
        finally:
            with self._turn:
                self._running = None
            self.used = time.monotonic()
            if timer is not None:
                timer.cancel()

    def _seconds_for(self, overlay: Mapping[str, str], timeout: int) -> float:
        """Return what a statement may take: what its client says or the session's; 0 for ever."""
        settings = self.session.settings
        if _TIMEOUT in overlay:
            settings = settings.with_value(_TIMEOUT, overlay[_TIMEOUT])
        limits = (float(timeout), settings.seconds(_TIMEOUT))
        return min((seconds for seconds in limits if seconds > 0), default=0.0)

    def _run_statement(self, operation: Operation, overlay: dict[str, str]) -> None:
        session, allow_local = self.session, self.options.allow_local
        hooks = session.settings.values.get(POST_HOOKS, "")
        once = overlay.pop(IDEMPOTENCY_KEY, None)
        with self._overlaid(operation.text, overlay):
            operation.is_logged = self._keeps_logs()
            operation.begin_step("Compiling")
            text = statement_of(
                operation.text, session.variables, allow_local=allow_local,
                most_characters=self.options.most_statement,
            )  # fmt: skip
            with self._lost.watch(session, text) as is_run:
                if not is_run:
                    operation.finish(hivesql.Result(statement=text.text))
                    return
                result = session.run_statement(
                    text,
                    consume=OrRows(operation.take),
                    idempotency_key=once,
                    adapt=lambda statement: self._bound(statement, operation),
                )
        operation.end_step()
        self._run_hooks(hooks, result, operation)
        sent = result.rows if result.of_server is None else result.of_server
        operation.finish(replace(result, rows=sent))

    @contextmanager
    def _overlaid(self, text: str, overlay: Mapping[str, str]) -> Iterator[None]:
        """Let settings and ``${hiveconf:…}`` be others during a statement.

        What SET changes it changes for good: as in Hive, an overlay is nothing to it and its like.
        """
        if not overlay or is_processor(text, 0):
            yield
            return
        session = self.session
        settings, variables = session.settings, dict(session.variables)
        try:
            for key, value in overlay.items():
                self._configure(key, value)
            yield
        finally:
            session.runtime = session.runtime.with_settings(settings)
            session.variables.clear()
            session.variables.update(variables)

    def _keeps_logs(self) -> bool:
        settings = self.session.settings
        return settings.flag(LOGS_OPERATIONS) and settings.text(LOG_LEVEL).strip().upper() != "NONE"

    def _run_hooks(self, hooks: str, result: hivesql.Result, operation: Operation) -> None:
        """Add what the hooks of ``hive.exec.post.hooks`` tell of a statement to its log."""
        if result.plan is None or not hooks:
            return
        read, written = tables_read(result.plan), tables_written(result.plan)
        if POST_PRINTER in hooks:
            for name in sorted({str(table.name) for table in read}):
                operation.tell(f"POSTHOOK: Input: {name.replace('.', '@')}")
            for name in sorted({str(table.name) for table in written}):
                operation.tell(f"POSTHOOK: Output: {name.replace('.', '@')}")
        if LINEAGE_LOGGER in hooks:
            # Imported late: few clients ask for it.
            from hivesql.lineage.column_lineage import lineage_json

            shown = cover_secrets(result.statement)
            views = views_read(result.plan)
            if text := lineage_json(shown, self.session.database, read, written, views):
                operation.tell(f"INFO  : {text}")
        if FACTS_LOGGER in hooks:
            from hivesql.lineage.statement_facts import facts_of

            if facts := facts_of(replace(result, statement=cover_secrets(result.statement))):
                operation.tell(f"INFO  : {facts.to_json()}")

    def _bound(self, statement: Statement, operation: Operation) -> Statement:
        """Look at a statement before it runs: what it may do, and whether there will be rows."""
        if operation.cancelled.is_set():
            raise Cancelled("cancelled")
        if not self.options.allow_local:
            refuse_local(statement)
        if not isinstance(statement, _MAY_HAVE_ROWS):
            operation.expect(statement, has_aliases=self.session.settings.flag(UNIQUE_NAMES))
        operation.end_step()
        operation.begin_step("Executing")
        operation.begin_task(statement)
        return statement

    def _as_error(self, error: BaseException) -> Exception:
        if isinstance(error, Exception):
            return translate_error(error, of_user_too=True)
        return ExecutionError(f"the statement was ended: {type(error).__name__}")

    def _time_out(self, operation: Operation, seconds: float) -> None:
        if operation.is_running:
            operation.timed_out_after = seconds
            self.cancel(operation)

    def _audit(self, operation: Operation) -> None:
        rows = operation.row_count
        seconds = operation.completed - (operation.started or operation.completed)
        AUDIT.info(
            "user=%s address=%s state=%s rows=%s ms=%d query=%s statement=%s",
            self.caller.user, self.caller.address, operation.state,
            "-" if rows is None else rows, seconds * 1000, operation.query_id,
            " ".join(cover_beginning(operation.text).split()),
        )  # fmt: skip
