"""Logins by a directory, which is a real slapd, and by certificates of clients."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from impala.dbapi import connect

from certificates import write_certificate
from hivesql.server.options import LdapOptions
from hivesql.server.server import Server
from hivesql.server.transports.ldap import Directory
from hivesql.server.transports.passwords import LoginLimits
from hivesql_planner.errors import SemanticError
from thrift_servers import answers_bytes, sasl, serving

SLAPD = shutil.which("slapd", path="/usr/sbin:/usr/local/libexec:/usr/bin")
PEOPLE = "ou=people,dc=example,dc=com"
CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {home}/slapd.pid
TLSCertificateFile {home}/slapd.pem
TLSCertificateKeyFile {home}/slapd.pem
database mdb
suffix dc=example,dc=com
directory {home}
"""
ENTRIES = f"""
dn: dc=example,dc=com
objectClass: domain
dc: example

dn: {PEOPLE}
objectClass: organizationalUnit
ou: people

dn: uid=ann,{PEOPLE}
objectClass: inetOrgPerson
uid: ann
cn: Ann
sn: Ann
userPassword: secret

dn: ou=staff,dc=example,dc=com
objectClass: organizationalUnit
ou: staff

dn: uid=b\\,o\\+b,ou=staff,dc=example,dc=com
objectClass: inetOrgPerson
uid: b,o+b
cn: Bob
sn: Bob
userPassword: secret too
"""


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int, Path]]:
    """The ports of a directory with two people, in the clear and encrypted, and its certificate."""
    if SLAPD is None:
        pytest.skip("no slapd (apt install slapd)")
    home = tmp_path_factory.mktemp("slapd")
    certificate = write_certificate(home / "slapd.pem")
    conf = home / "slapd.conf"
    conf.write_text(CONFIGURATION.format(home=home))
    subprocess.run([SLAPD, "-T", "add", "-f", conf], input=ENTRIES.encode(), check=True)
    plain, encrypted = free_port(), free_port()
    urls = f"ldap://127.0.0.1:{plain} ldaps://127.0.0.1:{encrypted}"
    with subprocess.Popen([SLAPD, "-f", conf, "-h", urls, "-d", "0"]) as slapd:
        try:
            while slapd.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", encrypted)):
                    break
            yield plain, encrypted, certificate
        finally:
            slapd.terminate()


def names() -> tuple[str, ...]:
    return f"uid=%s,{PEOPLE}", "uid=%s,ou=staff,dc=example,dc=com"


def test_who_the_directory_knows_comes_in(directory: tuple[int, int, Path], tmp_path: Path) -> None:
    url = f"ldaps://localhost:{directory[1]}"
    ldap = LdapOptions(url=url, names=names(), ca=directory[2])
    with serving(tmp_path, authentication="ldap", ldap=ldap) as server:
        server.logins.limits = LoginLimits(delay=0.0)
        with connect("127.0.0.1", server.port, auth_mechanism="PLAIN", user="ann",
                     password="secret") as connection:  # fmt: skip
            cursor = connection.cursor()
            cursor.execute("SHOW CURRENT ROLES")
            cursor.execute("SHOW DATABASES")
            assert cursor.fetchall() == [("default",)]
            cursor.close()
        for login in (b"\0ann\0wrong", b"\0ann\0", b"\0carl\0secret", b"\0ann \0secret"):
            answer = answers_bytes(server, sasl(1, b"PLAIN"), sasl(2, login))
            assert answer == sasl(3, b"Error validating the login")


def test_names_and_passwords_are_no_more_than_that(directory: tuple[int, int, Path]) -> None:
    plain = Directory(LdapOptions(url=f"ldap://127.0.0.1:{directory[0]}", names=names()))
    assert plain.accepts("ann", "secret")
    assert plain.accepts("b,o+b", "secret too")
    assert not plain.accepts(f"ann,{PEOPLE}", "secret")
    assert not plain.accepts("ann", "")


def test_a_directory_that_cannot_be_asked(directory: tuple[int, int, Path], tmp_path: Path) -> None:
    # Its certificate is signed by nobody that the system knows.
    ldap = LdapOptions(url=f"ldaps://localhost:{directory[1]}", names=names())
    with serving(tmp_path, authentication="ldap", ldap=ldap) as server:
        answer = answers_bytes(server, sasl(1, b"PLAIN"), sasl(2, b"\0ann\0secret"))
        assert answer == sasl(3, b"Error validating the login")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"authentication": "ldap"}, "--auth ldap needs --ldap-url"),
        ({"ldap": LdapOptions(url="ldaps://h", names=("%s",))}, "has it for itself"),
        ({"authentication": "ldap", "ldap": LdapOptions(url="http://h", names=("%s",))}, "ldaps:"),
        ({"authentication": "ldap", "ldap": LdapOptions(url="ldaps://h", names=())}, "--ldap-name"),
        ({"client_ca": Path("nosuch")}, "--client-ca needs --certificate"),
    ],
)
def test_options_that_say_too_little(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(SemanticError, match=problem), serving(tmp_path, **options):
        pass


def test_only_hosts_of_this_machine_are_told_passwords_in_the_clear() -> None:
    for host, is_told in (("127.0.0.1:389", False), ("localhost", False), ("ldap.example", True)):
        assert LdapOptions(url=f"ldap://{host}", names=("%s",)).must_encrypt is is_told
    assert not LdapOptions(url="ldaps://ldap.example", names=("%s",)).must_encrypt


def login_over_tls(server: Server, trusting: ssl.SSLContext) -> bytes:
    """What a client is answered; nothing where it does not come in."""
    with suppress(ssl.SSLError, ConnectionError):
        return answers_bytes(server, sasl(1, b"KERBEROS"), trusting=trusting)
    return b""


def test_clients_show_certificates(tmp_path: Path) -> None:
    own, other = write_certificate(tmp_path / "a.pem"), write_certificate(tmp_path / "b.pem")
    with serving(tmp_path, certificate=own, client_ca=own) as server:
        for shown, comes_in in ((own, True), (other, False), (None, False)):
            trusting = ssl.create_default_context(cafile=own)
            if shown is not None:
                trusting.load_cert_chain(shown)
            assert (b"Unsupported mechanism" in login_over_tls(server, trusting)) is comes_in
