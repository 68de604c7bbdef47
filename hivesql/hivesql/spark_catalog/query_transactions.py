"""The transactions of Spark's queries: one each, from the first table that it reads to its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hivesql.sessions.open_transaction import Conversation
from hivesql_planner.errors import NotSupported
from hivesql_planner.statements.bound import EndTransaction, StartTransaction

if TYPE_CHECKING:
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.model.table import TableName


class QueryTransactions:
    """Those that are open, by the numbers that Spark gives to queries."""

    def __init__(self) -> None:
        self._open: dict[int, Conversation] = {}
        self._opening = threading.Lock()
        self._readers: set[int] = set()
        self._plain: dict[int, TableName] = {}

    @contextmanager
    def reading(self, query: int | None, runtime: Runtime) -> Iterator[Conversation]:
        """Provide the transaction of a query, which stays open; without one it ends here."""
        if query is not None:
            self._readers.add(query)
            yield self._of(query, runtime)
            return
        conversation = Conversation()
        conversation.start(StartTransaction(), runtime)
        try:
            yield conversation
            conversation.end(EndTransaction(commit=True), runtime)
        finally:
            conversation.close(runtime)

    @contextmanager
    def writing(self, query: int | None, runtime: Runtime) -> Iterator[Conversation]:
        """Provide the transaction of a query that writes; committed on leaving, else aborted.

        What the query reads meanwhile, in whichever thread, it reads under the same one.
        """
        if query is None:
            conversation = Conversation()
            conversation.start(StartTransaction(), runtime)
        else:
            conversation = self._of(query, runtime)
        try:
            yield conversation
            conversation.end(EndTransaction(commit=True), runtime)
        finally:
            if query is not None:
                self._open.pop(query, None)
            conversation.close(runtime)

    @contextmanager
    def writing_plain(self, query: int | None, table: TableName) -> Iterator[None]:
        """Let a query write a table without transactions, which it must not read meanwhile."""
        if query is not None:
            self._plain[query] = table
        try:
            yield
        finally:
            if query is not None:
                self._plain.pop(query, None)

    def check_readable(self, query: int | None, table: TableName) -> None:
        """NotSupported where the query writes this table, whose lock nobody else passes."""
        if query is not None and self._plain.get(query) == table:
            raise NotSupported(
                f"reading {table} in a query of Spark that writes it, as it is not transactional"
            )

    def has_read(self, query: int | None) -> bool:
        """Tell whether a query that has not ended has read any of our tables."""
        return query in self._readers

    def end(self, query: int, runtime: Runtime) -> None:
        """End the transaction of a query that has only read."""
        self._readers.discard(query)
        conversation = self._open.pop(query, None)
        if conversation is not None and conversation.opened is not None:
            conversation.end(EndTransaction(commit=True), runtime)

    def close(self, runtime: Runtime) -> None:
        """Roll back what is open."""
        for query in list(self._open):
            self._open.pop(query).close(runtime)

    def _of(self, query: int, runtime: Runtime) -> Conversation:
        with self._opening:
            conversation = self._open.get(query)
            if conversation is None:
                conversation = Conversation()
                conversation.start(StartTransaction(), runtime)
                self._open[query] = conversation
            return conversation
