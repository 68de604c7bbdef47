"""A Kerberos KDC of MIT on this machine, with a realm, principals and keytabs of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from programs import free_port

REALM = "HIVESQL.TEST"
_PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])


def skip_without_kdc() -> None:
    """Skip a test where a program that a KDC wants is not there."""
    missing = (name for name in _PROGRAMS if shutil.which(name, path=_PLACES) is None)
    if name := next(missing, None):
        pytest.skip(f"{name} is not here: apt-get install krb5-kdc krb5-user krb5-admin-server")


@dataclass(frozen=True, slots=True)
class Kdc:
    """A running KDC: its directory and its port."""

    place: Path
    port: int

    @property
    def krb5(self) -> Path:
        """The configuration of its clients."""
        return self.place / "krb5.conf"

    @property
    def environment(self) -> dict[str, str]:
        """What its clients and tools have in their environment; tickets are files beside it."""
        return {
            "KRB5_CONFIG": str(self.krb5),
            "KRB5_KDC_PROFILE": str(self.place / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{self.place / 'tickets'}",
        }

    @property
    def metastore_settings(self) -> dict[str, str]:
        """What a Hive Metastore has set that wants Kerberos; its keytab must have been made."""
        return {
            "hadoop.security.authentication": "kerberos",
            "hive.metastore.sasl.enabled": "true",
            "hive.metastore.kerberos.principal": f"hive/localhost@{REALM}",
            "hive.metastore.kerberos.keytab.file": str(self.place / "hive_localhost.keytab"),
        }

    def run(self, *words: str, text: str = "", **others: str) -> str:
        """Run one of its tools, which reads ``text``; what it printed."""
        program = shutil.which(words[0], path=_PLACES)
        assert program is not None, words[0]
        done = subprocess.run(
            [program, *words[1:]], input=text, capture_output=True, text=True, check=False,
            env={**os.environ, **self.environment, **others}, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def add(self, name: str, password: str | None = None, options: str = "") -> Path:
        """Make a principal, with that password or a keytab, whose path is returned."""
        keytab = self.place / f"{name.replace('/', '_')}.keytab"
        secret = "-randkey" if password is None else f"-pw {password}"
        self.run("kadmin.local", "-q", f"addprinc {options} {secret} {name}@{REALM}")
        if password is None:
            self.run("kadmin.local", "-q", f"ktadd -k {keytab} {name}@{REALM}")
        return keytab


def write_client_configuration(path: Path, port: int, more: str = "") -> Path:
    """Write a krb5.conf with a realm whose KDC is at that port of this machine."""
    path.write_text(
        f"[libdefaults]\n  default_realm = {REALM}\n  dns_lookup_kdc = false\n"
        f"  dns_lookup_realm = false\n  rdns = false\n  udp_preference_limit = 1\n{more}"
        f"[realms]\n  {REALM} = {{\n    kdc = 127.0.0.1:{port}\n  }}\n"
        f"[domain_realm]\n  localhost = {REALM}\n"
    )
    return path


@contextmanager
def running_kdc(place: Path) -> Iterator[Kdc]:
    """Start a KDC whose database is in that directory; it ends with the block."""
    place.mkdir(parents=True, exist_ok=True)
    kdc = Kdc(place, free_port())
    write_client_configuration(kdc.krb5, kdc.port)
    (place / "kdc.conf").write_text(
        f"[kdcdefaults]\n  kdc_ports = {kdc.port}\n  kdc_tcp_ports = {kdc.port}\n"
        f"[realms]\n  {REALM} = {{\n    database_name = {place / 'principal'}\n"
        f"    key_stash_file = {place / 'stash'}\n    acl_file = {place / 'acl'}\n"
        "    max_life = 1d\n    max_renewable_life = 7d\n"
        "    default_principal_flags = +preauth\n  }\n"
        f"[logging]\n  kdc = FILE:{place / 'kdc.log'}\n"
    )
    kdc.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
    program = shutil.which("krb5kdc", path=_PLACES)
    assert program is not None
    with (place / "kdc.out").open("w") as log:
        process = subprocess.Popen(
            [program, "-n", "-r", REALM], stdout=log, stderr=log,
            env={**os.environ, **kdc.environment},
        )  # fmt: skip
    try:
        _await_port(kdc, process)
        yield kdc
    finally:
        process.terminate()
        process.wait(30)


def _await_port(kdc: Kdc, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        assert process.poll() is None, (kdc.place / "kdc.out").read_text()
        try:
            socket.create_connection(("127.0.0.1", kdc.port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the KDC does not listen")
