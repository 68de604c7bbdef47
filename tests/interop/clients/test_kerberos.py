"""Hive's own clients at our server by Kerberos, with tickets of a real KDC."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

from hivesql.server.options import KerberosOptions, ServerOptions
from hivesql.server.server import Server
from hivesql_planner.errors import ExecutionError
from kdc import REALM, Kdc, running_kdc, skip_without_kdc
from thrift_servers import serving

pytestmark = [pytest.mark.hive, pytest.mark.slow]
JARS = Path(pyspark.__path__[0]) / "jars"
PRINCIPAL = f"hive/localhost@{REALM}"


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    """A KDC with a server's principal, and a ticket of ann's; this process' own environment."""
    skip_without_kdc()
    pytest.importorskip("gssapi", reason="pip install 'hivesql[kerberos]'")
    with running_kdc(tmp_path_factory.mktemp("kdc")) as kdc, pytest.MonkeyPatch.context() as patch:
        for name, value in kdc.environment.items():
            patch.setenv(name, value)
        kdc.add("hive/localhost")
        kdc.run("kinit", "-kt", str(kdc.add("ann")), f"ann@{REALM}")
        yield kdc


def options(kdc: Kdc, protection: str = "auth", principal: str = PRINCIPAL) -> dict[str, Any]:
    """How a server is to let users in."""
    keytab = kdc.place / "hive_localhost.keytab"
    kerberos = KerberosOptions(principal=principal, keytab=keytab, protection=protection)  # type: ignore[arg-type]
    return {"authentication": "kerberos", "kerberos": kerberos}


def beeline(server: Server, kdc: Kdc, more: str = "", **environment: str) -> tuple[str, str]:
    """What beeline prints of a statement that tells its user."""
    (kdc.place / "core-site.xml").write_text(
        "<configuration><property><name>hadoop.security.authentication</name>"
        "<value>kerberos</value></property></configuration>"
    )
    url = f"jdbc:hive2://localhost:{server.port}/default;principal=hive/_HOST@{REALM}{more}"
    done = subprocess.run(
        ["java", f"-Djava.security.krb5.conf={kdc.krb5}", "-cp", f"{kdc.place}:{JARS}/*",
         "org.apache.hive.beeline.BeeLine", "-u", url, "--outputformat=tsv2", "--color=false",
         "-e", "SELECT current_user()", "-e", f"SELECT length('{'x' * 70_000}')"],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, **environment},
    )  # fmt: skip
    return done.stdout, done.stderr


@pytest.mark.parametrize("protection", ["auth", "auth-int", "auth-conf"])
def test_beeline_has_a_ticket(kdc: Kdc, tmp_path: Path, protection: str) -> None:
    with serving(tmp_path, **options(kdc, protection)) as server:
        printed, told = beeline(server, kdc, f";saslQop={protection}")
    assert "\nann\n" in printed and "\n70000\n" in printed, printed + told


def test_beeline_shows_its_ticket_by_http(kdc: Kdc, tmp_path: Path) -> None:
    with serving(tmp_path, transport="http", **options(kdc)) as server:
        printed, told = beeline(server, kdc, ";transportMode=http;httpPath=cliservice")
        assert "\nann\n" in printed or "> ann\n" in printed, printed + told
        _, told = beeline(server, kdc, ";transportMode=http;httpPath=cliservice",
                          KRB5CCNAME=f"FILE:{tmp_path / 'none'}")  # fmt: skip
        assert "Could not" in told


def test_who_does_not_come_in(kdc: Kdc, tmp_path: Path) -> None:
    with serving(tmp_path, **options(kdc, "auth-conf")) as server:
        _, told = beeline(server, kdc, ";saslQop=auth")
        assert "Could not open client transport" in told
        _, told = beeline(server, kdc, KRB5CCNAME=f"FILE:{tmp_path / 'none'}")
        assert "Could not open client transport" in told
    with pytest.raises(ExecutionError, match=r"klist -kt [^;]*; --principal"):
        Server(ServerOptions(**options(kdc, principal=f"other/_HOST@{REALM}")))
