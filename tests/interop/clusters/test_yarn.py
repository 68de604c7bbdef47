"""A real YARN: executors come and go as dynamic allocation decides; statements do not see it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from kdc import REALM, Kdc, running_kdc, skip_without_kdc
from minidfs import JARS, file_shell, hdfs_cluster
from miniyarn import yarn_cluster
from programs import answer_of
from spark_archive import submit_options

pytestmark = [pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

# Spark allows one context in a process, and the suite's is local: so the driver is another process.
DRIVER = """
import json, sys, time
import hivesql
home, jars, options = sys.argv[1:]
with hivesql.connect(f"sqlite:///{home}/metastore.db", f"{home}/warehouse", settings={
    "spark.master": "yarn",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.executor.memory": "512m",
    "spark.executor.memoryOverhead": "256m",
    "spark.executor.extraJavaOptions": options,
    "spark.yarn.am.memory": "384m",
    "spark.yarn.am.extraJavaOptions": options,
    "spark.yarn.jars": f"local:{jars}/*",
    "spark.yarn.scheduler.heartbeat.interval-ms": "200",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.dynamicAllocation.executorIdleTimeout": "1s",
    "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
    "spark.speculation": "true",
}) as session:
    session.sql('''
        CREATE TABLE t (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t SELECT id, 'a' FROM (SELECT posexplode(split(space(999), ' ')) AS (id, x)) q;
        UPDATE t SET v = 'b' WHERE id % 2 = 0;
    ''')
    def executors():
        context = session._spark().sparkContext
        return context._jsc.sc().getExecutorMemoryStatus().size() - 1
    most = executors()
    for _ in range(300):
        if not (left := executors()):
            break
        time.sleep(0.2)
    session.sql('''
        MERGE INTO t USING (SELECT TRANSFORM (id, v) USING 'cat' AS (id int, v string)
                            FROM t WHERE id < 10) s ON t.id = s.id
        WHEN MATCHED AND s.id < 2 THEN DELETE
        WHEN MATCHED THEN UPDATE SET v = concat(t.v, 'm');
        DELETE FROM t WHERE id > 900;
        ALTER TABLE t COMPACT 'major' AND WAIT;
    ''')
    rows = session.sql("SELECT v, count(*) FROM t GROUP BY v ORDER BY v").rows
    print(json.dumps([most, left, [row[:] for row in rows], [*map(str, session.check("t"))]]))
"""


def test_statements_on_executors_that_come_and_go(tmp_path: Path) -> None:
    with yarn_cluster(tmp_path) as configuration:
        most, left, rows, wrong = answer_of(
            "-c", DRIVER, tmp_path, JARS, submit_options(),
            environment={"HADOOP_CONF_DIR": str(configuration), "PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
    assert most >= 1
    assert left == 0
    assert rows == [["a", 445], ["am", 4], ["b", 446], ["bm", 4]]
    assert wrong == []


SECURE_DRIVER = """
import json, sys, time
import hivesql
home, uri, jars, options, krb5, keytab, principal, seconds, user = sys.argv[1:]
options += f" -Djava.security.krb5.conf={krb5}"
with hivesql.connect(f"sqlite:///{home}/metastore.db", f"{uri}/warehouse", settings={
    "spark.master": "yarn",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.executor.memory": "512m",
    "spark.executor.memoryOverhead": "256m",
    "spark.executor.instances": "1",
    "spark.executor.extraJavaOptions": options,
    "spark.driver.extraJavaOptions": options,
    "spark.yarn.am.memory": "384m",
    "spark.yarn.am.extraJavaOptions": options,
    "spark.yarn.jars": f"local:{jars}/*",
    "spark.yarn.scheduler.heartbeat.interval-ms": "200",
    "spark.kerberos.keytab": keytab,
    "spark.kerberos.principal": principal,
    "hivesql.local.max.bytes": "0",
    "hivesql.proxy.user": user,
}) as session:
    session.sql('''
        CREATE TABLE t (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t SELECT id, 'a' FROM (SELECT posexplode(split(space(99), ' ')) AS (id, x)) q;
        UPDATE t SET v = 'b' WHERE id % 2 = 0;
    ''')
    # The first tokens are no more: neither renewed any longer nor known.
    time.sleep(float(seconds))
    session.sql('''
        INSERT INTO t SELECT id, 'c' FROM t WHERE id < 10;
        ALTER TABLE t COMPACT 'major' AND WAIT;
    ''')
    rows = session.sql("SELECT v, count(*) FROM t GROUP BY v ORDER BY v").rows
    executors = session._spark().sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    print(json.dumps([executors, [row[:] for row in rows], [*map(str, session.check("t"))]]))
"""


TOKEN_SECONDS = 45
SHORT = {
    "dfs.namenode.delegation.token.renew-interval": str(TOKEN_SECONDS * 1000),
    "dfs.namenode.delegation.token.max-lifetime": str(TOKEN_SECONDS * 1000),
}


def _check_statements(place: Path, kdc: Kdc, uri: str, *arguments: str | Path) -> None:
    """Run the driver in a secure YARN, where nobody has a ticket in a cache."""
    with yarn_cluster(place, kdc) as configuration:
        executors, rows, wrong = answer_of(
            "-c", SECURE_DRIVER, place, uri, JARS, submit_options(), kdc.krb5, *arguments,
            environment={
                "HADOOP_CONF_DIR": str(configuration), "PYSPARK_PYTHON": sys.executable,
                **kdc.environment, "KRB5CCNAME": f"FILE:{place / 'none'}",
                "JAVA_TOOL_OPTIONS": f"-Djava.security.krb5.conf={kdc.krb5}",
            },
        )  # fmt: skip
    assert executors == 1
    assert rows == [["a", 50], ["b", 50], ["c", 10]]
    assert wrong == []


def test_executors_of_a_secure_cluster_outlive_their_delegation_tokens(tmp_path: Path) -> None:
    """The driver alone has a keytab; nobody has a ticket in a cache."""
    skip_without_kdc()
    with ExitStack() as stack:
        kdc = stack.enter_context(running_kdc(tmp_path / "kdc"))
        keytab = kdc.add("ann")
        uri = stack.enter_context(hdfs_cluster(tmp_path, kdc, SHORT))
        seconds = str(TOKEN_SECONDS + 15)
        _check_statements(tmp_path, kdc, uri, keytab, f"ann@{REALM}", seconds, "")


def test_executors_of_a_secure_cluster_work_as_another_user(tmp_path: Path) -> None:
    """The login may act for ann; files are hers, and so is what YARN runs."""
    skip_without_kdc()
    allowed = {"hadoop.proxyuser.hive.hosts": "*", "hadoop.proxyuser.hive.users": "ann"}
    with ExitStack() as stack:
        kdc = stack.enter_context(running_kdc(tmp_path / "kdc"))
        keytab = kdc.add("hive/localhost")
        uri = stack.enter_context(hdfs_cluster(tmp_path, kdc, allowed))
        _check_statements(tmp_path, kdc, uri, keytab, f"hive/localhost@{REALM}", "0", "ann")
        listed = file_shell(tmp_path, kdc, "-ls", "-R", "/warehouse/t").splitlines()
    assert {line.split()[2] for line in listed if line.startswith(("d", "-"))} == {"ann"}
