"""Hive's types as SQLAlchemy's, both ways."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import types
from sqlalchemy.exc import CompileError
from sqlalchemy.sql import compiler

_PLAIN: dict[str, type[types.TypeEngine[Any]]] = {
    "boolean": types.BOOLEAN,
    "smallint": types.SMALLINT,
    "int": types.INTEGER,
    "bigint": types.BIGINT,
    "float": types.REAL,
    "double": types.DOUBLE,
    "string": types.String,
    "binary": types.BINARY,
    "date": types.DATE,
    "timestamp": types.TIMESTAMP,
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_TEXT = re.compile(r"(var)?char\((\d+)\)")


class TINYINT(types.Integer):
    """Eight bits."""

    __visit_name__ = "TINYINT"


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


def type_of(text: str) -> types.TypeEngine[Any]:
    """Return the SQLAlchemy type of a column of the catalog."""
    kind = " ".join(text.lower().split())
    if kind in _PLAIN:
        return _PLAIN[kind]()
    if kind == "tinyint":
        return TINYINT()
    if match := _DECIMAL.fullmatch(kind):
        return types.DECIMAL(int(match[1]), int(match[2]))
    if match := _TEXT.fullmatch(kind):
        return (types.VARCHAR if match[1] else types.CHAR)(int(match[2]))
    return HiveType(kind)


class TypeCompiler(compiler.GenericTypeCompiler):
    """Hive's names of SQLAlchemy's types."""

    # The visitors' names are SQLAlchemy's.
    # ruff: noqa: N802, N815
    def _text(self, type_: Any, **_: Any) -> str:
        return f"VARCHAR({type_.length})" if type_.length else "STRING"

    visit_VARCHAR = visit_NVARCHAR = _text

    def _string(self, type_: Any, **_: Any) -> str:
        return "STRING"

    visit_TEXT = visit_CLOB = visit_NCLOB = _string

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

    visit_FLOAT = visit_DOUBLE = visit_DOUBLE_PRECISION = _double

    def visit_NUMERIC(self, type_: Any, **_: Any) -> str:
        """DECIMAL, with Hive's greatest precision where none is asked for."""
        scale = type_.scale if type_.scale is not None else (0 if type_.precision else 10)
        return f"DECIMAL({type_.precision or 38},{scale})"

    visit_DECIMAL = visit_NUMERIC

    def _timestamp(self, type_: Any, **_: Any) -> str:
        if type_.timezone:
            return "TIMESTAMP WITH LOCAL TIME ZONE"
        return "TIMESTAMP"

    visit_DATETIME = visit_TIMESTAMP = _timestamp

    def visit_TIME(self, type_: Any, **_: Any) -> str:
        """Hive has no times of day."""
        raise CompileError("Hive has no type TIME: use a TIMESTAMP or a text")

    def _binary(self, type_: Any, **_: Any) -> str:
        return "BINARY"

    visit_BLOB = visit_BINARY = visit_VARBINARY = _binary

    def visit_JSON(self, type_: Any, **_: Any) -> str:
        """Hive keeps JSON as text."""
        raise CompileError("Hive has no type JSON: use a text, or HiveType('map<string,string>')")
