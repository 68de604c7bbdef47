"""What the settings say of connections to a Hive Metastore."""

from __future__ import annotations

import os
import ssl
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hivesql_executor.hadoop_user import hadoop_user
from hivesql_executor.impersonation.token_file import TOKEN_FILE
from hivesql_executor.metastore.extras import to_install
from hivesql_executor.metastore.hms.access.protection import PLAIN, least_protection
from hivesql_executor.metastore.hms.access.transports import Access, PasswordLogin, Token
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.settings.connection_keys import PROTECTION, PROXY_USER

if TYPE_CHECKING:
    from hivesql_executor.impersonation.token_file import DelegationToken
    from hivesql_executor.metastore.hms.access.digest import TokenLogin
    from hivesql_executor.metastore.hms.access.kerberos import KerberosLogin
    from hivesql_planner.settings.settings import Settings

_USE, _TRUSTED = "hive.metastore.use.SSL", "hive.metastore.truststore.path"
_CERTIFICATE, _KEY = "hivesql.metastore.client.certificate", "hivesql.metastore.client.key"
_SASL, _MODE = "hive.metastore.sasl.enabled", "hive.metastore.client.auth.mode"
_SERVER = "hive.metastore.kerberos.principal"
_PRINCIPAL, _KEYTAB = "hivesql.kerberos.principal", "hivesql.kerberos.keytab"
_USER, _PASSWORD = "hive.metastore.client.plain.username", "hivesql.metastore.password.file"
_TRANSPORT, _PATH = (
    "hive.metastore.client.thrift.transport.mode",
    "hive.metastore.client.thrift.http.path",
)
_SIGNATURE = "hive.metastore.token.signature"
_KIND_OF_TOKEN = "HIVE_DELEGATION_TOKEN"
_MAX_BYTES = "hivesql.metastore.answer.max.bytes"
_TOKEN, _TOKEN_VARIABLE = "hivesql.metastore.jwt.file", "HMS_JWT"
_MODES = ("NOSASL", "PLAIN", "KERBEROS", "JWT")
_TRANSPORTS = ("binary", "http")


def access(settings: Settings) -> Access:
    """Tell how connections are made; SemanticError where settings are missing or do not fit."""
    return replace(_access(settings), max_answer_bytes=settings.integer(_MAX_BYTES))


def _access(settings: Settings) -> Access:
    mode = _one_of(settings, _MODE, _MODES)
    transport = _one_of(settings, _TRANSPORT, _TRANSPORTS)
    # As Hive's client: a password counts before Kerberos.
    by_kerberos = mode == "KERBEROS" or (settings.flag(_SASL) and mode == "NOSASL")
    encryption = _encryption(settings)
    proxy_user = settings.text(PROXY_USER).strip() or None
    if proxy_user and mode in ("PLAIN", "JWT"):
        raise NotSupported(
            f"{PROXY_USER}={proxy_user} with {_MODE}={mode}: at a Hive Metastore only who logs in "
            "by Kerberos, or not at all, works as another user. Log in as that user"
        )
    if transport == "http":
        if by_kerberos or mode == "PLAIN":
            raise NotSupported(
                f"a login by {'Kerberos' if by_kerberos else 'PLAIN'} over HTTP: a Hive Metastore "
                f"takes tokens there ({_MODE}=JWT). Set {_TRANSPORT}=binary, or another login"
            )
        user = proxy_user or settings.text(_USER).strip() or hadoop_user()
        path = "/" + settings.text(_PATH).strip().lstrip("/")
        token = _token(settings) if mode == "JWT" else None
        return Access(encryption=encryption, http_path=path, token=token, user=user)
    if mode == "JWT":
        raise SemanticError(f"{_MODE}=JWT needs {_TRANSPORT}=http: tokens are sent by HTTP")
    if mode == "PLAIN":
        return Access(encryption=encryption, login=_password_login(settings))
    if not by_kerberos:
        return Access(encryption=encryption, user=proxy_user or "")
    # As Hive's client: who has a token needs no ticket. But by a token it is its owner who works.
    login = (None if proxy_user else _token_login(settings)) or _kerberos_login(settings)
    return Access(encryption=encryption, login=login, proxy_user=proxy_user)


def _one_of(settings: Settings, key: str, choices: tuple[str, ...]) -> str:
    text = settings.text(key).strip()
    for choice in choices:
        if text.lower() == choice.lower():
            return choice
    raise SemanticError(f"{key} must be one of {', '.join(choices)}, not {text!r}")


def _kerberos_login(settings: Settings) -> KerberosLogin:
    server = settings.text(_SERVER).strip()
    service, _, rest = server.partition("/")
    host, _, realm = rest.partition("@")
    if not (service and host and realm):
        is_set = f"{_SERVER}={server} is none" if server else f"{_SERVER} is not set"
        raise SemanticError(
            f"Kerberos needs the principal of the metastore, service/host@REALM, and {is_set}. "
            "The metastore's own hive-site.xml has it, as hive/_HOST@REALM say"
        )
    keytab = settings.text(_KEYTAB).strip()
    if keytab:
        _read(keytab, _KEYTAB)
    try:
        from hivesql_executor.metastore.hms.access.kerberos import KerberosLogin
    except ModuleNotFoundError as error:
        raise SemanticError(
            f"Kerberos ({_SASL}=true) needs the package gssapi ({error}): {to_install('kerberos')}"
        ) from error
    return KerberosLogin(
        server=server,
        principal=settings.text(_PRINCIPAL).strip() or None,
        keytab=keytab or None,
        least=_least(settings),
    )


def _least(settings: Settings) -> int:
    """Tell how well messages must be protected: TLS does it too, and servers offer no more then."""
    least = least_protection(settings.text(PROTECTION))
    return PLAIN if settings.flag(_USE) else least


def _token_login(settings: Settings) -> TokenLogin | None:
    """Take the metastore's token that a cluster gave to this process; None where it gave none."""
    file = os.environ.get(TOKEN_FILE, "")
    if not file:
        return None
    from hivesql_executor.impersonation.token_file import read_tokens
    from hivesql_executor.metastore.hms.access.digest import TokenLogin

    service = settings.text(_SIGNATURE).strip()

    def read() -> DelegationToken | None:
        try:
            tokens = read_tokens(_read(file, TOKEN_FILE))
        except ValueError as error:
            raise SemanticError(
                f"{TOKEN_FILE}={file} is no file of Hadoop's tokens: {error}. Unset it, or name "
                "the file that the cluster made"
            ) from error
        wanted = (_KIND_OF_TOKEN, service)
        return next((token for token in tokens if (token.kind, token.service) == wanted), None)

    token = read()
    source = f"{TOKEN_FILE}={file}"
    return None if token is None else TokenLogin(token, source, read, _least(settings))


def _password_login(settings: Settings) -> PasswordLogin:
    user, file = settings.text(_USER).strip(), settings.text(_PASSWORD).strip()
    for key, value in ((_USER, user), (_PASSWORD, file)):
        if not value:
            raise SemanticError(f"{_MODE}=PLAIN needs {key}, which is not set")
    lines = _read(file, _PASSWORD).decode("utf-8", "replace").splitlines()
    if not lines or not lines[0]:
        raise SemanticError(f"{_PASSWORD}={file} has no password in its first line")
    return PasswordLogin(user, lines[0])


def _token(settings: Settings) -> Token:
    file = settings.text(_TOKEN).strip()
    if not file and not os.environ.get(_TOKEN_VARIABLE):
        raise SemanticError(
            f"{_MODE}=JWT needs a token: in the file that {_TOKEN} names, or in the environment's "
            f"variable {_TOKEN_VARIABLE}"
        )

    def read() -> str:
        if file:
            return _read(file, _TOKEN).decode("utf-8", "replace").strip()
        return os.environ.get(_TOKEN_VARIABLE, "").strip()

    read()
    return Token(read, source=f"{_TOKEN}={file}" if file else _TOKEN_VARIABLE)


def _read(file: str, key: str) -> bytes:
    try:
        return Path(file).expanduser().read_bytes()
    except OSError as error:
        raise SemanticError(f"{key}={file} cannot be read: {error.strerror}") from error


def _encryption(settings: Settings) -> ssl.SSLContext | None:
    """Tell what connections are encrypted with; None when they are not, as is Hive's default.

    The server's certificate must be of its host and signed by one in the truststore, or without a
    truststore by one that this machine trusts.
    """
    certificate, key = settings.text(_CERTIFICATE).strip(), settings.text(_KEY).strip()
    if not settings.flag(_USE):
        if certificate:
            raise SemanticError(f"{_CERTIFICATE} needs {_USE}=true: only TLS shows certificates")
        return None
    place = settings.text(_TRUSTED).strip()
    try:
        context = ssl.create_default_context(cafile=place or None)
    except ssl.SSLError as error:
        name = Path(place).name
        raise SemanticError(
            f"{_TRUSTED}={place} holds no certificates in the PEM format ({error}). Of a Java "
            f"truststore: keytool -exportcert -rfc -keystore {name} -alias <alias> -file ca.pem"
        ) from error
    except OSError as error:
        raise SemanticError(f"{_TRUSTED}={place} cannot be read: {error.strerror}") from error
    if certificate:
        _show_certificate(context, certificate, key)
    return context


def _show_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    for name, file in ((_CERTIFICATE, certificate), (_KEY, key)):
        if file:
            _read(file, name)

    def refuse() -> str:
        # Without it OpenSSL asks on the terminal.
        raise SemanticError(
            f"the key of {_CERTIFICATE}={certificate} has a password, for which there is no "
            "setting. Take it off: openssl pkey -in key.pem -out open.pem, readable by you alone"
        )

    try:
        context.load_cert_chain(certificate, key or None, refuse)
    except ssl.SSLError as error:
        raise SemanticError(
            f"{_CERTIFICATE}={certificate} and its key ({_KEY}={key or 'not set'}) are no pair in "
            f"the PEM format ({error}). Of a Java keystore: openssl pkcs12 -in client.p12 -nodes"
        ) from error
