"""Structured Streaming: a sink whose batches happen once, and a source of a table's changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hivesql.connections import connect
from hivesql_executor.metastore.api import Once
from hivesql_executor.translate_errors import translate_errors
from hivesql_planner.errors import HiveSqlError, SemanticError
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from hivesql.session import Session
    from hivesql.sessions.frames import Assignments
    from hivesql.spark_catalog.change_feed import FeedOptions

# Spark's name for the id that a query keeps in its checkpoint.
_QUERY_ID = "sql.streaming.queryId"
_ATTEMPTS = 5


@dataclass(slots=True, kw_only=True)
class StreamingSink:
    """For ``foreachBatch``. Opens a session of its own on the stream's Spark at the first batch."""

    table: str
    connection: Mapping[str, Any]
    merge: Mapping[str, Any] | None = None
    _session: Session | None = field(default=None, repr=False)

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Write a batch, unless it was committed before the stream was stopped or killed."""
        spark = rows.sparkSession
        query_id = spark.sparkContext.getLocalProperty(_QUERY_ID)
        if query_id is None:
            raise SemanticError("a streaming sink wants the batches of a stream: use foreachBatch")
        if self._session is None:
            self._session = connect(**self.connection, spark=spark)
        once = Once(key=f"stream/{query_id}/{self.table.lower()}", number=batch_id)
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                self._write(self._session, rows, once)
            except HiveSqlError as error:
                if not (error.retryable and attempts_left):
                    raise
            else:
                break

    def _write(self, session: Session, rows: DataFrame, once: Once) -> None:
        if self.merge is None:
            session.append(self.table, rows, idempotency_key=once)
        else:
            session.merge(self.table, rows, **self.merge, idempotency_key=once)

    def close(self) -> None:
        """Let go of the metastore; the next batch opens it again."""
        if self._session is not None:
            self._session.close()
            self._session = None


def streaming_sink(  # noqa: PLR0913 - public: those of connect and of Session.merge by name
    table: str,
    *,
    metastore: str | None = None,
    warehouse: str | None = None,
    database: str = "default",
    settings: Mapping[str, str] | None = None,
    merge_on: str | Sequence[str] | None = None,
    update: Assignments = True,
    insert: Assignments = True,
    delete: str | None = None,
) -> StreamingSink:
    """Tell what ``writeStream.foreachBatch`` calls to append each batch to a table, or to merge it.

    Exactly once: the batch's number is committed together with its rows, under the id that the
    query keeps in its checkpoint. So a stream that was killed between the two goes on from its
    checkpoint without losing or doubling a row; with a new checkpoint it starts anew. ``merge_on``
    and what follows are as in ``Session.merge``, the others as in ``hivesql.connect``.
    """
    place = {"metastore": metastore, "warehouse": warehouse, "database": database,
             "settings": settings}  # fmt: skip
    merge = {"on": merge_on, "update": update, "insert": insert, "delete": delete}
    return StreamingSink(table=table, connection=place, merge=None if merge_on is None else merge)


@translate_errors
@dataclass(slots=True, kw_only=True)
class StreamingSource:
    """Gives the changes of a table as a stream. Opens a session of its own for each load."""

    table: str
    connection: Mapping[str, Any]
    options: FeedOptions
    _sessions: list[Session] = field(default_factory=list, repr=False)

    def load(self, spark: SparkSession) -> DataFrame:
        """Return the stream: the table's columns, ``_change_type`` and ``_write_id``."""
        session = connect(**self.connection, spark=spark)
        try:
            session.start_spark()
            # Imported late: few programs have streams.
            from hivesql.spark_catalog.change_feed import ChangeFeed
            from hivesql_executor.spark.catalog import load_changes

            name = TableName.of_text(self.table, session.database)
            feed = ChangeFeed(session, name, self.options)
            session.at_close(feed.close)
            rows, close = load_changes(spark, feed.open(), feed)
            session.at_close(close)
        except BaseException:
            session.close()
            raise
        self._sessions.append(session)
        return rows

    def close(self) -> None:
        """Let go of the metastore; streams that were loaded do not start again."""
        while self._sessions:
            self._sessions.pop().close()


@translate_errors
def streaming_source(  # noqa: PLR0913 - public: those of connect by name
    table: str,
    *,
    metastore: str | None = None,
    warehouse: str | None = None,
    database: str = "default",
    settings: Mapping[str, str] | None = None,
    starting_version: int | str | None = None,
    starting_timestamp: datetime | None = None,
    key: str | Sequence[str] = (),
    max_versions_per_trigger: int | None = None,
    max_rows_per_trigger: int | None = None,
) -> StreamingSource:
    """Tell what a stream of a table's changes gives: ``source.load(spark).writeStream…``.

    Each change comes once, in batches of whole versions, and in their order. A version is a write;
    one that is still open holds back those above it. The stream starts with the first version that
    comes after its start (``latest``), with the first whose changes are all there (``earliest``),
    with ``starting_version`` itself, or with those that were committed after a time. ``key`` are
    the columns by which the two halves of an update find each other (see ``table_changes``).
    A batch has at most so many versions, and no more than so many rows unless it is of one version.
    The others are as in ``hivesql.connect``.
    """
    from hivesql.spark_catalog.change_feed import options_of

    place = {"metastore": metastore, "warehouse": warehouse, "database": database,
             "settings": settings}  # fmt: skip
    options = options_of(
        version=starting_version,
        timestamp=starting_timestamp,
        key=key,
        most_versions=max_versions_per_trigger,
        most_rows=max_rows_per_trigger,
    )
    return StreamingSource(table=table, connection=place, options=options)
