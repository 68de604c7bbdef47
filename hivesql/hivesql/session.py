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
from hivesql.parser import parse
from hivesql.result import Result
from hivesql.script import StatementText, split
from hivesql.transactions import Conversation
from hivesql_executor.metastore.database import DatabaseMetastore
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.storage.files import files_for
from hivesql_planner.errors import HiveSqlError, StaleSnapshot
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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Consume = Callable[["DataFrame"], Any]

DEFAULT_METASTORE = "sqlite:///metastore.db"
DEFAULT_WAREHOUSE = "warehouse"


class LazySpark:
    """Starts Spark at the first call, once, whoever calls; a given session is used as it is."""

    def __init__(self, session: SparkSession | None = None, conf: Mapping[str, str] | None = None):
        self._session: SparkSession | None = None
        self._given = session
        self._conf = dict(conf or {})
        self._starting = threading.Lock()

    def __call__(self) -> SparkSession:
        with self._starting:
            if self._session is None:
                from hivesql_executor.spark.session import isolate, start_spark

                given = self._given or start_spark(conf=self._conf)
                self._session = isolate(given)
                for key, value in self._conf.items():
                    if key.startswith("spark.sql."):
                        self._session.conf.set(key, value)
            return self._session

    @property
    def started(self) -> bool:
        """Whether there is a Spark to speak to."""
        return self._session is not None

    def set(self, key: str, value: str) -> None:
        """Set a Spark setting, now or for when Spark starts."""
        self._conf[key] = value
        if self._session is not None:
            self._session.conf.set(key, value)

    def stop(self) -> None:
        """Stop Spark if it was started here."""
        if self._session is not None and self._given is None:
            self._session.stop()
        self._session = None


class Session:
    """One user's conversation with a warehouse: current database, settings, variables."""

    def __init__(self, runtime: Runtime, spark: LazySpark, *, database: str = "default") -> None:
        self.runtime = runtime
        self.database = database
        self.variables: dict[str, str] = {}
        self._spark = spark
        self._conversation = Conversation()

    @property
    def settings(self) -> Settings:
        """The hive.* settings in force."""
        return self.runtime.settings

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
        try:
            outcome = self._answer(text, consume)
        except BaseException as error:
            self._conversation.fail(self.runtime, error)
            if not isinstance(error, HiveSqlError):
                raise
            raise error.at(text.file, text.line, text.column) from error.__cause__
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
            self.runtime.metastore,
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

        runtime = replace(self.runtime, query_id=f"hivesql_{uuid.uuid4().hex}")
        decided = plan(statement, self.settings)
        self._conversation.check(decided, statement)
        inside = self._conversation.opened
        if consume:
            outcome = run(decided, runtime, consume=consume, inside=inside)
        else:
            outcome = run(decided, runtime, inside=inside)
        if isinstance(statement, UseDatabase):
            self.database = statement.name
        return outcome

    def _set(self, statement: SetSetting) -> Outcome:
        if statement.reset:
            values = {} if statement.key is None else dict(self.settings.values)
            values.pop(statement.key or "", None)
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
        space, _, name = key.partition(":")
        if name and space.lower() == "hivevar":
            self.variables[f"hivevar:{name}"] = value
            return
        key = name if name and space.lower() == "hiveconf" else key
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
        if key in KEYS or key in self.settings.values:
            return f"{key}={self.settings.text(key)}"
        return f"{key} is undefined"

    def close(self) -> None:
        """Roll back what is open; let go of the metastore, and of Spark if it was started here."""
        self._conversation.close(self.runtime)
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
