"""Hive's types as values: understood once where a text enters, printed as Hive prints them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from hivesql_planner.errors import SemanticError
from hivesql_planner.older_python import StrEnum


class Kind(StrEnum):
    """What a type is, apart from its sizes and from what is inside."""

    VOID = "void"
    BOOLEAN = "boolean"
    TINYINT = "tinyint"
    SMALLINT = "smallint"
    INT = "int"
    BIGINT = "bigint"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    STRING = "string"
    VARCHAR = "varchar"
    CHAR = "char"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    INSTANT = "timestamp with local time zone"
    YEAR_MONTH = "interval_year_month"
    DAY_TIME = "interval_day_time"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"
    UNION = "uniontype"
    OTHER = ""
    """What Hive does not know, such as Spark's VARIANT, or nothing at all; the text says which."""


TEXTS = frozenset((Kind.STRING, Kind.VARCHAR, Kind.CHAR))
SIZED_TEXTS = frozenset((Kind.VARCHAR, Kind.CHAR))
INTEGERS = frozenset((Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT))
FLOATS = frozenset((Kind.FLOAT, Kind.DOUBLE))
NUMBERS = INTEGERS | FLOATS | {Kind.DECIMAL}
TIMESTAMPS = frozenset((Kind.TIMESTAMP, Kind.INSTANT))
INTERVALS = frozenset((Kind.YEAR_MONTH, Kind.DAY_TIME))
NESTED = frozenset((Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.UNION))
BITS = {Kind.TINYINT: 8, Kind.SMALLINT: 16, Kind.INT: 32, Kind.BIGINT: 64}
MOST_DIGITS = 38
"""Of a decimal."""
LONGEST_NUMBER = 600
"""Characters of a number. Python reads no whole numbers of thousands of digits, which take long."""
UNION_TAG = "uniontype"
"""The first field of a struct that stands for a union: which of the members behind it is set."""
PLAIN_SCALE = 6
"""Java writes a decimal below ten to the power of minus this with an exponent."""

_DIGITS = {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10, Kind.BIGINT: 19}
LONGEST_DECIMAL = 38
LONGEST = {Kind.CHAR: 255, Kind.VARCHAR: 65535}
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_]+")
_NO_PART_OF_NAMES = re.compile("[`:,<>]")


@dataclass(frozen=True, slots=True)
class HiveType:
    """A type: its kind, the numbers in its parentheses, the types in its angle brackets.

    ``str`` prints it as Hive does: ``decimal(10,2)``, ``map<string,array<int>>``.
    """

    kind: Kind
    arguments: tuple[int, ...] = ()
    """Precision and scale of a decimal, the length of CHAR or VARCHAR."""
    children: tuple[HiveType, ...] = ()
    """The element of an array, key and value of a map, a struct's fields, a union's members."""
    names: tuple[str, ...] = ()
    """The names of a struct's fields."""
    other: str = ""
    """What it is called where the kind is OTHER."""
    zone: str = ""
    """In which zone an instant of a query's result is shown, where that is not UTC."""
    spelling: str = field(default="", compare=False)
    """How the catalog or an engine has it, where that is another text than Hive's."""

    @classmethod
    def parse(cls, text: str) -> HiveType:
        """Understand a text: any case, any blanks, also SQL's synonyms and Spark's names.

        What is no type of Hive is of kind OTHER.
        """
        return _parse(text)

    @classmethod
    def as_stored(cls, text: str) -> HiveType:
        """Understand a text of a catalog or an engine, which is printed as it stands there."""
        return _parse_stored(text)

    @classmethod
    def decimal(cls, precision: int, scale: int) -> HiveType:
        """Return a DECIMAL."""
        return cls(Kind.DECIMAL, (precision, scale))

    @classmethod
    def array(cls, element: HiveType) -> HiveType:
        """Return an ARRAY."""
        return cls(Kind.ARRAY, (), (element,))

    @classmethod
    def map(cls, key: HiveType, value: HiveType) -> HiveType:
        """Return a MAP."""
        return cls(Kind.MAP, (), (key, value))

    @classmethod
    def struct(cls, *fields: tuple[str, HiveType]) -> HiveType:
        """Return a STRUCT."""
        return cls(
            Kind.STRUCT, (), tuple(kind for _, kind in fields), tuple(name for name, _ in fields)
        )

    def __str__(self) -> str:
        return self.spelling or _print(self, [str(child) for child in self.children], _hive_name)

    @property
    def is_text(self) -> bool:
        """True for STRING, VARCHAR and CHAR."""
        return self.kind in TEXTS

    @property
    def is_number(self) -> bool:
        """True for integers, FLOAT, DOUBLE and DECIMAL."""
        return self.kind in NUMBERS

    @property
    def is_nested(self) -> bool:
        """True where types are inside: ARRAY, MAP, STRUCT, UNIONTYPE."""
        return self.kind in NESTED

    @property
    def is_known(self) -> bool:
        """False for a column whose type nobody told, such as an unknown expression's of a view."""
        return self.kind is not Kind.OTHER or bool(self.other)

    @property
    def length(self) -> int | None:
        """The most characters of a CHAR or VARCHAR; None for any other type."""
        return self.arguments[0] if self.kind in SIZED_TEXTS else None

    @property
    def scale(self) -> int | None:
        """The digits behind the point of a DECIMAL; None for any other type."""
        return self.arguments[1] if self.kind is Kind.DECIMAL else None

    @property
    def digits(self) -> tuple[int, int] | None:
        """Precision and scale of a DECIMAL, or of the one that an integer becomes; else None."""
        if self.kind is Kind.DECIMAL:
            return self.arguments[0], self.arguments[1]
        return (_DIGITS[self.kind], 0) if self.kind in _DIGITS else None

    @property
    def fields(self) -> tuple[tuple[str, HiveType], ...]:
        """Names, as Hive compares them, and types of the fields of a struct or a union's."""
        if self.kind is Kind.UNION:
            return self.as_struct.fields
        return tuple(zip((name.lower() for name in self.names), self.children, strict=True))

    def walk(self) -> Iterator[HiveType]:
        """Yield the type and those inside it, in the order in which ORC numbers them."""
        yield self
        for child in self.children:
            yield from child.walk()

    def holds(self, *kinds: Kind) -> bool:
        """Tell whether it or a type inside it is of one of the kinds."""
        return any(type_.kind in kinds for type_ in self.walk())

    def exchange(self, kinds: Collection[Kind], other: HiveType) -> HiveType:
        """Return the type with another in the place of those of some kinds, at any depth."""
        if self.kind in kinds:
            return other
        if not self.children:
            return self
        children = tuple(child.exchange(kinds, other) for child in self.children)
        return self if children == self.children else replace(self, children=children, spelling="")

    @property
    def spark(self) -> str:
        """The type in Spark's DDL: CHAR and VARCHAR are strings there, both timestamps one.

        Spark has no unions: they are structs of the tag and of each member, all but one NULL.
        """
        return _spark_text(self)

    @property
    def orc(self) -> str:
        """The type in the schema of ORC files."""
        return _orc_text(self)

    @property
    def as_struct(self) -> HiveType:
        """The struct that a union is in Spark."""
        names = (member_name(i) for i in range(len(self.children)))
        return HiveType.struct((UNION_TAG, TINYINT), *zip(names, self.children, strict=True))

    @property
    def in_ddl(self) -> str:
        """The type as SHOW CREATE TABLE writes it: fields in back quotes, a blank between them."""
        children = [child.in_ddl for child in self.children]
        if self.names:
            pairs = zip(self.names, children, strict=True)
            children = [f"{quote_name(name)}:{child}" for name, child in pairs]
        if self.names or self.kind is Kind.UNION:
            return f"{self.kind.value}<{', '.join(children)}>"
        return _print(self, children, quote_name)


BOOLEAN = HiveType(Kind.BOOLEAN)
TINYINT = HiveType(Kind.TINYINT)
SMALLINT = HiveType(Kind.SMALLINT)
INT = HiveType(Kind.INT)
BIGINT = HiveType(Kind.BIGINT)
FLOAT = HiveType(Kind.FLOAT)
DOUBLE = HiveType(Kind.DOUBLE)
STRING = HiveType(Kind.STRING)
BINARY = HiveType(Kind.BINARY)
DATE = HiveType(Kind.DATE)
TIMESTAMP = HiveType(Kind.TIMESTAMP)
INSTANT = HiveType(Kind.INSTANT)
YEAR_MONTH = HiveType(Kind.YEAR_MONTH)
DAY_TIME = HiveType(Kind.DAY_TIME)
VOID = HiveType(Kind.VOID)
UNKNOWN = HiveType(Kind.OTHER)
"""The type of a column that nobody told."""


def check_length(kind: Kind, length: int) -> None:
    """Refuse a length that CHAR or VARCHAR cannot have."""
    if not 1 <= length <= LONGEST[kind]:
        raise SemanticError(
            f"{kind.capitalize()} length {length} out of allowed range [1, {LONGEST[kind]}]"
        )


def check_decimal(precision: int, scale: int) -> None:
    """Refuse a precision or a scale that DECIMAL cannot have."""
    if not 1 <= precision <= LONGEST_DECIMAL:
        raise SemanticError(f"Decimal precision out of allowed range [1,{LONGEST_DECIMAL}]")
    if scale > precision:
        raise SemanticError("Decimal scale must be less than or equal to precision")


def member_name(tag: int) -> str:
    """Name a member of a union in the struct that stands for it."""
    return f"_{tag}"


def quote_name(name: str) -> str:
    """Write a name in back quotes, as the SQL of Hive and of Spark and the types of ORC have it."""
    return f"`{name.replace('`', '``')}`"


def _hive_name(name: str) -> str:
    return quote_name(name) if _NO_PART_OF_NAMES.search(name) else name


def _quoted_name(name: str) -> str:
    name = name.lower()
    return name if _PLAIN_NAME.fullmatch(name) else quote_name(name)


def _print(type_: HiveType, children: list[str], quote: Callable[[str], str]) -> str:
    name = type_.kind.value or type_.other
    if type_.arguments:
        return f"{name}({','.join(map(str, type_.arguments))})"
    if type_.zone:
        return f"{name}('{type_.zone}')"
    if not type_.children:
        return name
    if type_.names:
        pairs = zip(type_.names, children, strict=True)
        children = [f"{quote(field_name)}:{child}" for field_name, child in pairs]
    return f"{name}<{','.join(children)}>"


@lru_cache(maxsize=4096)
def _spark_text(type_: HiveType) -> str:
    """Return the type in Spark's DDL."""
    match type_.kind:
        case Kind.CHAR | Kind.VARCHAR:
            return Kind.STRING.value
        case Kind.INSTANT:
            return Kind.TIMESTAMP.value
        case Kind.OTHER:
            return type_.other.lower()
    type_ = type_.as_struct if type_.kind is Kind.UNION else type_
    return _print(type_, [_spark_text(child) for child in type_.children], _quoted_name)


@lru_cache(maxsize=4096)
def _orc_text(type_: HiveType) -> str:
    """Return the type in an ORC schema."""
    if type_.kind is Kind.OTHER:
        return type_.other.lower().replace(" ", "")
    return _print(type_, [_orc_text(child) for child in type_.children], _quoted_name)


_SIMPLE = {kind.value: kind for kind in Kind if kind not in (*NESTED, *SIZED_TEXTS, Kind.OTHER)} | {
    "integer": Kind.INT,
    "double precision": Kind.DOUBLE,
    "real": Kind.FLOAT,
    "dec": Kind.DECIMAL,
    "numeric": Kind.DECIMAL,
    "timestamplocaltz": Kind.INSTANT,
    "timestamp_ntz": Kind.TIMESTAMP,
}
_PARAMETERS = re.compile(r"\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_ZONE = re.compile(r"\s*'([^']+)'\s*\)")
_STEPS = re.compile(r"[^(<>,:)]*")


@lru_cache(maxsize=4096)
def _parse(text: str) -> HiveType:
    try:
        type_, end = _type_at(text, 0)
        if end == len(text):
            return type_
    except _NoTypeError:
        pass
    return HiveType(Kind.OTHER, other=" ".join(text.split()))


@lru_cache(maxsize=4096)
def _parse_stored(text: str) -> HiveType:
    type_ = _parse(text)
    return type_ if str(type_) == text else replace(type_, spelling=text)


class _NoTypeError(Exception):
    """The text is no type."""


def _type_at(text: str, start: int) -> tuple[HiveType, int]:
    """Return the type that begins there, and where it ends."""
    match = _STEPS.match(text, start)
    assert match
    name, end = " ".join(match[0].lower().split()), match.end()
    if text[end : end + 1] == "<":
        return _nested_at(text, name, end + 1)
    if text[end : end + 1] != "(":
        kind = _SIMPLE.get(name)
        if kind is None:
            return HiveType(Kind.OTHER, other=name), end
        return HiveType(kind, (10, 0) if kind is Kind.DECIMAL else ()), end
    if _SIMPLE.get(name) is Kind.INSTANT and (zone := _ZONE.match(text, end + 1)):
        return HiveType(Kind.INSTANT, zone=zone[1]), _blanks(text, zone.end())
    numbers = _PARAMETERS.match(text, end + 1)
    if numbers is None:
        raise _NoTypeError
    first, second = int(numbers[1]), int(numbers[2] or 0)
    end = _blanks(text, numbers.end())
    if _SIMPLE.get(name) is Kind.DECIMAL:
        return HiveType(Kind.DECIMAL, (first, second)), end
    if name in SIZED_TEXTS and numbers[2] is None:
        return HiveType(Kind(name), (first,)), end
    return HiveType(Kind.OTHER, other=" ".join(text[start:end].split())), end


def _nested_at(text: str, name: str, start: int) -> tuple[HiveType, int]:
    if name not in NESTED:
        raise _NoTypeError
    kind = Kind(name)
    names: list[str] = []
    children: list[HiveType] = []
    end, mark = start, ","
    while mark == ",":
        if kind is Kind.STRUCT:
            field_name, end = _name_at(text, end)
            names.append(field_name)
        child, end = _type_at(text, end)
        children.append(child)
        mark, end = text[end : end + 1], end + 1
    expected = {Kind.ARRAY: 1, Kind.MAP: 2}.get(kind, len(children))
    if mark != ">" or len(children) != expected:
        raise _NoTypeError
    if names[:1] == [UNION_TAG] and names[1:] == list(map(member_name, range(len(names) - 1))):
        return HiveType(Kind.UNION, (), tuple(children[1:])), _blanks(text, end)
    return HiveType(kind, (), tuple(children), tuple(names)), _blanks(text, end)


_NAME = re.compile(r"\s*(?:`((?:[^`]|``)+)`\s*|([^:<>,]+)):")


def _name_at(text: str, start: int) -> tuple[str, int]:
    """Return the name of a field, without quotes, and where its type begins."""
    match = _NAME.match(text, start)
    if match is None:
        raise _NoTypeError
    return match[1].replace("``", "`") if match[1] else match[2].strip(), match.end()


def _blanks(text: str, start: int) -> int:
    """Skip blanks."""
    while text[start : start + 1].isspace():
        start += 1
    return start
