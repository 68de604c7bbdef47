"""Tickets of seconds at a real Hive Metastore: who lives longer than they do, and who says so."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

import hivesql
from hivesql_planner.errors import ExecutionError
from interop import hive
from kdc import REALM, Kdc, running_kdc, skip_without_kdc

pytestmark = [pytest.mark.hive, pytest.mark.slow]

SERVER, KEYTAB = "hive.metastore.kerberos.principal", "hivesql.kerberos.keytab"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
LIFE = 16
"""Seconds that a ticket lives."""
RENEWALS = 3
OFTEN = {
    "hivesql.compactor.inline": "false",
    "hive.compactor.worker.sleep.time": "1s",
    "hive.compactor.worker.max.sleep.time": "1s",
    "hive.compactor.initiator.on": "false",
}


class Wire:
    """What lies between clients and a metastore, and can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self.url = f"thrift://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """End all connections: whoever goes on has to log in again."""
        ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()
        self.cut()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                outside, _ = self._listener.accept()
                inside = socket.create_connection(("127.0.0.1", self._port))
                self._ends += [outside, inside]
                for way in ((outside, inside), (inside, outside)):
                    threading.Thread(target=_carry, args=way, daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with source, suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """A KDC that gives ann, bob and etl tickets for seconds."""
    skip_without_kdc()
    pytest.importorskip("gssapi", reason="pip install 'hivesql[kerberos]'")
    with running_kdc(tmp_path_factory.mktemp("kdc")) as kdc, pytest.MonkeyPatch.context() as patch:
        kdc.add("hive/localhost")
        for name, password in (("ann", None), ("etl", None), ("bob", "secret")):
            kdc.add(name, password, f'-maxlife "{LIFE} seconds"')
        for name, value in kdc.environment.items():
            patch.setenv(name, value)
        yield kdc


@pytest.fixture(scope="module")
def wire(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """The way to a metastore that wants Kerberos, and encrypts."""
    settings = kdc.metastore_settings | {"hadoop.rpc.protection": "privacy"}
    place = tmp_path_factory.mktemp("secure")
    with hive.metastore(place, settings=settings, krb5=kdc.krb5) as url:
        wire = Wire(int(url.rpartition(":")[2]))
        try:
            yield wire
        finally:
            wire.close()


@contextmanager
def services(wire: Wire, settings: dict[str, str], log: Path) -> Iterator[Callable[[], str]]:
    """Run `hivesql services` in the block; give what reads what it has said so far."""
    options = [f"--hiveconf={key}={value}" for key, value in settings.items()]
    program = Path(sys.executable).with_name("hivesql")
    with log.open("w") as out:
        process = subprocess.Popen(
            [program, "services", "--drain=20", f"--metastore={wire.url}", *options],
            stdout=out, stderr=out, cwd=log.parent, env=os.environ,
        )  # fmt: skip
        try:
            yield log.read_text
            assert process.poll() is None, log.read_text()
        finally:
            process.terminate()
            process.wait(60)


def tickets(kdc: Kdc, name: str) -> int:
    """Count the tickets that somebody has logged in for."""
    lines = (kdc.place / "kdc.log").read_text().splitlines()
    return sum("AS_REQ" in line and "ISSUE" in line and f" {name}@" in line for line in lines)


def test_who_outlives_tickets(kdc: Kdc, wire: Wire, tmp_path: Path) -> None:
    """By a keytab all goes on; by a cache whoever connects is told what to do, and goes on then."""
    client = {"hive.metastore.sasl.enabled": "true", SERVER: f"hive/_HOST@{REALM}", **OFTEN}
    own = client | {KEYTAB: str(kdc.place / "ann.keytab")}
    steady = client | {KEYTAB: str(kdc.place / "etl.keytab")}
    kdc.run("kinit", "bob", text="secret\n")
    with ExitStack() as stack:
        session, cached = (
            stack.enter_context(hivesql.connect(wire.url, settings=settings))
            for settings in (own, client)
        )
        said = stack.enter_context(services(wire, steady, tmp_path / "services.log"))
        for number in range(RENEWALS):
            name = f"t{number}"
            session.sql(f"CREATE TABLE {name} (a INT) {ACID}")
            session.sql(f"INSERT INTO {name} VALUES ({number})")
            before = {name: tickets(kdc, name) for name in ("ann", "etl")}
            time.sleep(LIFE + 1)
            # Connections that are there live on.
            assert [row[:] for row in session.sql(f"SELECT a FROM {name}").rows] == [(number,)]
            wire.cut()
            assert len(session.sql("SHOW TABLES").rows) == number + 1
            assert tickets(kdc, "ann") > before["ann"]
            wait_until(lambda before=before: tickets(kdc, "etl") > before["etl"])  # type: ignore[misc]
            # There is nothing to do, of which the worker tells the metastore.
            session.sql(f"ALTER TABLE {name} COMPACT 'major'")
            wait_until(lambda: not states(session) & {"initiated", "working"})
            session.sql(f"INSERT INTO {name} VALUES (10)")
        requests = session.sql("SHOW COMPACTIONS").rows
        assert [row[5] for row in requests] == ["refused"] * RENEWALS, said()
        for number in range(RENEWALS):
            rows = session.sql(f"SELECT a FROM t{number}").rows
            assert sorted(row[0] for row in rows) == [number, 10]
        with pytest.raises(ExecutionError, match=f"bob@{REALM}.*Ticket expired.*kinit bob@"):
            cached.sql("SHOW TABLES")
        kdc.run("kinit", "bob", text="secret\n")
        assert [row[:] for row in cached.sql("SHOW TABLES").rows]


def states(session: hivesql.Session) -> set[str]:
    """What has become of the requests."""
    return {row[5] for row in session.sql("SHOW COMPACTIONS").rows}


def wait_until(holds: Callable[[], bool]) -> None:
    """What never holds meets the suite's time limit."""
    while not holds():
        time.sleep(0.5)
