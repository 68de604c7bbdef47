"""Conditions and expressions over one row: as SQL, and as the model understands them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from fuzz.kinds import Constant, Kind, Value, stored

Row = Mapping[str, Value]
Schema = Mapping[str, Kind]
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
EQUAL = ("=", "<>")
LONG = {"int": 32, "bigint": 64}


class Condition(Protocol):
    """What a WHERE says of a row: true, false, or None for unknown."""

    def sql(self, alias: str = "") -> str: ...
    def test(self, row: Row) -> bool | None: ...
    @property
    def columns(self) -> frozenset[str]: ...


def named(column: str, alias: str = "") -> str:
    """A column as SQL names it."""
    return f"{alias}.`{column}`" if alias else f"`{column}`"


def _cell(row: Row, column: str, kind: Kind) -> Value:
    value = row[column]
    return value.rstrip(" ") if kind.base == "char" and value is not None else value


@dataclass(frozen=True, slots=True)
class Compare:
    """A column beside a constant."""

    column: str
    kind: Kind
    sign: str
    constant: Constant

    def sql(self, alias: str = "") -> str:
        return f"{named(self.column, alias)} {self.sign} {self.constant.sql}"

    def test(self, row: Row) -> bool | None:
        left, right = _cell(row, self.column, self.kind), self.constant.value
        if left is None or right is None:
            return None
        return COMPARE[self.sign](left, right)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})


@dataclass(frozen=True, slots=True)
class Among:
    """A column in a list of constants."""

    column: str
    kind: Kind
    constants: tuple[Constant, ...]
    negated: bool

    def sql(self, alias: str = "") -> str:
        listed = ", ".join(one.sql for one in self.constants)
        return f"{named(self.column, alias)} {'NOT ' * self.negated}IN ({listed})"

    def test(self, row: Row) -> bool | None:
        left = _cell(row, self.column, self.kind)
        if left is None:
            return None
        found = any(left == one.value for one in self.constants if one.value is not None)
        if not found and any(one.value is None for one in self.constants):
            return None
        return found != self.negated

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})


@dataclass(frozen=True, slots=True)
class IsNull:
    """A column that is NULL, or is not."""

    column: str
    negated: bool

    def sql(self, alias: str = "") -> str:
        return f"{named(self.column, alias)} IS {'NOT ' * self.negated}NULL"

    def test(self, row: Row) -> bool | None:
        return (row[self.column] is None) != self.negated

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})


@dataclass(frozen=True, slots=True)
class Both:
    """Two conditions with AND or OR between them."""

    word: str
    left: Condition
    right: Condition

    def sql(self, alias: str = "") -> str:
        return f"({self.left.sql(alias)} {self.word} {self.right.sql(alias)})"

    def test(self, row: Row) -> bool | None:
        values = {self.left.test(row), self.right.test(row)}
        decisive = self.word == "OR"
        if decisive in values:
            return decisive
        return None if None in values else not decisive

    @property
    def columns(self) -> frozenset[str]:
        return self.left.columns | self.right.columns


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    inner: Condition

    def sql(self, alias: str = "") -> str:
        return f"NOT ({self.inner.sql(alias)})"

    def test(self, row: Row) -> bool | None:
        found = self.inner.test(row)
        return None if found is None else not found

    @property
    def columns(self) -> frozenset[str]:
        return self.inner.columns


def pick_condition(chance: Random, schema: Schema, *, depth: int = 2) -> Condition:
    """A random condition on columns of the schema."""
    if depth and chance.random() < 0.4:
        word = chance.choice(("AND", "OR", "NOT"))
        left = pick_condition(chance, schema, depth=depth - 1)
        if word == "NOT":
            return Not(left)
        return Both(word, left, pick_condition(chance, schema, depth=depth - 1))
    column, kind = chance.choice(list(schema.items()))
    signs = tuple(COMPARE) if kind.ordered else EQUAL
    if kind.base in {"float", "double", "binary", "array", "map", "struct"}:
        return IsNull(column, chance.random() < 0.5)
    constants = [one for one in kind.constants if one.is_plain]
    match chance.randrange(5):
        case 0:
            return IsNull(column, chance.random() < 0.5)
        case 1:
            count = min(len(constants), chance.randint(1, 4))
            return Among(
                column, kind, tuple(chance.sample(constants, count)), chance.random() < 0.3
            )
    return Compare(column, kind, chance.choice(signs), chance.choice(constants))


class Expression(Protocol):
    """What becomes of a row."""

    def sql(self, alias: str = "") -> str: ...
    def value(self, row: Row) -> Value: ...
    @property
    def columns(self) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant, whatever the row."""

    constant: Constant

    def sql(self, alias: str = "") -> str:
        return self.constant.sql

    def value(self, row: Row) -> Value:
        return self.constant.value

    @property
    def columns(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True, slots=True)
class Same:
    """Another column as it is."""

    column: str

    def sql(self, alias: str = "") -> str:
        return named(self.column, alias)

    def value(self, row: Row) -> Value:
        return row[self.column]

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})


@dataclass(frozen=True, slots=True)
class Sum:
    """A whole number and a little more, which goes round at the ends as in Java."""

    column: str
    kind: Kind
    more: int

    def sql(self, alias: str = "") -> str:
        return f"{named(self.column, alias)} + {self.more}"

    def value(self, row: Row) -> Value:
        value, bits = row[self.column], LONG[self.kind.type]
        if value is None:
            return None
        half = 1 << (bits - 1)
        return (value + self.more + half) % (2 * half) - half

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})


@dataclass(frozen=True, slots=True)
class Longer:
    """A text with something after it."""

    column: str
    end: str

    def sql(self, alias: str = "") -> str:
        return f"concat({named(self.column, alias)}, '{self.end}')"

    def value(self, row: Row) -> Value:
        value = row[self.column]
        return None if value is None else f"{value}{self.end}"

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})


def pick_expression(chance: Random, kind: Kind, schema: Schema) -> Expression:
    """A random expression of the type."""
    alike = [column for column, other in schema.items() if other.type == kind.type]
    if not alike or chance.random() < 0.4:
        # NULL alone has no type in a query.
        return Fixed(kind.pick(chance, nulls=0.0 if "<" in kind.type else 0.1))
    column = chance.choice(alike)
    if kind.type in LONG and chance.random() < 0.5:
        return Sum(column, kind, chance.randint(1, 3))
    if kind.type == "string" and chance.random() < 0.5:
        return Longer(column, chance.choice(("!", "é", "")))
    return Same(column)


def computed(kinds: Sequence[Kind], values: Sequence[Expression], row: Row) -> tuple[Value, ...]:
    """The row that the expressions make, as columns of these types keep it."""
    return tuple(stored(kind, one.value(row)) for kind, one in zip(kinds, values, strict=True))
