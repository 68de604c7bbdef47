"""A real Hive Metastore, one of whose answers is cut off, garbage, huge or never there.

Each call of each kind of statement is struck once. Whoever is told of success has it, whoever is
told of an error has changed nothing, and only a commit may be told to be unknown.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

import hivesql
from hivesql_planner.errors import CommitUnknown, HiveSqlError
from interop import hive
from waiting import wait_until

pytestmark = [pytest.mark.hive, pytest.mark.slow]

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
GARBAGE = {
    "zeros": b"\0" * 64,
    "HTTP": b"HTTP/1.1 200 OK\r\n\r\n",
    "a huge name": struct.pack("!Ii", 0x80010002, (1 << 31) - 1),
    "a length below nothing": struct.pack("!Ii", 0x80010002, -5),
}
CUTS = ("cut before", "cut after", "nothing")
HOWS = (*CUTS, *GARBAGE)
Rows = list[tuple[int, str]]
# Of each statement, where {n} is another number each time, the rows that it leaves of those before.
STATEMENTS: dict[str, Callable[[Rows, int], Rows]] = {
    "INSERT INTO t VALUES ({n}, 'c')": lambda rows, n: [*rows, (n, "c")],
    "UPDATE t SET v = 'z{n}' WHERE k = 1": lambda rows, n: [
        (k, f"z{n}" if k == 1 else v) for k, v in rows
    ],
    "SHOW COMPACTIONS": lambda rows, n: rows,
    "ALTER TABLE t COMPACT 'major'": lambda rows, n: rows,
}


class Wire:
    """What lies between clients and a metastore, and does otherwise with one answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"thrift://127.0.0.1:{self._listener.getsockname()[1]}"
        self.calls: list[str] = []
        self.struck: tuple[int, str] | None = None
        """Which of the calls, counted from 0, and what becomes of it."""
        self.is_dead = False
        """Whether nobody is there any more."""
        self.ended = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def begin(self, struck: tuple[int, str] | None = None) -> None:
        """Count calls anew."""
        self.calls, self.struck, self.is_dead = [], struck, False

    def close(self) -> None:
        """Take no more connections."""
        self.ended.set()
        self._listener.close()

    def _serve(self) -> None:
        while not self.ended.is_set():
            try:
                outside, _ = self._listener.accept()
            except OSError:
                return
            inside = socket.create_connection(("127.0.0.1", self._port))
            threading.Thread(target=self._carry, args=(outside, inside), daemon=True).start()

    def _carry(self, outside: socket.socket, inside: socket.socket) -> None:
        """A client sends a request and waits for its answer: so both ways need one thread."""
        with outside, inside, suppress(OSError):
            threading.Thread(target=self._answer, args=(inside, outside), daemon=True).start()
            while (data := outside.recv(65536)) and not self.is_dead:
                how = ""
                if data[:2] == b"\x80\x01":
                    size = struct.unpack("!i", data[4:8])[0]
                    self.calls.append(data[8 : 8 + size].decode())
                    at, what = self.struck or (-1, "")
                    how = what if len(self.calls) - 1 == at else ""
                if how == "cut before":
                    return
                if how:
                    self._strike(how, data, outside)
                    return
                inside.sendall(data)

    def _strike(self, how: str, data: bytes, outside: socket.socket) -> None:
        """Let the metastore do what it was asked for, and say otherwise."""
        with socket.create_connection(("127.0.0.1", self._port)) as other:
            other.sendall(data)
            other.recv(65536)
        self.is_dead = how == "dead"
        if how in GARBAGE:
            outside.sendall(GARBAGE[how])
        if how not in ("cut after", "dead"):
            outside.recv(1)  # Until the client gives up.

    @staticmethod
    def _answer(inside: socket.socket, outside: socket.socket) -> None:
        with suppress(OSError):
            while data := inside.recv(65536):
                outside.sendall(data)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """The way to a real metastore."""
    with hive.metastore(tmp_path_factory.mktemp("hms")) as url:
        wire = Wire(int(url.rpartition(":")[2]))
        yield wire
        wire.close()


def rows(session: hivesql.Session) -> Rows:
    return sorted((row[0], row[1]) for row in session.sql("SELECT * FROM t").rows)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_struck_call_loses_and_doubles_nothing(wire: Wire, statement: str) -> None:
    settings = {"hive.metastore.client.socket.timeout": "3s"}
    wire.begin()
    with hivesql.connect(wire.url, settings=settings) as session:
        session.sql(f"DROP TABLE IF EXISTS t; CREATE TABLE t (k INT, v STRING) {ACID}")
        session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        have, at, commits = rows(session), 0, 0
        while True:
            expected = sorted(STATEMENTS[statement](have, at + 10))
            wire.begin((at, HOWS[at % len(HOWS)]))
            failure: HiveSqlError | None = None
            try:
                session.sql(statement.replace("{n}", str(at + 10)))
            except HiveSqlError as error:
                failure = error
            calls = list(wire.calls)
            wire.begin()
            if at >= len(calls):
                break
            where = f"{HOWS[at % len(HOWS)]} at {calls[at]}, call {at}: {failure!r}"
            after = rows(session)
            if failure is None:
                assert after == expected, where
            elif isinstance(failure, CommitUnknown):
                assert calls[at] in ("commit_txn", "compact2"), where
                assert after in (have, expected), where
            else:
                assert after == have, where
            commits += calls[at] == "commit_txn"
            left = [row for row in session.sql("SHOW LOCKS t").rows if row[1] == "default"]
            assert left == [] or isinstance(failure, CommitUnknown), where
            have, at = after, at + 1
        assert at > 0
        assert commits == ("INSERT" in statement or "UPDATE" in statement)


def test_a_metastore_that_dies_within_create_table_as(wire: Wire) -> None:
    """When it is there again the table goes, before the locks that keep others out of it."""
    settings = {"hive.metastore.client.socket.timeout": "60s", "hive.txn.timeout": "30s"}
    create = f"CREATE TABLE born {ACID} AS SELECT 1 AS k"
    wire.begin()
    with hivesql.connect(wire.url, settings=settings) as session:
        session.sql(f"{create}; DROP TABLE born")
        wire.begin()
        session.sql(create)
        calls = [*wire.calls]
        session.sql("DROP TABLE born")
        made = calls.index("create_table_req")
        for at in range(made, calls.index("commit_txn")):
            wire.begin((at, "dead"))
            with pytest.raises(HiveSqlError) as raised:
                session.sql(create)
            assert wire.is_dead, calls[at]
            wire.begin()
            if at < made + 3:
                # It is read again at once: until then nobody knows which table came of it, if any.
                assert "look, and drop it" in str(raised.value)
                session.sql("DROP TABLE IF EXISTS born")
                continue
            wait_until(lambda: not session.sql("SHOW TABLES LIKE 'born'").rows)
            session.sql(f"{create}; DROP TABLE born")


MOVES = {
    "ALTER TABLE p{n} PARTITION (d = 1) RENAME TO PARTITION (d = 9)": [{(1, 1)}, {(1, 9)}],
    "ALTER TABLE q{n} EXCHANGE PARTITION (d = 1) WITH TABLE p{n}": [{(1, 1)}],
    "ALTER TABLE p{n} RENAME TO r{n}": [{(1, 1)}],
    "ALTER TABLE p{n} DROP PARTITION (d = 1)": [{(1, 1)}, set()],
    "DROP TABLE p{n}": [{(1, 1)}, set()],
}
"""What moves directories, and the rows that may be seen after it, of those in ``p{n}`` by then."""


@pytest.mark.parametrize("statement", MOVES)
def test_a_metastore_that_dies_while_directories_move(wire: Wire, statement: str) -> None:
    """When it is there again each row is seen once, and no directory is hidden or left over."""
    settings = {"hive.metastore.client.socket.timeout": "60s", "hive.txn.timeout": "30s"}

    def seen() -> set[tuple[int, int]]:
        names = [row[0] for row in session.sql("SHOW TABLES").rows]
        all_rows = [row for name in names for row in session.sql(f"SELECT * FROM {name}").rows]
        assert len(all_rows) == len({*all_rows})
        return {*all_rows}

    # Hive exchanges partitions of plain tables alone.
    kind = "STORED AS ORC" if "EXCHANGE" in statement else ACID
    wire.begin()
    with hivesql.connect(wire.url, settings=settings) as session:
        session.sql("CREATE DATABASE IF NOT EXISTS moved")
        session.sql("USE moved")
        # Before that call only questions are asked.
        at = 6
        while True:
            for (name,) in session.sql("SHOW TABLES").rows:
                session.sql(f"DROP TABLE {name}")
            # Of other names each time: where one is taken again, Hive's own renaming may fail.
            for name in ("p", "q"):
                session.sql(f"CREATE TABLE {name}{at} (k INT) PARTITIONED BY (d INT) {kind}")
            session.sql(f"INSERT INTO p{at} VALUES (1, 1)")
            wire.begin((at, "dead"))
            failure: HiveSqlError | None = None
            try:
                session.sql(statement.replace("{n}", str(at)))
            except HiveSqlError as error:
                failure = error
            was_dead = wire.is_dead
            wire.begin()
            if not was_dead:
                assert failure is None
                break
            wait_until(lambda: seen() in MOVES[statement])
            at += 1
        assert at > 10
