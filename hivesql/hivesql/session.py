"""Text to results: bind, plan, run, on one page."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hivesql.binder import bind
from hivesql.frames import Assignments, Given, WithFrame, append_text, merge_text
from hivesql.lazy_spark import LazySpark, Progress
from hivesql.parser import parse
from hivesql.result import Result
from hivesql.script import StatementText, outside, split, split_key
from hivesql.session_files import AddedFiles
from hivesql.temporary import TemporaryTables
from hivesql.transactions import Conversation
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Clock, Runtime
from hivesql_planner.errors import (
    Cancelled,
    CommitUnknown,
    HiveSqlError,
    SemanticError,
    StaleSnapshot,
)
from hivesql_planner.explain_details import explained
from hivesql_planner.planning import plan
from hivesql_planner.settings import KEYS, Settings
from hivesql_planner.statements import (
    EndTransaction,
    Explain,
    FileSystemShell,
    SessionFiles,
    SetSetting,
    StartTransaction,
    Statement,
    UseDatabase,
)
from hivesql_planner.table import TableName

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from hivesql_executor.check import Finding
    from hivesql_executor.inspect import Inspection
    from hivesql_executor.spark.given import Frame

Consume = Callable[["DataFrame"], Any]


class Session:
    """One user's conversation with a warehouse: current database, settings, variables."""

    def __init__(self, runtime: Runtime, spark: LazySpark, *, database: str = "default") -> None:
        self.runtime = runtime
        self.database = database
        self.variables: dict[str, str] = {}
        self._spark = spark
        self._files = AddedFiles(spark)
        self._conversation = Conversation()
        self.temporary = TemporaryTables(runtime)
        self._query_id = ""
        self._query_text = ""
        self._cancelled = threading.Event()

    @property
    def settings(self) -> Settings:
        """The hive.* settings in force."""
        return self.runtime.settings

    @property
    def open_transaction(self) -> int | None:
        """The transaction that START TRANSACTION opened; None when each statement has its own."""
        opened = self._conversation.opened
        return opened.id if opened else None

    def sql(self, text: str, *, consume: Consume | None = None) -> Result:
        """Run one or more statements; the result of the last one.

        ``consume`` receives the DataFrame of a SELECT while its snapshot is held (the files may
        be cleaned once this returns); without it the rows are collected.
        """
        result = Result(statement="")
        for one in self.run(text, consume=consume):
            result = one
        return result

    execute = sql

    def run(
        self, text: str, *, file: str | None = None, consume: Consume | None = None
    ) -> Iterator[Result]:
        """Run the statements of a script one after the other, yielding each result.

        Errors carry the file, line and column of the statement they come from.
        """
        for statement in split(text, file, self.variables):
            yield self.run_statement(statement, consume=consume)

    def append(
        self,
        table: str,
        frame: Frame,
        *,
        overwrite: bool = False,
        partition: Mapping[str, Any] | None = None,
    ) -> Result:
        """INSERT the rows of a Spark or pandas DataFrame or of an Arrow table, by column name.

        Columns that the frame lacks get their default, partition columns come from the frame or,
        with one value for all rows, from ``partition``. ``overwrite`` is INSERT OVERWRITE.
        """
        target = self.temporary.table(self._table_name(table))
        given = Given.of(frame, self._spark())
        text = append_text(target, given.table, overwrite=overwrite, partition=partition or {})
        return self.run_statement(text, given=given)

    def merge(
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
    ) -> Result:
        """MERGE the rows of a frame (as of ``append``) into a full-ACID table.

        ``on`` names columns that must be equal, or is a condition over ``target`` and ``source``.
        Matched rows for which the condition ``delete`` holds are deleted, the others updated; rows
        without a match are inserted. ``update`` and ``insert`` are True (the columns that both
        sides have), False (not at all), or a mapping from columns to expressions; ``update_if``
        and ``insert_if`` are further conditions.
        """
        target = self.temporary.table(self._table_name(table))
        given = Given.of(frame, self._spark())
        text = merge_text(
            target, given.table, on, update=update, insert=insert, delete=delete,
            update_if=update_if, insert_if=insert_if,
        )  # fmt: skip
        return self.run_statement(text, given=given)

    def frame(self, query: str) -> DataFrame:
        """The rows of a query as a Spark DataFrame that later commits and the cleaner leave alone.

        The rows stay with Spark's executors; they never come to this process by themselves.
        """
        frame: DataFrame = self.sql(query, consume=lambda rows: rows.localCheckpoint()).value
        return frame

    def run_statement(
        self, text: StatementText, *, consume: Consume | None = None, given: Given | None = None
    ) -> Result:
        """Run one statement of a script; ``given`` are rows that it reads."""
        began = time.monotonic()
        self._cancelled = threading.Event()
        self._query_id = f"hivesql_{uuid.uuid4().hex}"
        self._query_text = text.text
        try:
            outcome = self._answer(text, consume, given)
        except BaseException as error:
            told = self._cancellation(error)
            self._conversation.fail(self.runtime, told)
            if not isinstance(told, HiveSqlError):
                raise
            raise told.at(text.file, text.line, text.column) from error.__cause__
        finally:
            self._query_id = ""
        return Result(
            statement=text.text,
            columns=outcome.columns,
            types=outcome.types,
            rows=outcome.rows,
            affected=outcome.affected,
            message=outcome.message,
            value=outcome.value,
            schema=outcome.schema,
            seconds=time.monotonic() - began,
        )

    def _cancellation(self, error: BaseException) -> BaseException:
        """What to tell of a statement that failed, perhaps since it was stopped."""
        if not self._cancelled.is_set() or isinstance(error, (Cancelled, CommitUnknown)):
            return error
        return Cancelled("cancelled; nothing that the statement wrote is visible")

    def cancel(self) -> bool:
        """Stop the statement that another thread runs; False when none runs.

        Its Spark jobs end, its waiting for locks too, its transaction is aborted, and the other
        thread gets Cancelled. A statement that is already committing may still succeed. May be
        called again: a job that had not begun at the first call is stopped by the next.
        """
        query_id = self._query_id
        if not query_id:
            return False
        self._cancelled.set()
        self._spark.cancel(query_id)
        return True

    def progress(self) -> Progress | None:
        """How far the running statement's Spark jobs are; None when none run."""
        return self._spark.progress(self._query_id) if self._query_id else None

    def start_spark(self) -> None:
        """Start Spark now, so that the first statement that needs it does not wait."""
        self._spark()

    def _answer(self, text: StatementText, consume: Consume | None, given: Given | None) -> Outcome:
        attempts = self.settings.integer("hive.txn.retrysnapshot.max.count")
        while True:
            statement = self._bind(text, given)
            try:
                return self._carry_out(statement, consume, given)
            except StaleSnapshot:
                # Someone committed while we waited for locks: plan again on what is there now.
                attempts -= 1
                if attempts <= 0:
                    raise

    def _bind(self, text: StatementText, given: Given | None) -> Statement:
        return bind(
            parse(text),
            WithFrame(self.temporary, given) if given else self.temporary,
            database=self.database,
            settings=self.settings,
        )

    def _carry_out(
        self, statement: Statement, consume: Consume | None, given: Given | None
    ) -> Outcome:
        match statement:
            case SetSetting():
                return self._set(statement)
            case SessionFiles():
                return self._files.run(statement)
            case FileSystemShell(words=words):
                from hivesql_executor.spark.file_shell import run_file_shell

                return run_file_shell(words, self._spark())
            case Explain(statement=inner, style=style):
                text = explained(inner, style, self.settings)
                return Outcome.of_table(["Explain"], [(line,) for line in text.splitlines()])
            case StartTransaction():
                self._conversation.start(statement, self.runtime)
                return Outcome()
            case EndTransaction():
                self._conversation.end(statement, self.runtime)
                return Outcome()
        from hivesql_executor.run import run

        asked = statement
        statement = self.temporary.translated(asked)
        decided = plan(statement, self.settings)
        self._conversation.check(decided, statement)
        inside = self._conversation.opened
        with self._spark.group(self._query_id) as spark:
            runtime = replace(
                self.runtime,
                spark=spark,
                query_id=self._query_id,
                query_text=self._query_text,
                cancelled=self._cancelled,
                frames={given.table.name: given.rows} if given else {},
                clock=self._clock(),
            )
            if consume:
                outcome = run(decided, runtime, consume=consume, inside=inside)
            else:
                outcome = run(decided, runtime, inside=inside)
        self.temporary.remember(asked)
        if isinstance(statement, UseDatabase):
            self.database = statement.name
        return outcome

    def _clock(self) -> Clock:
        """The runtime's clock, whose sleep ends early when the statement is cancelled."""
        clock, cancelled = self.runtime.clock, self._cancelled
        if clock.sleep is not time.sleep:
            return clock
        return replace(clock, sleep=cancelled.wait)

    def _set(self, statement: SetSetting) -> Outcome:
        if statement.reset:
            gone = set(statement.keys or self.settings.values)
            values = {key: text for key, text in self.settings.values.items() if key not in gone}
            for name in [name for name in self.variables if name.startswith("hiveconf:")]:
                if name.removeprefix("hiveconf:") not in values:
                    del self.variables[name]
            self.runtime = self.runtime.with_settings(Settings(values=values))
            return Outcome()
        if statement.key is None:
            return Outcome.of_table(["set"], [(line,) for line in self._setting_lines(statement)])
        if statement.value is None:
            return Outcome.of_table(["set"], [(self._setting_text(statement.key),)])
        self.set(statement.key, statement.value)
        return Outcome()

    def set(self, key: str, value: str) -> None:
        """Set a hive.* setting, a Spark setting or a hivevar: variable."""
        space, name = split_key(key)
        if space == "hivevar":
            self.variables[f"hivevar:{name}"] = value
            return
        if space != "hiveconf":
            raise SemanticError(f"{space}: variables cannot be set here: {key}")
        key = name
        if key.startswith("spark."):
            self._spark.set(key, value)
            return
        self.runtime = self.runtime.with_settings(self.settings.with_value(key, value))
        self.variables[f"hiveconf:{key}"] = value

    def _setting_lines(self, statement: SetSetting) -> list[str]:
        """SET shows what was set, SET -v every key that is known."""
        own = {key: text for key, text in self.variables.items() if key.startswith("hivevar:")}
        own |= self.settings.values
        if statement.all:
            own |= {key: self.settings.text(key) for key in KEYS}
        return [f"{key}={own[key]}" for key in sorted(own)]

    def _setting_text(self, key: str) -> str:
        space, name = split_key(key)
        if space != "hiveconf":
            known = self.variables.get(f"{space}:{name}")
            value = known if known is not None else outside(space, name)
            return f"{key} is undefined" if value is None else f"{key}={value}"
        if key in KEYS or key in self.settings.values:
            return f"{key}={self.settings.text(key)}"
        return f"{key} is undefined"

    def inspect(self, table: str) -> Inspection:
        """What lies in a table's directories and what a reader takes of it; starts no Spark."""
        from hivesql_executor.inspect import inspect_table

        return inspect_table(self._table_name(table), self.runtime)

    def check(self, table: str) -> tuple[Finding, ...]:
        """Everything that is wrong with a transactional table's files; () when nothing is."""
        from hivesql_executor.check import check_table

        return check_table(self._table_name(table), self.runtime)

    def _table_name(self, text: str) -> TableName:
        database, _, name = text.replace("`", "").lower().rpartition(".")
        return TableName(database or self.database, name)

    def close(self) -> None:
        """Roll back what is open; let go of the metastore, and of Spark if it was started here."""
        self._conversation.close(self.runtime)
        self.temporary.drop_all()
        self.runtime.metastore.close()
        self._spark.stop()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
