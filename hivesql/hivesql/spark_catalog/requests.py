"""What the catalog in Spark's JVM asks of the session behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from hivesql.script import StatementText
from hivesql.session import Session
from hivesql.spark_catalog.answers import SparkRequests, spark_schema
from hivesql.spark_catalog.places import place_of_partition, with_partition_texts
from hivesql.spark_catalog.texts import scan_text
from hivesql.spark_catalog.writes import CatalogWrites
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.constraints import default_of
from hivesql_planner.model.table import Table, TableName

if TYPE_CHECKING:
    from collections.abc import Callable

    from hivesql.sessions.open_transaction import Conversation


@dataclass(slots=True)
class CatalogRequests(SparkRequests):
    """What a catalog asks."""

    def _answer(self, question: Mapping[str, Any], frame: Any) -> Any:
        answers: Mapping[str, Callable[[], Any]] = {
            "databases": lambda: self.session.runtime.metastore.databases(),
            "database": lambda: self._database(question["database"]),
            "tables": lambda: [
                name.name for name in self.session.runtime.metastore.tables(question["database"])
            ],
            "table": lambda: self._table(question),
            "can delete": lambda: self._writes.can_delete(self._target(question), question),
            "delete": lambda: self._writes.delete(self._target(question), question),
            "truncate": lambda: self._writes.truncate(self._target(question)),
            "changeable": lambda: self._writes.check_changeable(
                self._target(question), question["command"]
            ),
            "change": lambda: self._writes.change(self._target(question), question, frame),
            "write": lambda: self._writes.write(self._target(question), question, frame),
        }
        what = question["what"]
        return self._scan(question) if what == "scan" else json.dumps(answers[what]())

    def _database(self, name: str) -> dict[str, str] | None:
        try:
            database = self.session.runtime.metastore.database(name.lower())
        except NoSuchObject:
            return None
        properties = {"location": database.location, "owner": database.owner}
        return properties | ({"comment": database.comment} if database.comment else {})

    def _table(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        name = TableName(question["database"].lower(), question["table"].lower())
        try:
            table = self.session.runtime.metastore.table(name)
        except NoSuchObject:
            return None
        version = question.get("version")
        if version is not None and not version.isdecimal():
            raise SemanticError(
                f"VERSION AS OF of {name} is the number of a write, not {version!r}"
            )
        return {
            "database": name.database,
            "table": name.name,
            "schema": spark_schema(table.all_columns),
            "defaults": {
                column.name: text
                for column in table.all_columns
                if (text := default_of(table, column.name)) is not None
            },
            "partitions": table.partition_names,
            "has row ids": table.is_full_acid,
            "properties": dict(table.properties),
            "rows": self._rows(table),
            "version": version,
            "time": question.get("time"),
        }

    def _rows(self, table: Table) -> int:
        """Tell how many rows a table has; -1 where nobody has counted."""
        if table.is_view:
            return -1
        statistics = self.session.runtime.metastore.statistics(table.name)
        if statistics.rows is None or not statistics.is_accurate:
            return -1
        # Other programs put files into plain tables that are empty to the catalog.
        return statistics.rows if table.is_transactional else statistics.rows or -1

    @property
    def _writes(self) -> CatalogWrites:
        return CatalogWrites(self.session, self.transactions)

    def _target(self, question: Mapping[str, Any]) -> Table:
        name = TableName(question["database"], question["table"])
        return self.session.runtime.metastore.table(name)

    def _scan(self, question: Mapping[str, Any]) -> Any:
        runtime, table = self.session.runtime, self._target(question)
        self.transactions.check_readable(question["query"], table.name)
        place = place_of_partition(table, question["columns"])
        with self.transactions.reading(question["query"], runtime) as conversation:
            result = self._within(conversation).run_statement(
                StatementText(scan_text(table, question)),
                consume=lambda rows: rows,
                adapt=partial(with_partition_texts, place=place),
            )
            return result.value._jdf

    def _within(self, conversation: Conversation) -> Session:
        return self.session.beside(conversation)
