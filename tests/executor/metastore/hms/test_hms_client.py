"""What becomes of a call to a Hive Metastore whose answer is lost, over real sockets."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.thrift import TProcessor
from thriftpy2.transport import TBufferedTransportFactory, TServerSocket

from hivesql_executor.metastore.hms.access.transports import Access, PasswordLogin
from hivesql_executor.metastore.hms.client import addresses, idl
from hivesql_executor.metastore.hms.metastore import HiveMetastore
from hivesql_planner.errors import (
    CommitUnknown,
    ExecutionError,
    NotSupported,
    SemanticError,
    TransactionLost,
)
from hivesql_planner.model.table import Database


class Lost(Exception):
    """Carry out the call, and close the connection in place of an answer."""


class Handler:
    """A metastore of a few calls; ``answers`` are used up, the last one again and again."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.calls: list[str] = []
        self.users: list[str] = []

    def getVersion(self) -> str:  # noqa: N802 - the protocol's name
        return str(self._answer("getVersion")) if "getVersion" in self.answers else "4.1.0"

    def set_ugi(self, user: str, groups: list[str]) -> list[str]:
        self.users.append(user)
        return []

    def get_all_databases(self) -> Any:
        return self._answer("get_all_databases")

    def create_database(self, database: Any) -> Any:
        return self._answer("create_database")

    def commit_txn(self, request: Any) -> Any:
        return self._answer("commit_txn")

    def _answer(self, call: str) -> Any:
        self.calls.append(call)
        rest = self.answers[call]
        answer = rest.pop(0) if len(rest) > 1 else rest[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], str]]:
    """Starts a server for a handler; its address."""
    sockets: list[Any] = []

    def start(handler: Handler) -> str:
        listener = TServerSocket(host="127.0.0.1", port=0)
        listener.listen()
        sockets.append(listener)
        processor = TProcessor(idl().ThriftHiveMetastore, handler)

        def talk(client: Any) -> None:
            transport = TBufferedTransportFactory().get_transport(client)
            protocol = TBinaryProtocolFactory().get_protocol(transport)
            with contextlib.suppress(Exception):
                while True:
                    processor.process(protocol, protocol)
            transport.close()

        def accept() -> None:
            # Thrift asserts that a listener is open which the test has closed meanwhile.
            with contextlib.suppress(OSError, AssertionError):
                while True:
                    threading.Thread(target=talk, args=[listener.accept()], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"thrift://127.0.0.1:{listener.sock.getsockname()[1]}"

    yield start
    for one in sockets:
        one.close()


def test_addresses() -> None:
    assert addresses("thrift://a:1, thrift://b") == (("a", 1), ("b", 9083))
    for text in ("http://a:1", "thrift://", "a:9083"):
        with pytest.raises(SemanticError, match="not the address"):
            addresses(text)


def test_nobody_there() -> None:
    with pytest.raises(ExecutionError, match=r"127\.0\.0\.1:1 ") as error:
        HiveMetastore.open("thrift://127.0.0.1:1", timeout=5)
    assert error.value.code == 10280


def test_a_server_without_logins(serve: Callable[[Handler], str]) -> None:
    access = Access(login=PasswordLogin("ann", "secret"))
    with pytest.raises(ExecutionError, match=r"does not answer SASL .* no login by PLAIN") as error:
        HiveMetastore.open(serve(Handler()), timeout=2, access=access)
    assert error.value.code == 10280 and "secret" not in repr(access)


def test_the_second_address_is_used(
    serve: Callable[[Handler], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hears the name by which Spark's JVM, which reads the variable too, writes files."""
    monkeypatch.setenv("HADOOP_USER_NAME", "ann")
    handler = Handler(get_all_databases=[["b", "a"]])
    store = HiveMetastore.open(f"thrift://127.0.0.1:1,{serve(handler)}", timeout=5)
    assert store.databases() == ("a", "b")
    store.close()
    assert {*handler.users} == {"ann"}


def test_what_may_be_asked_again(serve: Callable[[Handler], str]) -> None:
    handler = Handler(get_all_databases=[Lost(), ["a"]])
    store = HiveMetastore.open(serve(handler), timeout=5)
    assert store.databases() == ("a",)
    handler.answers["get_all_databases"] = [Lost()]
    with pytest.raises(ExecutionError, match="does not answer get_all_databases") as error:
        store.databases()
    assert error.value.code == 10280
    store.close()


def test_what_may_not_be_asked_again(serve: Callable[[Handler], str]) -> None:
    handler = Handler(create_database=[Lost()])
    store = HiveMetastore.open(serve(handler), timeout=5)
    with pytest.raises(CommitUnknown, match="create_database was lost"):
        store.create_database(Database(name="d", location=""))
    assert handler.calls == ["create_database"]
    store.close()


FAILURES_OF_ITS_DATABASE = [
    "Unable to update transaction database org.postgresql.util.PSQLException: FATAL: it stops",
    "JDOException: Exception thrown when executing query : SELECT 1\nNestedThrowables:\n\tat x",
    "javax.jdo.JDODataStoreException: Commit failed\n\tat org.datanucleus.api.jdo.X",
    "org.springframework.dao.DataAccessResourceFailureException: the way is gone",
    "java.sql.SQLRecoverableException: I/O error",
]
"""What Hive 4.1's metastore answers when its PostgreSQL breaks connections inside of calls."""


@pytest.mark.parametrize("message", FAILURES_OF_ITS_DATABASE)
def test_a_failing_database_of_the_metastore(serve: Callable[[Handler], str], message: str) -> None:
    """Nobody knows what became of a change, which is asked for once; a question changes nothing."""
    failed = idl().MetaException(message=message)
    handler = Handler(create_database=[failed], get_all_databases=[failed], commit_txn=[failed])
    store = HiveMetastore.open(serve(handler), timeout=5)
    changes = [lambda: store.create_database(Database(name="d", location="")),
               lambda: store.commit_txn(7)]  # fmt: skip
    for change in changes:
        with pytest.raises(CommitUnknown, match="may or may not have happened") as unknown:
            change()
        assert "\n" not in str(unknown.value) and "refused" not in str(unknown.value)
    with pytest.raises(ExecutionError, match=r"failed in get_all_databases.*again") as error:
        store.databases()
    assert (type(error.value), error.value.code) == (ExecutionError, 10280)
    assert "\n" not in str(error.value)
    assert handler.calls == ["create_database", *["commit_txn"] * 2, "get_all_databases"]
    store.close()


@pytest.mark.parametrize(
    "message",
    [
        "Database location must not be the warehouse's",
        "Database loc: org.springframework.dao.DuplicateKeyException: PreparedStatement\n\tat x",
        "Database loc: java.sql.SQLException: duplicate key value violates unique constraint",
    ],
)
def test_a_refusal_of_the_metastore(serve: Callable[[Handler], str], message: str) -> None:
    """It has looked before it changed anything, or its database has taken all back."""
    answer = idl().MetaException(message=message)
    store = HiveMetastore.open(serve(Handler(create_database=[answer])), timeout=5)
    with pytest.raises(ExecutionError, match="refused create_database: Database loc") as error:
        store.create_database(Database(name="d", location=""))
    assert not isinstance(error.value, CommitUnknown) and "\n" not in str(error.value)
    store.close()


def test_an_outcome_that_the_database_failed_to_tell(serve: Callable[[Handler], str]) -> None:
    """A commit that is asked for again, and was done, is a success."""
    failed = idl().MetaException(message=FAILURES_OF_ITS_DATABASE[0])
    handler = Handler(commit_txn=[failed, None])
    store = HiveMetastore.open(serve(handler), timeout=5)
    store.commit_txn(7)
    assert handler.calls == ["commit_txn", "commit_txn"]
    store.close()


@pytest.mark.parametrize(
    ("second", "error", "code"),
    [
        (None, None, None),
        ("TxnAbortedException", TransactionLost, 10263),
        ("NoSuchTxnException", CommitUnknown, None),
        (Lost(), CommitUnknown, None),
    ],
    ids=["it was committed", "it was aborted", "it is gone", "nobody knows"],
)
def test_a_lost_commit(
    serve: Callable[[Handler], str], second: Any, error: type[Exception] | None, code: int | None
) -> None:
    thrown = getattr(idl(), second)(message="told") if isinstance(second, str) else second
    handler = Handler(commit_txn=[Lost(), thrown])
    store = HiveMetastore.open(serve(handler), timeout=5)
    if error is None:
        store.commit_txn(7)
    else:
        with pytest.raises(error) as raised:
            store.commit_txn(7)
        assert type(raised.value) is error
        assert getattr(raised.value, "code", None) == code
    assert handler.calls == ["commit_txn", "commit_txn"]
    store.close()


def test_calls_that_an_older_server_lacks(serve: Callable[[Handler], str]) -> None:
    store = HiveMetastore.open(serve(Handler(getVersion=["3.1.3"])), timeout=5)
    assert store.newer_writer(1, []) is None
    with pytest.raises(NotSupported, match=r"before 4\.0"):
        store.next_compaction("w")
    store.close()
