"""The dialect itself: how to connect, and what Hive has and has not."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sqlalchemy import pool, schema
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from hivesql.dbapi_errors import InterfaceError
from hivesql.sqlalchemy.compiler import DdlCompiler, Identifiers, StatementCompiler
from hivesql.sqlalchemy.reflection import Reflection
from hivesql.sqlalchemy.types import TypeCompiler

_OF_CONNECT = ("metastore", "database")


class HiveSqlDialect(Reflection):
    """Hive's SQL by ``hivesql.dbapi``.

    Isolation levels are SNAPSHOT (transactions of many statements; DDL must stand outside) and
    AUTOCOMMIT (each statement is a transaction of its own).
    """

    name = "hivesql"
    driver = "hivesql"
    default_paramstyle = "pyformat"
    statement_compiler = StatementCompiler
    ddl_compiler = DdlCompiler
    type_compiler_cls = TypeCompiler
    preparer = Identifiers  # type: ignore[assignment]
    construct_arguments = [  # noqa: RUF012 - as SQLAlchemy declares it
        (
            schema.Table,
            {
                "partitioned_by": None,
                "clustered_by": None,
                "buckets": None,
                "stored_as": None,
                "location": None,
                "transactional": None,
                "properties": None,
            },
        )
    ]
    supports_statement_cache = True
    supports_alter = True
    supports_comments = True
    inline_comments = True
    supports_default_values = False
    supports_empty_insert = False
    supports_multivalues_insert = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_native_enum = False
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_sequences = False
    supports_simple_order_by_label = True
    # One INSERT of many rows is one transaction and one Spark job; many INSERTs are many.
    use_insertmanyvalues = True
    use_insertmanyvalues_wo_returning = True
    insertmanyvalues_max_parameters = 100_000
    postfetch_lastrowid = False
    # 3 / 2 is 1.5 in Hive.
    div_is_floordiv = False
    requires_name_normalize = False
    max_identifier_length = 128

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """``hivesql.dbapi``."""
        from hivesql import dbapi

        return dbapi

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        """Keep connections: each has a metastore connection, all share one Spark."""
        return pool.QueuePool

    def create_connect_args(self, url: URL) -> Any:
        """Return the path is the warehouse; what is no argument of ``connect`` is a setting."""
        if url.host or url.username:
            raise ArgumentError(
                f"{url.render_as_string()} names a server: HiveSQL is embedded. Write "
                "hivesql:////warehouse?metastore=sqlite:////metastore.db"
            )
        options = {key: value if isinstance(value, str) else value[-1]
                 for key, value in url.query.items()}  # fmt: skip
        arguments: dict[str, Any] = {key: options.pop(key) for key in _OF_CONNECT if key in options}
        if url.database:
            arguments["warehouse"] = url.database
        return [], arguments | {"settings": options}

    def get_isolation_level_values(self, dbapi_conn: Any) -> list[Any]:
        """Tell what an engine or a connection may ask for."""
        return ["SNAPSHOT", "AUTOCOMMIT"]

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        """PEP 249 wants transactions."""
        return "SNAPSHOT"

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        """Tell what is in force."""
        return "AUTOCOMMIT" if dbapi_connection.autocommit else "SNAPSHOT"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        """Switch autocommit."""
        dbapi_connection.autocommit = level == "AUTOCOMMIT"

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Ask the metastore something."""
        dbapi_connection.session.runtime.metastore.databases()
        return True

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        """Only a closed connection is lost for good."""
        return isinstance(e, InterfaceError) and "closed" in str(e)
