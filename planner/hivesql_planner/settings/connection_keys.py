"""The keys of connections to a Hive Metastore: its addresses, and how a session logs in there."""

from __future__ import annotations

from collections.abc import Mapping

from hivesql_planner.settings.setting import Row

PROXY_USER = "hivesql.proxy.user"
PROTECTION = "hadoop.rpc.protection"
ACTS_FOR_OTHERS = "hive.server2.enable.doAs"
CONNECTION_KEYS: tuple[Row, ...] = (
    ("hive.metastore.uris", "", "text",
     "Addresses of a Hive Metastore, when a session is opened without a metastore."),
    ("hive.metastore.client.socket.timeout", "600s", "duration",
     "How long a call to a Hive Metastore may take, and an answer of the metastore's database: "
     "of PostgreSQL or MariaDB."),
    ("hivesql.metastore.answer.max.bytes", "268435456", "int",
     "How large an answer of a Hive Metastore may be.", "bytes"),
    ("hive.metastore.use.SSL", "false", "bool", "Encrypt connections to a Hive Metastore."),
    ("hive.metastore.truststore.path", "", "text",
     "PEM file of those who may sign a Hive Metastore's certificate; else whom the system trusts."),
    ("hivesql.metastore.client.certificate", "", "text",
     "PEM file of the certificate that a session shows to a Hive Metastore, its key and chain."),
    ("hivesql.metastore.client.key", "", "text",
     "PEM file of that certificate's key without a password, where it is a file of its own."),
    ("hive.metastore.sasl.enabled", "false", "bool", "Log in to a Hive Metastore by Kerberos."),
    ("hive.metastore.kerberos.principal", "", "text",
     "A Hive Metastore's principal, service/host@REALM; _HOST is the host of its address."),
    ("hivesql.kerberos.principal", "", "text",
     "Who logs in by Kerberos; else the first of the keytab, or whose the ticket cache is."),
    ("hivesql.kerberos.keytab", "", "text",
     "Keytab of that principal; without it the ticket cache counts, which kinit fills."),
    (PROTECTION, "", "text",
     "How well calls of a Hive Metastore without TLS must be protected behind a login by Kerberos "
     "or a token at least: authentication, integrity (signed) or privacy (encrypted)."),
    (PROXY_USER, "", "text",
     "The user in whose name a session works, at a Hive Metastore and in HDFS, where whoever logs "
     "in may act for that user (hadoop.proxyuser)."),
    (ACTS_FOR_OTHERS, "false", "bool",
     "Services compact and clean in HDFS in the name of whom the directory is, as Hive's do; a "
     "server works in its own name, and refuses to start with it."),
    ("hive.metastore.token.signature", "", "text",
     "The service of the delegation token, of those in the file that HADOOP_TOKEN_FILE_LOCATION "
     "names, by which a session logs in in place of Kerberos."),
    ("hive.metastore.client.auth.mode", "NOSASL", "text",
     "How a session logs in to a Hive Metastore: NOSASL, PLAIN (name and password), KERBEROS, or "
     "JWT (by HTTP)."),
    ("hive.metastore.client.plain.username", "", "text",
     "The name for PLAIN, and for HTTP without JWT; else who runs the program."),
    ("hivesql.metastore.password.file", "", "text",
     "File with the password for PLAIN in its first line."),
    ("hive.metastore.client.thrift.transport.mode", "binary", "text",
     "http: calls of a Hive Metastore are requests of HTTP, or of HTTPS with use.SSL."),
    ("hive.metastore.client.thrift.http.path", "metastore", "text", "The path of those requests."),
    ("hivesql.metastore.jwt.file", "", "text",
     "File with the token for JWT, read for every connection; else HMS_JWT of the environment."),
)  # fmt: skip

_NEWER = (
    "client.auth.mode", "client.plain.username", "client.socket.timeout",
    "client.thrift.transport.mode", "client.thrift.http.path", "kerberos.principal", "sasl.enabled",
    "token.signature",    "truststore.path", "use.SSL",
)  # fmt: skip
ALIASES_OF_CONNECTIONS: Mapping[str, str] = {
    f"metastore.{name}": f"hive.metastore.{name}" for name in _NEWER
}
"""The metastore's own names of Hive's, which a metastore-site.xml has."""
