"""Column types and column lists, as the metastore writes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hivesql.dialect.tokens import Cursor, Kind, Token, at
from hivesql_planner.errors import SemanticError
from hivesql_planner.model import hive_type
from hivesql_planner.model.hive_type import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    HiveType,
    check_decimal,
    check_length,
)
from hivesql_planner.model.table import Column

_PLAIN = {
    "tinyint": TINYINT,
    "smallint": SMALLINT,
    "int": INT,
    "integer": INT,
    "bigint": BIGINT,
    "boolean": BOOLEAN,
    "float": FLOAT,
    "double": DOUBLE,
    "real": FLOAT,
    "string": STRING,
    "binary": BINARY,
    "date": DATE,
    "timestamplocaltz": INSTANT,
}
_DECIMALS = ("decimal", "dec", "numeric")
_CONSTRAINTS = frozenset({"not", "default", "primary", "unique", "check", "constraint",
                          "references", "enable", "disable"})  # fmt: skip
_TABLE_CONSTRAINTS = frozenset({"primary", "constraint", "unique", "check", "foreign"})


def parse_columns(cursor: Cursor) -> tuple[Column, ...]:
    """``(name type [COMMENT 'c'], …)``; constraints are refused."""
    cursor.expect("(")
    columns = [_column(cursor)]
    while cursor.take(","):
        columns.append(_column(cursor))
    cursor.expect(")")
    return tuple(columns)


def _column(cursor: Cursor) -> Column:
    token, after = cursor.peek(), cursor.peek(1)
    if token.kind is Kind.WORD and token.value in _TABLE_CONSTRAINTS \
            and (after.is_("key") or after.is_("(") or token.value == "constraint"):  # fmt: skip
        cursor.refuse("constraints of tables (PRIMARY KEY, UNIQUE, FOREIGN KEY, CHECK)")
    name = cursor.new_column()
    type_ = parse_type(cursor)
    if cursor.peek().kind is Kind.WORD and cursor.peek().value in _CONSTRAINTS:
        cursor.refuse(
            "constraints of columns (NOT NULL, DEFAULT, CHECK, PRIMARY KEY, UNIQUE, CONSTRAINT)"
        )
    return Column(name.text, type_, cursor.string() if cursor.take("comment") else None)


def parse_type(cursor: Cursor) -> HiveType:
    """Take a type such as ``map<string,array<int>>``."""
    token = cursor.next()
    word = token.value if token.kind is Kind.WORD else ""
    if word in _PLAIN:
        if word == "double":
            cursor.take("precision")
        return _PLAIN[word]
    if word in _DECIMALS:
        return _decimal(cursor)
    if word in ("varchar", "char"):
        cursor.expect("(")
        start = cursor.peek()
        length = cursor.integer("a length")
        with _at(cursor, start):
            check_length(hive_type.Kind(word), length)
        cursor.expect(")")
        return HiveType(hive_type.Kind(word), (length,))
    if word == "timestamp":
        if cursor.take("with", "local", "time", "zone"):
            return INSTANT
        return TIMESTAMP
    nested = {"array": _array, "map": _map, "struct": _struct, "uniontype": _union}.get(word)
    if word == "datetime":
        refused = SemanticError(
            "DATETIME type isn't supported yet. Please use DATE or TIMESTAMP instead", code=10099
        )
        raise at(refused, cursor.text, token.start, token.end)
    if nested is None:
        cursor.fail("expected a type", token)
    cursor.expect("<")
    return nested(cursor)


@contextmanager
def _at(cursor: Cursor, token: Token) -> Iterator[None]:
    """Let what is refused of a type's numbers name their place."""
    try:
        yield
    except SemanticError as error:
        raise at(error, cursor.text, token.start, token.end) from None


def _decimal(cursor: Cursor) -> HiveType:
    precision, scale = 10, 0
    if cursor.take("("):
        start = cursor.peek()
        precision = cursor.integer("a precision")
        scale = cursor.integer("a scale") if cursor.take(",") else 0
        with _at(cursor, start):
            check_decimal(precision, scale)
        cursor.expect(")")
    return HiveType.decimal(precision, scale)


def _close(cursor: Cursor) -> None:
    if not cursor.take(">"):
        cursor.fail("expected >")


def _array(cursor: Cursor) -> HiveType:
    inner = parse_type(cursor)
    _close(cursor)
    return HiveType.array(inner)


def _map(cursor: Cursor) -> HiveType:
    start = cursor.peek()
    key = parse_type(cursor)
    if key.is_nested:
        cursor.fail("the keys of a map are of a primitive type", start)
    cursor.expect(",")
    value = parse_type(cursor)
    _close(cursor)
    return HiveType.map(key, value)


def _struct(cursor: Cursor) -> HiveType:
    fields = dict([_field(cursor)])
    while cursor.take(","):
        token = cursor.peek()
        name, type_ = _field(cursor)
        if name in fields:
            what = f'Attribute "{name}" specified more than once in structured type.'
            raise at(SemanticError(what, code=10423), cursor.text, token.start, token.end)
        fields[name] = type_
    _close(cursor)
    return HiveType.struct(*fields.items())


def _field(cursor: Cursor) -> tuple[str, HiveType]:
    name = cursor.name("a field name")
    cursor.expect(":")
    type_ = parse_type(cursor)
    if cursor.take("comment"):
        cursor.string()
    return name.text, type_


def _union(cursor: Cursor) -> HiveType:
    kinds = [parse_type(cursor)]
    while cursor.take(","):
        kinds.append(parse_type(cursor))
    _close(cursor)
    return HiveType(hive_type.Kind.UNION, (), tuple(kinds))
