"""The hook: connections of type ``hivesql`` as DB-API connections and sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.providers.common.sql.hooks.sql import DbApiHook
from sqlalchemy import URL, make_url

import hivesql
from hivesql import dbapi
from hivesql.airflow.provider import CONNECTION_TYPE
from hivesql.airflow.served import ServedSession, ServerPlace, connect_by_impyla, statements_of
from hivesql_executor.hadoop_user import system_user
from hivesql_executor.statement_log import with_id
from hivesql_planner.errors import NotSupported

_PORT = 10000


class HiveSqlHook(DbApiHook):
    """Runs statements in the warehouse that a connection describes.

    Its extra fields are ``metastore``, ``warehouse`` and ``settings`` (a JSON object, or lines of
    ``key=value``); its schema is the database. Login and password, when there are any, go into the
    metastore's URL. Under an ``idempotency_key`` (the task instance's key, say) what ``run`` has
    committed in a former attempt is not done again.

    With a host it is about a HiveSQL server (``hivesql serve``): login and password are those of
    its user, and the extra fields are ``tls``, ``ca_file``, ``sasl`` and ``settings``.
    """

    conn_name_attr = "hivesql_conn_id"
    default_conn_name = "hivesql_default"
    conn_type = CONNECTION_TYPE
    hook_name = "HiveSQL"
    supports_autocommit = True
    strip_semicolon = True

    def __init__(
        self,
        *args: Any,
        settings: Mapping[str, str] | str | None = None,
        idempotency_key: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._schema = kwargs.pop("schema", None)
        super().__init__(*args, schema=self._schema, **kwargs)
        # The field of the connection, which Airflow hands over as it was typed.
        self._settings = _settings_of(settings)
        self._key = idempotency_key

    @property
    def _database(self) -> str:
        return str(self._schema or self.connection.schema or "default")

    @property
    def is_served(self) -> bool:
        """Tell whether a server runs the statements, and not this process."""
        return bool(self.connection.host)

    def place(
        self, settings: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None
    ) -> ServerPlace:
        """Return the server of the connection, and what a session there begins with."""
        conn, extra = self.connection, self.connection.extra_dejson
        return ServerPlace(
            host=conn.host,
            port=int(conn.port or _PORT),
            user=conn.login or system_user(),
            password=conn.password or "",
            database=self._database,
            tls=_flag(extra.get("tls"), default=False),
            ca_file=extra.get("ca_file") or None,
            sasl=_flag(extra.get("sasl"), default=True),
            settings=_settings_of(extra.get("settings")) | self._settings | dict(settings or {}),
            variables=dict(variables or {}),
        )

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``hivesql.connect``; NotSupported for a server's connection."""
        if self.is_served:
            raise NotSupported(
                f"the connection {self.get_conn_id()} has a host, so a HiveSQL server runs its "
                "statements: no session of this process, and no engine of SQLAlchemy. "
                "HiveSqlOperator, and the hook's get_conn and run, work there"
            )
        conn = self.connection
        extra = conn.extra_dejson
        metastore = extra.get("metastore") or None
        if metastore and conn.login:
            url = make_url(metastore).set(username=conn.login, password=conn.password)
            metastore = url.render_as_string(hide_password=False)
        return {
            "metastore": metastore,
            "warehouse": extra.get("warehouse") or None,
            "database": self._database,
            "settings": _settings_of(extra.get("settings")) | self._settings,
        }

    def get_conn(self) -> Any:
        """Return a DB-API connection; with autocommit off it has transactions.

        At a server it is one of impyla, and each statement commits by itself.
        """
        if not self.is_served:
            return dbapi.connect(**self.arguments(), idempotency_key=self._key)
        if self._key is not None:
            raise NotSupported(
                f"an idempotency_key for statements by DB-API at the server of "
                f"{self.get_conn_id()}: use HiveSqlOperator there, or leave it out"
            )
        return connect_by_impyla(self.place())

    def get_session(self, *, idempotency_key: str | None = None) -> hivesql.Session:
        """Return a session, for scripts."""
        return hivesql.connect(
            **self.arguments(),
            notify=lambda line: self.log.info("%s", with_id(line)),
            idempotency_key=idempotency_key,
        )

    @property
    def sqlalchemy_url(self) -> URL:
        """The URL for SQLAlchemy's engines."""
        arguments = self.arguments()
        query = {key: arguments[key] for key in ("metastore", "database") if arguments[key]}
        return URL.create(
            "hivesql", database=arguments["warehouse"], query=query | arguments["settings"]
        )

    def get_uri(self) -> str:
        """Return the URL for SQLAlchemy's engines, as text."""
        return self.sqlalchemy_url.render_as_string(hide_password=False)

    def test_connection(self) -> tuple[bool, str]:
        """Ask the metastore for its databases, or log in at the server; starts no Spark."""
        try:
            if self.is_served:
                ServedSession(self.place()).close()
                return True, "the server lets us in"
            with self.get_session() as session:
                names = session.sql("SHOW DATABASES").rows
        except hivesql.HiveSqlError as error:
            return False, str(error)
        return True, f"databases: {', '.join(str(row[0]) for row in names)}"

    @staticmethod
    def split_sql_string(sql: str, strip_semicolon: bool = False) -> list[str]:
        """Statements as Hive's scripts have them; a ``;`` in quotes or comments ends none."""
        return statements_of(sql)

    def get_openlineage_database_dialect(self, connection: Any) -> str:
        """Name Hive's as the dialect of the SQL."""
        return "hive"

    def get_openlineage_default_schema(self) -> str:
        """Return the database in which names without one are."""
        return self._database


def _flag(value: Any, *, default: bool) -> bool:
    """Return what an extra field says, as JSON or as it was typed; default where it is empty."""
    if value is None or value == "":
        return default
    return str(value).strip().lower() in ("true", "1", "yes", "on")


def _settings_of(field: Any) -> dict[str, str]:
    if isinstance(field, Mapping):
        return {str(key): str(value) for key, value in field.items()}
    lines = (line.partition("=") for line in str(field or "").splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in lines}
