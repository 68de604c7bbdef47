"""Clients that guess, send too much, name what is another's, or die; no statement needs Spark."""

from __future__ import annotations

import logging
import ssl
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from impala.dbapi import connect as connect_impala
from thriftpy2.transport import TTransportException

from certificates import write_certificate
from hivesql.server.client_session import AUDIT
from hivesql.server.options import ServerOptions
from hivesql.server.server import Server
from hivesql.server.transports.passwords import LoginLimits, PasswordFile, set_password
from hivesql_planner.errors import SemanticError
from thrift_servers import Client, answers_bytes, sasl, serving
from waiting import wait_until

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
LOCKED = "INSERT INTO t VALUES (1)"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, authentication="nosasl", most_frame_bytes=100_000) as server:
        yield server


def status_of(client: Client, handle: Any) -> Any:
    return client.calls.GetOperationStatus(
        client.thrift.TGetOperationStatusReq(operationHandle=handle)
    )


def test_handles_are_good_for_their_own_connection_alone(server: Server) -> None:
    with Client(server).open() as ann, Client(server).open("ann") as other:
        ann.checked(ann.execute(f"CREATE TABLE t (i INT) {ACID}"))
        handle = ann.checked(ann.execute("SELECT i FROM t")).operationHandle
        own, other.session = other.session, ann.session
        for answer in (other.execute("SELECT 1"), status_of(other, handle)):
            assert answer.status.statusCode == other.thrift.TStatusCode.ERROR_STATUS
            assert "Invalid handle" in answer.status.errorMessage
        other.session = own
        request = other.thrift.TFetchResultsReq(operationHandle=handle, maxRows=1)
        assert "Invalid handle" in other.calls.FetchResults(request).status.errorMessage
        for guessed in (ann.session.sessionId, handle.operationId):
            guessed.secret = bytes(16)
        assert "Invalid handle" in ann.execute("SELECT 1").status.errorMessage
        assert "Invalid handle" in status_of(ann, handle).status.errorMessage
        ann.session = None
        assert "Invalid handle" in ann.execute("SELECT 1").status.errorMessage


@pytest.mark.parametrize(
    "message",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!ii", -2147418112 | 1, 2**31 - 1),
        struct.pack("!ii", -2147418112 | 1, -5),
        struct.pack("!ii", -2147418112 | 1, 11) + b"OpenSession" + struct.pack("!i", 0)
        + b"\x0c\x00\x01" * 40_000,
        struct.pack("!ii", -2147418112 | 1, 11) + b"OpenSession" + struct.pack("!i", 0)
        + b"\x0f\x00\x01\x0c" + struct.pack("!i", 2**31 - 1) + b"\x0c\x00\x01" * 40_000,
    ],
    ids=["http", "long name", "negative", "deep", "long list"],
)  # fmt: skip
def test_what_is_no_message_ends_its_connection_alone(server: Server, message: bytes) -> None:
    with Client(server).open() as client:
        assert answers_bytes(server, message) == b""
        client.checked(client.execute("SHOW DATABASES"))


def test_half_a_message_ends_its_connection(tmp_path: Path) -> None:
    options: dict[str, Any] = {"message_seconds": 0.3, "login_seconds": 0.3}
    with serving(tmp_path, authentication="nosasl", **options) as server:
        assert answers_bytes(server, struct.pack("!i", -2147418112 | 1)) == b""
        assert answers_bytes(server) == b""
    with serving(tmp_path, **options) as server:
        assert answers_bytes(server, sasl(1, b"PLAIN")[:3]) == b""


def test_a_name_that_would_break_the_lines_of_a_log(server: Server) -> None:
    with Client(server) as client, pytest.raises(AssertionError, match="the name"):
        client.open("ann\nuser=root")


def test_a_message_beyond_the_bound_ends_the_connection(server: Server) -> None:
    with Client(server).open() as client, pytest.raises((TTransportException, OSError)):
        client.execute(f"SELECT '{'x' * 200_000}'")


def test_sessions_and_operations_are_bounded(tmp_path: Path) -> None:
    options: dict[str, Any] = {"authentication": "nosasl", "most_sessions": 3,
                               "most_sessions_of_user": 2, "most_operations": 2}  # fmt: skip
    with serving(tmp_path, **options) as server:
        first, second = Client(server).open("ann"), Client(server).open("ann")
        with Client(server) as third, pytest.raises(AssertionError, match="ann has 2 sessions"):
            third.open("ann")
        bob = Client(server).open("bob")
        with Client(server) as third, pytest.raises(AssertionError, match="has 3 sessions"):
            third.open("carl")
        second.checked(
            second.calls.CloseSession(second.thrift.TCloseSessionReq(sessionHandle=second.session))
        )
        assert "Invalid handle" in second.execute("SHOW DATABASES").status.errorMessage
        carl = Client(server).open("carl")
        for _ in range(2):
            first.checked(first.execute("SHOW DATABASES"))
        assert "not closed" in first.execute("SHOW DATABASES").status.errorMessage
        for client in (first, second, bob, carl):
            client.close()


def test_results_that_nobody_closes_share_memory(tmp_path: Path) -> None:
    options: dict[str, Any] = {"authentication": "nosasl", "most_result_memory": 200_000}
    with serving(tmp_path, **options) as server:
        clients = [Client(server).open() for _ in range(2)]
        clients[0].checked(clients[0].execute(f"CREATE TABLE t (s STRING) {ACID}"))
        clients[0].checked(clients[0].execute(f"INSERT INTO t VALUES ('{'x' * 50_000}')"))
        memory = server.registry.memory
        for _ in range(5):
            for client in clients:
                assert client.rows("SELECT s FROM t") == [("x" * 50_000,)]
        assert 150_000 < memory.taken <= 200_000
        for client in clients:
            client.close()
        wait_until(lambda: memory.taken == 0)


def test_patterns_that_an_expression_would_try_for_ever(server: Server) -> None:
    name = "a" * 100
    percents, stars = (f"{mark * 30}b" for mark in ("%a", "*a"))
    with Client(server).open() as client:
        warehouse = Path(server.options.connection["warehouse"])
        for text in (
            f"CREATE TABLE {name} ({name} INT) PARTITIONED BY (p STRING)",
            f"ALTER TABLE {name} ADD PARTITION (p='{name}')",
            f"ALTER TABLE {name} DROP IF EXISTS PARTITION (p LIKE '{percents}')",
        ):
            client.checked(client.execute(text))
        (warehouse / name / name).touch()
        for text in (
            f"SHOW TABLES LIKE '{percents}'", f"SHOW TABLES LIKE '{stars}'",
            f"SHOW DATABASES LIKE '{stars}'", f"SHOW VIEWS LIKE '{stars}'",
            f"SHOW COLUMNS IN {name} LIKE '{stars}'", f"SHOW FUNCTIONS LIKE '{stars}'",
            f"SHOW TABLE EXTENDED LIKE '{percents}'",
        ):  # fmt: skip
            assert client.rows(text) == []
        assert client.rows("SHOW TABLES LIKE '" + "%a" * 30 + "%'") == [(name,)]
        assert client.ask("GetTables", tableName=percents) == []
        assert client.ask("GetColumns", tableName=name, columnName=percents) == []
        for pattern in (stars, f"{{{stars},{stars}}}", "{a,b}" * 30):
            load = f"LOAD DATA INPATH '{warehouse}/{name}/{pattern}' INTO TABLE {name}"
            message = client.execute(f"{load} PARTITION (p='x')").status.errorMessage
            assert "No files matching path" in message or "stands for more than" in message


def test_what_is_idle_ends(tmp_path: Path) -> None:
    options: dict[str, Any] = {"authentication": "nosasl", "operation_idle": 1e-6}
    with serving(tmp_path, **options) as server, Client(server).open() as client:
        handle = client.checked(client.execute("SHOW DATABASES")).operationHandle
        server.registry.close_idle()
        assert "Invalid handle" in status_of(client, handle).status.errorMessage
        client.checked(client.execute("SHOW DATABASES"))
    options = {"authentication": "nosasl", "session_idle": 1e-6}
    with serving(tmp_path, **options) as server, Client(server).open() as client:
        server.registry.close_idle()
        assert "Invalid handle" in client.execute("SHOW DATABASES").status.errorMessage


def test_a_client_that_dies_leaves_no_transaction_and_no_lock(server: Server) -> None:
    with Client(server).open() as other:
        other.checked(other.execute(f"CREATE TABLE t (i INT) {ACID}"))
        dying = Client(server).open()
        dying.checked(dying.execute("START TRANSACTION"))
        dying.checked(dying.execute(LOCKED))
        locks = other.rows("SHOW LOCKS t")
        assert any("ACQUIRED" in row for row in locks)
        dying.close()
        wait_until(lambda: not any("ACQUIRED" in row for row in other.rows("SHOW LOCKS t")))
        assert other.rows("SELECT i FROM t") == []
        assert {row[1] for row in other.rows("SHOW TRANSACTIONS")} <= {"ABORTED", "aborted"}


@pytest.mark.parametrize("runs_on", [True, False], ids=["asynchronous", "synchronous"])
def test_a_client_that_dies_while_its_statement_waits(server: Server, runs_on: bool) -> None:
    with Client(server).open() as owner, Client(server).open() as waiting:
        owner.checked(owner.execute(f"CREATE TABLE t (i INT) {ACID}"))
        for text in ("START TRANSACTION", LOCKED, "UPDATE t SET i = 2 WHERE i = 1"):
            owner.checked(owner.execute(text))
        request = waiting.thrift.TExecuteStatementReq(
            sessionHandle=waiting.session, statement="TRUNCATE TABLE t", runAsync=runs_on
        )
        # Nobody reads the answer.
        waiting.calls._send("ExecuteStatement", req=request)
        wait_until(lambda: any("WAITING" in row for row in owner.rows("SHOW LOCKS t")))
        waiting.close()
        wait_until(lambda: not any("WAITING" in row for row in owner.rows("SHOW LOCKS t")))
        owner.checked(owner.execute("COMMIT"))
        assert owner.rows("SELECT i FROM t") == [(2,)]


def test_a_cancelled_statement_ends(server: Server) -> None:
    with Client(server).open() as owner, Client(server).open() as waiting:
        owner.checked(owner.execute(f"CREATE TABLE t (i INT) {ACID}"))
        owner.checked(owner.execute(LOCKED))
        for text in ("START TRANSACTION", "DELETE FROM t WHERE i = 1"):
            owner.checked(owner.execute(text))
        change = "UPDATE t SET i = 3 WHERE i = 1"
        handle = waiting.checked(waiting.execute(change, runs_on=True)).operationHandle
        wait_until(lambda: any("WAITING" in row for row in owner.rows("SHOW LOCKS t")))
        # One that waits behind it is cancelled before it begins.
        request = waiting.thrift.TCancelOperationReq(operationHandle=handle)
        waiting.checked(waiting.calls.CancelOperation(request))
        states = waiting.thrift.TOperationState
        wait_until(lambda: status_of(waiting, handle).operationState == states.CANCELED_STATE)
        assert status_of(waiting, handle).sqlState == "HY008"
        timed = waiting.checked(waiting.execute(change, runs_on=True, queryTimeout=1))
        wait_until(
            lambda: (
                status_of(waiting, timed.operationHandle).operationState == states.TIMEDOUT_STATE
            )
        )
        owner.checked(owner.execute("ROLLBACK"))
        assert waiting.rows("SELECT i FROM t") == [(1,)]


def test_the_end_of_the_server_rolls_back(tmp_path: Path) -> None:
    with serving(tmp_path, authentication="nosasl") as server, Client(server).open() as client:
        client.checked(client.execute(f"CREATE TABLE t (i INT) {ACID}"))
        for text in ("START TRANSACTION", LOCKED):
            client.checked(client.execute(text))
        server.close()
        server.close()
        with pytest.raises((TTransportException, OSError)):
            client.execute("COMMIT")
    with serving(tmp_path, authentication="nosasl") as server, Client(server).open() as client:
        assert client.rows("SELECT i FROM t") == []
        assert client.rows("SHOW LOCKS t") == []


def test_who_ran_what_is_logged(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, AUDIT.name), Client(server).open() as client:
        client.rows("SHOW DATABASES")
        client.execute("SET fs.s3a.secret.key=hidden")
    audit = [record for record in caplog.records if record.name == AUDIT.name]
    first, second = [record.getMessage() for record in audit][-2:]
    assert "user=ann address=127.0.0.1:" in first and "state=FINISHED rows=1 ms=" in first
    assert first.endswith("statement=SHOW DATABASES")
    assert "state=ERROR" in second and "hidden" not in second


# -- logins
@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_certificate(tmp_path_factory.mktemp("certificate") / "server.pem")


def test_logins_by_password_over_tls(tmp_path: Path, certificate: Path) -> None:
    users = tmp_path / "users"
    set_password(users, "ann", "right")
    set_password(users, "bob", "right too")
    set_password(users, "ann", "better")
    options: dict[str, Any] = {"authentication": "password", "password_file": users,
                               "certificate": certificate}  # fmt: skip
    settings = {"hive.security.authorization.enabled": "true", "hive.users.in.admin.role": "ann"}
    with serving(tmp_path, settings=settings, **options) as server:
        server.logins.limits = LoginLimits(delay=0.0)

        def connect(user: str, password: str) -> Any:
            return connect_impala(
                "localhost", server.port, auth_mechanism="PLAIN", user=user, password=password,
                use_ssl=True, ca_cert=str(certificate),
            )  # fmt: skip

        with connect("ann", "better") as connection:
            cursor = connection.cursor()
            cursor.execute(f"CREATE TABLE t (i INT) {ACID}")
            cursor.execute("SELECT i FROM t")
            assert cursor.fetchall() == []
            cursor.close()
        with connect("bob", "right too") as connection:
            cursor = connection.cursor()
            # Privileges are those of who has logged in.
            with pytest.raises(Exception, match=r"Permission denied: Principal .name=bob"):
                cursor.execute("SELECT i FROM t")
            with pytest.raises(Exception, match=r"Cannot modify hive\.security\.authorization"):
                cursor.execute("SET hive.security.authorization.enabled=false")
            cursor.close()
        trusting = ssl.create_default_context(cafile=certificate)
        for login in (b"\0ann\0right", b"\0carl\0right", b"\0\0x"):
            parts = sasl(1, b"PLAIN"), sasl(2, login)
            answer = answers_bytes(server, *parts, trusting=trusting)
            assert answer == sasl(3, b"Error validating the login")
        # Without TLS nobody is answered, and no older one is spoken.
        assert server._tls
        assert server._tls.current_context().minimum_version == ssl.TLSVersion.TLSv1_2
        assert b"login" not in answers_bytes(server, sasl(1, b"PLAIN"), sasl(2, b"\0ann\0better"))


def test_sasl_that_is_none(tmp_path: Path) -> None:
    wrong = (5, b"Error validating the login")
    with serving(tmp_path) as server:
        plain = sasl(1, b"PLAIN")
        for parts, message in (
            ((sasl(1, b"KERBEROS"),), b"Unsupported mechanism"),
            ((plain, sasl(2, b"ann\0x")), wrong[1]),
            ((plain, sasl(2, b"root\0ann\0x")), wrong[1]),
            ((plain, sasl(2, b"\0a\nb\0x")), wrong[1]),
            ((plain, sasl(2, b"\0\xff\0x")), wrong[1]),
        ):
            assert message in answers_bytes(server, *parts)
        assert answers_bytes(server, struct.pack("!bi", 1, 2**30)) == b""
        assert answers_bytes(server, plain, struct.pack("!bi", 2, -1)) == b""
        assert answers_bytes(server, plain, sasl(4, b"no more")) == b""
        entered = answers_bytes(server, plain, sasl(2, b"\0ann\0x"), struct.pack("!i", 2**31 - 1))
        assert entered == sasl(5, b"")


def test_who_guesses_passwords_is_barred() -> None:
    limits = LoginLimits(delay=0.0)
    for _ in range(10):
        assert not limits.is_barred("10.0.0.1")
        limits.note_failure("10.0.0.1")
    assert limits.is_barred("10.0.0.1") and not limits.is_barred("10.0.0.2")
    limits.note_success("10.0.0.1")
    assert not limits.is_barred("10.0.0.1")


def test_the_file_of_passwords(tmp_path: Path) -> None:
    users = tmp_path / "users"
    with pytest.raises(SemanticError, match="cannot be read"):
        PasswordFile(users)
    set_password(users, "ann", "a")
    assert users.stat().st_mode & 0o077 == 0
    users.write_text(f"# comment\n\n{users.read_text()}broken:no hash\n")
    passwords = PasswordFile(users)
    assert passwords.accepts("ann", "a") and not passwords.accepts("ann", "b")
    assert not passwords.accepts("broken", "no hash") and not passwords.accepts("nobody", "a")
    users.chmod(0o666)
    with pytest.raises(SemanticError, match="chmod go-w"):
        PasswordFile(users)
    for user, password in (("a:b", "x"), ("", "x"), ("a\nb", "x"), ("a", "")):
        with pytest.raises(SemanticError):
            set_password(users, user, password)


def test_options_that_would_let_anybody_in(tmp_path: Path) -> None:
    for options, message in (
        ({"host": "0.0.0.0"}, "can be reached from other machines"),
        ({"host": "::", "authentication": "nosasl"}, "can be reached from other machines"),
        ({"authentication": "password"}, "needs --password-file"),
        ({"transport": "http", "authentication": "nosasl"}, "for binary alone"),
        ({"key": tmp_path / "key"}, "--key needs --certificate"),
        ({"certificate": tmp_path / "nosuch"}, "no certificate"),
    ):
        made: dict[str, Any] = {"connection": {"metastore": f"sqlite:///{tmp_path}/m.db"}}
        with pytest.raises(SemanticError, match=message):
            Server(ServerOptions(**made, **options))  # type: ignore[arg-type]
    ServerOptions(host="::1").check()
    ServerOptions(host="localhost").check()
