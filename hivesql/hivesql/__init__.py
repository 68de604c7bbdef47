"""HiveSQL: Hive's ACID SQL on Spark without a Hive cluster.

>>> import hivesql
>>> session = hivesql.connect()                              # doctest: +SKIP
>>> session.sql("select count(*) from flights").rows         # doctest: +SKIP
"""

from typing import Any

from hivesql.connections import connect
from hivesql.result import Result
from hivesql.session import Session
from hivesql.sessions.spark_start import Progress
from hivesql.spark_catalog.migrate import migrate_from, migrate_to
from hivesql.spark_catalog.registration import register_catalog
from hivesql.structured_streaming import streaming_sink, streaming_source
from hivesql_executor.statement_log import JsonLines, StatementFields
from hivesql_planner.errors import (
    AlreadyCommitted,
    AmbiguousColumn,
    Cancelled,
    CardinalityViolation,
    CommitUnknown,
    ConstraintViolation,
    DataError,
    Deadlock,
    ExecutionError,
    ExecutorsLost,
    HiveSqlError,
    LockTimeout,
    MetastoreReplaced,
    NoSuchObject,
    NotSupported,
    OfAnotherProcess,
    ParseError,
    SemanticError,
    SessionClosed,
    SparkEnded,
    StaleSnapshot,
    TransactionLost,
    WriteConflict,
)

__version__ = "0.1.0"

__all__ = [
    "AlreadyCommitted",
    "AmbiguousColumn",
    "Cancelled",
    "CardinalityViolation",
    "CommitUnknown",
    "ConstraintViolation",
    "DataError",
    "Deadlock",
    "ExecutionError",
    "ExecutorsLost",
    "HiveSqlError",
    "JsonLines",
    "LockTimeout",
    "MetastoreReplaced",
    "NoSuchObject",
    "NotSupported",
    "OfAnotherProcess",
    "ParseError",
    "Progress",
    "Result",
    "SemanticError",
    "Session",
    "SessionClosed",
    "SparkEnded",
    "StaleSnapshot",
    "StatementFields",
    "TransactionLost",
    "WriteConflict",
    "connect",
    "migrate_from",
    "migrate_to",
    "register_catalog",
    "streaming_sink",
    "streaming_source",
]


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook the magics ``%hivesql`` and ``%%hivesql``: ``%load_ext hivesql``."""
    from hivesql.notebook.magic import load

    load(shell)
