"""A sink for Structured Streaming: each batch is one transaction, and happens once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hivesql.connections import connect
from hivesql_executor.metastore.api import Once
from hivesql_planner.errors import HiveSqlError, SemanticError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from hivesql.session import Session
    from hivesql.sessions.frames import Assignments

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
