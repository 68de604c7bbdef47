"""The site's hive-site.xml: what it says counts where the user says nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from hivesql.sessions.hive_site import site_settings
from hivesql_planner.errors import ExecutionError, SemanticError

SITE = """<?xml version="1.0"?>
<configuration>
  <property><name>hive.txn.timeout</name><value> 90s </value><final>true</final></property>
  <property><name>hive.exec.dynamic.partition.mode</name><value>strict</value></property>
  <property><name>hive.compactor.worker.threads</name><value>${threads}</value></property>
  <property><name>threads</name><value>${env.WORKERS}</value></property>
  <property><name>hive.exec.engine</name><value>tez</value></property>
  <property><name>hive.lock.unknown.key</name><value>1</value></property>
  <property><name>javax.jdo.option.ConnectionPassword</name><value>pass-9x</value></property>
  <property><name>hive.txn.timeout</name><value>120s</value></property>
</configuration>
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "conf" / "hive-site.xml"
    path.parent.mkdir()
    path.write_text(SITE)
    monkeypatch.setenv("HIVE_CONF_DIR", str(path.parent))
    monkeypatch.setenv("WORKERS", "7")
    return path


def connect(tmp_path: Path, **settings: str) -> hivesql.Session:
    return hivesql.connect(
        f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"), settings=settings
    )


def test_its_settings_are_those_of_sessions(site: Path, tmp_path: Path) -> None:
    with connect(tmp_path) as session:
        for key, value in {
            "hive.txn.timeout": "120s",
            "hive.exec.dynamic.partition.mode": "strict",
            "metastore.compactor.worker.threads": "7",
        }.items():
            assert session.sql(f"SET {key}").rows[0][0] == f"{key}={value}"
        session.sql("SET hive.txn.timeout=5s; RESET")
        assert session.sql("SET hive.txn.timeout").rows[0][0] == "hive.txn.timeout=120s"
        assert "pass-9x" not in str(session.sql("SET -v").rows)


def test_the_protection_that_hadoops_site_demands_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demand = "<property><name>hadoop.rpc.protection</name><value>{}</value></property>"
    for place, word in (("hadoop", "privacy"), ("hive", "integrity")):
        (tmp_path / place).mkdir()
        text = f"<configuration>{demand.format(word)}</configuration>"
        (tmp_path / place / "core-site.xml").write_text(text)
    (tmp_path / "hive" / "hive-site.xml").write_text("<configuration/>")
    hadoop, hive = ({name: str(tmp_path / place)} for name, place in
                    (("HADOOP_CONF_DIR", "hadoop"), ("HIVE_CONF_DIR", "hive")))  # fmt: skip
    assert site_settings(hadoop) == {"hadoop.rpc.protection": "privacy"}
    assert site_settings(hadoop | hive) == {"hadoop.rpc.protection": "privacy"}
    assert site_settings(hive) == {"hadoop.rpc.protection": "integrity"}


def test_what_the_user_says_wins(site: Path, tmp_path: Path) -> None:
    with connect(tmp_path, **{"hive.txn.timeout": "30s"}) as session:
        assert session.sql("SET hive.txn.timeout").rows[0][0] == "hive.txn.timeout=30s"


def test_its_metastore_is_asked(site: Path) -> None:
    address = "<name>metastore.thrift.uris</name><value>thrift://127.0.0.1:1</value>"
    site.write_text(
        SITE.replace("<configuration>", f"<configuration><property>{address}</property>")
    )
    with pytest.raises(ExecutionError, match=r"127\.0\.0\.1:1"):
        hivesql.connect()


def test_hive_home_has_one_too(site: Path) -> None:
    home = {"HIVE_HOME": str(site.parents[1]), "WORKERS": "2"}
    assert site_settings(home)["hive.txn.timeout"] == "120s"
    assert site_settings({}) == {}
    assert site_settings({"HIVE_CONF_DIR": str(site.parents[1])}) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<configuration>", r"hive-site\.xml:1:16: this is no XML"),
        ("<settings/>", r"<configuration> is expected, and <settings> was found"),
        (SITE.replace("120s", "soon"), r"hive-site\.xml: hive\.txn\.timeout must be a duration"),
    ],
)
def test_what_is_wrong_with_it_is_told(site: Path, tmp_path: Path, text: str, problem: str) -> None:
    site.write_text(text)
    with pytest.raises(SemanticError, match=problem):
        connect(tmp_path)
