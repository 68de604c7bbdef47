"""Text to results: bind, plan, run, on one page."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hivesql.binder import bind
from hivesql.lazy_spark import LazySpark, Progress
from hivesql.parser import parse
from hivesql.result import Result
from hivesql.script import StatementText, outside, split, split_key
from hivesql.temporary import TemporaryTables
from hivesql.transactions import Conversation
from hivesql_executor.metastore.database import DatabaseMetastore
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Clock, Runtime
from hivesql_executor.storage.files import files_for
from hivesql_planner.errors import (
    Cancelled,
    CommitUnknown,
    HiveSqlError,
    SemanticError,
    StaleSnapshot,
)
from hivesql_planner.explain import explain, explain_locks
from hivesql_planner.planning import plan, wanted_locks
from hivesql_planner.settings import KEYS, Settings
from hivesql_planner.statements import (
    EndTransaction,
    Explain,
    SetSetting,
    StartTransaction,
    Statement,
    UseDatabase,
)
from hivesql_planner.table import TableName

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hivesql_executor.check import Finding
    from hivesql_executor.inspect import Inspection

Consume = Callable[["DataFrame"], Any]

DEFAULT_METASTORE = "sqlite:///metastore.db"
DEFAULT_WAREHOUSE = "warehouse"


class Session:
    """One user's conversation with a warehouse: current database, settings, variables."""

    def __init__(self, runtime: Runtime, spark: LazySpark, *, database: str = "default") -> None:
        self.runtime = runtime
        self.database = database
        self.variables: dict[str, str] = {}
        self._spark = spark
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

    def run_statement(self, text: StatementText, *, consume: Consume | None = None) -> Result:
        """Run one statement of a script."""
        began = time.monotonic()
        self._cancelled = threading.Event()
        self._query_id = f"hivesql_{uuid.uuid4().hex}"
        self._query_text = text.text
        try:
            outcome = self._answer(text, consume)
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

    def _answer(self, text: StatementText, consume: Consume | None) -> Outcome:
        attempts = self.settings.integer("hive.txn.retrysnapshot.max.count")
        while True:
            statement = self._bind(text)
            try:
                return self._carry_out(statement, consume)
            except StaleSnapshot:
                # Someone committed while we waited for locks: plan again on what is there now.
                attempts -= 1
                if attempts <= 0:
                    raise

    def _bind(self, text: StatementText) -> Statement:
        return bind(
            parse(text),
            self.temporary,
            database=self.database,
            settings=self.settings,
        )

    def _carry_out(self, statement: Statement, consume: Consume | None) -> Outcome:
        match statement:
            case SetSetting():
                return self._set(statement)
            case Explain(statement=inner, style=style):
                if style.endswith("locks"):
                    locks = wanted_locks(inner, self.settings)
                    text = explain_locks(locks, formatted=style != "locks")
                else:
                    text = explain(plan(inner, self.settings))
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
            values = {} if statement.key is None else dict(self.settings.values)
            values.pop(statement.key or "", None)
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


def connect(
    metastore: str | None = None,
    warehouse: str | None = None,
    *,
    spark: SparkSession | None = None,
    settings: Mapping[str, str] | None = None,
    database: str = "default",
    notify: Callable[[str], None] | None = None,
) -> Session:
    """Open a session on a warehouse.

    ``metastore`` is a database URL (SQLite or PostgreSQL; default ``sqlite:///metastore.db`` in
    the working directory). ``warehouse`` is the directory or URI of managed tables (default
    ``warehouse``). ``spark`` is a session to work beside; without it a local Spark starts when it
    is first needed. Keys of ``settings`` that start with ``spark.`` go to Spark.
    """
    location = warehouse or DEFAULT_WAREHOUSE
    if "://" not in location:
        location = str(Path(location).absolute())
    given = dict(settings or {})
    lazy = LazySpark(spark, {k: v for k, v in given.items() if k.startswith("spark.")})
    store = DatabaseMetastore.open(metastore or DEFAULT_METASTORE, location)
    hive = {key: value for key, value in given.items() if not key.startswith("spark.")}
    runtime = Runtime(
        metastore=store,
        spark=lazy,
        files=lambda place: files_for(place, lazy),
        settings=Settings.of(hive),
        notify=notify or (lambda line: None),
    )
    # Transactions of processes that died hold no locks longer than their time-out.
    store.reap(runtime.settings.seconds("hive.txn.timeout"))
    store.clean_txns()
    store.database(database)
    return Session(runtime, lazy, database=database)
