"""What clients do, step by step, and which errors they may meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from hivesql.session import Session
from hivesql.streaming import (
    HiveStreamingConnection,
    StreamingException,
    StrictDelimitedInputWriter,
)
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.initiator import initiate
from hivesql_executor.compaction.worker import run_next
from hivesql_executor.services import _keep_house
from hivesql_executor.transactions.reaper import reap
from hivesql_planner.errors import (
    CommitUnknown,
    DataError,
    Deadlock,
    HiveSqlError,
    NotSupported,
    TransactionLost,
)
from simulation.cases import WHOLE, Script, Step
from simulation.model import Intent, Row, Txn, Wrong
from simulation.world import ACID, NeedsSpark, World, compare


class Doer:
    """Takes the steps of one client; one that fails does not keep it from the next."""

    def __init__(self, script: Script, number: int, world: World) -> None:
        self.script, self.world = script, world
        self._ids = 1000 * (number + 1)
        self._session: Session | None = None

    def run(self) -> None:
        """All steps."""
        for step in self.script.steps:
            self._take(step)

    # -- statements
    def _take(self, step: Step) -> None:
        word, *rest = step
        services: dict[str, Callable[[], object]] = {
            "reap": lambda: reap(self.world.runtime),
            "house": lambda: _keep_house(self.world.runtime),
            "initiate": lambda: initiate(self.world.runtime),
            "work": lambda: run_next(self.world.runtime),
            "clean": self._clean,
        }
        if word == "sleep":
            self.world.scheduler.sleep(rest[0])
        elif word in services:
            self._serve(services[word])
        elif word == "transaction":
            self._converse(*rest)
        elif word == "stream":
            self._stream(*rest)
        else:
            self._single(step)

    @property
    def session(self) -> Session:
        """The client's session."""
        if self._session is None:
            cached = self.script.name.startswith("cached")
            self._session = self.world.session(cached=cached)
        return self._session

    def _single(self, step: Step) -> None:
        """A statement in a transaction of its own."""
        text, intent = self.statement(step)
        before = len(self._opened)
        self._mean([intent] if intent else [])
        try:
            result = self.session.sql(text)
        except (HiveSqlError, OSError) as error:
            self._failed(error, before)
            return
        if intent is None:
            return
        txn = self._opened[-1] if len(self._opened) > before else None
        if txn is None or txn.committed is None:
            raise Wrong(f"{text} was told to have succeeded, and did not commit")
        if intent[0] == "select":
            self._compare(text, result.rows, txn.expected[intent[1]])
        elif intent[0] in ("update", "delete") and result.affected != txn.counts[-1]:
            raise Wrong(f"{text} changed {result.affected} rows and not {txn.counts[-1]}")

    def _converse(self, end: str, steps: Sequence[Step]) -> None:
        """Statements in one transaction."""
        intents: list[Intent] = []
        before = len(self._opened)
        self._mean(intents)
        try:
            self.session.sql("START TRANSACTION")
            for step in steps:
                if step[0] == "sleep":
                    self.world.scheduler.sleep(step[1])
                    continue
                text, intent = self.statement(step)
                if intent and intent[0] != "select":
                    intents.append(intent)
                rows = self.session.sql(text).rows
                if intent and intent[0] == "select":
                    model = self.world.model
                    self._compare(text, rows, model.rows(intent[1], self._opened[-1]))
            self.session.sql(end.upper())
        except (HiveSqlError, OSError) as error:
            self._failed(error, before)
            return
        txn = self._opened[-1]
        if (txn.committed is not None) != (end == "commit"):
            raise Wrong(f"transaction {txn.id} was told to be {end}, and is not")

    def statement(self, step: Step) -> tuple[str, Intent | None]:  # noqa: C901 - one flat list
        """The text of a statement, and what it means."""
        word, table, *rest = step
        where = "" if not rest or rest[0] is None else f" WHERE k = {rest[0]}"
        match word:
            case "insert":
                rows = self._rows(rest[0], rest[1])
                return self._insert(table, rows, rest[0]), ("insert", table, rows)
            case "overwrite":
                rows = self._rows(rest[0], rest[1])
                text = self._insert(table, rows, rest[0], "OVERWRITE TABLE")
                whole = None if table in WHOLE else rest[0]
                return text, ("overwrite", table, whole, rows)
            case "create":
                return f"CREATE TABLE IF NOT EXISTS {table} (id int, k int, v int) {ACID}", None
            case "create_as":
                rows = self._rows(1, rest[0])
                ((id_, k, v),) = rows
                query = f"SELECT {id_} AS id, {k} AS k, {v} AS v"
                return f"CREATE TABLE {table} {ACID} AS {query}", ("insert", table, rows)
            case "drop_table":
                return f"DROP TABLE IF EXISTS {table}", None
            case "rename":
                return f"ALTER TABLE {table} RENAME TO {rest[0]}", None
            case "load":
                return self._load(table, *rest)
            case "exchange":
                return (
                    f"ALTER TABLE {rest[1]} EXCHANGE PARTITION (k={rest[0]}) WITH TABLE {table}",
                    None,
                )
            case "msck":
                return f"MSCK REPAIR TABLE {table} SYNC PARTITIONS", None
            case "spread":
                rows = [(self._new_id(), key, 0) for key in rest[0]]
                return self._insert(table, rows, None), ("insert", table, rows)
            case "update":
                value = self._new_id()
                return f"UPDATE {table} SET v = {value}{where}", ("update", table, rest[0], value)
            case "delete":
                return f"DELETE FROM {table}{where}", ("delete", table, rest[0])
            case "select":
                return f"SELECT id, k, v FROM {table}", ("select", table)
            case "truncate":
                part = "" if rest[0] is None else f" PARTITION (k={rest[0]})"
                return f"TRUNCATE TABLE {table}{part}", ("truncate", table, rest[0])
            case "compact":
                part = "" if rest[0] is None else f" PARTITION (k={rest[0]})"
                return f"ALTER TABLE {table}{part} COMPACT '{rest[1]}'", None
            case "drop":
                return f"ALTER TABLE {table} DROP IF EXISTS PARTITION (k={rest[0]})", None
            case "place":
                place = self.world.warehouse / f"placed-{self._new_id()}"
                return f"ALTER TABLE {table} PARTITION (k={rest[0]}) SET LOCATION '{place}'", None
            case "add":
                return f"ALTER TABLE {table} ADD IF NOT EXISTS PARTITION (k={rest[0]})", None
            case "move":
                return (
                    f"ALTER TABLE {table} PARTITION (k={rest[0]}) RENAME TO PARTITION (k={rest[1]})"
                ), None
        raise AssertionError(f"unknown step {step}")

    def _insert(self, table: str, rows: list[Row], key: int | None, how: str = "INTO") -> str:
        if table in WHOLE:
            values = ", ".join(f"({id_}, {k}, {v})" for id_, k, v in rows)
            return f"INSERT {how} {table} VALUES {values}"
        if key is not None:
            values = ", ".join(f"({id_}, {v})" for id_, _, v in rows)
            return f"INSERT {how} {table} PARTITION (k={key}) VALUES {values}"
        values = ", ".join(f"({id_}, {v}, {k})" for id_, k, v in rows)
        return f"INSERT {how} {table} VALUES {values}"

    def _load(self, table: str, key: int, how: str, local: str) -> tuple[str, Intent]:
        (row,) = rows = self._rows(key, 1)
        path = self.world.make_source(table, row)
        into = "OVERWRITE INTO" if how == "overwrite" else "INTO"
        part = "" if table in WHOLE else f" PARTITION (k={key})"
        text = f"LOAD DATA {local} INPATH '{path}' {into} TABLE {table}{part}"
        whole = None if table in WHOLE else key
        intent = (
            ("overwrite", table, whole, rows) if how == "overwrite" else ("insert", table, rows)
        )
        if not local:
            self.world.waiting[path] = intent
        return text, intent

    def _rows(self, key: int, count: int) -> list[Row]:
        return [(self._new_id(), key, 0) for _ in range(count)]

    # -- streams
    def _stream(self, table: str, size: int, parts: Sequence[tuple[int, str]]) -> None:
        before = len(self._opened)
        ended: set[int] = set()
        try:
            connection = (
                HiveStreamingConnection.builder()
                .with_session(self.session).with_table(table).with_transaction_batch_size(size)
                .with_record_writer(StrictDelimitedInputWriter(field_delimiter=","))
                .connect()
            )  # fmt: skip
            with connection:
                for key, end in parts:
                    ended.add(self._stream_one(connection, table, key, end))
        except (HiveSqlError, OSError) as error:
            # What it was told before to have committed stays.
            self._failed(error, before, ended)

    def _stream_one(
        self, connection: HiveStreamingConnection, table: str, key: int, end: str
    ) -> int:
        # Each transaction of a batch means something of its own.
        known = len(self._opened)
        self._mean([])
        connection.begin_transaction()
        for txn in self._opened[known:]:
            txn.intents = []
        txn = self.world.model.txns[connection.current_txn_id]
        rows = [(self._new_id(), key, 0)]
        order = (0, 1, 2) if table in WHOLE else (0, 2, 1)
        txn.intents.append(("insert", table, rows))
        connection.write("".join(",".join(str(row[i]) for i in order) + "\n" for row in rows))
        if end == "commit":
            connection.commit_transaction()
        else:
            connection.abort_transaction()
        if (txn.committed is not None) != (end == "commit"):
            raise Wrong(f"streaming transaction {txn.id} was told to {end}, and did not")
        return txn.id

    # -- services
    def _clean(self) -> None:
        clean(self.world.runtime)
        clean_aborted(self.world.runtime)

    def _serve(self, work: Callable[[], object]) -> None:
        self._mean([])
        before = len(self._opened)
        try:
            work()
        except (HiveSqlError, OSError) as error:
            self._failed(error, before)
        scheduler = self.world.scheduler
        scheduler.trace.append((self.script.name, "check"))
        scheduler._between(self.world.check)

    # -- inside
    @property
    def _opened(self) -> list[Txn]:
        return self.world.opened.setdefault(self.script.name, [])

    def _mean(self, intents: list[Intent]) -> None:
        self.world.meant[self.script.name] = intents

    def _new_id(self) -> int:
        self._ids += 1
        return self._ids

    def _compare(self, text: str, rows: Any, expected: Counter[Row]) -> None:
        found = Counter(tuple(row) for row in rows)
        compare(f"{self.script.name}: {text}", found, expected)

    def _failed(self, error: Exception, before: int, ended: Collection[int] = ()) -> None:
        """An error may be told; what failed must not have happened.

        ``before`` counts the transactions opened before, ``ended`` are those whose end was told.
        """
        client = self.world.scheduler.current
        assert client is not None
        told = f"failed: {type(error).__name__} {error}".replace(str(self.world.warehouse), "")
        self.world.scheduler.trace.append((client.name, told))
        lost = any(txn.is_aborted for txn in self._opened[before:])
        if isinstance(error, NotSupported) and not (
            isinstance(error, NeedsSpark) and self.world.has_loaded
        ):
            raise error
        lives = isinstance(error, TransactionLost) and not isinstance(error, Deadlock)
        if lives and not {"jump", "hang", "crawl"} & {*client.faults}:
            raise Wrong(f"{client.name} was taken for dead, and it is not: {error}") from error
        if isinstance(error, DataError) and not (client.faults or lost):
            raise Wrong(f"{client.name} cannot read: {error}") from error
        if isinstance(error, OSError) and not client.faults:
            raise Wrong(f"{client.name} got a bare error of the system: {error!r}") from error
        if isinstance(error, (CommitUnknown, StreamingException)):
            return
        done = [
            txn for txn in self._opened[before:]
            if txn.committed and txn.intents and txn.id not in ended
        ]  # fmt: skip
        if done:
            raise Wrong(f"{client.name} was told {error!r}, but transaction {done[0].id} committed")
