"""Text to results: bind, plan, run, on one page."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from hivesql.binder.statement import bind
from hivesql.dialect.double_quotes import with_back_quotes
from hivesql.dialect.statements.statement import parse
from hivesql.dialect.tokens import at_fragment
from hivesql.result import Result, result_of
from hivesql.script import StatementText, split_key
from hivesql.sessions.frames import (
    Assignments,
    FrameRows,
    SparkViews,
    WithFrame,
    append_text,
    merge_text,
)
from hivesql.sessions.functions import SessionFunctions
from hivesql.sessions.observed import observed
from hivesql.sessions.open_transaction import Conversation, rolling_back, take_apart
from hivesql.sessions.running_statement import RunningStatement
from hivesql.sessions.session_files import AddedFiles
from hivesql.sessions.settings import (
    after_reset,
    assign,
    check_changeable,
    settings_shown,
    unheeded_notice,
)
from hivesql.sessions.statement_keys import StatementKeys
from hivesql.sessions.statement_request import Consume, StatementRequest, as_it_is
from hivesql.sessions.system_rows import SystemRows
from hivesql.sessions.temporary_tables import TemporaryTables
from hivesql_executor.metastore.api import Once
from hivesql_executor.metastore.opening import counters_of
from hivesql_executor.outcome import Outcome
from hivesql_executor.statements.context import of_user
from hivesql_executor.tracing import span
from hivesql_executor.transactions.interrupts import NotingInterrupts
from hivesql_executor.transactions.reaper import abort, reap
from hivesql_executor.translate_errors import translate_error, translate_errors
from hivesql_planner.errors import (
    AlreadyCommitted,
    ExecutorsLost,
    HiveSqlError,
    NotSupported,
    SemanticError,
    StaleSnapshot,
)
from hivesql_planner.model.table import TableName
from hivesql_planner.plan import Select
from hivesql_planner.planning import plan
from hivesql_planner.settings.file_system_keys import spark_name
from hivesql_planner.settings.settings import notice_about
from hivesql_planner.statements.bound import (
    Describe,
    EndTransaction,
    Explain,
    FileSystemShell,
    SessionFiles,
    SetSetting,
    StartTransaction,
    Statement,
    UseDatabase,
)
from hivesql_planner.statements.functions import (
    CreateFunction,
    CreateMacro,
    DropFunction,
    ReloadFunctions,
)

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame

    from hivesql.sessions.changes import TableChanges
    from hivesql.sessions.spark_start import LazySpark, Progress
    from hivesql_executor.checks.finding import Finding
    from hivesql_executor.checks.inspect import Inspection
    from hivesql_executor.metastore.api import Done
    from hivesql_executor.metastore.cache.counters import Counters
    from hivesql_executor.runtime import Runtime
    from hivesql_executor.spark.write.user_frames import Frame
    from hivesql_planner.plan import Plan
    from hivesql_planner.settings.settings import Settings


CLOSING_SECONDS = 10.0
"""What a statement that another thread runs has to end in when its session is closed."""


@translate_errors
class Session:
    """One user's conversation with a warehouse: current database, settings, variables.

    A statement's way: ``sql`` cuts the text, ``run_statement`` runs one; that is bound (``_bind``),
    planned and run (``_carry_out``), and planned again where somebody else was faster.
    """

    def __init__(
        self, runtime: Runtime, spark: LazySpark, *, database: str = "default",
        idempotency_key: str | None = None, conversation: Conversation | None = None,
    ) -> None:  # fmt: skip
        self.runtime: Runtime = runtime
        self.database: str = database
        self._first_settings = runtime.settings
        self.variables: dict[str, str] = {}
        self._spark = spark
        self._files = AddedFiles(spark)
        self.functions: SessionFunctions = SessionFunctions(
            spark, self._files, lambda: self.runtime.metastore
        )
        self._conversation = conversation or Conversation()
        self.temporary: TemporaryTables = TemporaryTables(runtime)
        self._running = RunningStatement()
        self._keys = StatementKeys(idempotency_key)
        self._at_close = ExitStack()

    def __reduce__(self) -> NoReturn:
        raise NotSupported("a copy of a session: open another one where it is needed")

    @property
    def closed(self) -> bool:
        """Tell whether ``close`` was called: anything but ``close`` is SessionClosed then."""
        return self._running.is_closed

    @property
    def settings(self) -> Settings:
        """The hive.* settings in force."""
        return self.runtime.settings

    @property
    def open_transaction(self) -> int | None:
        """The transaction that START TRANSACTION opened; None when each statement has its own."""
        opened = self._conversation.opened
        return opened.id if opened else None

    @property
    def in_transaction(self) -> bool:
        """From START TRANSACTION to its end, also where all of it was committed before."""
        return self._conversation.is_open

    @property
    def has_changed(self) -> bool:
        """Tell whether a statement of the open transaction has changed anything."""
        return self._conversation.has_changed

    def sql(
        self,
        text: str,
        parameters: Sequence[Any] | None = None,
        *,
        consume: Consume | None = None,
        idempotency_key: str | None = None,
    ) -> Result:
        """Run one or more statements; the result of the last one.

        Each ``?`` outside of texts and comments stands for the next of the ``parameters``.
        ``consume`` receives the DataFrame of a SELECT while its snapshot is held (the files may
        be cleaned once this returns); without it the rows are collected. Under an
        ``idempotency_key`` each statement that writes commits at most once, whoever runs the text
        how often: its key is ``key/number``, recorded by the very transaction.
        """
        every = self.run(text, parameters, consume=consume, idempotency_key=idempotency_key)
        last = deque(every, maxlen=1)
        return last[0] if last else Result(statement="")

    execute = sql

    def run(
        self,
        text: str,
        parameters: Sequence[Any] | None = None,
        *,
        file: str | None = None,
        consume: Consume | None = None,
        idempotency_key: str | None = None,
    ) -> Iterator[Result]:
        """Run statements one by one, yielding each result; errors carry file, line and column."""
        self._running.check_open()
        for number, statement in enumerate(take_apart(self, text, file, parameters), 1):
            key = f"{idempotency_key}/{number}" if idempotency_key is not None else None
            yield self.run_statement(statement, consume=consume, idempotency_key=key)

    @observed
    def run_statement(
        self,
        text: StatementText,
        *,
        consume: Consume | None = None,
        frame: FrameRows | None = None,
        idempotency_key: str | Once | None = None,
        adapt: Callable[[Statement], Statement] = as_it_is,
    ) -> Result:
        """Run one statement of a script; ``frame`` are rows that it reads.

        ``adapt`` changes the bound statement where the text cannot say what is meant.
        """
        began = time.monotonic()
        self._running.begin(text.text)
        try:
            self._conversation.check_own()
            text.check_characters()
            once = self._keys.next(text, idempotency_key, self.runtime)
            views, of_rows = self.spark_views(), of_user(consume)
            outcome, decided = self._answer(
                StatementRequest(text, views, of_rows, frame, once, adapt)
            )
        except BaseException as error:
            failure = self._running.as_cancellation(error)
            if isinstance(failure, Exception):
                failure = translate_error(failure)
            self._conversation.fail(self.runtime, failure)
            if not isinstance(failure, HiveSqlError):
                raise
            failure.message = self.temporary.in_users_words(failure.message)
            cause = error.__cause__ if isinstance(error, HiveSqlError) else error
            raise at_fragment(failure, text) from cause
        finally:
            self._running.end()
        return result_of(
            outcome,
            statement=text.text,
            plan=decided,
            seconds=time.monotonic() - began,
            statement_id=self._running.last_id,
        )

    def cancel(self) -> bool:
        """Stop the statement that another thread runs; False when none runs.

        Its Spark jobs end, its waiting for locks too, its transaction is aborted, and the other
        thread gets Cancelled. A statement that is already committing may still succeed.
        """
        return self._running.cancel(self._spark)

    def end_interrupted(self) -> None:
        """Roll back what is open: Ctrl-C came when a statement was done, and counts as an error."""
        self._conversation.fail(self.runtime, KeyboardInterrupt())

    def stop(self, seconds: float) -> bool:
        """Cancel, and see to it that nothing is open after so many seconds.

        A statement that does not end by itself until then loses its transaction. True when it
        ended by itself, or none ran.
        """
        if not self.cancel():
            return True
        if self._running.await_end(seconds):
            return True
        if mine := {self._running.txn_id, self.open_transaction or 0} - {0}:
            abort(sorted(mine), "stopped", self.runtime)
        return False

    def _answer(self, request: StatementRequest) -> tuple[Outcome, Plan | None]:
        attempts = self.settings.integer("hive.txn.retrysnapshot.max.count")
        while True:
            statement, reads = self._bind(request)
            self.authorize(statement, reads - request.frames.keys())
            try:
                return self._carry_out(statement, request)
            except (StaleSnapshot, ExecutorsLost) as error:
                # Someone committed meanwhile, or has left files, or executors ended with our rows.
                attempts -= 1
                lost = isinstance(error, ExecutorsLost)
                if attempts <= 0 or (lost and (self._running.only_reads or self.open_transaction)):
                    raise
                if isinstance(error, StaleSnapshot) and error.needs_reaping:
                    # Whoever dropped them may have died.
                    reap(self.runtime)

    def _bind(self, request: StatementRequest) -> tuple[Statement, set[TableName]]:
        """Bind a statement; also the tables and views that its queries name."""
        reads: set[TableName] = set()
        with span("parse"):
            parsed = parse(with_back_quotes(request.text, self.settings))
        with span("bind"):
            tables = WithFrame(self.temporary, request.frame) if request.frame else self.temporary
            statement = bind(
                parsed, tables, database=self.database, settings=self.settings,
                spark=request.views, functions=self.functions, reads=reads,
                user=self.runtime.session_user,
            )  # fmt: skip
        return request.adapt(statement), reads

    def authorize(self, statement: Statement, reads: Iterable[TableName] = ()) -> None:
        """Fail where the user lacks privileges that a statement needs, if these are asked for."""
        if self.settings.asks_for_privileges:
            from hivesql_executor.statements.authorization import authorize

            authorize(statement, reads, self.runtime)

    def spark_views(self) -> SparkViews:
        """Temporary views of the Spark that runs, for one statement."""
        return SparkViews(self._spark)

    def _carry_out(
        self, statement: Statement, request: StatementRequest
    ) -> tuple[Outcome, Plan | None]:
        match statement:
            case SetSetting():
                return self._set(statement), None
            case SessionFiles():
                return self._files.run(statement), None
            case CreateFunction() | DropFunction() | CreateMacro() | ReloadFunctions():
                self.functions.run(statement)
                return Outcome(), None
            case FileSystemShell(arguments=arguments):
                from hivesql_executor.spark.session import run_file_shell

                return run_file_shell(arguments, self._spark()), None
            case Explain():
                return self._explain(statement, request), None
            case StartTransaction():
                skipped = self._conversation.start(statement, self.runtime, request.once)
                return Outcome(message=str(skipped) if skipped else None), None
            case EndTransaction():
                earlier = self._conversation.end(statement, self.runtime)
                return Outcome(message=earlier.message if earlier else None), None
        original = statement
        statement = self.temporary.translated(original)
        decided = plan(statement, self.settings)
        self._running.only_reads = isinstance(decided.body, Select)
        self._conversation.check(decided, statement)
        committed = self._done(decided, request.once)
        if committed is not None:
            return Outcome(affected=0, message=str(committed)), decided
        with self.functions.changed_by(statement):
            outcome = self._run(decided, request)
        self.temporary.remember(original)
        if isinstance(statement, UseDatabase):
            self.database = statement.name
        return outcome, decided

    def _explain(self, explain: Explain, request: StatementRequest) -> Outcome:
        if explain.style == "analyze":
            decided = plan(self.temporary.translated(explain.statement), self.settings)
            text = "\n".join(row[0] for row in self._run(decided, request, measured=True).rows)
        else:
            from hivesql_planner.explain import explain_in_style

            text = explain_in_style(explain.statement, explain.style, self.settings)
        lines = self.temporary.in_users_words(text).splitlines()
        return Outcome.of_table(["Explain"], [(line,) for line in lines])

    def _done(self, decided: Plan, once: Once | None) -> Done | None:
        """Tell who has committed the plan before, under its key or that of its transaction."""
        if self._conversation.skipped and decided.targets:
            return self._conversation.skipped
        once = self._conversation.recorded(decided, once)
        return self.runtime.metastore.done(once) if once else None

    def _run(self, decided: Plan, request: StatementRequest, *, measured: bool = False) -> Outcome:
        from hivesql_executor.run import run

        inside, running = self._conversation.opened, self._running
        with self._spark.group(running.query_id, running.text, running.cancelled) as spark:
            runtime = replace(
                self.runtime,
                spark=spark,
                query_id=running.query_id,
                query_text=running.text,
                cancelled=running.cancelled,
                frames=request.frames,
                once=self._conversation.recorded(decided, request.once),
                on_open=running.opened,
                clock=self.runtime.clock.ended_by(running.cancelled),
            )
            runtime = replace(runtime, system_rows=SystemRows(decided, runtime))
            if measured:
                from hivesql_executor.measured_run import run_measured

                return run_measured(decided, runtime, inside=inside)
            try:
                return run(decided, runtime, consume=request.consume, inside=inside)
            except AlreadyCommitted as error:
                # Another run with the same key was faster, which is as good.
                return Outcome(affected=0, message=error.message)

    def _set(self, statement: SetSetting) -> Outcome:
        if statement.reset:
            if statement.to_default:
                check_changeable(statement.keys, self._first_settings)
            new = after_reset(statement, self.settings, self._first_settings, self.variables)
            self.runtime = self.runtime.with_settings(new)
            self._spark.reset([*map(spark_name, statement.keys)])
            names = ", ".join(statement.keys) if statement.to_default else ""
            return Outcome(message=f"Resetting {names} to default values" if names else None)
        if statement.key is None or statement.value is None:
            rows = settings_shown(statement, self.settings, self.variables)
            return Outcome.of_table(["set"], rows)
        notice = self._assign(statement.key, statement.value)
        return Outcome(message=notice or notice_about(statement.key))

    def set(self, key: str, value: str) -> None:
        """Set a hive.* setting, one of Spark or of a file system, or a hivevar: variable."""
        if notice := self._assign(key, value):
            self.runtime.notify(notice)

    def _assign(self, key: str, value: str) -> str | None:
        """Set it, and return what to tell of one that comes too late."""
        self._running.check_open()
        space, name = split_key(key)
        if space in ("hivevar", "system"):
            self.variables[f"{space}:{name}"] = value
            return None
        if space == "env":
            raise SemanticError(f"env:* variables can not be set: {key}")
        notice = None
        if spark_name(name).startswith("spark."):
            self._spark.set(spark_name(name), value)
            notice = unheeded_notice(self._spark.unheeded([spark_name(name)]))
            if name.startswith("spark."):
                return notice
        check_changeable([name], self._first_settings)
        assigned = assign(self.settings, self.variables, name, value)
        self.runtime = self.runtime.with_settings(assigned)
        return notice

    # -- about tables and rows of the caller's
    def inspect(self, table: str) -> Inspection:
        """Tell what lies in a table's directories and what a reader takes; starts no Spark."""
        from hivesql_executor.checks.inspect import inspect_table

        return inspect_table(self._read_name(table), self.runtime)

    def check(self, table: str) -> tuple[Finding, ...]:
        """Everything that is wrong with a transactional table's files; () when nothing is."""
        from hivesql_executor.checks.check import check_table

        return check_table(self._read_name(table), self.runtime)

    def append(
        self,
        table: str,
        frame: Frame,
        *,
        overwrite: bool = False,
        partition: Mapping[str, Any] | None = None,
        idempotency_key: str | Once | None = None,
    ) -> Result:
        """INSERT the rows of a Spark or pandas DataFrame or of an Arrow table, by column name.

        Columns that the frame lacks get their default, partition columns come from the frame or,
        with one value for all rows, from ``partition``. ``overwrite`` is INSERT OVERWRITE.
        """
        with rolling_back(self):
            target = self.temporary.table(self._table_name(table))
            rows = FrameRows.of(frame, self._spark())
            text = append_text(target, rows.table, overwrite=overwrite, partition=partition or {})
        return self.run_statement(text, frame=rows, idempotency_key=idempotency_key)

    def merge(  # noqa: PLR0913 - public: MERGE's clauses by name
        self,
        table: str,
        frame: Frame,
        on: str | Sequence[str],
        *,
        update: Assignments = True,
        insert: Assignments = True,
        delete: str | None = None,
        update_if: str | None = None,
        insert_if: str | None = None,
        idempotency_key: str | Once | None = None,
    ) -> Result:
        """MERGE the rows of a frame (as of ``append``) into a full-ACID table.

        ``on`` names a column, or columns, that must be equal, or is a condition over ``target`` and
        ``source``.
        Matched rows for which the condition ``delete`` holds are deleted, the others updated; rows
        without a match are inserted. ``update`` and ``insert`` are True (the columns that both
        sides have), False (not at all), or a mapping from columns to expressions; ``update_if``
        and ``insert_if`` are further conditions.
        """
        with rolling_back(self):
            target = self.temporary.table(self._table_name(table))
            rows = FrameRows.of(frame, self._spark())
            text = merge_text(
                target, rows.table, on, update=update, insert=insert, delete=delete,
                update_if=update_if, insert_if=insert_if,
            )  # fmt: skip
        return self.run_statement(text, frame=rows, idempotency_key=idempotency_key)

    def frame(self, query: str) -> DataFrame:
        """Give a query's rows as a Spark DataFrame that later commits and the cleaner leave alone.

        The rows stay with Spark's executors; they never come to this process by themselves.
        """
        frame: DataFrame = self.sql(query, consume=lambda rows: rows.localCheckpoint()).value
        return frame

    def changes(
        self, table: str, since: int | datetime, *, key: str | Sequence[str] = ()
    ) -> TableChanges:
        """Give what has happened to a table since a version, and the version to go on from.

        ``since`` is the version of the call before, 0 for all, or a time. The rows are as those
        of ``frame``. An open transaction holds back the versions above its own. ``key`` are the
        columns by which the halves of an update find each other (see ``table_changes``).
        """
        from hivesql.sessions.changes import TableChanges, changes_since

        text, version = changes_since(self._table_name(table), since, key, self.runtime)
        return TableChanges(self.frame(text), version)

    def _read_name(self, text: str) -> TableName:
        """Return the name of a table whose files may be told of, as DESCRIBE may tell of it."""
        name = self._table_name(text)
        if self.settings.asks_for_privileges:
            self.authorize(Describe(table=self.runtime.metastore.table(name)))
        return name

    def _table_name(self, text: str) -> TableName:
        self._running.check_open()
        return TableName.of_text(text, self.database)

    def progress(self) -> Progress | None:
        """Tell how far the running statement's Spark jobs are; None when none run."""
        return self._running.progress(self._spark)

    @property
    def starts_spark(self) -> bool:
        """Tell whether the running statement waits for Spark to start."""
        return bool(self._running.query_id) and self._spark.awaited

    def start_spark(self, *, wait: bool = True) -> None:
        """Start Spark now, or beside the program, for the first statement that needs it."""
        self._spark() if wait else self._spark.begin()

    @property
    def cache_counters(self) -> Counters | None:
        """Hits, misses and the rest since the session began; None without a cache."""
        return counters_of(self.runtime.metastore)

    def forget(self, idempotency_key: str) -> int:
        """Forget what was committed under a key, so that it can run again; how many statements."""
        return self.runtime.metastore.forget_key(idempotency_key)

    @property
    def keeps_keys(self) -> bool:
        """Tell whether the metastore records keys: a Hive Metastore has no place for them."""
        try:
            self.runtime.metastore.done(Once(key=""))
        except NotSupported:
            return False
        return True

    def beside(self, conversation: Conversation) -> Session:
        """Return one more session on the same metastore and Spark, in an open transaction.

        For a thread of its own. Only this one is closed.
        """
        return Session(self.runtime, self._spark, database=self.database, conversation=conversation)

    def at_close(self, work: Callable[[], object]) -> None:
        """Do something before the session lets go of its metastore."""
        self._at_close.callback(work)

    def close(self) -> None:
        """Roll back what is open; let go of the metastore, and of Spark if it was started here.

        May be called again. Each is done, whatever becomes of those before it. A statement that
        another thread runs is cancelled.
        """
        if not self._running.close():
            return
        with NotingInterrupts(), ExitStack() as last_first:
            last_first.callback(self._spark.stop)
            last_first.callback(self.runtime.metastore.close)
            last_first.callback(self.temporary.drop_all)
            last_first.callback(self._conversation.close, self.runtime)
            last_first.callback(self._at_close.close)
            if not self._running.is_of_this_thread:
                last_first.callback(self.stop, CLOSING_SECONDS)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
