"""`hivesql serve`: HiveServer2's protocol for beeline and JDBC."""

from __future__ import annotations

import argparse
import getpass
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from hivesql.server.options import (
    AUTHENTICATIONS,
    PROTECTIONS,
    TRANSPORTS,
    Authentication,
    KerberosOptions,
    LdapOptions,
    ServerOptions,
)
from hivesql_executor.statement_log import log_notice
from hivesql_repl.arguments import add_connection, command_parser, with_flags
from hivesql_repl.configuration import read_profile
from hivesql_repl.logs import JSON, add_log_format, log_as_json, log_as_text
from hivesql_repl.metrics import add_metrics, serving_metrics

_DEFAULTS = ServerOptions()


def run(argv: Sequence[str]) -> int:
    """Serve until SIGTERM or SIGINT, then let running statements end."""
    arguments = make_parser().parse_args(argv)
    if arguments.add_user:
        return _add_user(arguments)
    # Imported late: who only asks for help needs no Thrift.
    from hivesql.server.server import Server

    options = _options(arguments)
    is_json = arguments.log_format == JSON
    (log_as_json if is_json else log_as_text)()
    logging.getLogger("hivesql.server").setLevel(logging.INFO)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = Server(options)
    server.start()
    place = f"[{options.host}]" if ":" in options.host else options.host
    encrypted = ";ssl=true" if options.certificate else ""
    plain = ";auth=noSasl" if options.authentication == "nosasl" else ""
    if options.transport == "http":
        plain = ";transportMode=http;httpPath=cliservice"
    serving = f"serving jdbc:hive2://{place}:{server.port}/{plain}{encrypted}"
    if is_json:
        log_notice(serving)
    else:
        print(serving, file=sys.stderr, flush=True)
    with serving_metrics(arguments.metrics, options.metrics, server.problems):
        try:
            stop.wait()
        finally:
            server.close()
    return 0


def _add_user(arguments: argparse.Namespace) -> int:
    """Ask for a password, or read it from standard input, and write its hash into the file."""
    from hivesql.server.transports.passwords import require_hashing, set_password

    if arguments.password_file is None:
        raise ValueError("--add-user needs --password-file")
    # Nobody types a password in vain.
    require_hashing()
    if sys.stdin.isatty():
        password = getpass.getpass(f"password of {arguments.add_user}: ")
        if getpass.getpass("once more: ") != password:
            raise ValueError("the two passwords differ")
    else:
        password = sys.stdin.readline().rstrip("\n")
    set_password(arguments.password_file, arguments.add_user, password)
    return 0


def _options(arguments: argparse.Namespace) -> ServerOptions:
    profile = with_flags(read_profile(arguments.config, arguments.profile), arguments)
    metrics = None
    if arguments.metrics is not None:
        from hivesql.metrics.register import new_registry

        metrics = new_registry()
    _check_login(arguments)
    ldap = None
    if arguments.ldap_url:
        names = tuple(arguments.ldap_name or ())
        ldap = LdapOptions(url=arguments.ldap_url, names=names, ca=arguments.ldap_ca)
    return ServerOptions(
        host=arguments.host,
        port=arguments.port,
        authentication=arguments.auth or _authentication(arguments),
        transport=arguments.transport_mode,
        password_file=arguments.password_file,
        ldap=ldap,
        kerberos=_kerberos(arguments),
        certificate=arguments.certificate,
        key=arguments.key,
        client_ca=arguments.client_ca,
        allow_local=arguments.allow_local,
        most_sessions=arguments.max_sessions,
        most_sessions_of_user=arguments.max_sessions_of_user,
        most_statement=arguments.max_statement,
        most_result_bytes=arguments.max_result_bytes,
        most_result_memory=arguments.max_result_memory,
        session_idle=arguments.session_idle,
        operation_idle=arguments.operation_idle,
        drain_seconds=arguments.drain,
        starts_spark=not arguments.lazy_spark,
        metrics=metrics,
        connection={
            "metastore": profile.metastore,
            "warehouse": profile.warehouse,
            "settings": profile.settings,
        },
    )


def _check_login(arguments: argparse.Namespace) -> None:
    """ValueError for a part of a way to log in whose other parts are missing."""
    if not arguments.ldap_url and (arguments.ldap_name or arguments.ldap_ca):
        raise ValueError("--ldap-name and --ldap-ca need --ldap-url")
    if not arguments.keytab and arguments.qop != PROTECTIONS[0]:
        raise ValueError("--qop needs --keytab and --principal: it is of logins by Kerberos")


def _authentication(arguments: argparse.Namespace) -> Authentication:
    """Tell how users log in by what the server was given to check them with."""
    if arguments.ldap_url:
        return "ldap"
    if arguments.keytab:
        return "kerberos"
    return "password" if arguments.password_file else "none"


def _kerberos(arguments: argparse.Namespace) -> KerberosOptions | None:
    if not (arguments.keytab or arguments.principal):
        return None
    if not (arguments.keytab and arguments.principal):
        raise ValueError("--keytab and --principal need each other")
    return KerberosOptions(
        principal=arguments.principal, keytab=arguments.keytab, protection=arguments.qop
    )


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of `hivesql serve`."""
    parser = command_parser("hivesql serve", run.__doc__)
    add = parser.add_argument
    add_metrics(parser)
    add_log_format(parser)
    add("--host", default=_DEFAULTS.host, help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=_DEFAULTS.port, help="0: a free one (default: %(default)s)")
    add(
        "--auth",
        choices=AUTHENTICATIONS,
        help="nosasl and none take everybody, on this machine alone (default: none; password "
        "where there is a --password-file, ldap where there is an --ldap-url, kerberos where there "
        "is a --keytab)",
    )
    add(
        "--transport-mode",
        choices=TRANSPORTS,
        default=_DEFAULTS.transport,
        help="as JDBC's transportMode; http is at /cliservice (default: %(default)s)",
    )
    add("--password-file", type=Path, metavar="FILE", help="users and hashes of their passwords")
    add("--add-user", metavar="NAME", help="write a user's password into the file, and end")
    add("--ldap-url", metavar="URL", help="directory that knows users and passwords: ldaps://host")
    add(
        "--ldap-name",
        action="append",
        metavar="PATTERN",
        help="what users are called there, %%s for the user's name: uid=%%s,ou=people,dc=example, "
        "or %%s@example.com; may be repeated",
    )
    add("--ldap-ca", type=Path, metavar="FILE", help="PEM: the directory's CA (default: system's)")
    add("--keytab", type=Path, metavar="FILE", help="logins by Kerberos: keys of the server")
    add("--principal", metavar="NAME", help="the server's: hive/_HOST@REALM")
    add(
        "--qop",
        choices=PROTECTIONS,
        default=PROTECTIONS[0],
        help="of messages by Kerberos, at least: auth-int signs, auth-conf encrypts "
        "(default: %(default)s)",
    )
    add("--certificate", type=Path, metavar="FILE", help="PEM: connections are encrypted (TLS)")
    add("--key", type=Path, metavar="FILE", help="the certificate's private key")
    add("--client-ca", type=Path, metavar="FILE", help="PEM: clients must have a certificate of it")
    add(
        "--allow-local",
        action="store_true",
        help="let statements use local files, jars and programs of this machine",
    )
    for name, default, unit in (
        ("max-sessions", _DEFAULTS.most_sessions, "sessions in all"),
        ("max-sessions-of-user", _DEFAULTS.most_sessions_of_user, "sessions of one user"),
        ("max-statement", _DEFAULTS.most_statement, "characters of one statement"),
        ("max-result-bytes", _DEFAULTS.most_result_bytes, "bytes of one result, kept in a file"),
        ("max-result-memory", _DEFAULTS.most_result_memory, "bytes of all open results in memory"),
    ):
        add(
            f"--{name}",
            type=int,
            default=default,
            metavar="N",
            help=f"{unit} (default: %(default)s)",
        )
    for name, seconds, what in (
        ("session-idle", _DEFAULTS.session_idle, "a session without requests ends"),
        ("operation-idle", _DEFAULTS.operation_idle, "rows that nobody fetches are forgotten"),
        ("drain", _DEFAULTS.drain_seconds, "statements that still run are cancelled at the end"),
    ):
        add(
            f"--{name}",
            type=float,
            default=seconds,
            metavar="SECONDS",
            help=f"after which {what} (default: %(default)g)",
        )
    add("--lazy-spark", action="store_true", help="start Spark with the first statement that must")
    add_connection(parser)
    return parser
