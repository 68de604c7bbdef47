"""Working in another user's name: at a real metastore and in a real HDFS, both with Kerberos."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_planner.errors import ExecutionError
from interop import hive
from kdc import REALM, Kdc, running_kdc, skip_without_kdc
from minidfs import file_shell, hdfs_cluster
from programs import answer_of

pytestmark = [pytest.mark.hive, pytest.mark.slow]

PROXY, ACTS = "hivesql.proxy.user", "hive.server2.enable.doAs"
# The login is hive, who may act for ann and bob, and for nobody else.
ALLOWED = {"hadoop.proxyuser.hive.hosts": "*", "hadoop.proxyuser.hive.users": "ann,bob"}


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    skip_without_kdc()
    with running_kdc(tmp_path_factory.mktemp("kdc")) as kdc:
        kdc.add("hive/localhost")
        yield kdc


def test_metastore(kdc: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives a token to who may act for others; none is left, and none has to be renewed."""
    pytest.importorskip("gssapi", reason="pip install 'hivesql[kerberos]'")
    keytab = str(kdc.place / "hive_localhost.keytab")
    principal = "hive.metastore.kerberos.principal"
    conf = tmp_path / "conf"
    conf.mkdir()
    lines = (f"<property><name>{k}</name><value>{v}</value></property>" for k, v in ALLOWED.items())
    (conf / "core-site.xml").write_text(f"<configuration>{''.join(lines)}</configuration>")
    for name, value in kdc.environment.items():
        monkeypatch.setenv(name, value)
    client = {
        "hive.metastore.sasl.enabled": "true",
        principal: f"hive/_HOST@{REALM}",
        "hivesql.kerberos.keytab": keytab,
    }
    with hive.metastore(
        tmp_path / "hms", settings=kdc.metastore_settings, krb5=kdc.krb5, conf=conf
    ) as url:
        with hivesql.connect(url, settings=client | {PROXY: "ann"}) as session:
            session.sql(
                "CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
            )
            session.sql("INSERT INTO t VALUES (1)")
            described = session.sql("DESCRIBE FORMATTED t").rows
            assert any(row[0] == "Owner:" and row[1].strip() == "ann" for row in described)
        with pytest.raises(ExecutionError, match=r"no token to work as zoe.*hadoop\.proxyuser"):
            hivesql.connect(url, settings=client | {PROXY: "zoe"})
        # This metastore protects no messages: who demands that is not let in by anything less.
        least = {"hadoop.rpc.protection": "privacy"}
        with pytest.raises(ExecutionError, match=r"demands privacy.*no more than authentication"):
            hivesql.connect(url, settings=client | least)


DRIVER = """
import json, sys
import hivesql
home, uri, keytab, principal = sys.argv[1:]
login = {"spark.kerberos.keytab": keytab, "spark.kerberos.principal": principal}
def connect(user):
    return hivesql.connect(f"sqlite:///{home}/metastore.db", f"{uri}/warehouse",
                           settings=login | {"hivesql.proxy.user": user,
                                             "hivesql.compactor.inline": "false"})
def refusal(work):
    try:
        return str(work())
    except hivesql.HiveSqlError as error:
        return error.message
with connect("ann") as session:
    session.sql('''
        CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional' = 'true');
        INSERT INTO t VALUES (1), (2);
        SET hivesql.local.max.bytes=0;
        INSERT INTO t SELECT a + 10 FROM t;
        DELETE FROM t WHERE a = 2;
        ALTER TABLE t COMPACT 'major';
    ''')
    with connect("bob") as other:
        beside = refusal(lambda: other.sql("SELECT count(*) FROM t").rows)
# The next user has a JVM of their own.
with connect("bob") as session:
    rows = [row[:] for row in session.sql("SELECT sum(a) FROM t").rows]
    refused = refusal(lambda: session.sql("INSERT INTO t VALUES (3)"))
    owner = session.runtime.user
print(json.dumps([rows, refused, beside, owner]))
"""


@pytest.mark.spark
@pytest.mark.timeout(1500)
def test_files_and_services(kdc: Kdc, tmp_path: Path) -> None:
    """Files are the user's; services compact and clean as whose the directory is."""
    keytab, principal = kdc.place / "hive_localhost.keytab", f"hive/localhost@{REALM}"
    settings = {"dfs.permissions.enabled": "true", **ALLOWED}
    with hdfs_cluster(tmp_path, kdc, settings) as uri:
        environment = {
            **kdc.environment, "KRB5CCNAME": f"FILE:{tmp_path / 'none'}",
            "HADOOP_CONF_DIR": str(tmp_path / "conf"),
            "JAVA_TOOL_OPTIONS": f"-Djava.security.krb5.conf={kdc.krb5}",
        }  # fmt: skip
        file_shell(tmp_path, kdc, "-mkdir", "/warehouse")
        file_shell(tmp_path, kdc, "-chmod", "1777", "/warehouse")
        rows, refused, beside, owner = answer_of(
            "-c", DRIVER, tmp_path, uri, keytab, principal, environment=environment
        )
        assert (rows, owner) == ([[24]], "bob")
        assert "Permission denied: user=bob" in refused and "Give yourself the right" in refused
        assert (
            "hivesql.proxy.user=bob: this process has a Spark already that works as ann" in beside
        )
        done = subprocess.run(
            [Path(sys.executable).with_name("hivesql"), "services", "--once",
             f"--metastore=sqlite:///{tmp_path}/metastore.db", f"--warehouse={uri}/warehouse",
             f"--hiveconf={ACTS}=true", f"--hiveconf=spark.kerberos.keytab={keytab}",
             f"--hiveconf=spark.kerberos.principal={principal}"],
            env={**os.environ, **environment}, cwd=tmp_path, capture_output=True, text=True,
            check=False, timeout=500,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        listed = file_shell(tmp_path, kdc, "-ls", "-R", "/warehouse/t").splitlines()
    # What the compaction has replaced is gone.
    (directory,) = (line for line in listed if line.startswith("d"))
    assert directory.split()[-1].startswith("/warehouse/t/base_0000003_v"), listed
    assert {line.split()[2] for line in listed if line.startswith(("d", "-"))} == {"ann"}
