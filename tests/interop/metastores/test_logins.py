"""Logins at a real Hive Metastore: by Kerberos with a real KDC, by passwords, certificates, JWT."""

from __future__ import annotations

import base64
import getpass
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

import hivesql
from hivesql_planner.errors import ExecutionError, SemanticError
from hivesql_repl.doctor import run_doctor
from hosts import clock_ahead, no_clock
from interop import hive
from interop.files.test_encrypted import keys
from kdc import REALM, Kdc, running_kdc, skip_without_kdc, write_client_configuration
from minidfs import hdfs_cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.hive, pytest.mark.slow]

SERVER, KEYTAB = "hive.metastore.kerberos.principal", "hivesql.kerberos.keytab"
PRINCIPAL, MODE = "hivesql.kerberos.principal", "hive.metastore.client.auth.mode"
USER, PASSWORD = "hive.metastore.client.plain.username", "hivesql.metastore.password.file"
TLS, TRUSTED = "hive.metastore.use.SSL", "hive.metastore.truststore.path"
BY_HTTP = "hive.metastore.client.thrift.transport.mode"
TIMEOUT = {"hive.metastore.client.socket.timeout": "30s"}


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """A KDC with a metastore's principal, ann with a keytab and bob with a password."""
    skip_without_kdc()
    pytest.importorskip("gssapi", reason="pip install 'hivesql[kerberos]'")
    with running_kdc(tmp_path_factory.mktemp("kdc")) as kdc:
        for name in ("hive/localhost", "ann"):
            kdc.add(name)
        kdc.add("hive/other")
        kdc.add("bob", "secret")
        yield kdc


@pytest.fixture(scope="module")
def secure(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a metastore that wants Kerberos, and encrypts."""
    settings = kdc.metastore_settings | {"hadoop.rpc.protection": "privacy"}
    place = tmp_path_factory.mktemp("secure")
    with hive.metastore(place, settings=settings, krb5=kdc.krb5) as url:
        yield url


@pytest.fixture(scope="module")
def secure_3(kdc: Kdc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a metastore of Hive 3.1 that wants Kerberos."""
    settings, place = kdc.metastore_settings, tmp_path_factory.mktemp("secure3")
    with hive.metastore(place, hive3=True, settings=settings, krb5=kdc.krb5) as url:
        yield url


@pytest.fixture
def client(kdc: Kdc, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The settings of a client without tickets, whose environment is the KDC's."""
    for name, value in kdc.environment.items():
        monkeypatch.setenv(name, value)
    kdc.run("kdestroy", "-q")
    yield {"hive.metastore.sasl.enabled": "true", SERVER: f"hive/_HOST@{REALM}", **TIMEOUT}


def write_and_read(
    url: str, settings: Mapping[str, str], owner: str, spark: SparkSession | None = None
) -> None:
    """Let a session write and read, with an answer of the metastore of more than one buffer."""
    with hivesql.connect(url, settings=settings, spark=spark) as session:
        long = ", ".join(f"'p{number}' = '{'x' * 30_000}'" for number in range(8))
        session.sql(
            f"CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional' = 'true', {long})"
        )
        session.sql("INSERT INTO t VALUES (1), (2)")
        session.sql("DELETE FROM t WHERE a = 1")
        assert [tuple(row) for row in session.sql("SELECT a FROM t").rows] == [(2,)]
        assert len(session.sql("SHOW TBLPROPERTIES t('p7')").rows[0][-1]) == 30_000
        described = session.sql("DESCRIBE FORMATTED t").rows
        assert any(row[0].startswith("Owner:") and row[1].strip() == owner for row in described)
        session.sql("DROP TABLE t")


def refusal(url: str, settings: Mapping[str, str], kind: type[Exception] = ExecutionError) -> str:
    """What a session is told that is not let in."""
    with pytest.raises(kind) as raised:
        hivesql.connect(url, settings=settings)
    return str(raised.value)


@pytest.mark.spark
def test_keytab(kdc: Kdc, secure: str, client: dict[str, str], spark: SparkSession) -> None:
    keytab = {KEYTAB: str(kdc.place / "ann.keytab")}
    write_and_read(secure, client | keytab | {"hivesql.local.max.bytes": "0"}, "ann", spark)
    assert not (kdc.place / "tickets").exists(), "the user's own cache is left alone"
    told = refusal(secure, client | keytab | {PRINCIPAL: f"carl@{REALM}"})
    assert f"carl@{REALM}" in told and f"127.0.0.1:{kdc.port}" in told and "klist -kt" in told


def test_hive_3(kdc: Kdc, secure_3: str, client: dict[str, str]) -> None:
    keytab = {KEYTAB: str(kdc.place / "ann.keytab")}
    write_and_read(secure_3, client | keytab, "ann")
    told = refusal(secure_3, client)
    assert "kinit" in told and f"hive/localhost@{REALM}" in told


def test_ticket_cache(
    kdc: Kdc, secure: str, client: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    def doctor() -> tuple[int, str]:
        options = [f"--hiveconf={key}={value}" for key, value in client.items()]
        code = run_doctor([f"--metastore={secure}", "--no-spark", *options])
        return code, capsys.readouterr().out

    told = refusal(secure, client)
    assert "kinit" in told and f"hive/localhost@{REALM}" in told
    # So short a life is renewed at once, and at each connection.
    kdc.run("kinit", "-l", "60s", "-r", "1h", "bob", text="secret\n")
    with hivesql.connect(secure, settings=client) as session:
        assert ("default",) in [tuple(row) for row in session.sql("SHOW DATABASES").rows]
    code, printed = doctor()
    assert code == 0 and f"bob@{REALM}, by its ticket cache, for 0 h" in printed
    assert f"gives tickets for hive/localhost@{REALM}" in printed
    log = (kdc.place / "kdc.log").read_text()
    assert f"bob@{REALM} for krbtgt/{REALM}@{REALM}" in log.partition("TGS_REQ")[2]
    kdc.run("kinit", "-l", "3s", "bob", text="secret\n")
    with hivesql.connect(secure, settings=client) as session:
        time.sleep(4.1)  # Tickets end by the clock, in whole seconds.
        told = refusal(secure, client)
        assert "Ticket expired" in told and f"kinit bob@{REALM}" in told
        # Who was idle while its ticket ended, and its connection, goes on after kinit.
        for _, connection in session.runtime.metastore._client._idle:  # type: ignore[attr-defined]
            connection._iprot.trans.close()
        with pytest.raises(ExecutionError, match="Ticket expired"):
            session.sql("SHOW DATABASES")
        kdc.run("kinit", "-l", "1h", "bob", text="secret\n")
        assert ("default",) in [tuple(row) for row in session.sql("SHOW DATABASES").rows]
    kdc.run("kinit", "-l", "1s", "bob", text="secret\n")
    time.sleep(2.1)
    code, printed = doctor()
    assert code == 1 and "Ticket expired" in printed


def test_what_kerberos_refuses(
    kdc: Kdc, secure: str, client: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client |= {KEYTAB: str(kdc.place / "ann.keytab")}
    unknown = refusal(secure, client | {SERVER: f"impala/_HOST@{REALM}"})
    assert f"Server impala/localhost@{REALM} not found" in unknown and SERVER in unknown
    # The KDC knows it, and the metastore is another.
    another = refusal(secure, client | {SERVER: f"hive/other@{REALM}"})
    assert f"the ticket of ann@{REALM} for hive/other@{REALM}: GSS initiate failed" in another
    assert "metastore's own hive-site.xml" in refusal(secure, client | {SERVER: ""}, SemanticError)
    assert "KERBEROS" in refusal(secure, client | {MODE: "LDAP"}, SemanticError)
    assert "cannot be read" in refusal(secure, client | {KEYTAB: "/nowhere"}, SemanticError)
    told = refusal(secure, {**client, "hive.metastore.sasl.enabled": "false"})
    assert "without a login (else: hive.metastore.sasl.enabled=true" in told
    nowhere = write_client_configuration(tmp_path / "krb5.conf", 1)
    monkeypatch.setenv("KRB5_CONFIG", str(nowhere))
    keytab = tmp_path / "another.keytab"
    keytab.write_bytes((kdc.place / "ann.keytab").read_bytes())
    told = refusal(secure, client | {KEYTAB: str(keytab)})
    assert f"KDC of {REALM}: 127.0.0.1:1)" in told and str(nowhere) in told


def test_clocks(kdc: Kdc, secure: str, client: dict[str, str], tmp_path: Path) -> None:
    """Whose clock is wrong is told so, also where the library takes a ticket for one that ended."""
    if obstacle := no_clock():
        pytest.skip(obstacle)
    kdc.run("kinit", "-l", "1h", "bob", text="secret\n")
    options = [f"--hiveconf={key}={value}" for key, value in client.items()]
    for seconds, reason in ((900, "Clock skew too great"), (7200, "Ticket expired")):
        done = subprocess.run(
            [*clock_ahead(seconds), sys.executable, "-m", "hivesql_repl", "doctor", "--no-spark",
             f"--metastore={secure}", *options],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 1, done.stdout + done.stderr
        said = f"this machine's clock is {seconds // 60} minutes ahead of that of the KDC"
        assert f"{reason}, and {said}" in done.stdout, done.stdout


def test_delegation_token(
    kdc: Kdc, secure: str, client: dict[str, str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """What a task in a cluster has in the place of a ticket."""
    keytab = {KEYTAB: str(kdc.place / "ann.keytab")}
    with hivesql.connect(secure, settings=client | keytab) as session:
        ask = session.runtime.metastore._client.call  # type: ignore[attr-defined]
        text = ask("get_delegation_token", "ann", "ann")
    token = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    file = tmp_path / "container_tokens"
    file.write_bytes(b"HDTS\0\1\5alias" + token + b"\0")
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    demanding = client | {"hadoop.rpc.protection": "privacy"}
    write_and_read(secure, demanding, "ann")
    told = refusal(secure, client | {"hive.metastore.token.signature": "another"})
    assert "kinit" in told, "without a token a ticket is wanted"
    options = [f"--hiveconf={key}={value}" for key, value in client.items()]
    assert run_doctor([f"--metastore={secure}", "--no-spark", *options]) == 0
    assert f"of ann, in HADOOP_TOKEN_FILE_LOCATION={file}" in capsys.readouterr().out
    secret_at = file.read_bytes().index(b"HIVE_DELEGATION_TOKEN") - 3
    forged = bytearray(file.read_bytes())
    forged[secret_at] ^= 1
    stolen = file.read_bytes()
    file.write_bytes(forged)
    assert "refused the delegation token of ann" in refusal(secure, client)
    # Whoever has the file may do what its owner may, until the owner cancels the token.
    monkeypatch.delenv("HADOOP_TOKEN_FILE_LOCATION")
    with hivesql.connect(secure, settings=demanding | keytab) as session:
        ask = session.runtime.metastore._client.call  # type: ignore[attr-defined]
        ask("cancel_delegation_token", text)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    file.write_bytes(stolen)
    told = refusal(secure, client)
    assert "refused the delegation token of ann" in told and "have been cancelled" in told


@pytest.mark.spark
def test_files_in_hdfs(kdc: Kdc, tmp_path: Path) -> None:
    """A program of its own: a JVM logs in at HDFS once, when it starts."""
    with hdfs_cluster(tmp_path, kdc) as uri:
        environment = {
            **os.environ, **kdc.environment, "KRB5CCNAME": f"FILE:{tmp_path / 'none'}",
            "HADOOP_CONF_DIR": str(tmp_path / "conf"),
            "JAVA_TOOL_OPTIONS": f"-Djava.security.krb5.conf={kdc.krb5}",
        }  # fmt: skip
        login = [
            f"--hiveconf=spark.kerberos.principal=ann@{REALM}",
            f"--hiveconf=spark.kerberos.keytab={kdc.place / 'ann.keytab'}",
        ]
        sql = (
            "CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional' = 'true');"
            "INSERT INTO t VALUES (1), (2); UPDATE t SET a = 5 WHERE a = 1; SELECT sum(a) FROM t;"
        )

        def run(text: str, *options: str) -> subprocess.CompletedProcess[str]:
            place = [f"--metastore=sqlite:///{tmp_path}/metastore.db", f"--warehouse={uri}/wh"]
            return subprocess.run(
                [Path(sys.executable).with_name("hivesql"), *place, *options, "-e", text],
                env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
                timeout=120,
            )  # fmt: skip

        done = run(sql, *login)
        assert done.returncode == 0 and done.stdout.split() == ["_c0", "7"], done.stderr
        told = run("CREATE TABLE nowhere (a INT) STORED AS ORC;").stderr
        assert "Log in by Kerberos: kinit, or set spark.kerberos.principal" in told


@contextmanager
def demanding_proxy(url: str, context: ssl.SSLContext) -> Iterator[str]:
    """A server of TLS before the metastore, as Knox or stunnel would be; its address."""
    port = int(url.rpartition(":")[2])
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def join(outside: socket.socket, inside: socket.socket) -> None:
        """Carry bytes both ways, and close both ends when no more come."""
        with outside, inside:
            back = threading.Thread(target=pump, args=(inside, outside), daemon=True)
            back.start()
            pump(outside, inside)
            back.join()

    def serve() -> None:
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                try:
                    outside = context.wrap_socket(plain, server_side=True)
                except OSError:
                    plain.close()
                    continue
                inside = socket.create_connection(("127.0.0.1", port))
                threading.Thread(target=join, args=(outside, inside), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    with closing(listener):
        yield f"thrift://127.0.0.1:{listener.getsockname()[1]}"


def pem_of(keystore: Path) -> Path:
    """The certificate and the key of a keystore in one PEM file."""
    pem = keystore.with_suffix(".both.pem")
    subprocess.run(
        ["openssl", "pkcs12", "-in", keystore, "-passin", "pass:hivelocal", "-nodes", "-out", pem],
        check=True, capture_output=True,
    )  # fmt: skip
    return pem


def test_passwords_and_certificates(tmp_path: Path) -> None:
    ours, trusted = keys(tmp_path, "ours", "ip:127.0.0.1")
    settings = {
        "metastore.authentication": "CONFIG",
        "metastore.authentication.config.username": "ann",
        "metastore.authentication.config.password": "right",
        "hive.metastore.execute.setugi": "false",
    }
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text("right\n")
    wrong.write_text("wrong\n")
    client = {MODE: "PLAIN", USER: "ann", PASSWORD: str(right), **TIMEOUT}
    with hive.metastore(tmp_path / "hms", settings=settings) as url:
        write_and_read(url, client, "ann")
        told = refusal(url, client | {PASSWORD: str(wrong)})
        assert "refused ann with a password" in told and PASSWORD in told
        assert USER in refusal(url, client | {USER: ""}, SemanticError)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem_of(ours))
        context.verify_mode = ssl.CERT_REQUIRED
        stranger, known = keys(tmp_path, "known", "dns:ann")
        context.load_verify_locations(known)
        client |= {TLS: "true", TRUSTED: str(trusted)}
        certificate = {"hivesql.metastore.client.certificate": str(pem_of(stranger))}
        with demanding_proxy(url, context) as guarded:
            write_and_read(guarded, client | certificate, "ann")
            assert "hivesql.metastore.client.certificate" in refusal(guarded, client)
            assert "no pair" in refusal(
                guarded, client | {**certificate, "hivesql.metastore.client.key": str(trusted)},
                SemanticError,
            )  # fmt: skip


def encode(data: bytes) -> str:
    """Base64 as JWT has it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign(key: rsa.RSAPrivateKey, **claims: Any) -> str:
    """A token with these claims."""
    header = {"alg": "RS256", "typ": "JWT", "kid": "k"}
    body = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    return f"{body}.{encode(key.sign(body.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def test_tokens_by_http(tmp_path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    numbers = key.public_key().public_numbers()
    published = {
        "kty": "RSA", "kid": "k", "alg": "RS256", "use": "sig",
        "n": encode(numbers.n.to_bytes(256, "big")), "e": encode(numbers.e.to_bytes(3, "big")),
    }  # fmt: skip
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps({"keys": [published]}))
    settings = {
        "metastore.authentication": "JWT",
        "metastore.server.thrift.transport.mode": "http",
        "metastore.keymanagerfactory.algorithm": "SunX509",
        "metastore.authentication.jwt.jwks.url": jwks.as_uri(),
        "hive.metastore.execute.setugi": "false",
    }
    store, trusted = keys(tmp_path, "ours", "ip:127.0.0.1")
    token = tmp_path / "token"
    client = {
        BY_HTTP: "http", MODE: "JWT", "hivesql.metastore.jwt.file": str(token), **TIMEOUT,
        TLS: "true", TRUSTED: str(trusted),
    }  # fmt: skip
    soon = int(time.time()) + 600
    with hive.metastore(tmp_path / "hms", keystore=store, settings=settings) as url:
        token.write_text(sign(key, sub="ann", exp=soon) + "\n")
        write_and_read(url, client, getpass.getuser())
        with hivesql.connect(url, settings=client) as session:
            # The file is read for each request: who renews a token writes it there.
            token.write_text(sign(key, sub="ann", exp=1))
            with pytest.raises(ExecutionError, match=r"HTTP 401 .*hivesql\.metastore\.jwt\.file"):
                session.sql("SHOW DATABASES")
            token.write_text(sign(key, sub="ann", exp=soon))
            assert ("default",) in [tuple(row) for row in session.sql("SHOW DATABASES").rows]
        assert "HTTP 401" in refusal(url, client | {MODE: "NOSASL"})
        assert "HMS_JWT" in refusal(url, client | {"hivesql.metastore.jwt.file": ""}, SemanticError)
