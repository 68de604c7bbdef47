"""Statements as Hive writes them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import types
from sqlalchemy.exc import CompileError
from sqlalchemy.sql import compiler

from hivesql.dbapi_literals import literal
from hivesql.dialect.tokens import RESERVED

# Offset and limit together must fit into 31 bits.
_NO_LIMIT = "1073741824"


class StatementCompiler(compiler.SQLCompiler):
    """SELECT, INSERT, UPDATE, DELETE."""

    def limit_clause(self, select: Any, **kw: Any) -> str:
        """``LIMIT offset, count``: Hive wants a count with every offset."""
        offset, limit = select._offset_clause, select._limit_clause
        if offset is None and limit is None:
            return ""
        start = f"{self.process(offset, **kw)}, " if offset is not None else ""
        return f"\n LIMIT {start}{self.process(limit, **kw) if limit is not None else _NO_LIMIT}"

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        """Locks are taken by the statements that write."""
        return ""

    def visit_empty_set_expr(self, element_types: Any, **kw: Any) -> str:
        """Return a query without rows, the right side of an empty IN."""
        listed = ", ".join("1" for _ in element_types)
        return f"SELECT {listed} WHERE 1 != 1"

    def render_literal_value(self, value: Any, type_: types.TypeEngine[Any]) -> str:
        """Return a literal with Hive's escapes; the percent sign is the driver's."""
        text = literal(value)
        return text.replace("%", "%%") if self.preparer._double_percents else text

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Print ``a RLIKE b``."""
        return self._generate_generic_binary(binary, " RLIKE ", **kw)

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """``NOT a RLIKE b``."""
        return f"NOT {self.visit_regexp_match_op_binary(binary, operator, **kw)}"

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """``regexp_replace(a, b, c)``."""
        left, right = (part._compiler_dispatch(self, **kw) for part in (binary.left, binary.right))
        return f"regexp_replace({left}, {right})"

    def visit_is_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """``NOT (a <=> b)``."""
        return f"NOT ({self.visit_is_not_distinct_from_binary(binary, operator, **kw)})"

    def visit_is_not_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Print ``a <=> b``."""
        return f"{self.process(binary.left, **kw)} <=> {self.process(binary.right, **kw)}"


class DdlCompiler(compiler.DDLCompiler):
    """CREATE TABLE with Hive's clauses, from the ``hivesql_…`` arguments of ``Table``."""

    def visit_create_column(self, create: Any, first_pk: bool = False, **kw: Any) -> str | None:
        """Return a data column; partition columns come in PARTITIONED BY."""
        column = create.element
        if column.name in (column.table.dialect_options["hivesql"]["partitioned_by"] or ()):
            return None
        return self.get_column_specification(column, first_pk=first_pk)

    def create_table_constraints(
        self, table: Any, _include_foreign_key_constraints: Any = None, **kw: Any
    ) -> str:
        """Write the table's, then the CHECKs of its columns: a column takes one constraint."""
        text: str = super().create_table_constraints(  # type: ignore[no-untyped-call]
            table, _include_foreign_key_constraints, **kw
        )
        checks = (
            self.process(constraint)
            for column in table.columns
            for constraint in column.constraints
        )
        return ", \n\t".join(part for part in (text, *checks) if part)

    def get_column_specification(self, column: Any, **kwargs: Any) -> str:
        """Name, type, NOT NULL, DEFAULT, comment."""
        parts = [self._typed(column)]
        default = self.get_column_default_string(column)
        if default is not None and not column.nullable:
            raise CompileError(f"Hive takes NOT NULL or DEFAULT, not both: column {column.name}")
        if default is not None:
            # Hive takes no default of another type, and 7 is an INT alone.
            kind = self._type_of(column)
            value = default if kind in ("INT", "STRING") else f"CAST({default} AS {kind})"
            parts.append(f"DEFAULT {value} ENABLE")
        if not column.nullable:
            parts.append("NOT NULL ENABLE")
        if column.comment:
            parts.append(f"COMMENT {self._text(column.comment)}")
        return " ".join(parts)

    def _text(self, value: str) -> str:
        return self.sql_compiler.render_literal_value(value, types.String())

    def _typed(self, column: Any) -> str:
        return f"{self.preparer.format_column(column)} {self._type_of(column)}"

    def _type_of(self, column: Any) -> str:
        return self.dialect.type_compiler_instance.process(column.type, type_expression=column)

    def post_create_table(self, table: Any) -> str:
        """COMMENT, PARTITIONED BY, CLUSTERED BY, STORED AS, LOCATION, TBLPROPERTIES."""
        options = table.dialect_options["hivesql"]
        parts = [f" COMMENT {self._text(table.comment)}"] if table.comment else []
        if options["partitioned_by"]:
            columns = (table.columns[name] for name in options["partitioned_by"])
            parts.append(f" PARTITIONED BY ({', '.join(map(self._typed, columns))})")
        if options["clustered_by"]:
            columns = (table.columns[name] for name in options["clustered_by"])
            listed = ", ".join(map(self.preparer.format_column, columns))
            parts.append(f" CLUSTERED BY ({listed}) INTO {options['buckets']} BUCKETS")
        parts.append(f" STORED AS {options['stored_as'] or 'ORC'}")
        if options["location"]:
            parts.append(f" LOCATION {self._text(options['location'])}")
        properties = dict(options["properties"] or {})
        if options["transactional"] is not False:
            properties.setdefault("transactional", "true")
        if properties:
            pairs = (f"{self._text(str(k))}={self._text(str(v))}" for k, v in properties.items())
            parts.append(f" TBLPROPERTIES ({', '.join(pairs)})")
        return "".join(parts)

    # Hive tells keys and checks none of them.
    def visit_primary_key_constraint(self, constraint: Any, **kw: Any) -> str:
        """PRIMARY KEY … DISABLE NOVALIDATE."""
        return self._unenforced(super().visit_primary_key_constraint(constraint, **kw))

    def visit_unique_constraint(self, constraint: Any, **kw: Any) -> str:
        """Print UNIQUE … DISABLE NOVALIDATE."""
        return self._unenforced(super().visit_unique_constraint(constraint, **kw))

    def visit_foreign_key_constraint(self, constraint: Any, **kw: Any) -> str:
        """FOREIGN KEY … DISABLE NOVALIDATE."""
        return self._unenforced(super().visit_foreign_key_constraint(constraint, **kw))

    def visit_check_constraint(self, constraint: Any, **kw: Any) -> str:
        """CHECK …, which is enforced."""
        text = super().visit_check_constraint(constraint, **kw)  # type: ignore[no-untyped-call]
        return f"{text} ENABLE"

    def visit_column_check_constraint(self, constraint: Any, **kw: Any) -> str:
        """CHECK of a column, which is enforced."""
        text = super().visit_column_check_constraint(constraint, **kw)  # type: ignore[no-untyped-call]
        return f"{text} ENABLE"

    def define_constraint_cascades(self, constraint: Any) -> str:
        """Nothing is enforced, so nothing cascades."""
        return ""

    def define_constraint_deferrability(self, constraint: Any) -> str:
        """Nothing is enforced, so nothing is deferred."""
        return ""

    def _unenforced(self, text: str) -> str:
        return f"{text} DISABLE NOVALIDATE" if text else ""

    def visit_create_index(
        self, create: Any, include_schema: Any = False, include_table_schema: Any = True, **kw: Any
    ) -> str:
        """Hive has no indexes since version 3."""
        raise CompileError("Hive has no indexes")

    def visit_set_table_comment(self, create: Any, **kw: Any) -> str:
        """Set the comment: a table property."""
        text = self._text(create.element.comment)
        table = self.preparer.format_table(create.element)
        return f"ALTER TABLE {table} SET TBLPROPERTIES ('comment'={text})"

    def visit_drop_table_comment(self, drop: Any, **kw: Any) -> str:
        """Unset the comment: a table property."""
        table = self.preparer.format_table(drop.element)
        return f"ALTER TABLE {table} UNSET TBLPROPERTIES IF EXISTS ('comment')"

    def visit_create_schema(self, create: Any, **kw: Any) -> str:
        """Make or drop a schema: a database."""
        exists = "IF NOT EXISTS " if create.if_not_exists else ""
        return f"CREATE DATABASE {exists}{self._database(create)}"

    def visit_drop_schema(self, drop: Any, **kw: Any) -> str:
        """Make or drop a schema: a database."""
        exists = "IF EXISTS " if drop.if_exists else ""
        cascade = " CASCADE" if drop.cascade else ""
        return f"DROP DATABASE {exists}{self._database(drop)}{cascade}"

    def _database(self, statement: Any) -> str:
        text: str = self.preparer.format_schema(statement.element)  # type: ignore[no-untyped-call]
        return text


class Identifiers(compiler.IdentifierPreparer):
    """Names in backticks where they need it."""

    reserved_words: set[str] = set(RESERVED)  # noqa: RUF012 - as SQLAlchemy declares it

    def __init__(self, dialect: Any) -> None:
        super().__init__(dialect, initial_quote="`", escape_quote="`")
