"""Errors of streaming ingest, under the names that Hive's streaming V2 gives them.

StreamingException
├── InvalidTable                no such table, or not a full ACID one
├── ConnectionError             the connection's options contradict each other or the table
├── SerializationError          a record cannot be understood: skip it, the transaction goes on
├── StreamingIOFailure          the files could not be written
├── PartitionCreationFailed     a partition could not be added
└── TransactionError            the metastore refused: locks, commit, abort
    └── InvalidTransactionState     the call does not fit the batch's state
"""

from __future__ import annotations

from hivesql_planner.errors import ExecutionError


class StreamingException(ExecutionError):
    """Root of the errors of streaming ingest."""


class InvalidTable(StreamingException):
    """There is no such table, or it is not a full ACID one."""


class ConnectionError(StreamingException):
    """The connection's options contradict each other or the table."""


class SerializationError(StreamingException):
    """A record cannot be understood; the transaction stays open."""


class StreamingIOFailure(StreamingException):
    """Files could not be written or closed."""


class PartitionCreationFailed(StreamingException):
    """A partition could not be added to the metastore."""


class TransactionError(StreamingException):
    """The metastore refused a lock, a commit or an abort."""


class InvalidTransactionState(TransactionError):
    """The call does not fit the state that the batch is in."""
