"""What the catalog knows, as SQLAlchemy asks for it; no statement is run."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection, default, reflection
from sqlalchemy.exc import NoSuchTableError

from hivesql.session import Session
from hivesql.sqlalchemy.types import type_of
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.constraints import default_of
from hivesql_planner.model.table import Constraint, Table, TableName
from hivesql_planner.statements.bound import Describe


def session_of(connection: Connection) -> Session:
    """Return the session behind a connection."""
    driver: Any = connection.connection.dbapi_connection
    session: Session = driver.session
    return session


class Reflection(default.DefaultDialect):
    """Reads the metastore of the connection's session."""

    @reflection.cache
    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        """Return the databases."""
        return list(session_of(connection).runtime.metastore.databases())

    @reflection.cache
    def has_schema(self, connection: Connection, schema_name: str, **kw: Any) -> bool:
        """Tell whether there is such a database."""
        return schema_name.lower() in self.get_schema_names(connection)

    @reflection.cache
    def get_table_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        """Tables that are no views."""
        return [table.name.name for table in self._tables(connection, schema) if not table.is_view]

    @reflection.cache
    def get_view_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        """List views."""
        return [table.name.name for table in self._tables(connection, schema) if table.is_view]

    @reflection.cache
    def get_temp_table_names(
        self, connection: Connection, schema: str | None = None, **kw: Any
    ) -> list[str]:
        """Return the session's own tables."""
        return sorted(name.name for name in session_of(connection).temporary.hidden)

    @reflection.cache
    def get_view_definition(
        self, connection: Connection, view_name: str, schema: str | None = None, **kw: Any
    ) -> str:
        """Return the query of a view."""
        view = self._table(connection, view_name, schema)
        if not view.is_view:
            raise NoSuchTableError(view_name)
        return view.view_text or ""

    @reflection.cache
    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        """Tell whether there is a table or view of that name."""
        try:
            self._table(connection, table_name, schema)
        except NoSuchTableError:
            return False
        return True

    @reflection.cache
    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """List data columns, then partition columns, as SELECT * gives them."""
        table = self._table(connection, table_name, schema)
        required = {
            name for key in table.constraints if key.kind in ("not null", "primary key")
            for name in key.columns
        }  # fmt: skip
        return [
            {
                "name": column.name,
                "type": type_of(column.type),
                "nullable": column.name not in required,
                "default": default_of(table, column.name),
                "autoincrement": False,
                "comment": column.comment or None,
            }
            for column in table.all_columns
        ]

    @reflection.cache
    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the table's comment."""
        table = self._table(connection, table_name, schema)
        return {"text": table.comment or table.properties.get("comment")}

    @reflection.cache
    def get_table_options(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> dict[str, Any]:
        """Give the arguments with which ``Table`` would make it again, if they say something."""
        table = self._table(connection, table_name, schema)
        if table.is_view:
            return {}
        options: dict[str, Any] = {
            "hivesql_stored_as": table.format.upper(),
            "hivesql_transactional": table.is_transactional,
        }
        if table.partition_columns:
            options["hivesql_partitioned_by"] = table.partition_names
        if table.is_bucketed:
            options["hivesql_clustered_by"] = table.bucket_columns
            options["hivesql_buckets"] = table.bucket_count
        return options

    @reflection.cache
    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Return the primary key, which Hive tells and does not check."""
        for constraint in self._constraints(connection, table_name, schema, "primary key"):
            return {"constrained_columns": list(constraint.columns), "name": constraint.name}
        return {"constrained_columns": [], "name": None}

    @reflection.cache
    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """Foreign keys, which Hive tells and does not check."""
        own = schema or session_of(connection).database
        return [
            {
                "name": constraint.name,
                "constrained_columns": list(constraint.columns),
                "referred_schema": None
                if schema is None and constraint.parent.database == own
                else constraint.parent.database,
                "referred_table": constraint.parent.name,
                "referred_columns": list(constraint.parent_columns),
                "options": {},
            }
            for constraint in self._constraints(connection, table_name, schema, "foreign key")
            if constraint.parent is not None
        ]

    @reflection.cache
    def get_unique_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """List unique keys, which Hive tells and does not check."""
        return [
            {"name": constraint.name, "column_names": list(constraint.columns)}
            for constraint in self._constraints(connection, table_name, schema, "unique")
        ]

    @reflection.cache
    def get_check_constraints(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """Conditions that are checked for every row written."""
        return [
            {"name": constraint.name, "sqltext": constraint.text}
            for constraint in self._constraints(connection, table_name, schema, "check")
        ]

    def get_indexes(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """Hive has none."""
        self._table(connection, table_name, schema)
        return []

    def _get_default_schema_name(self, connection: Connection) -> str:
        return session_of(connection).database

    def _constraints(
        self, connection: Connection, table: str, schema: str | None, kind: str
    ) -> list[Constraint]:
        constraints = self._table(connection, table, schema).constraints
        return sorted(
            (constraint for constraint in constraints if constraint.kind == kind),
            key=lambda constraint: constraint.name,
        )

    def _table(self, connection: Connection, name: str, schema: str | None) -> Table:
        session = session_of(connection)
        full = TableName((schema or session.database).lower(), name.lower())
        try:
            table = session.temporary.table(full)
        except NoSuchObject as error:
            raise NoSuchTableError(f"{full}") from error
        session.authorize(Describe(table=table))
        return table

    def _tables(self, connection: Connection, schema: str | None) -> list[Table]:
        session = session_of(connection)
        store = session.runtime.metastore
        try:
            names = store.tables((schema or session.database).lower())
        except NoSuchObject:
            return []
        return [store.table(name) for name in names]
