"""Encrypted connections to a real Hive Metastore with a certificate of its own making."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import hivesql
from hivesql_planner.errors import ExecutionError, SemanticError
from interop import hive

pytestmark = [pytest.mark.hive, pytest.mark.slow]


def keys(place: Path, name: str, host: str) -> tuple[Path, Path]:
    """A keystore with a certificate for that host, and the certificate as PEM."""
    store, certificate = place / f"{name}.p12", place / f"{name}.pem"
    given = ["-alias", name, "-keystore", str(store), "-storepass", "hivelocal"]
    new = ["-genkeypair", "-keyalg", "RSA", "-storetype", "PKCS12", "-dname", "CN=hms"]
    calls = ([*new, "-ext", f"san={host}"], ["-exportcert", "-rfc", "-file", str(certificate)])
    for call in calls:
        subprocess.run(["keytool", *call, *given], check=True, capture_output=True)
    return store, certificate


@pytest.mark.parametrize("hive3", [False, True], ids=["hive4", "hive3"])
def test_encrypted(tmp_path: Path, hive3: bool) -> None:
    store, trusted = keys(tmp_path, "ours", "ip:127.0.0.1")
    _, another = keys(tmp_path, "another", "ip:127.0.0.1")
    tls = {"hive.metastore.use.SSL": "true"}
    truststore = "hive.metastore.truststore.path"
    with hive.metastore(tmp_path / "hms", hive3=hive3, keystore=store) as url:
        with hivesql.connect(url, settings=tls | {truststore: str(trusted)}) as session:
            session.sql(
                "CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
            )
            session.sql("INSERT INTO t VALUES (1)")
            assert [tuple(row) for row in session.sql("SHOW TABLES").rows] == [("t",)]
            session.sql("DROP TABLE t")
        wrong = [
            (tls, ExecutionError, "certificate verify failed"),
            (tls | {truststore: str(another)}, ExecutionError, "certificate verify failed"),
            (tls | {truststore: str(store)}, SemanticError, "PEM"),
            (tls | {truststore: "/nowhere"}, SemanticError, "cannot be read"),
            ({"hive.metastore.client.socket.timeout": "3s"}, ExecutionError, "use.SSL=true"),
        ]
        for settings, error, told in wrong:
            with pytest.raises(error, match=told):
                hivesql.connect(url, settings=settings)
        # The certificate is of the address, not of the name.
        with pytest.raises(ExecutionError, match="certificate verify failed"):
            hivesql.connect(
                url.replace("127.0.0.1", "localhost"),
                settings=tls | {truststore: str(trusted)},
            )
