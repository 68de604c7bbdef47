"""`hivesql serve` as its administrator starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from impala.dbapi import connect

from programs import free_port

SERVE = [sys.executable, "-m", "hivesql_repl", "serve"]


def test_a_server_with_passwords_ends_on_sigterm(tmp_path: Path) -> None:
    port, users = free_port(), tmp_path / "users"
    arguments = ["--password-file", str(users)]
    subprocess.run(
        [*SERVE, *arguments, "--add-user", "ann"], input="secret\n", text=True, check=True
    )
    arguments += ["--port", str(port), "--lazy-spark", "--drain", "0", "--metrics", "0"]
    with subprocess.Popen(
        [*SERVE, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        lines = [server.stderr.readline()]
        if "made a new metastore" in lines[0]:
            lines.append(server.stderr.readline())
        assert lines[-1] == f"serving jdbc:hive2://127.0.0.1:{port}/\n"
        (metrics,) = re.findall(r"metrics: (http://\S+/metrics)", server.stderr.readline())
        with connect(
            "127.0.0.1", port, auth_mechanism="PLAIN", user="ann", password="secret"
        ) as connection:
            cursor = connection.cursor()
            cursor.execute("SHOW DATABASES")
            assert cursor.fetchall() == [("default",)]
            with urlopen(metrics) as answer:
                told = answer.read().decode()
            assert "hivesql_server_sessions 1.0" in told
            assert 'hivesql_statements_total{kind="show",outcome="ok"} 1.0' in told
            assert "hivesql_metastore_up 1.0" in told
            with urlopen(metrics.replace("metrics", "healthz")) as answer:
                assert answer.status == 200
            # Left open, it would ask the server that is gone once more, whenever it is collected.
            cursor.close()
            os.kill(server.pid, signal.SIGTERM)
            assert server.wait(60) == 0
        log = server.stderr.read()
    assert "session opened: user=ann" in log and "statement=SHOW DATABASES" in log


def test_a_server_that_would_let_anybody_in_does_not_start(tmp_path: Path) -> None:
    for arguments, message in (
        (["--host", "0.0.0.0"], "can be reached from other machines"),
        (["--auth", "password"], "needs --password-file"),
        (["--auth", "none", "--password-file", "users"], "--password-file has no effect with"),
        (["--ldap-name", "uid=%s"], "--ldap-name and --ldap-ca need --ldap-url"),
        (["--qop", "auth-conf"], "--qop needs --keytab"),
        (["--port", "99999"], "--port is a number from 0 to 65535"),
        (["--max-sessions", "0"], "--max-sessions is more than 0"),
        (["--session-idle", "-3"], "--session-idle is more than 0"),
        (["--drain", "nan"], "--drain is 0 or more"),
        (["--add-user", "ann"], "--add-user needs --password-file"),
    ):
        done = subprocess.run(
            [*SERVE, "--lazy-spark", *arguments], cwd=tmp_path, capture_output=True, text=True,
            check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode in (1, 2) and message in done.stderr
        assert "Traceback" not in done.stderr
