"""Statements of more characters than a server takes, and of as many; none needs Spark."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivesql.server.client_session import AUDIT
from hivesql.server.server import Server
from thrift_servers import Client, serving

MOST = 20_000
LONG = "Query length longer than what the server takes"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, authentication="nosasl", most_statement=MOST) as server:
        yield server


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT '{'x' * MOST}'", f"{' ' * MOST}SHOW TABLES", f"SHOW TABLES{';' * MOST}",
        "'" * (MOST + 1), "SELECT " + "(" * MOST, "--\n" * MOST,
    ],
    ids=["literal", "spaces", "semicolons", "quotes", "brackets", "comments"],
)  # fmt: skip
def test_a_longer_one_is_refused_before_it_is_read(server: Server, text: str) -> None:
    with Client(server).open() as client:
        status = client.execute(text).status
        assert status.errorMessage.startswith(LONG), status
        assert f"({len(text)}>{MOST} characters)" in status.errorMessage
        assert status.sqlState == "42000"
        client.rows("SHOW TABLES")


def test_fifty_megabytes_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path, authentication="nosasl") as server, Client(server).open() as client:
        assert LONG in client.execute(f"SELECT '{'x' * 50_000_000}'").status.errorMessage
        client.rows("SHOW TABLES")


def test_variables_that_double_each_other_are_refused(server: Server) -> None:
    with Client(server).open() as client:
        client.checked(client.execute("SET hivevar:a=xxxxxxxxxx"))
        for before, name in itertools.pairwise("abcdefghijk"):
            client.checked(client.execute(f"SET hivevar:{name}=${{{before}}}${{{before}}}"))
        refused = client.execute("SET hivevar:l=${k}${k}").status
        assert LONG in refused.errorMessage
        client.checked(client.execute("SET hivevar:m=${c}"))
        assert client.rows("SET hivevar:m") == [(f"hivevar:m={'x' * 40}",)]


def test_variables_of_a_connection_that_double_each_other(server: Server) -> None:
    doubles = {f"set__hivevar__v{number}": f"${{v{number + 1}}}" * 2 for number in range(39)}
    with Client(server).open(**doubles, set__hivevar__v39="xx") as client:
        assert LONG in client.execute("SET hivevar:m=${v0}").status.errorMessage
        client.checked(client.execute("SET hivevar:m=${v38}"))
        assert client.rows("SET hivevar:m") == [("hivevar:m=xxxx",)]


def test_logs_tell_the_beginning_alone(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    text = f"SELEKT aes_encrypt('a', 'hidden'), '{'x' * (MOST - 100)}'"
    with caplog.at_level(logging.INFO, AUDIT.name), Client(server).open() as client:
        client.execute(text)
    audit = [record.getMessage() for record in caplog.records if record.name == AUDIT.name]
    assert "SELEKT aes_encrypt('a'" in audit[-1]
    assert "hidden" not in audit[-1] and len(audit[-1]) < 5000


def test_an_overlay_that_is_refused_leaves_nothing(server: Server) -> None:
    key = "hive.exec.dynamic.partition.mode"
    with Client(server).open() as client:
        before = client.rows(f"SET {key}")
        overlay = {key: "strict" if "nonstrict" in before[0][0] else "nonstrict"}
        refused = client.execute("SHOW TABLES", confOverlay=overlay | {"spark.master": "x"})
        assert "Cannot modify spark.master" in refused.status.errorMessage
        assert client.rows(f"SET {key}") == before
