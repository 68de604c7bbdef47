"""What a client sends behind an error in START TRANSACTION, as ``beeline --force`` does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivesql import dbapi
from hivesql.server.server import Server
from thrift_servers import Client, serving

TABLE = "CREATE TRANSACTIONAL TABLE t (i INT) STORED AS ORC"
NOT_RUN = "the transaction was rolled back when a statement before failed, and this one was not run"
FAILURES = {
    "a name that is not there": ["INSERT INTO nosuch VALUES (1)"],
    "what no transaction holds": ["CREATE TABLE u (i INT)"],
    "a mistake in the text": ["INSERT INTO t VALUES ('x"],
    "a semicolon": ["INSERT INTO t VALUES (1);"],
    "one more beginning": ["START TRANSACTION"],
    "two errors": ["INSERT INTO t VALUES (1, 2)", "SELECT nosuch FROM t"],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), authentication="nosasl") as server:
        with Client(server).open() as client:
            client.checked(client.execute(TABLE))
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server).open() as client:
        yield client
        client.checked(client.execute("TRUNCATE TABLE t"))


def wrong(client: Client, text: str, *, code: int | None = None) -> str:
    status = client.execute(text).status
    assert status.statusCode == client.thrift.TStatusCode.ERROR_STATUS, text
    assert code in (None, status.errorCode)
    return str(status.errorMessage)


@pytest.mark.parametrize("failing", FAILURES.values(), ids=list(FAILURES))
def test_the_rest_of_a_transaction_is_refused_up_to_its_end(
    client: Client, failing: list[str]
) -> None:
    for text in ("INSERT INTO t VALUES (0)", "START TRANSACTION", "INSERT INTO t VALUES (1)"):
        client.checked(client.execute(text))
    for text in failing:
        wrong(client, text)
    for text in ("INSERT INTO t VALUES (2)", "SELECT i FROM t", "DELETE FROM t", "DROP TABLE t"):
        assert NOT_RUN in wrong(client, text, code=10262)
    client.checked(client.execute("SET hivevar:x=3"))
    assert "nothing of it is committed" in wrong(client, "COMMIT", code=20008)
    client.checked(client.execute("INSERT INTO t VALUES (${x})"))
    assert client.rows("SELECT i FROM t ORDER BY i") == [(0,), (3,)]


@pytest.mark.parametrize("end", ["ROLLBACK", "rollback work", "START TRANSACTION"])
def test_it_is_ended_or_begun_anew(client: Client, end: str) -> None:
    client.checked(client.execute("BEGIN"))
    wrong(client, "INSERT INTO t VALUES (1), (2, 3)")
    client.checked(client.execute(end))
    client.checked(client.execute("INSERT INTO t VALUES (4)"))
    if end == "START TRANSACTION":
        client.checked(client.execute("COMMIT"))
    assert client.rows("SELECT i FROM t") == [(4,)]


def test_a_transaction_that_does_not_begin(client: Client) -> None:
    wrong(client, "START TRANSACTION ISOLATION LEVEL SERIALIZABLE")
    assert NOT_RUN in wrong(client, "INSERT INTO t VALUES (1)")
    client.checked(client.execute("ROLLBACK"))
    assert client.rows("SELECT i FROM t") == []


def test_the_drivers_of_python_do_likewise(tmp_path: Path) -> None:
    place = (f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w"))
    with dbapi.connect(*place, autocommit=True) as setup:
        setup.cursor().execute(TABLE)
    with dbapi.connect(*place) as connection:
        cursor = connection.cursor()
        cursor.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute("INSERT INTO nosuch VALUES (1)")
        with pytest.raises(dbapi.OperationalError, match=NOT_RUN):
            cursor.execute("INSERT INTO t VALUES (2)")
        with pytest.raises(dbapi.OperationalError, match="nothing of it is committed"):
            connection.commit()
        cursor.execute("SELECT i FROM t")
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute("SELECT nosuch FROM t")
        # Nothing was lost: nobody wrote that a transaction begins here, and it has changed nothing.
        cursor.execute("SELECT i FROM t")
        assert cursor.fetchall() == []
        connection.rollback()
        connection.commit()
        cursor.execute("INSERT INTO t VALUES (3)")
        connection.commit()
        cursor.execute("SELECT i FROM t")
        assert cursor.fetchall() == [(3,)]
