"""What settings say of connections to a Hive Metastore, and what Kerberos' refusals say."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql_executor.metastore.hms.access.settings import access
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.settings.settings import Settings

TLS = {"hive.metastore.use.SSL": "true"}
TRUSTED = "hive.metastore.truststore.path"
CERTIFICATE = "hivesql.metastore.client.certificate"
KERBEROS = {"hive.metastore.sasl.enabled": "true"}
MODE, USER = "hive.metastore.client.auth.mode", "hive.metastore.client.plain.username"
PASSWORD = "hivesql.metastore.password.file"
PROXY = "hivesql.proxy.user"
HTTP = {"hive.metastore.client.thrift.transport.mode": "http"}


def test_what_is_not_set() -> None:
    default = access(Settings())
    assert default.encryption is None and default.login is None and default.tells_user
    assert access(Settings.of(TLS)).encryption is not None
    # An open metastore, and one by HTTP, believe what they are told.
    for settings in ({}, HTTP):
        assert access(Settings.of(settings | {PROXY: "ann"})).user == "ann"
    # A metastore-site.xml has Hive 4's own names.
    assert access(Settings.of({"metastore.use.SSL": "true"})).encryption is not None


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        (TLS | {TRUSTED: "{java}"}, SemanticError, "keytool -exportcert -rfc"),
        (TLS | {TRUSTED: "/nowhere"}, SemanticError, "cannot be read: No such file"),
        (TLS | {CERTIFICATE: "{java}"}, SemanticError, "no pair in the PEM format"),
        ({CERTIFICATE: "{java}"}, SemanticError, "use.SSL=true"),
        (KERBEROS, SemanticError, "hive.metastore.kerberos.principal is not set"),
        ({MODE: "LDAP"}, SemanticError, "one of NOSASL, PLAIN, KERBEROS, JWT"),
        ({MODE: "PLAIN"}, SemanticError, USER),
        ({MODE: "PLAIN", USER: "ann"}, SemanticError, PASSWORD),
        ({MODE: "PLAIN", USER: "ann", PASSWORD: "{empty}"}, SemanticError, "first line"),
        ({MODE: "JWT"}, SemanticError, "needs hive.metastore.client.thrift.transport.mode=http"),
        (HTTP | {MODE: "JWT"}, SemanticError, "HMS_JWT"),
        (HTTP | KERBEROS, NotSupported, "Kerberos over HTTP"),
        ({MODE: "PLAIN", PROXY: "ann"}, NotSupported, "ann with .*PLAIN: .*Log in as that user"),
        (HTTP | {MODE: "JWT", PROXY: "ann"}, NotSupported, "ann with .*JWT"),
    ],
)
def test_what_does_not_fit(
    settings: dict[str, str], error: type[HiveSqlError], told: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("HMS_JWT", raising=False)
    java, empty = tmp_path / "truststore.jks", tmp_path / "empty"
    java.write_bytes(b"\xfe\xed\xfe\xed")
    empty.write_text("")
    values = {key: text.format(java=java, empty=empty) for key, text in settings.items()}
    with pytest.raises(error, match=told):
        access(Settings.of(values))


def test_what_kerberos_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = pytest.importorskip("gssapi.exceptions")
    from hivesql_executor.metastore.hms.access.kerberos_errors import explain, kdcs_of

    configuration = tmp_path / "krb5.conf"
    configuration.write_text(
        "[realms]\n A.TEST = {\n  kdc = a1:88\n  kdc = a2\n }\n B.TEST = {\n  kdc = b1\n }\n"
    )
    monkeypatch.setenv("KRB5_CONFIG", str(configuration))
    assert kdcs_of("A.TEST") == ("a1:88", "a2") and kdcs_of("C.TEST") == ()
    said = {37: "clocks", 32: "kinit ann@A.TEST", 156: str(configuration), 6: "no such user"}
    for code, advice in said.items():
        error = errors.GSSError(13 << 16, (1 << 32) - 1765328384 + code)
        told = explain(error, client="ann@A.TEST", keytab=None, server="hive/h@A.TEST")
        assert advice in str(told) and "(KDC of A.TEST: a1:88, a2)" in str(told)
        assert told.code == 10280
