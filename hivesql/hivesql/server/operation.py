"""A statement or a question of a client: its state, its log, and the rows that it gave."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivesql.result import Result
from hivesql.server.column_types import table_schema, thrift_column, thrift_rows
from hivesql.server.protocol import (
    COLUMNS_SINCE,
    HANDLE_BYTES,
    INTERVALS_SINCE,
    describe_error,
    idl,
)
from hivesql.server.row_spool import ResultLimits, RowSpool
from hivesql_executor.outcome import types_of
from hivesql_planner.errors import Cancelled, ExecutionError, SemanticError
from hivesql_planner.model.hive_type import INTERVALS, STRING, HiveType, Kind
from hivesql_planner.model.table import Column
from hivesql_planner.settings.file_system_keys import cover_beginning
from hivesql_planner.statements.bound import (
    CreateTable,
    DeleteRows,
    Explain,
    FileSystemShell,
    InsertRows,
    MergeRows,
    SelectRows,
    SessionFiles,
    SetSetting,
    Statement,
    UpdateRows,
    WriteDirectory,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from hivesql.sessions.spark_start import Progress

_MOST_LINES = 10_000
"""Of a log; earlier ones are forgotten."""
_MOST_ROWS = 100_000
_MOST_BYTES = 8 * 2**20
"""Of rows in one answer."""
_LOG = 1
"""``fetchType`` of the log."""
_BAR = (
    "VERTICES", "MODE", "STATUS", "TOTAL", "COMPLETED", "RUNNING", "PENDING", "FAILED", "KILLED"
)  # fmt: skip
_WORKING = SelectRows | InsertRows | WriteDirectory | UpdateRows | DeleteRows | MergeRows
_NO_TASK: dict[str, str] = {}
_WORK = {"taskId": "Stage-1", "taskType": "MAPRED", "name": "HIVESQL"}
_DEFINITION = {"taskId": "Stage-0", "taskType": "DDL", "name": "DDL"}
"""As Hive calls its stages."""
_TEXTS_TO_SPARK = INTERVALS | {Kind.CHAR, Kind.VARCHAR}
"""Kinds of columns that are STRING in what a query by Spark gives."""


class Operation:
    """What a handle stands for. ``kind`` is the name of its TOperationType."""

    def __init__(
        self, kind: str, text: str = "", *, limits: ResultLimits,
        on_end: Callable[[Operation], None] = lambda operation: None,
    ) -> None:  # fmt: skip
        """``on_end`` is called before anybody learns that it has ended."""
        self.kind = kind
        self.text = text
        self._on_end = on_end
        self.guid: bytes = secrets.token_bytes(HANDLE_BYTES)
        self.secret: bytes = secrets.token_bytes(HANDLE_BYTES)
        self.state: str = "PENDING"
        self.error: Exception | None = None
        self.has_rows: bool = False
        self.modified_rows: int | None = None
        self.started: float = 0.0
        """Seconds since the epoch; 0 before."""
        self.completed: float = 0.0
        self.progress: Progress | None = None
        """How far Spark was when the client last asked; None where it had nothing to do."""
        self.used: float = time.monotonic()
        self.timed_out_after: float | None = None
        """Seconds; None where it has ended otherwise."""
        self.answerable: threading.Event = threading.Event()
        """Set once it is known whether there are rows, or that there will be an error."""
        self.ended: threading.Event = threading.Event()
        self.cancelled: threading.Event = threading.Event()
        self._columns: tuple[tuple[str, HiveType], ...] = ()
        self._labels: tuple[Column, ...] = ()
        self._comments: tuple[str, ...] = ()
        self._spool: RowSpool | None = None
        self._limits = limits
        self._position = 0
        self.is_logged: bool = True
        """Whether its client wants a log of it."""
        self._step: tuple[str, float] = ("", 0.0)
        self._task = _NO_TASK
        self._task_began: float = 0.0
        """Seconds since the epoch; 0 before."""
        self._is_by_spark = False
        self._log: list[str] = []
        self._log_position = 0
        self._guard = threading.Lock()

    @property
    def query_id(self) -> str:
        """Name the operation in logs."""
        return f"hivesql_{self.guid.hex()}"

    @property
    def is_running(self) -> bool:
        """Tell whether it has not ended."""
        return not self.ended.is_set()

    def handle(self) -> Any:
        """Return what the client names it by."""
        thrift = idl()
        rows = float(self.modified_rows) if self.modified_rows is not None else None
        return thrift.TOperationHandle(
            operationId=thrift.THandleIdentifier(guid=self.guid, secret=self.secret),
            operationType=getattr(thrift.TOperationType, self.kind),
            hasResultSet=self.has_rows,
            modifiedRowCount=rows,
        )

    # -- its life
    def begin(self) -> None:
        """Note that it runs now; Cancelled where its client does not want it any more."""
        if self.cancelled.is_set():
            raise Cancelled("cancelled")
        self.started, self.state = time.time(), "RUNNING"

    def take(self, frame: DataFrame) -> int:
        """Take the rows of a query by Spark; how many there were."""
        self._is_by_spark = True
        spool = self._open_spool([HiveType.parse(kind) for kind in types_of(frame.schema)])
        spool.add_frame(frame)
        return spool.row_count

    def expect(self, statement: Statement, *, has_aliases: bool) -> None:
        """Let the client go on: whether there will be rows, and what their columns are called.

        ``has_aliases``: ``t.i`` where the statement takes a column by its relation's alias.
        """
        self.has_rows = isinstance(statement, SelectRows | Explain)
        if isinstance(statement, SelectRows):
            self._labels = tuple(
                label if has_aliases else replace(label, name=column.name)
                for label, column in zip(statement.labels, statement.query.columns, strict=True)
            )
        else:
            self._columns = _written_columns(statement)
        self.answerable.set()

    def begin_task(self, statement: Statement) -> None:
        """Note what is to be done, once it is known: of it, a client is told the state."""
        if isinstance(statement, _WORKING):
            self._task = _WORK
        elif not isinstance(statement, SetSetting | SessionFiles | FileSystemShell):
            self._task = _DEFINITION
        self._task_began = time.time()

    def finish(self, result: Result) -> None:
        """Note what the statement gave."""
        self.modified_rows = result.affected
        if result.columns:
            types = [HiveType.parse(kind) for kind in result.types]
            self._columns = _described(result.columns, types, self._labels)
            if self._spool is None:
                spool = self._open_spool(types)
                if result.table is not None:
                    spool.add_batches(result.table.to_batches())
                else:
                    spool.add_rows(result.rows)
            self.has_rows = True
        if result.message:
            self.tell(result.message)
        self._end("FINISHED")

    def finish_with(
        self, columns: Sequence[tuple[str, HiveType, str]], rows: Sequence[Sequence[Any]]
    ) -> None:
        """Note the answer to a question about the catalog: names, types and comments of columns."""
        self.started = time.time()
        self._columns = tuple((name, type_) for name, type_, _ in columns)
        self._comments = tuple(comment for _, _, comment in columns)
        self._open_spool([type_ for _, type_, _ in columns]).add_rows(rows)
        self.has_rows = True
        self._end("FINISHED")

    def fail(self, error: Exception) -> None:
        """Note that it failed, or was cancelled."""
        state = "CANCELED" if isinstance(error, Cancelled) else "ERROR"
        if state == "CANCELED" and self.timed_out_after is not None:
            state = "TIMEDOUT"
            error = Cancelled(f"Query timed out after {self.timed_out_after:g} seconds")
        self.error = error
        self.tell(f"ERROR : {error}")
        self._end(state)

    def close(self) -> None:
        """Forget its rows."""
        with self._guard:
            spool, self._spool = self._spool, None
            self.state = "CLOSED"
        if spool is not None:
            spool.close()

    def begin_step(self, name: str) -> None:
        """Note in its log, in Hive's words, that it is Compiling or Executing now."""
        self._step = name, time.monotonic()
        shown = cover_beginning(self.text)
        self.tell(f"INFO  : {name} command(queryId={self.query_id}): {shown}")

    def end_step(self) -> None:
        """Note in its log what the step took."""
        name, began = self._step
        self.tell(
            f"INFO  : Completed {name.lower()} command(queryId={self.query_id}); "
            f"Time taken: {time.monotonic() - began:.3f} seconds"
        )

    def tell(self, line: str) -> None:
        """Add a line to its log, if it has one."""
        if not self.is_logged:
            return
        with self._guard:
            self._log.append(line)
            surplus = len(self._log) - _MOST_LINES
            if surplus > 0:
                del self._log[:surplus]
                self._log_position = max(self._log_position - surplus, 0)

    def _open_spool(self, types: Sequence[HiveType]) -> RowSpool:
        self._spool = RowSpool(types, self._limits)
        return self._spool

    def _end(self, state: str) -> None:
        if (spool := self._spool) is not None:
            spool.end()
        self.completed, self.used = time.time(), time.monotonic()
        with self._guard:
            if is_closed := self.state == "CLOSED":
                self._spool = None
            else:
                self.state = state
        if is_closed and spool is not None:
            spool.close()
        self._on_end(self)
        self.answerable.set()
        self.ended.set()

    # -- answers
    @property
    def row_count(self) -> int | None:
        """Tell how many rows it gave or changed; None for neither."""
        return self._spool.row_count if self._spool is not None else self.modified_rows

    def status(self, *, with_progress: bool) -> Any:
        """Tell how far it is."""
        thrift = idl()
        answer = thrift.TGetOperationStatusResp(
            operationState=getattr(thrift.TOperationState, f"{self.state}_STATE"),
            operationStarted=int(self.started * 1000),
            operationCompleted=int(self.completed * 1000),
            hasResultSet=self.has_rows,
            numModifiedRows=self.modified_rows or 0,
            taskStatus=self._task_status(),
        )
        if self.error is not None:
            answer.sqlState, answer.errorCode, answer.errorMessage = describe_error(self.error)
        if self.state == "CANCELED":
            answer.errorMessage = None  # As Hive: drivers have words of their own.
        if with_progress:
            answer.progressUpdateResponse = self._progress_update()
        return answer

    def _task_status(self) -> str | None:
        """Tell of its one task as Hive tells of its stages; None of what is none in Hive either.

        As in Hive, a query whose rows are only fetched has none.
        """
        if self.kind != "EXECUTE_STATEMENT" or self._task is _NO_TASK:
            return None
        if self.has_rows and self._task is _WORK and not (self._is_by_spark or self.progress):
            return "[]"
        task: dict[str, Any] = {"beginTime": int(self._task_began * 1000)}
        if self.ended.is_set():
            task["returnValue"] = 0 if self.error is None else 1
            task["endTime"] = int(self.completed * 1000)
            if self.error is not None:
                task["errorMsg"] = str(self.error)
        task["taskState"] = "FINISHED" if self.ended.is_set() else "RUNNING"
        return json.dumps([task | self._task])

    def _progress_update(self) -> Any:
        """Draw beeline's bar: a row as of Tez, whose columns are the only ones that it knows."""
        statuses = idl().TJobExecutionStatus
        progress, has_ended = self.progress, self.state == "FINISHED"
        rows, share, footer, status = [], 0.0, "", statuses.NOT_AVAILABLE
        if progress is not None:
            total, running = progress.total, 0 if has_ended else progress.active
            done = total if has_ended else progress.done
            counts = (total, done, running, max(total - done - running, 0), 0, 0)
            state = "SUCCEEDED" if has_ended else "RUNNING"
            rows = [["Spark", "tasks", state, *map(str, counts)]]
            share, footer = done / total, f"TASKS: {done}/{total}"
            status = statuses.COMPLETE if has_ended else statuses.IN_PROGRESS
        return idl().TProgressUpdateResp(
            headerNames=list(_BAR) if rows else [],
            rows=rows,
            progressedPercentage=share,
            status=status,
            footerSummary=footer,
            startTime=int(self.started * 1000),
        )

    def schema(self, version: int) -> Any:
        """Describe the columns of its rows, as the version of the protocol has them."""
        if not self._has_written:
            self._check_rows()
        columns = self._columns
        if version < INTERVALS_SINCE:
            columns = tuple(
                (name, STRING if type_.kind in INTERVALS else type_) for name, type_ in columns
            )
        return table_schema(columns, self._comments)

    def fetch(self, *, from_start: bool, most_rows: int, fetch_type: int, version: int) -> Any:
        """Return the next rows, or lines of the log, as the version of the protocol has them."""
        thrift = idl()
        if most_rows < 0:
            raise SemanticError(f"The number of rows must be greater than 0: {most_rows}")
        if fetch_type == _LOG:
            return self._fetch_log(from_start=from_start, most_rows=most_rows, version=version)
        if self._has_written:
            nothing = RowSpool([type_ for _, type_ in self._columns], self._limits)
            nothing.add_rows([])
            nothing.end()
        with self._guard:
            spool = nothing if self._has_written else self._check_rows()
            if from_start:
                self._position = 0
            start = self._position
            columns = spool.read(start, min(most_rows, _MOST_ROWS), _MOST_BYTES)
            self._position += len(columns[0]) if columns else 0
        rows = thrift.TRowSet(startRowOffset=start, rows=[])
        if version < COLUMNS_SINCE:
            rows.rows = thrift_rows(columns)
            return rows
        rows.columns = [thrift_column(column) for column in columns]
        return rows

    def _fetch_log(self, *, from_start: bool, most_rows: int, version: int) -> Any:
        thrift = idl()
        with self._guard:
            start = 0 if from_start else self._log_position
            lines = self._log[start : start + most_rows]
            self._log_position = start + len(lines)
        rows = thrift.TRowSet(startRowOffset=start, rows=[])
        if version < COLUMNS_SINCE:
            rows.rows = [
                thrift.TRow(
                    colVals=[thrift.TColumnValue(stringVal=thrift.TStringValue(value=line))]
                )
                for line in lines
            ]
        else:
            column = thrift.TStringColumn(values=lines, nulls=b"\0")
            rows.columns = [thrift.TColumn(stringVal=column)]
        return rows

    @property
    def _has_written(self) -> bool:
        """Tell whether it has written a query's rows: their columns are told, and none comes."""
        return self.state == "FINISHED" and self._spool is None and bool(self._columns)

    def _check_rows(self) -> RowSpool:
        spool = self._spool
        if self.is_running:
            raise ExecutionError(f"the statement is still running: its state is {self.state}")
        if self.state != "FINISHED" or spool is None:
            raise ExecutionError(
                "Expected states: [FINISHED], but found "
                f"{self.state if self.state != 'FINISHED' else 'no rows: it was no query'}"
            )
        return spool


def _written_columns(statement: Statement) -> tuple[tuple[str, HiveType], ...]:
    """Describe what INSERT and CREATE TABLE AS write, as Hive does where a client asks.

    Names are the query's, types those that the table makes of them.
    """
    match statement:
        case InsertRows(targets=(first, *_)):
            query, table = first.query, first.table
        case CreateTable(rows=query, table=table) if query is not None:
            pass
        case _:
            return ()
    written = (*table.columns, *table.partition_columns)
    return tuple(
        (column.name, of_table.type)
        for column, of_table in zip(query.columns, written, strict=False)
    )


def _described(
    names: Sequence[str], types: Sequence[HiveType], labels: Sequence[Column]
) -> tuple[tuple[str, HiveType], ...]:
    """Return what a client is told of columns; ``labels`` is empty where nothing more is known."""
    if len(labels) != len(names):
        return tuple(zip(names, types, strict=True))
    return tuple(
        (label.name, label.type if label.type.kind in _TEXTS_TO_SPARK else type_)
        for label, type_ in zip(labels, types, strict=True)
    )
