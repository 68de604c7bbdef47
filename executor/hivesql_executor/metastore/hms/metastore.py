"""A real Hive Metastore behind the calls of a metastore."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hivesql_executor.metastore.api import Activity, Done, Once
from hivesql_executor.metastore.file_moves import BegunMoves, Move
from hivesql_executor.metastore.hms.authorization import AuthorizationCalls
from hivesql_executor.metastore.hms.client import Client
from hivesql_executor.metastore.hms.notifications import NotificationCalls
from hivesql_executor.metastore.hms.transactions import KEYS
from hivesql_planner.errors import NotSupported

if TYPE_CHECKING:
    from hivesql_executor.metastore.hms.access.transports import Access
    from hivesql_planner.model.statistics import StatisticsChange
    from hivesql_planner.model.table import Database, Table


class HiveMetastore(NotificationCalls, AuthorizationCalls):
    """Metastore over Thrift; a method may be several calls, and then is not one transaction."""

    keeps_rows = False

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client

    @classmethod
    def open(cls, uris: str, *, timeout: float, access: Access | None = None) -> HiveMetastore:
        """Connect to ``thrift://host:port``; several addresses are separated by commas.

        ``timeout`` is in seconds and holds for each call, ``access`` is how connections are made;
        None: without TLS and login. ExecutionError 10280 when none answers, or lets us in.
        """
        return cls(Client(uris, timeout=timeout, access=access))

    def version(self) -> str:
        """Return the server's release."""
        return f"Hive Metastore {self._client.version}"

    def needs_housekeeping(self, timeout: float, time_to_live: float) -> bool:
        """Never: the metastore does it itself."""
        return False

    def reap(self, timeout: float) -> tuple[int, ...]:
        """Nothing: the metastore aborts silent transactions itself."""
        return ()

    def activity(self, tables: int = 0) -> Activity:
        """Tell what goes on, by three calls; no backlogs: the metastore has no history."""
        return Activity(
            now=self.now(),
            transactions=self.transactions(),
            locks=self.locks(),
            compactions=self.compactions(),
        )

    def clean_txns(self) -> None:
        """Nothing: the metastore forgets ended transactions itself."""

    def stored_rows(self, names: Collection[str]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """NotSupported: Thrift tells of objects, not of the tables that they are kept in."""
        raise NotSupported(f"sys.{', sys.'.join(sorted(names))} with a Hive Metastore")

    def require_writing(self) -> None:
        """Nothing: it is the metastore's affair who may write."""

    def database_home(self, database: Database) -> str:
        """Its own location, or nothing: where others live, the metastore decides."""
        return database.location

    def home_of(self, table: Table) -> str:
        """Its own location, or nothing: where others live, the metastore decides."""
        if table.is_materialized_view:
            raise NotSupported("CREATE MATERIALIZED VIEW with a Hive Metastore")
        return table.location

    def accept_server(self, known: str, now: str) -> None:
        """Nothing: the metastore does not tell which server its database is."""

    def note_moves(self, txn_id: int, planned: Sequence[Move], key: str = "") -> str:
        """Nothing is noted: the metastore has no table for it."""
        return ""

    def forget_moves(self, key: str, target: str | None = None) -> None:
        """Nothing: none were noted."""

    def settle_moves(self, key: str, counted: Collection[StatisticsChange] = ()) -> bool:
        """Nothing: none were noted."""
        return True

    def renew_moves(self, key: str) -> None:
        """Nothing: none were noted."""

    def noted_moves(self, key: str, *, is_taken: bool = False) -> BegunMoves | None:
        """None, for the same reason."""
        return None

    def lost_moves(self, timeout: float, of: Collection[int] = ()) -> tuple[BegunMoves, ...]:
        """None, for the same reason."""
        return ()

    @contextmanager
    def changing_for(self, txn_id: int, key: str = "") -> Iterator[None]:
        """Nothing: a Hive Metastore has no change of its catalog together with such a question."""
        yield

    def done(self, once: Once) -> Done | None:
        """NotSupported: the metastore keeps no keys."""
        raise NotSupported(KEYS)

    def forget_key(self, key: str) -> int:
        """None: there are no keys."""
        return 0

    def forget_keys(self, seconds: float) -> None:
        """Nothing: there are no keys."""

    def forget_writes(self, seconds: float) -> None:
        """Nothing: none are kept."""

    def close(self) -> None:
        """Close all connections."""
        self._client.close()
