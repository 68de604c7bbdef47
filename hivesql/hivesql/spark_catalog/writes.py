"""What plain Spark writes, as statements of ours under the transaction of its query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hivesql.sessions.frames import FRAME, FrameRows, append_text
from hivesql.sessions.open_transaction import Conversation
from hivesql.spark_catalog.places import change_by_row_id, change_text, changed_rows
from hivesql.spark_catalog.texts import condition_text, partition_of
from hivesql_executor.spark.lines import ClassicFrame
from hivesql_planner.errors import NotSupported, WriteConflict
from hivesql_planner.model.hive_type import Kind, quote_name
from hivesql_planner.model.table import Table

if TYPE_CHECKING:
    from hivesql.session import Session
    from hivesql.spark_catalog.query_transactions import QueryTransactions


@dataclass(frozen=True, slots=True)
class CatalogWrites:
    """Writes of the queries of one Spark."""

    session: Session
    transactions: QueryTransactions

    def can_delete(self, table: Table, question: Mapping[str, Any]) -> bool:
        """Tell whether our DELETE finds the rows that Spark's conditions mean."""
        return condition_text(table, question["where"]) is not None

    def delete(self, table: Table, question: Mapping[str, Any]) -> None:
        """Delete the rows for which Spark's conditions hold."""
        condition = condition_text(table, question["where"])
        self._beside(Conversation()).sql(f"DELETE FROM {table.name.quoted} WHERE {condition}")

    def truncate(self, table: Table) -> None:
        """Delete all rows."""
        self._beside(Conversation()).sql(f"TRUNCATE TABLE {table.name.quoted}")

    def write(self, table: Table, question: Mapping[str, Any], frame: Any) -> None:
        """Insert the rows of a frame of Spark's JVM, in the place of those that it replaces."""
        spark = self.session.runtime.spark()
        rows = _with_instants(FrameRows.of(ClassicFrame(frame, spark), spark), table)
        overwrite, partition, deleted = _replaced(table, question)
        if partition:
            rows = _of_partition(rows, table, partition)
        text = append_text(table, rows.table, overwrite=overwrite, partition=partition)

        def insert(conversation: Conversation) -> None:
            self._beside(conversation).run_statement(text, frame=rows)
            if deleted is not None:
                self._delete_earlier(table, deleted, conversation)

        self._within(table, question["query"], insert)

    def change(self, table: Table, question: Mapping[str, Any], frame: Any) -> None:
        """Write the rows that Spark's UPDATE, DELETE or MERGE has found."""
        spark = self.session.runtime.spark()
        changed = changed_rows(ClassicFrame(frame, spark), table, question)
        rows = _with_instants(FrameRows.of(changed, spark), table)
        text = change_text(table, question["command"], FRAME)

        def change(conversation: Conversation) -> None:
            self._beside(conversation).run_statement(text, frame=rows, adapt=change_by_row_id)

        self._within(table, question["query"], change)

    def check_changeable(self, table: Table, command: str) -> None:
        """NotSupported where rows have no ids."""
        if not table.is_full_acid:
            if table.is_view or table.is_materialized_view:
                kind = "a view"
            else:
                kind = "insert-only" if table.is_insert_only else "not transactional"
            raise NotSupported(f"{command} of {table.name}, which is {kind}")

    def _within(
        self, table: Table, query: int | None, work: Callable[[Conversation], None]
    ) -> None:
        """Write under the transaction of a query of Spark.

        Work that finds itself too late before it has read anything begins again.
        """
        runtime = self.session.runtime
        if not table.is_transactional:
            with self.transactions.writing_plain(query, table.name):
                work(Conversation())
            return
        attempts = runtime.settings.integer("hive.txn.retrysnapshot.max.count")
        while True:
            try:
                with self.transactions.writing(query, runtime) as conversation:
                    work(conversation)
            except WriteConflict:
                attempts -= 1
                if attempts <= 0 or self.transactions.has_read(query):
                    raise
            else:
                return

    def _beside(self, conversation: Conversation) -> Session:
        return self.session.beside(conversation)

    def _delete_earlier(self, table: Table, condition: str, conversation: Conversation) -> None:
        """Delete rows that others have written. The new ones are there already.

        Were they written afterwards, a query that reads its own target would find it empty.
        """
        opened, store = conversation.opened, self.session.runtime.metastore
        assert opened is not None
        own = store.allocate_write_id(opened.id, table.name)
        self._beside(conversation).sql(
            f"DELETE FROM {table.name.quoted} WHERE {condition} AND ROW__ID.writeid <> {own}"
        )


_Replaced = tuple[bool, dict[str, Any], str | None]


def _replaced(table: Table, question: Mapping[str, Any]) -> _Replaced:
    """Tell whether it is INSERT OVERWRITE, of which partition, and what to delete besides."""
    if question["mode"] != "overwrite":
        return question["mode"] != "append", {}, None
    condition = condition_text(table, question["where"]) if question["whole"] else None
    if condition == "TRUE" and not table.partition_columns:
        return True, {}, None
    if condition is not None or table.partition_columns:
        partition = partition_of(table, question["where"]) if question["whole"] else None
        if partition:
            return True, partition, None
    if condition is None:
        raise NotSupported(
            f"overwriting the rows of {table.name} for which this condition holds: compare columns "
            "of numbers, texts and dates with constants"
        )
    if not table.is_full_acid:
        what = "all" if condition == "TRUE" else "some"
        raise NotSupported(
            f"overwriting {what} partitions of {table.name}, which is not a full ACID table: name "
            "the whole partition, or overwrite those that get rows "
            "(spark.sql.sources.partitionOverwriteMode=dynamic, overwritePartitions())"
        )
    return False, {}, condition


def _with_instants(rows: FrameRows, table: Table) -> FrameRows:
    """Let Spark's TIMESTAMP be an instant where the table has instants, and not a wall clock."""
    instants = {
        column.name: column.type for column in table.all_columns if column.type.holds(Kind.INSTANT)
    }
    columns = tuple(
        replace(column, type=instants.get(column.name, column.type))
        for column in rows.table.columns
    )
    return replace(rows, table=replace(rows.table, columns=columns))


def _of_partition(rows: FrameRows, table: Table, partition: Mapping[str, Any]) -> FrameRows:
    """Return the rows without their partition's columns, which must have these values."""
    types = {column.name: column.type for column in table.partition_columns}
    same = " AND ".join(
        f"{quote_name(name)} <=> CAST('{value}' AS {types[name].spark})"
        for name, value in partition.items()
    )
    problem = f"a row to write is outside of the partition of {table.name} that is overwritten"
    checked = rows.rows.where(
        f"CASE WHEN {same} THEN true ELSE CAST(raise_error('{problem}') AS BOOLEAN) END"
    )
    columns = tuple(column for column in rows.table.columns if column.name not in partition)
    return replace(rows, table=replace(rows.table, columns=columns), rows=checked.drop(*partition))
