"""The guides of servers that few have, typed as a reader types them: a KDC, a metastore, S3."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from interop import hive
from kdc import REALM, running_kdc, skip_without_kdc
from pages import ROOT, Reader, Site
from s3_server import s3_server, s3a_jars

pytestmark = [pytest.mark.hive, pytest.mark.slow]
GUIDES = ROOT / "docs" / "guides"
HADOOP_OF_HIVE = "3.4.1"


def follow(page: str, site: Site, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type what a page shows, in an empty directory."""
    monkeypatch.chdir(home)
    with ExitStack() as stack:
        Reader(GUIDES / page, None, stack, site).follow()


def write_core_site(folder: Path, settings: Mapping[str, str]) -> Path:
    folder.mkdir()
    lines = (f"<property><name>{k}</name><value>{v}</value></property>"
             for k, v in settings.items())  # fmt: skip
    (folder / "core-site.xml").write_text(f"<configuration>{''.join(lines)}</configuration>")
    return folder


def test_kerberos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_kdc()
    pytest.importorskip("gssapi", reason="pip install 'hivesql[kerberos]'")
    home, allowed = tmp_path / "home", {"hosts": "*", "users": "ann"}
    home.mkdir()
    conf = write_core_site(
        tmp_path / "conf", {f"hadoop.proxyuser.hive.{key}": v for key, v in allowed.items()}
    )
    with running_kdc(tmp_path / "kdc") as kdc:
        keytabs = {"hive": kdc.add("hive/localhost"), "etl": kdc.add("etl")}
        kdc.add("ann", "secret")
        secure = {
            "hadoop.security.authentication": "kerberos",
            "hive.metastore.sasl.enabled": "true",
            "hive.metastore.kerberos.principal": f"hive/localhost@{REALM}",
            "hive.metastore.kerberos.keytab.file": str(keytabs["hive"]),
        }
        with hive.metastore(tmp_path / "hms", settings=secure, krb5=kdc.krb5, conf=conf) as url:
            names = {
                "thrift://hms.example.com:9083": url,
                "host.example.com": "localhost",
                "EXAMPLE.COM": REALM,
            } | {f"/etc/security/keytabs/{name}.keytab": str(at) for name, at in keytabs.items()}
            follow("kerberos.md", Site("kerberos", names, kdc.environment), home, monkeypatch)


@pytest.mark.spark
def test_object_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, own = tmp_path / "home", [str(jar) for jar in s3a_jars(ROOT / "build")]
    home.mkdir()
    of_hive = [jar for jar in s3a_jars(ROOT / "build", HADOOP_OF_HIVE) if "slf4j" not in jar.name]
    with s3_server() as server:
        settings = {k: v for k, v in server.settings().items() if not k.endswith(".region")}
        conf = write_core_site(tmp_path / "conf", settings)
        classes = Path(":".join([str(conf), *map(str, of_hive)]))
        with hive.metastore(tmp_path / "hms", settings=server.settings(), conf=classes) as url:
            names = {
                "thrift://host:9083": url,
                # Fetched already.
                '"spark.jars.packages": "org.apache.hadoop:hadoop-aws:3.5.0"':
                    f'"spark.jars": "{",".join(own)}"',
                '"spark.jars.packages" = "org.apache.hadoop:hadoop-aws:3.5.0"':
                    f'"spark.jars" = "{",".join(own)}"',
            }  # fmt: skip
            environment = {"HADOOP_CONF_DIR": str(conf)}
            follow("object-stores.md", Site("s3", names, environment), home, monkeypatch)
