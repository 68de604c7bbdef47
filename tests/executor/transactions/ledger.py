"""Tables without Spark: the whole transaction layer over Hive's directories, with JSON for ORC.

Statements are planned by the planner, run under the executor's transactions, and read through its
snapshots; only the rows inside a bucket file are written and read here.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from hivesql.sessions.open_transaction import Conversation
from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.runtime import Clock, Runtime
from hivesql_executor.snapshot.listing import acid_state
from hivesql_executor.transactions.transaction import Transaction, continuing, transaction
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.layout import delete_delta_name, delta_name
from hivesql_planner.acid.row_id import encode_bucket
from hivesql_planner.errors import StaleSnapshot
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_planner.plan import Change, Insert, Plan, Write
from hivesql_planner.planning import plan
from hivesql_planner.relations import Expr, Query, Scan, Source
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import (
    DeleteRows,
    EndTransaction,
    InsertRows,
    InsertTarget,
    SelectRows,
    StartTransaction,
    Statement,
    UpdateRows,
)

RowId = tuple[int, int, int]
Row = dict[str, Any]
Rows = dict[RowId, Row]
FAST = Clock(sleep=lambda seconds: time.sleep(seconds / 20))


def _no_spark() -> NoReturn:
    raise AssertionError("these tests never start Spark")


class Ledger:
    """A session on small tables of rows ``{"k": key, "v": value}``."""

    def __init__(
        self,
        url: str,
        home: Path,
        *,
        notify: Callable[[str], None] = lambda line: None,
        clock: Clock = FAST,
        **settings: str,
    ) -> None:
        self.home = home
        self.files = LocalFiles()
        self.runtime = Runtime(
            metastore=DatabaseMetastore.open(url, str(home)),
            spark=_no_spark,
            files=lambda place: self.files,
            settings=Settings.of({"hive." + k.replace("_", "."): v for k, v in settings.items()}),
            clock=clock,
            notify=notify,
        )
        self.store = self.runtime.metastore
        self.conversation = Conversation()
        self.last_id = 0
        self.write_ids: dict[str, int] = {}
        """Of the last transaction, by table."""

    def create(self, name: str) -> None:
        """A full-ACID table."""
        self.store.create_table(
            Table(
                name=TableName("default", name),
                columns=(Column.of("k", "int"), Column.of("v", "int")),
                location="",
                properties={"transactional": "true"},
            )
        )

    def begin(self, *, read_only: bool = False) -> int:
        """START TRANSACTION; its id."""
        self.conversation.start(StartTransaction(read_only=read_only), self.runtime)
        assert self.conversation.opened
        return self.conversation.opened.id

    def commit(self) -> None:
        self.conversation.end(EndTransaction(commit=True), self.runtime)

    def roll_back(self) -> None:
        self.conversation.end(EndTransaction(commit=False), self.runtime)

    def select(self, *names: str) -> dict[str, Rows]:
        """The rows of tables under one snapshot."""
        scans = [Scan(table=self._table(name)) for name in names]
        sources = tuple(Source(view=scan.table.name.name, scan=scan) for scan in scans)
        statement = SelectRows(query=Query(sql="", sources=sources))

        def read(decided: Plan, txn: Transaction) -> dict[str, Rows]:
            return {scan.table.name.name: self._rows(scan.table, txn) for scan in scans}

        found: dict[str, Rows] = self._run(statement, read)
        return found

    def values(self, *names: str) -> dict[int, int]:
        """Value by key; no two tables may have the same one."""
        tables = self.select(*names).values()
        return {row["k"]: row["v"] for rows in tables for row in rows.values()}

    def insert(self, name: str, values: Mapping[int, int]) -> None:
        table = self._table(name)
        query = Query(sql="")
        statement = InsertRows(targets=(InsertTarget(table=table, query=query),))

        def write(decided: Plan, txn: Transaction) -> None:
            assert isinstance(decided.body, Insert)
            (branch,) = decided.body.branches
            rows = [{"k": k, "v": v} for k, v in values.items()]
            self._write(txn, branch.write, self._numbered(txn, branch.write, rows))

        self._run(statement, write)

    def update(self, name: str, change: Callable[[Row], int | None]) -> Rows:
        """Give rows the value that ``change`` returns, if any; the rows as they were read."""
        table = self._table(name)
        scan = Scan(table=table, with_row_id=True)
        statement = UpdateRows(target=scan, alias="t", assignments={"v": Expr("v")})

        def write(decided: Plan, txn: Transaction) -> Rows:
            assert isinstance(decided.body, Change)
            (branch,) = decided.body.branches
            assert branch.delete and branch.insert
            old = self._rows(table, txn)
            new = {row_id: change(row) for row_id, row in old.items()}
            changed = [row_id for row_id, value in new.items() if value is not None]
            rows = [{"k": old[row_id]["k"], "v": new[row_id]} for row_id in changed]
            self._write(txn, branch.delete, {row_id: {} for row_id in changed})
            self._write(txn, branch.insert, self._numbered(txn, branch.insert, rows))
            hit_failpoint(FailPoint.ROWS_PUBLISHED)
            return {row_id: old[row_id] for row_id in changed}

        return self._run(statement, write)

    def delete(self, name: str, key: int) -> None:
        table = self._table(name)
        statement = DeleteRows(target=Scan(table=table, with_row_id=True), alias="t")

        def write(decided: Plan, txn: Transaction) -> None:
            assert isinstance(decided.body, Change)
            (branch,) = decided.body.branches
            assert branch.delete
            gone = [i for i, row in self._rows(table, txn).items() if row["k"] == key]
            self._write(txn, branch.delete, {row_id: {} for row_id in gone})

        self._run(statement, write)

    def _run(self, statement: Statement, work: Callable[[Plan, Transaction], Any]) -> Any:
        attempts = self.runtime.settings.integer("hive.txn.retrysnapshot.max.count")
        while True:
            try:
                with self._statement(statement) as (decided, txn):
                    self._remember(txn)
                    return work(decided, txn)
            except StaleSnapshot:
                attempts -= 1
                if attempts <= 0:
                    raise

    def _remember(self, txn: Transaction) -> None:
        if txn.id != self.last_id:
            self.last_id, self.write_ids = txn.id, {}
        self.write_ids |= {table.name: write_id for table, write_id in txn.write_ids.items()}

    @contextmanager
    def _statement(self, statement: Statement) -> Iterator[tuple[Plan, Transaction]]:
        inside = self.conversation.opened
        try:
            decided = plan(statement, self.runtime.settings)
            self.conversation.check(decided, statement)
            decided = continuing(decided, inside) if inside else decided
            with transaction(decided, self.runtime, inside) as txn:
                yield decided, txn
        except BaseException as error:
            self.conversation.fail(self.runtime, error)
            raise

    def _table(self, name: str) -> Table:
        return self.store.table(TableName("default", name))

    def _rows(self, table: Table, txn: Transaction) -> Rows:
        visible = txn.visible[table.name]
        state = acid_state(self.files, table.location, visible, txn.txns)
        chosen = files_to_read(state, visible)
        deleted = {row_id for file in chosen.deletes for row_id, _ in self._read(table, file.path)}
        rows = {row_id: row for file in chosen.data for row_id, row in self._read(table, file.path)}
        return {row_id: row for row_id, row in rows.items() if row_id not in deleted}

    def _read(self, table: Table, path: str) -> list[tuple[RowId, Row]]:
        events = json.loads(Path(table.location, path).read_text(encoding="utf-8"))
        return [((w, b, n), row) for w, b, n, row in events]

    def _numbered(self, txn: Transaction, write: Write, rows: list[Row]) -> Rows:
        bucket = encode_bucket(0, write.statement_id)
        write_id = txn.write_ids[write.table.name]
        return {(write_id, bucket, number): row for number, row in enumerate(rows)}

    def _write(self, txn: Transaction, write: Write, events: Rows) -> None:
        """One bucket file, staged first and then moved, as Spark's writers do."""
        if not events:
            return
        name = delete_delta_name if not any(events.values()) else delta_name
        home = write.table.location
        staged = f"{home}/.staged-{uuid.uuid4().hex}"
        data = json.dumps([[*row_id, row] for row_id, row in events.items()]).encode()
        self.files.make_directories(home)
        self.files.write(staged, data)
        hit_failpoint(FailPoint.ROWS_STAGED)
        directory = f"{home}/{name(txn.write_ids[write.table.name], write.statement_id)}"
        self.files.make_directories(directory)
        self.files.rename(staged, f"{directory}/bucket_00000")
        hit_failpoint(FailPoint.FILE_PUBLISHED)

    def reconfigure(self, **settings: str) -> None:
        """Change settings."""
        given = {"hive." + key.replace("_", "."): value for key, value in settings.items()}
        values = {**self.runtime.settings.values, **given}
        self.runtime = replace(self.runtime, settings=Settings.of(values))

    def close(self) -> None:
        self.conversation.close(self.runtime)
        self.store.close()
