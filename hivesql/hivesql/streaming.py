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

import getpass
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING

from hivesql_executor.local.types import row_type
from hivesql_executor.storage.local import LocalFiles
from hivesql_executor.streaming.batch import Batch, State, Statistics, Stream
from hivesql_executor.streaming.growing import streamable
from hivesql_executor.streaming.records import (
    RecordWriter,
    StrictDelimitedInputWriter,
    StrictJsonWriter,
    StrictRegexWriter,
)
from hivesql_planner.errors import NoSuchObject, NotSupported
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
from hivesql_planner.table import Table, TableName

if TYPE_CHECKING:
    from hivesql.session import Session

__all__ = [
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

    def with_session(self, session: Session) -> ConnectionBuilder:
        """Whose metastore, warehouse and settings are used."""
        return replace(self, session=session)

    def with_database(self, database: str) -> ConnectionBuilder:
        """The table's database; that of the session when it is not given."""
        return replace(self, database=database.lower())

    def with_table(self, table: str) -> ConnectionBuilder:
        """The table to write."""
        return replace(self, table=table.lower())

    def with_static_partition_values(self, values: Sequence[str | None]) -> ConnectionBuilder:
        """Values of one partition, in the order of its keys; else they stand in the records."""
        return replace(self, static_partition=tuple(values))

    def with_agent_info(self, agent: str) -> ConnectionBuilder:
        """Who writes, for SHOW LOCKS."""
        return replace(self, agent=agent)

    def with_transaction_batch_size(self, size: int) -> ConnectionBuilder:
        """How many transactions share a delta; each but 1 makes a file that grows."""
        return replace(self, batch_size=size)

    def with_streaming_optimizations(self, wanted: bool) -> ConnectionBuilder:
        """False writes dictionaries: smaller files, slower."""
        return replace(self, streaming_optimizations=wanted)

    def with_record_writer(self, writer: RecordWriter) -> ConnectionBuilder:
        """Who understands the records."""
        return replace(self, writer=writer)

    def connect(self) -> HiveStreamingConnection:
        """Check the options and the table; StreamingException when they do not fit."""
        if self.table is None:
            raise StreamingException("Table cannot be null for streaming connection")
        if self.writer is None:
            raise StreamingException("Record writer cannot be null for streaming connection")
        if self.session is None:
            raise StreamingException("a session is missing: with_session")
        if self.batch_size < 1:
            raise StreamingException("Batch size should be greater than zero")
        table = _checked_table(self.session, self.database, self.table)
        if self.static_partition is not None and not table.partition_columns:
            raise ConnectionError(
                f"{table.name} is not partitioned, but values of a partition are given"
            )
        given = self.static_partition
        if given is not None and len(given) != len(table.partition_columns):
            raise ConnectionError(
                f"{len(given)} values for the {len(table.partition_columns)} partition columns of "
                f"{table.name}"
            )
        return HiveStreamingConnection(
            _stream(self, self.session, table, self.writer), self.batch_size
        )


def _checked_table(session: Session, database: str | None, name: str) -> Table:
    full = TableName(database or session.database, name)
    try:
        table = session.runtime.metastore.table(full)
    except NoSuchObject as error:
        raise InvalidTable(f"Invalid table db:{full.database}, table:{full.name}") from error
    if not table.is_full_acid:
        raise InvalidTable(f"{full} is not an Acid table")
    if any(one.kind in ("not null", "check") and one.enabled for one in table.constraints):
        raise NotSupported(f"streaming into {full}, which has constraints")
    if not streamable(table):
        raise NotSupported(f"streaming TIMESTAMP WITH LOCAL TIME ZONE into {full}")
    if not isinstance(session.runtime.files(table.location), LocalFiles):
        raise NotSupported(f"streaming into {full}, which is not on a local disk")
    row_type(table)
    return table


def _stream(
    builder: ConnectionBuilder, session: Session, table: Table, writer: RecordWriter
) -> Stream:
    thread = threading.current_thread().name
    agent = builder.agent or f"{getpass.getuser()}:{socket.gethostname()}:{thread}"
    return Stream(
        runtime=replace(session.runtime, query_id=agent),
        table=table,
        writer=writer,
        partition=builder.static_partition,
        agent=agent,
        fast=builder.streaming_optimizations,
        statistics=Statistics(),
    )


class HiveStreamingConnection:
    """Transactions on one table, one after the other."""

    def __init__(self, stream: Stream, batch_size: int) -> None:
        self._stream = stream
        self._size = batch_size
        self._batch: Batch | None = None
        self._closed = False

    @staticmethod
    def builder() -> ConnectionBuilder:
        """Options that are still empty."""
        return ConnectionBuilder()

    def begin_transaction(self) -> None:
        """Begin the next transaction; a batch that is used up is followed by a new one."""
        self._check_open()
        if self._batch is not None and self._batch.is_open:
            raise InvalidTransactionState("the transaction before has not ended")
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
        table = self._stream.table
        columns = table.all_columns if self._stream.is_dynamic else table.columns
        batch.require_open()
        batch.write(self._stream.writer.rows(text, columns), len(records))

    def commit_transaction(self) -> None:
        """Make the transaction's records visible to readers that begin from now on."""
        self._current().commit()

    def abort_transaction(self) -> None:
        """Roll the transaction back."""
        self._check_open()
        if self._batch is not None:
            self._batch.abort()

    def close(self) -> None:
        """Abort what has not ended. May be called again."""
        self._closed = True
        if self._batch is not None:
            self._batch.close()

    @property
    def statistics(self) -> Statistics:
        """What has been done so far."""
        return self._stream.statistics

    @property
    def remaining_transactions(self) -> int:
        """How many transactions of the batch have not begun."""
        return self._batch.remaining if self._batch else 0

    @property
    def transaction_states(self) -> tuple[State, ...]:
        """Of the batch's transactions."""
        return tuple(self._batch.states) if self._batch else ()

    @property
    def txn_to_write_ids(self) -> dict[int, int]:
        """Transaction and write id of each of the batch."""
        batch = self._batch
        return dict(zip(batch.txn_ids, batch.write_ids, strict=True)) if batch else {}

    def _current(self) -> Batch:
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
