"""The metastore's database: points around each transaction, simulated time, and the plain truth."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.pool import NullPool

import mariadb
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_planner.errors import CommitUnknown, ExecutionError
from simulation.scheduler import Scheduler

T = TypeVar("T")
_EPOCH = 2440587.5
"""The julian day of the first of January 1970."""
# One that comes before PostgreSQL's own, on the path on which functions are looked up.
_POSTGRES_CLOCK = """
CREATE SCHEMA IF NOT EXISTS simulated;
CREATE OR REPLACE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
'SELECT to_timestamp(current_setting(''simulated.now'')::float8)'
"""


class SimulatedRdbms(Rdbms):
    """The database of a metastore; whose turn it is, and what time, a scheduler says."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.scheduler: Scheduler | None = None
        self.written: Callable[[], None] = lambda: None
        """Called after each transaction that may have changed something."""
        self.doing = ""
        """What the next transaction is, for the trace."""
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", self._set_sqlite_clock)
        elif self._engine.dialect.name == "mysql":
            event.listen(self._engine, "begin", self._set_mysql_clock)
            event.listen(self._engine, "before_cursor_execute", _by_the_set_clock, retval=True)
        else:
            self.write(lambda db: db.execute(text(_POSTGRES_CLOCK)))
            for engine in {
                self._engine,
                self._quick_engine,
                self._early_engine,
                self._reader,
                self._asker,
            }:
                event.listen(engine, "begin", self._set_postgres_clock)

    def read(self, work: Callable[[Connection], T], *, at_once: bool = False) -> T:
        """As in production, between points."""
        if self._is_inside:
            return super().read(work, at_once=at_once)
        self._reach("read", self._name(work))
        return super().read(work, at_once=at_once)

    def write(
        self, work: Callable[[Connection], T], *, durable: bool = True, early: bool = False
    ) -> T:
        """As in production, between points, unless a fault comes in between."""
        if self._is_inside:
            return super().write(work, durable=durable, early=early)
        fault = self._reach("write", self._name(work))
        if fault == "unsent":
            raise CommitUnknown("the connection broke (simulated), and nothing was committed")
        result = super().write(work, durable=durable, early=early)
        self.written()
        if fault == "lost":
            raise CommitUnknown("the connection broke (simulated) after the commit")
        self._reach("after", "")
        return result

    @property
    def _is_inside(self) -> bool:
        scheduler = self.scheduler
        return scheduler is None or self._joined.connection is not None

    def _reach(self, kind: str, what: str) -> str:
        scheduler = self.scheduler
        assert scheduler is not None
        fault = scheduler.point(kind, f"{kind} {what}".strip())
        if fault is None:
            return ""
        if fault.kind == "down":
            raise ExecutionError("the metastore's database failed: simulated", code=10280)
        return fault.kind

    def _name(self, work: Callable[..., Any]) -> str:
        name, self.doing = self.doing or work.__qualname__, ""
        return name.partition(".<")[0].rpartition(".")[2]

    def _seconds(self) -> float:
        return self.scheduler.database_now if self.scheduler else 1_700_000_000.0

    def _set_sqlite_clock(self, connection: Any, record: Any) -> None:
        def julianday(moment: str) -> float:
            assert moment == "now"
            return self._seconds() / 86400 + _EPOCH

        connection.create_function("julianday", 1, julianday)
        connection.execute("PRAGMA synchronous=OFF")

    def _set_postgres_clock(self, db: Connection) -> None:
        db.exec_driver_sql("SET search_path = simulated, pg_catalog, public")
        db.exec_driver_sql(f"SET simulated.now = '{self._seconds():.6f}'")

    def _set_mysql_clock(self, db: Connection) -> None:
        db.exec_driver_sql(f"SET timestamp = {self._seconds():.6f}")

    @property
    def engine(self) -> Engine:
        """For questions that are no part of what is tested."""
        return self._engine


def _by_the_set_clock(
    db: Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
) -> tuple[str, Any]:
    """Ask for the time that can be set: SYSDATE cannot."""
    return statement.replace("SYSDATE(3)", "NOW(3)"), parameters


class Truth:
    """What the database says, asked beside all that is tested."""

    def __init__(self, url: str, engine: Engine) -> None:
        self._sqlite = None
        if url.startswith("sqlite:"):
            self._sqlite = sqlite3.connect(
                str(make_url(url).database), isolation_level=None, check_same_thread=False
            )
        self._engine = engine

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        if self._sqlite is not None:
            return self._sqlite.execute(query).fetchall()
        with self._engine.connect() as db:
            return [tuple(row) for row in db.exec_driver_sql(query)]

    def close(self) -> None:
        """Let go of the file."""
        if self._sqlite is not None:
            with suppress(sqlite3.Error):
                self._sqlite.close()


class Sqlite:
    """A file that is copied back for every case."""

    def __init__(self, place: Path) -> None:
        self._file, self._kept = place / "metastore.db", place / "kept.db"
        self.url = f"sqlite:///{self._file}"

    def keep(self) -> None:
        """Remember the database as it is; nobody may have it open."""
        self._file.rename(self._kept)

    def begin_anew(self) -> None:
        """As it was when it was kept."""
        for end in ("", "-wal", "-shm"):
            Path(f"{self._file}{end}").unlink(missing_ok=True)
        shutil.copy(self._kept, self._file)


class Postgres:
    """A database that is made for every case from a template."""

    def __init__(self, server: str) -> None:
        self.url = f"{server}/simulated"
        self._admin = create_engine(
            f"{server}/postgres", isolation_level="AUTOCOMMIT", poolclass=NullPool
        )
        self._do("DROP DATABASE IF EXISTS simulated", "DROP DATABASE IF EXISTS kept")
        self._do("CREATE DATABASE simulated")

    def keep(self) -> None:
        """Remember the database as it is; nobody may have it open."""
        self._do("ALTER DATABASE simulated RENAME TO kept")

    def begin_anew(self) -> None:
        """As it was when it was kept."""
        self._do("DROP DATABASE IF EXISTS simulated WITH (FORCE)")
        self._do("CREATE DATABASE simulated TEMPLATE kept STRATEGY file_copy")

    def _do(self, *texts: str) -> None:
        with self._admin.connect() as db:
            for one in texts:
                db.exec_driver_sql(one)


class MariaDb:
    """A database that is made for every case by copying another, table by table."""

    def __init__(self, server: str) -> None:
        self.url, self._server = f"{server}/simulated", server
        mariadb.copy_database(server, "", "simulated")

    def keep(self) -> None:
        """Remember the database as it is; nobody may have it open."""
        mariadb.copy_database(self._server, "simulated", "kept")

    def begin_anew(self) -> None:
        """As it was when it was kept."""
        mariadb.copy_database(self._server, "kept", "simulated")


def database_on(server: str) -> Postgres | MariaDb:
    """The database of simulations on a server, by its URL."""
    return MariaDb(server) if make_url(server).get_backend_name() == "mysql" else Postgres(server)
