"""What a session does with rows that the caller holds, and with rows that it gives away."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hivesql.sessions.frames import Assignments, Given, append_text, merge_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from hivesql.result import Result
    from hivesql.script import StatementText
    from hivesql.sessions.spark_start import LazySpark
    from hivesql.sessions.temporary_tables import TemporaryTables
    from hivesql_executor.metastore.api import Once
    from hivesql_executor.spark.write.user_frames import Frame


from abc import ABC
from typing import TYPE_CHECKING

from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from hivesql_executor.checks.finding import Finding
    from hivesql_executor.checks.inspect import Inspection
    from hivesql_executor.runtime import Runtime


class TableCalls(ABC):
    """The calls about one table that are no statements."""

    database: str
    runtime: Runtime

    def inspect(self, table: str) -> Inspection:
        """Tell what lies in a table's directories and what a reader takes; starts no Spark."""
        from hivesql_executor.checks.inspect import inspect_table

        return inspect_table(self._table_name(table), self.runtime)

    def check(self, table: str) -> tuple[Finding, ...]:
        """Everything that is wrong with a transactional table's files; () when nothing is."""
        from hivesql_executor.checks.check import check_table

        return check_table(self._table_name(table), self.runtime)

    @abstractmethod
    def _check_open(self) -> None:
        """SessionClosed once the session was closed."""

    def _table_name(self, text: str) -> TableName:
        self._check_open()
        database, _, name = text.replace("`", "").lower().rpartition(".")
        return TableName(database or self.database, name)


class FrameCalls(TableCalls):
    """DataFrames in and out of a session."""

    temporary: TemporaryTables
    _spark: LazySpark

    @abstractmethod
    def sql(
        self,
        text: str,
        *,
        consume: Callable[[DataFrame], Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Result:
        """Run statements; the result of the last one."""

    @abstractmethod
    def run_statement(
        self,
        text: StatementText,
        *,
        consume: Callable[[DataFrame], Any] | None = None,
        given: Given | None = None,
        idempotency_key: str | Once | None = None,
    ) -> Result:
        """Run one statement; ``given`` are rows that it reads."""

    def append(
        self,
        table: str,
        frame: Frame,
        *,
        overwrite: bool = False,
        partition: Mapping[str, Any] | None = None,
        idempotency_key: str | Once | None = None,
    ) -> Result:
        """INSERT the rows of a Spark or pandas DataFrame or of an Arrow table, by column name.

        Columns that the frame lacks get their default, partition columns come from the frame or,
        with one value for all rows, from ``partition``. ``overwrite`` is INSERT OVERWRITE.
        """
        target = self.temporary.table(self._table_name(table))
        given = Given.of(frame, self._spark())
        text = append_text(target, given.table, overwrite=overwrite, partition=partition or {})
        return self.run_statement(text, given=given, idempotency_key=idempotency_key)

    def merge(  # noqa: PLR0913 - public: MERGE's clauses by name
        self,
        table: str,
        frame: Frame,
        on: str | Sequence[str],
        *,
        update: Assignments = True,
        insert: Assignments = True,
        delete: str | None = None,
        update_if: str | None = None,
        insert_if: str | None = None,
        idempotency_key: str | Once | None = None,
    ) -> Result:
        """MERGE the rows of a frame (as of ``append``) into a full-ACID table.

        ``on`` names columns that must be equal, or is a condition over ``target`` and ``source``.
        Matched rows for which the condition ``delete`` holds are deleted, the others updated; rows
        without a match are inserted. ``update`` and ``insert`` are True (the columns that both
        sides have), False (not at all), or a mapping from columns to expressions; ``update_if``
        and ``insert_if`` are further conditions.
        """
        target = self.temporary.table(self._table_name(table))
        given = Given.of(frame, self._spark())
        text = merge_text(
            target, given.table, on, update=update, insert=insert, delete=delete,
            update_if=update_if, insert_if=insert_if,
        )  # fmt: skip
        return self.run_statement(text, given=given, idempotency_key=idempotency_key)

    def frame(self, query: str) -> DataFrame:
        """Give a query's rows as a Spark DataFrame that later commits and the cleaner leave alone.

        The rows stay with Spark's executors; they never come to this process by themselves.
        """
        frame: DataFrame = self.sql(query, consume=lambda rows: rows.localCheckpoint()).value
        return frame
