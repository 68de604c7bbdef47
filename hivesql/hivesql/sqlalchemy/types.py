"""Hive's types as SQLAlchemy's, both ways."""

from __future__ import annotations

from typing import Any

from sqlalchemy import types
from sqlalchemy.exc import CompileError
from sqlalchemy.sql import compiler

from hivesql_planner.model import hive_type


class TINYINT(types.Integer):
    """Eight bits."""

    __visit_name__ = "TINYINT"


_KINDS: dict[hive_type.Kind, type[types.TypeEngine[Any]]] = {
    hive_type.Kind.BOOLEAN: types.BOOLEAN,
    hive_type.Kind.TINYINT: TINYINT,
    hive_type.Kind.SMALLINT: types.SMALLINT,
    hive_type.Kind.INT: types.INTEGER,
    hive_type.Kind.BIGINT: types.BIGINT,
    hive_type.Kind.FLOAT: types.REAL,
    hive_type.Kind.DOUBLE: types.DOUBLE,
    hive_type.Kind.DECIMAL: types.DECIMAL,
    hive_type.Kind.STRING: types.String,
    hive_type.Kind.VARCHAR: types.VARCHAR,
    hive_type.Kind.CHAR: types.CHAR,
    hive_type.Kind.BINARY: types.BINARY,
    hive_type.Kind.DATE: types.DATE,
    hive_type.Kind.TIMESTAMP: types.TIMESTAMP,
}


class HiveType(types.UserDefinedType[Any]):
    """A type that SQLAlchemy has no word for: arrays, maps, structs, zoned timestamps.

    Values are what the DB-API gives: lists, dictionaries, datetimes.
    """

    cache_ok = True

    def __init__(self, text: str) -> None:
        self.text = text

    def get_col_spec(self, **_: Any) -> str:
        """Hive's own text of the type."""
        return self.text


def type_of(type_: hive_type.HiveType) -> types.TypeEngine[Any]:
    """Return the SQLAlchemy type of a column of the catalog."""
    type_class = _KINDS.get(type_.kind)
    return type_class(*type_.arguments) if type_class else HiveType(str(type_))


class TypeCompiler(compiler.GenericTypeCompiler):
    """Hive's names of SQLAlchemy's types."""

    # The visitors' names are SQLAlchemy's.
    # ruff: noqa: N802, N815
    def _text(self, type_: Any, **_: Any) -> str:
        return f"VARCHAR({type_.length})" if type_.length else "STRING"

    visit_VARCHAR = _text
    visit_NVARCHAR = _text

    def _string(self, type_: Any, **_: Any) -> str:
        return "STRING"

    visit_TEXT = _string
    visit_CLOB = _string
    visit_NCLOB = _string

    def visit_TINYINT(self, type_: Any, **_: Any) -> str:
        """Eight bits."""
        return "TINYINT"

    def visit_INTEGER(self, type_: Any, **_: Any) -> str:
        """Thirty-two bits."""
        return "INT"

    def visit_REAL(self, type_: Any, **_: Any) -> str:
        """FLOAT has 32 bits in Hive."""
        return "FLOAT"

    def _double(self, type_: Any, **_: Any) -> str:
        # Python's float has 64 bits.
        return "DOUBLE"

    visit_FLOAT = _double
    visit_DOUBLE = _double
    visit_DOUBLE_PRECISION = _double

    def visit_NUMERIC(self, type_: Any, **_: Any) -> str:
        """DECIMAL, with Hive's greatest precision where none is asked for."""
        scale = type_.scale if type_.scale is not None else (0 if type_.precision else 10)
        return f"DECIMAL({type_.precision or 38},{scale})"

    visit_DECIMAL = visit_NUMERIC

    def _timestamp(self, type_: Any, **_: Any) -> str:
        if type_.timezone:
            return "TIMESTAMP WITH LOCAL TIME ZONE"
        return "TIMESTAMP"

    visit_DATETIME = _timestamp
    visit_TIMESTAMP = _timestamp

    def visit_TIME(self, type_: Any, **_: Any) -> str:
        """Hive has no times of day."""
        raise CompileError("Hive has no type TIME: use a TIMESTAMP or a text")

    def _binary(self, type_: Any, **_: Any) -> str:
        return "BINARY"

    visit_BLOB = _binary
    visit_BINARY = _binary
    visit_VARBINARY = _binary

    def visit_JSON(self, type_: Any, **_: Any) -> str:
        """Hive keeps JSON as text."""
        raise CompileError("Hive has no type JSON: use a text, or HiveType('map<string,string>')")
