"""Sessions whose metastore's database is killed, again and again, and what is there in the end.

``python tests/support/killed_databases.py postgres|mariadb SEED STRIKES`` for longer.
Money moves between the accounts of two tables, in single statements and in transactions of many;
rows with numbers of their own come and go. Each client knows of each of its numbers whether it
must be there, must not, or may be, as the answer to its commit was lost.
"""

from __future__ import annotations

import logging
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pymysql

import hivesql
import mariadb
from failing_postgres import Postgres, running_postgres
from hivesql_planner.errors import CommitUnknown, HiveSqlError
from hostile_servers import Wire
from mariadb import MariaDb

ACCOUNTS = 4
MONEY = 100 * ACCOUNTS
_SETTINGS = {"hive.txn.timeout": "5s", "hive.lock.numretries": "40",
             "hive.lock.sleep.between.retries": "200ms"}  # fmt: skip


class _Noting(logging.Handler):
    """Notes what anybody logs as an error: whoever is told of a statement's needs no other."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Note a line, but those that tell of a statement's error."""
        if not record.name.startswith("hivesql"):
            self.lines.append(f"{record.name}: {record.getMessage()}")


@dataclass
class Walk:
    """One warehouse, and what its clients know of it."""

    url: str
    home: str
    seed: int
    there: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    perhaps: set[int] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)
    raw: list[str] = field(default_factory=list)
    """Errors that were none of ours."""
    stop: threading.Event = field(default_factory=threading.Event)

    def connect(self) -> hivesql.Session:
        """Open a session; the database may be away for a while."""
        while True:
            try:
                return hivesql.connect(self.url, self.home, settings=_SETTINGS, notify=self.hear)
            except HiveSqlError as error:
                self.count(error)
                time.sleep(0.2)

    def hear(self, line: str) -> None:
        """Look whether a notice is in the words of a driver."""
        if "Traceback" in line or "sqlalche.me" in line or "psycopg." in line:
            self.raw.append(line)

    def count(self, error: BaseException) -> None:
        """Note an error that a client has seen."""
        self.errors[f"{type(error).__name__} {getattr(error, 'code', '')}"] += 1

    def begin(self) -> None:
        """Make the tables."""
        with self.connect() as session:
            session.sql("CREATE TRANSACTIONAL TABLE n (id INT) STORED AS ORC")
            for name in "ab":
                session.sql(f"CREATE TRANSACTIONAL TABLE {name} (k INT, v INT) STORED AS ORC")
                rows = ", ".join(f"({k}, {MONEY // ACCOUNTS // 2})" for k in range(ACCOUNTS))
                session.sql(f"INSERT INTO {name} VALUES {rows}")

    def client(self, number: int) -> None:
        """Work until it is over."""
        chance, session = random.Random(f"{self.seed} {number}"), self.connect()
        for step in range(10_000):
            if self.stop.is_set():
                break
            work = chance.choice([self.add, self.add, self.remove, self.transfer])
            try:
                work(session, chance, number + 10 * step)
            except HiveSqlError as error:
                self.count(error)
                self.stop.wait(chance.random() / 5)
                if session.in_transaction:
                    try:
                        session.sql("ROLLBACK")
                    except HiveSqlError as second:
                        self.count(second)
            except Exception as error:  # noqa: BLE001 - whatever is none of ours is a defect
                self.raw.append(f"{type(error).__name__}: {error}")
        session.close()

    def add(self, session: hivesql.Session, chance: random.Random, number: int) -> None:
        """Insert one number, with and without a transaction around."""
        self._do(session, number, self.there, self.gone, f"INSERT INTO n VALUES ({number})")

    def remove(self, session: hivesql.Session, chance: random.Random, number: int) -> None:
        """Delete a number that one of the same client has inserted."""
        mine = sorted(one for one in self.there.copy() if one % 10 == number % 10)
        if mine:
            one = chance.choice(mine)
            self.there.discard(one)
            self._do(session, one, self.gone, self.there, f"DELETE FROM n WHERE id = {one}")

    def _do(
        self, session: hivesql.Session, number: int, done: set[int], undone: set[int], text: str
    ) -> None:
        try:
            session.sql(text)
        except CommitUnknown:
            self.perhaps.add(number)
            raise
        except HiveSqlError:
            undone.add(number)
            raise
        done.add(number)

    def transfer(self, session: hivesql.Session, chance: random.Random, number: int) -> None:
        """Move money from one table to the other, both or none."""
        sum_, k, other = (
            chance.randint(1, 9),
            chance.randrange(ACCOUNTS),
            chance.randrange(ACCOUNTS),
        )
        session.sql("START TRANSACTION")
        session.sql(f"UPDATE a SET v = v - {sum_} WHERE k = {k}")
        session.sql(f"UPDATE b SET v = v + {sum_} WHERE k = {other}")
        session.sql("COMMIT")

    def run(self, strikes: int, strike: Callable[[random.Random], None]) -> None:
        """Let clients work while the database is struck so many times."""
        clients = [threading.Thread(target=self.client, args=[number]) for number in range(3)]
        for client in clients:
            client.start()
        chance = random.Random(self.seed)
        for _ in range(strikes):
            time.sleep(2 * chance.random())
            strike(chance)
        time.sleep(1)
        self.stop.set()
        for client in clients:
            client.join()

    def problems(self) -> list[str]:
        """Tell what is wrong in the end."""
        found = list(self.raw)
        with self.connect() as session:
            numbers = Counter(row[0] for row in session.sql("SELECT id FROM n").rows)
            found += [
                f"{one} is there {count} times" for one, count in numbers.items() if count > 1
            ]
            there, gone = self.there - self.perhaps, self.gone - self.perhaps
            found += [f"{one} is lost" for one in sorted(there - set(numbers))]
            found += [f"{one} is there" for one in sorted((gone - there) & set(numbers))]
            rows = [row for name in "ab" for row in session.sql(f"SELECT k, v FROM {name}").rows]
            if sum(row[1] for row in rows) != MONEY or len(rows) != 2 * ACCOUNTS:
                found.append(f"the accounts are {rows}")
            found += [str(one) for name in "abn" for one in session.check(name)]
            # Whoever lost its connection is silent, and its locks end with the time-out.
            end = time.monotonic() + 30
            while (locks := session.sql("SHOW LOCKS").rows) and time.monotonic() < end:
                time.sleep(1)
                self.connect().close()
            found += [f"lock: {lock}" for lock in locks]
            session.sql("INSERT INTO n VALUES (-1)")
        return found


def strikes_of_postgres(server: Postgres) -> Callable[[random.Random], None]:
    """End connections, one of its processes, or all of it."""

    def strike(chance: random.Random) -> None:
        kind = chance.choice(["connections", "connections", "all", "process"])
        # It may still recover from the strike before.
        with suppress(subprocess.CalledProcessError):
            if kind == "connections":
                server.do(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'm' "
                    "AND random() < 0.5"
                )
            elif kind == "process":
                server.kill_backend(chance)
        if kind == "all":
            server.kill()
            time.sleep(chance.random())
            server.start()

    return strike


def strikes_of_mariadb(server: MariaDb) -> Callable[[random.Random], None]:
    """End all connections, in the middle of what they do, or all of it."""

    def strike(chance: random.Random) -> None:
        if chance.random() < 0.5:
            with suppress(pymysql.err.MySQLError):
                mariadb.end_connections(server.url, "m")
        else:
            server.kill()
            time.sleep(chance.random())
            server.start()

    return strike


def strikes_of_wire(wire: Wire) -> Callable[[random.Random], None]:
    """Cut what goes between clients and database, in or between two pieces, or let it wait."""
    return lambda chance: wire.be(chance.choice(Wire.MOODS), chance.randint(1, 3))


def walk_of(
    kind: str, home: Path, seed: int, strikes: int, *, by_wire: bool = False
) -> tuple[list[str], Walk]:
    """Walk once; what is wrong in the end.

    ``by_wire`` lets what goes to the database and back suffer, and not the database.
    """
    with ExitStack() as stack:
        if kind == "mariadb":
            killed = stack.enter_context(mariadb.mariadb_process())
            mariadb.do(killed.url, "CREATE DATABASE m")
            url, strike = killed.url, strikes_of_mariadb(killed)
        else:
            server = stack.enter_context(running_postgres())
            server.do("CREATE DATABASE m")
            url, strike = server.url, strikes_of_postgres(server)
        if by_wire:
            place, _, port = url.rpartition(":")
            wire = Wire(int(port))
            stack.callback(wire.close)
            url, strike = f"{place}:{wire.port}", strikes_of_wire(wire)
        walk = Walk(f"{url}/m", str(home / "w"), seed)
        noting = _Noting(walk.raw)
        logging.getLogger().addHandler(noting)
        stack.callback(logging.getLogger().removeHandler, noting)
        walk.begin()
        walk.run(strikes, strike)
        return walk.problems(), walk


def main(kind: str, seed: str, strikes: str) -> int:
    """Walk, and print what came of it."""
    with tempfile.TemporaryDirectory() as home:
        found, walk = walk_of(kind, Path(home), int(seed), int(strikes))
    sys.stdout.write(
        f"{len(walk.there)} there, {len(walk.gone)} gone, {len(walk.perhaps)} unknown; "
        f"{dict(walk.errors)}\n{found}\n"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
