"""A MariaDB server of the tests' own, and databases in it that are copied or new."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from programs import free_port
from scratch import in_memory

# Nothing has to outlive the run, and a table is no file of its own: each test has fifty.
_FORGETFUL = (
    "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
    "--skip-innodb-doublewrite", "--innodb-file-per-table=0", "--innodb-buffer-pool-size=16M",
    "--innodb-log-file-size=8M", "--innodb-stats-persistent=0", "--skip-log-bin",
    "--performance-schema=OFF",
)  # fmt: skip
# What was committed outlives a killed server, if not a power loss.
_SURVIVING = (
    "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=16M",
    "--innodb-log-file-size=8M", "--skip-log-bin", "--performance-schema=OFF",
)  # fmt: skip
_SECONDS = 60


@contextmanager
def mariadb_server() -> Iterator[str]:
    """Run a server on a free port; yields its URL without a database."""
    with mariadb_process(_FORGETFUL) as server:
        yield server.url


@dataclass
class MariaDb:
    """One server, which runs or not."""

    url: str
    """Its address without a database."""
    directory: Path
    words: Sequence[str]
    run: Mapping[str, Any]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with Path(self.directory, "log").open("ab") as log:
            self.process = subprocess.Popen(self.words, stdout=log, stderr=log, **self.run)
        _wait_for(self.url, self.process, Path(self.directory, "log"))

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Stop it for a while: the system goes on to acknowledge what it is sent."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@contextmanager
def mariadb_process(settings: Sequence[str] = _SURVIVING) -> Iterator[MariaDb]:
    """Run a server on a free port, which may be killed and started again."""
    program = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/libexec")
    if program is None:
        pytest.skip("MariaDB is missing, and tests with it: apt-get install mariadb-server")
    with tempfile.TemporaryDirectory(prefix="hivesql-mariadb-", dir=in_memory()) as directory:
        port = free_port()
        # Without tables of users everybody may do everything, and there is nothing to install.
        Path(directory, "mysql").mkdir()
        run: dict[str, Any] = {"cwd": directory}
        if os.geteuid() == 0:
            # It refuses to run as root.
            for place in (directory, f"{directory}/mysql"):
                shutil.chown(place, "mysql", "mysql")
            run |= {"user": "mysql", "group": "mysql", "extra_groups": []}
        words = (
            program, "--no-defaults", f"--datadir={directory}", "--skip-grant-tables",
            "--skip-name-resolve", "--bind-address=127.0.0.1", f"--port={port}",
            f"--socket={directory}/socket", f"--pid-file={directory}/pid", *settings,
        )  # fmt: skip
        url = f"mysql+pymysql://root@127.0.0.1:{port}"
        server = MariaDb(url, Path(directory), words, run)
        try:
            server.start()
            yield server
        finally:
            server.kill()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    import pymysql

    end = time.monotonic() + _SECONDS
    while True:
        try:
            do(url, "SELECT 1")
        except pymysql.err.OperationalError:
            if server.poll() is not None or time.monotonic() > end:
                pytest.fail(f"MariaDB does not start: {log.read_text()[-3000:]}")
            time.sleep(0.05)
        else:
            return


def do(server: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements, all in one message; the rows of the last one."""
    import pymysql
    from pymysql.constants import CLIENT
    from sqlalchemy import make_url

    url = make_url(server)
    connection = pymysql.connect(
        host=url.host, port=url.port or 3306, user=url.username, autocommit=True,
        client_flag=CLIENT.MULTI_STATEMENTS,
    )  # fmt: skip
    with connection, connection.cursor() as cursor:
        cursor.execute(";".join(statements))
        rows = cursor.fetchall()
        while cursor.nextset():
            rows = cursor.fetchall()
    return list(rows)


def copy_database(server: str, template: str, name: str) -> None:
    """Make a database, a copy of another one (empty: a new one), in place of one of that name.

    Whoever has died in a transaction is not waited for.
    """
    end_connections(server, name)
    statements = [f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}"]
    if template:
        tables = [row[0] for row in do(server, f"SHOW TABLES FROM {template}")]
        statements.append("SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
        statements += [f"CREATE TABLE {name}.`{one}` LIKE {template}.`{one}`" for one in tables]
        statements += [
            f"INSERT INTO {name}.`{one}` SELECT * FROM {template}.`{one}`"
            for one in _with_rows(server, template, tables)
        ]
    do(server, *statements)


def _with_rows(server: str, template: str, tables: Sequence[str]) -> list[str]:
    counts = ", ".join(f"EXISTS (SELECT 1 FROM {template}.`{one}`)" for one in tables)
    (found,) = do(server, f"SELECT {counts}")
    return [one for one, has_rows in zip(tables, found, strict=True) if has_rows]


@contextmanager
def mariadb_database(server: str, template: str = "") -> Iterator[str]:
    """A copy of a database, or a new one, for a while; yields its URL."""
    name = f"t{uuid.uuid4().hex[:12]}"
    copy_database(server, template, name)
    try:
        yield f"{server}/{name}"
    finally:
        end_connections(server, name)
        do(server, f"DROP DATABASE {name}")


def end_connections(server: str, name: str) -> None:
    """End all connections to a database; their transactions are rolled back."""
    import pymysql

    query = f"SELECT id FROM information_schema.processlist WHERE db = '{name}'"
    for (number,) in do(server, query):
        # Some end by themselves meanwhile.
        with suppress(pymysql.err.MySQLError):
            do(server, f"KILL CONNECTION {number}")
