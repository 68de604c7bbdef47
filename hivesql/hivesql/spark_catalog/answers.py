"""What all answers to Spark's JVM share: transactions, errors in JSON, and types as Spark's."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hivesql.spark_catalog.query_transactions import QueryTransactions
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.errors import HiveSqlError, SessionClosed
from hivesql_planner.model.hive_type import HiveType, Kind, quote_name
from hivesql_planner.model.table import Column

if TYPE_CHECKING:
    from hivesql.session import Session

_NO_ZONE = HiveType(Kind.OTHER, other="timestamp_ntz")


@dataclass(slots=True)
class SparkRequests(ABC):
    """Answers in JSON, or frames of Spark's JVM. Errors are answers too: Spark raises them."""

    session: Session
    transactions: QueryTransactions = field(default_factory=QueryTransactions, kw_only=True)

    def answer(self, request: str, frame: Any) -> Any:
        """Answer one request, which ``CatalogSession.java`` makes; a frame may come with it."""
        try:
            return self._answer_any(json.loads(request), frame)
        except Exception as error:  # noqa: BLE001 - it goes on in the JVM
            translation = translate_error(error)
            kind, message = type(translation).__name__, str(translation)
            if isinstance(translation, HiveSqlError) and translation.retryable:
                message += " (running it again may succeed)"
            return json.dumps({"refused": {"kind": kind, "message": message}})

    def close(self) -> None:
        """Roll back the transactions of queries that run."""
        self.transactions.close(self.session.runtime)

    def _answer_any(self, question: Mapping[str, Any], frame: Any) -> Any:
        if question["what"] == "end":
            self.transactions.end(question["query"], self.session.runtime)
            return "null"
        if self.session.closed:
            raise SessionClosed
        return self._answer(question, frame)

    @abstractmethod
    def _answer(self, question: Mapping[str, Any], frame: Any) -> Any:
        """Answer a request of a query that runs, by a session that is open."""


def spark_schema(columns: Iterable[Column]) -> str:
    """Return columns in Spark's DDL; Hive's TIMESTAMP has no zone."""
    return ", ".join(
        f"{quote_name(column.name)} {column.type.exchange((Kind.TIMESTAMP,), _NO_ZONE).spark}"
        for column in columns
    )
