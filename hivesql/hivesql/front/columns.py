"""Column lists, types and property lists of CREATE and ALTER."""

from __future__ import annotations

from hivesql.front.cursor import Cursor
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.table import Column

_PLAIN = frozenset(
    ("tinyint", "smallint", "int", "integer", "bigint", "float", "double", "string", "boolean",
     "date", "timestamp", "binary", "timestamplocaltz")
)  # fmt: skip
_SIZED = {"char": 255, "varchar": 65535}


def read_columns(cursor: Cursor) -> tuple[Column, ...]:
    """``name type [COMMENT '…'], …)`` after the opening parenthesis."""
    columns: list[Column] = []
    while True:
        if cursor.sees("PRIMARY") or cursor.sees("FOREIGN") or cursor.sees("CONSTRAINT"):
            raise NotSupported("constraints")
        offset = cursor.offset()
        name = cursor.name("a column name")
        if any(column.name == name for column in columns):
            cursor.fail(SemanticError(f"Duplicate column name: {name}", code=10036), offset)
        kind = read_type(cursor)
        for word in ("NOT", "DEFAULT", "CHECK", "PRIMARY", "UNIQUE", "REFERENCES"):
            if cursor.sees(word):
                raise NotSupported("constraints")
        comment = cursor.string() if cursor.take("COMMENT") else None
        columns.append(Column(name, kind, comment))
        if not cursor.list_of():
            break
    cursor.expect(")")
    return tuple(columns)


def read_type(cursor: Cursor) -> str:
    """A Hive type, as the metastore writes it: lower case, no spaces."""
    offset = cursor.offset()
    kind = cursor.name("a type")
    if kind == "timestamp" and cursor.take("WITH", "LOCAL", "TIME", "ZONE"):
        return "timestamp with local time zone"
    if kind == "double":
        cursor.take("PRECISION")
    if kind in _PLAIN:
        return "int" if kind == "integer" else kind
    if kind in ("decimal", "numeric", "dec"):
        return _decimal(cursor)
    if kind in _SIZED:
        cursor.expect("(")
        size = cursor.number("a length")
        cursor.expect(")")
        if not 1 <= size <= _SIZED[kind]:
            problem = f"{kind} length {size} out of allowed range [1, {_SIZED[kind]}]"
            cursor.fail(SemanticError(problem), offset)
        return f"{kind}({size})"
    if kind not in ("array", "map", "struct", "uniontype"):
        cursor.fail(NotSupported(f"type {kind}"), offset)
    return _nested(cursor, kind)


def _decimal(cursor: Cursor) -> str:
    precision, scale = 10, 0
    if cursor.take("("):
        precision = cursor.number("a precision")
        scale = cursor.number("a scale") if cursor.list_of() else 0
        cursor.expect(")")
    if not 1 <= precision <= 38 or scale > precision:
        cursor.refuse("decimal precision must be 1 to 38 and not below its scale")
    return f"decimal({precision},{scale})"


def _nested(cursor: Cursor, kind: str) -> str:
    cursor.expect("<")
    if kind == "array":
        inner = read_type(cursor)
    elif kind == "map":
        key = read_type(cursor)
        cursor.expect(",")
        inner = f"{key},{read_type(cursor)}"
    elif kind == "struct":
        fields = []
        while True:
            name = cursor.name("a field name")
            cursor.expect(":")
            fields.append(f"{name}:{read_type(cursor)}")
            if cursor.take("COMMENT"):
                cursor.string()
            if not cursor.list_of():
                break
        inner = ",".join(fields)
    else:
        raise NotSupported("uniontype")
    cursor.expect(">")
    return f"{kind}<{inner}>"


def read_names(cursor: Cursor, *, orders: bool = False) -> tuple[str, ...]:
    """``a, b)`` after the opening parenthesis; with ``orders`` ASC is passed over."""
    names = []
    while True:
        names.append(cursor.name("a column name"))
        if orders and not cursor.take("ASC") and cursor.sees("DESC"):
            raise NotSupported("SORTED BY … DESC")
        if not cursor.list_of():
            break
    cursor.expect(")")
    return tuple(names)


def read_properties(cursor: Cursor) -> dict[str, str]:
    """``('k'='v', …)``."""
    cursor.expect("(")
    properties: dict[str, str] = {}
    while True:
        key = cursor.string("a property name")
        cursor.expect("=")
        properties[key] = cursor.string("a property value")
        if not cursor.list_of():
            break
    cursor.expect(")")
    return properties
