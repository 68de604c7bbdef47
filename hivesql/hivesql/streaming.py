r"""Streaming ingest: many small transactions whose rows share their files, without Spark jobs.

>>> connection = (
...     streaming.HiveStreamingConnection.builder()
...     .with_session(session).with_table("events").with_transaction_batch_size(10)
...     .with_record_writer(streaming.StrictDelimitedInputWriter(field_delimiter=","))
...     .connect()
... )                                                                  # doctest: +SKIP
>>> with connection:                                                   # doctest: +SKIP
...     connection.begin_transaction()
...     connection.write("1,first\n2,second\n")
...     connection.commit_transaction()

A connection belongs to one thread. Sources: Hive's streaming V2.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hivesql_executor.hadoop_user import system_user
from hivesql_executor.local.types import row_type
from hivesql_executor.streaming.arrow_records import ArrowRecordWriter, fit_columns, iterate_tables
from hivesql_executor.streaming.batch import Batch, State
from hivesql_executor.streaming.deltas import FLUSH_ROWS, Statistics, Stream
from hivesql_executor.streaming.growing import streamable
from hivesql_executor.streaming.records import (
    RecordWriter,
    StrictDelimitedInputWriter,
    StrictJsonWriter,
    StrictRegexWriter,
)
from hivesql_executor.streaming.unmanaged import Unmanaged
from hivesql_executor.transactions.interrupts import noting_interrupts
from hivesql_executor.translate_errors import translate_errors
from hivesql_planner.errors import NoSuchObject, NotSupported
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.relations import Query
from hivesql_planner.statements.bound import InsertRows, InsertTarget
from hivesql_planner.streaming_errors import (
    ConnectionError,
    InvalidTable,
    InvalidTransactionState,
    PartitionCreationFailed,
    SerializationError,
    StreamingException,
    StreamingIOFailure,
    TransactionError,
)
from hivesql_planner.transactional_plans import require_bucket_numbers

if TYPE_CHECKING:
    from hivesql.session import Session

__all__ = [
    "ArrowRecordWriter",
    "ConnectionBuilder",
    "ConnectionError",
    "HiveStreamingConnection",
    "InvalidTable",
    "InvalidTransactionState",
    "PartitionCreationFailed",
    "RecordWriter",
    "SerializationError",
    "State",
    "Statistics",
    "StreamingException",
    "StreamingIOFailure",
    "StrictDelimitedInputWriter",
    "StrictJsonWriter",
    "StrictRegexWriter",
    "TransactionError",
]


@translate_errors
@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionBuilder:
    """The options of a connection; every ``with_…`` gives a builder with one more."""

    session: Session | None = None
    database: str | None = None
    table: str | None = None
    static_partition: tuple[str | None, ...] | None = None
    agent: str | None = None
    batch_size: int = 1
    streaming_optimizations: bool = True
    writer: RecordWriter | None = None
    write_id: int = -1
    statement_id: int = -1
    table_object: Table | None = None

    def with_session(self, session: Session) -> ConnectionBuilder:
        """Whose metastore, warehouse and settings are used."""
        return replace(self, session=session)

    def with_database(self, database: str) -> ConnectionBuilder:
        """Return the table's database; that of the session when it is not given."""
        return replace(self, database=database.lower())

    def with_table(self, table: str) -> ConnectionBuilder:
        """Return the table to write."""
        return replace(self, table=table.lower())

    def with_static_partition_values(self, values: Sequence[str | None]) -> ConnectionBuilder:
        """Values of one partition, in the order of its keys; else they stand in the records."""
        return replace(self, static_partition=tuple(values))

    def with_agent_info(self, agent: str) -> ConnectionBuilder:
        """Tell who writes, for SHOW LOCKS."""
        return replace(self, agent=agent)

    def with_transaction_batch_size(self, size: int) -> ConnectionBuilder:
        """Tell how many transactions share a delta; each but 1 makes a file that grows."""
        return replace(self, batch_size=size)

    def with_streaming_optimizations(self, enabled: bool) -> ConnectionBuilder:
        """Write dictionaries when False: smaller files, slower."""
        return replace(self, streaming_optimizations=enabled)

    def with_record_writer(self, writer: RecordWriter) -> ConnectionBuilder:
        """Tell who understands the records."""
        return replace(self, writer=writer)

    def with_write_id(self, write_id: int) -> ConnectionBuilder:
        """Return the write id of a transaction that another connection opened and will commit.

        Needs ``with_table_object``. There is one transaction, without lock and heartbeat.
        """
        return replace(self, write_id=write_id)

    def with_statement_id(self, statement_id: int) -> ConnectionBuilder:
        """Keep apart the files of several connections that write under one write id."""
        return replace(self, statement_id=statement_id)

    def with_table_object(self, table: Table) -> ConnectionBuilder:
        """Give the table as its committer has it (``HiveStreamingConnection.table``)."""
        return replace(self, table_object=table)

    @noting_interrupts
    def connect(self) -> HiveStreamingConnection:
        """Check the options and the table; StreamingException when they do not fit."""
        if self.table is None and self.table_object is None:
            raise StreamingException(
                "Table and table object cannot be null for streaming connection"
            )
        if (self.write_id > 0) != (self.table_object is not None):
            raise StreamingException("write id and table object are given together, or neither")
        if self.write_id > 0 and self.batch_size != 1:
            raise StreamingException("a connection under a given write id has one transaction")
        if self.writer is None:
            raise StreamingException("Record writer cannot be null for streaming connection")
        if self.session is None:
            raise StreamingException("a session is missing: with_session")
        if self.batch_size < 1:
            raise StreamingException("Batch size should be greater than zero")
        table = self.table_object or self._known_table(self.session)
        if self.table not in (None, table.name.name):
            raise StreamingException(f"the table object is {table.name} and not {self.table}")
        _check(self.session, table)
        self.session.authorize(
            InsertRows(targets=(InsertTarget(table=table, query=Query(sql="")),))
        )
        if self.static_partition is not None and not table.partition_columns:
            raise ConnectionError(
                f"{table.name} is not partitioned, but values of a partition are given"
            )
        static_values = self.static_partition
        if static_values is not None and len(static_values) != len(table.partition_columns):
            raise ConnectionError(
                f"{len(static_values)} values for the {len(table.partition_columns)} partition "
                f"columns of {table.name}"
            )
        return HiveStreamingConnection(
            _stream(self, self.session, table, self.writer),
            self.batch_size,
            write_id=self.write_id,
            statement_id=self.statement_id,
        )

    def _known_table(self, session: Session) -> Table:
        assert self.table is not None
        name = TableName(self.database or session.database, self.table)
        try:
            return session.runtime.metastore.table(name)
        except NoSuchObject as error:
            raise InvalidTable(f"Invalid table db:{name.database}, table:{name.name}") from error


def _check(session: Session, table: Table) -> None:
    full = table.name
    if table.is_materialized_view or not table.is_full_acid:
        raise InvalidTable(f"{full} is not an Acid table")
    if any(
        constraint.kind in ("not null", "check") and constraint.enabled
        for constraint in table.constraints
    ):
        raise NotSupported(f"streaming into {full}, which has constraints")
    require_bucket_numbers(table)
    if not streamable(table):
        raise NotSupported(f"streaming TIMESTAMP WITH LOCAL TIME ZONE into {full}")
    row_type(table)


def _stream(
    builder: ConnectionBuilder, session: Session, table: Table, writer: RecordWriter
) -> Stream:
    thread = threading.current_thread().name
    agent = builder.agent or f"{system_user()}:{socket.gethostname()}:{thread}"
    return Stream(
        runtime=replace(session.runtime, query_id=agent),
        table=table,
        writer=writer,
        partition=builder.static_partition,
        agent=agent,
        fast=builder.streaming_optimizations,
        statistics=Statistics(),
    )


@translate_errors
class HiveStreamingConnection:
    """Transactions on one table, one after the other."""

    def __init__(
        self, stream: Stream, batch_size: int, *, write_id: int = -1, statement_id: int = -1
    ) -> None:
        self._stream = stream
        self._size = batch_size
        self._unmanaged = write_id > 0
        self._batch: Batch | Unmanaged | None = (
            Unmanaged.of(stream, write_id, statement_id) if self._unmanaged else None
        )
        self._closed = False

    @staticmethod
    def builder() -> ConnectionBuilder:
        """Options that are still empty."""
        return ConnectionBuilder()

    @noting_interrupts
    def begin_transaction(self) -> None:
        """Begin the next transaction; a batch that is used up is followed by a new one."""
        self._check_open()
        if self._batch is not None and self._batch.is_open:
            raise InvalidTransactionState("the transaction before has not ended")
        if self._unmanaged and self._batch is not None and not self._batch.remaining:
            raise InvalidTransactionState("there is one transaction under a given write id")
        if self._batch is None or not self._batch.remaining:
            if self._batch is not None:
                self._batch.close()
            self._batch = Batch.open(self._stream, self._size)
        self._batch.begin()

    def write(self, records: str | bytes) -> None:
        """Write records, line by line.

        After SerializationError the transaction is still open and none of this call's records are
        in it; any other error ends the batch.
        """
        batch = self._current()
        text = records if isinstance(records, str) else _decoded(records)
        batch.require_open()
        batch.write(self._stream.writer.rows(text, self._stream.columns), len(records))

    def write_batch(self, records: Any) -> None:
        """Write records of Arrow: a RecordBatch, a Table, or an iterable or stream of these.

        Their columns are found by name: all of the table, with those of partitions unless the
        connection has a static one, and no others. Types must be those of the table, or narrower.
        After SerializationError the transaction is still open, and nothing of that batch or table
        is in it; those that an iterable gave before are.
        """
        batch = self._current()
        stream = self._stream
        batch.require_open()
        for table in iterate_tables(records):
            columns = fit_columns(table, stream.columns, stream.table.name)
            for piece in columns.to_batches(max_chunksize=FLUSH_ROWS):
                batch.write(pa.Table.from_batches([piece]), piece.nbytes)

    @noting_interrupts
    def commit_transaction(
        self,
        partitions: Collection[str] = (),
        *,
        key: str | None = None,
        value: str | None = None,
    ) -> None:
        """Make the transaction's records visible to readers that begin from now on.

        Under a given write id everything is brought to the disk, and the other connection commits:
        ``partitions`` are those that such connections have written, and that it adds; it must then
        have written nothing itself. ``key``
        (it begins with ``_meta``) and ``value`` become a property of the table by this commit.
        """
        if (key is None) != (value is None):
            raise StreamingException("a key and its value are given together")
        if key is not None and not key.startswith("_meta"):
            raise StreamingException(f"the key {key} does not begin with _meta")
        self._current().commit(partitions, None if key is None else (key, value or ""))

    @noting_interrupts
    def abort_transaction(self) -> None:
        """Roll the transaction back."""
        self._current().abort()

    @noting_interrupts
    def close(self) -> None:
        """Abort what has not ended. May be called again."""
        self._closed = True
        if self._batch is not None:
            self._batch.close()

    @property
    def statistics(self) -> Statistics:
        """Tell what has been done so far."""
        return self._stream.statistics

    @property
    def remaining_transactions(self) -> int:
        """Tell how many transactions of the batch have not begun."""
        return self._batch.remaining if self._batch else 0

    @property
    def transaction_states(self) -> tuple[State, ...]:
        """Return the states of the batch's transactions."""
        return tuple(self._batch.states) if self._batch else ()

    @property
    def txn_to_write_ids(self) -> dict[int, int]:
        """Transaction and write id of each of the batch."""
        batch = self._batch
        return dict(zip(batch.txn_ids, batch.write_ids, strict=True)) if batch else {}

    @property
    def table(self) -> Table:
        """The table, for ``with_table_object``."""
        return self._stream.table

    @property
    def current_txn_id(self) -> int:
        """The open transaction; -1 where somebody else's is used."""
        return self._current().txn_id

    @property
    def current_write_id(self) -> int:
        """The write id of the open transaction, for ``with_write_id``."""
        return self._current().write_id

    @property
    def partitions(self) -> tuple[str, ...]:
        """Names of the partitions that the connection has written since it was opened."""
        return tuple(sorted(self._stream.partitions))

    def _current(self) -> Batch | Unmanaged:
        self._check_open()
        if self._batch is None:
            raise InvalidTransactionState(
                "Transaction batch is null/ state is not OPEN. Missing beginTransaction?"
            )
        return self._batch

    def _check_open(self) -> None:
        if self._closed:
            raise StreamingException("Streaming connection is closed already.")

    def __enter__(self) -> HiveStreamingConnection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _decoded(records: bytes) -> str:
    try:
        return records.decode()
    except UnicodeDecodeError as error:
        raise SerializationError(f"the records are not UTF-8: {error}") from error
