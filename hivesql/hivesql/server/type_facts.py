"""What JDBC is told of Hive's types: their numbers in java.sql.Types, sizes and digits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hivesql_planner.model.hive_type import NUMBERS, TEXTS, HiveType, Kind

_FULL, _NONE = 3, 0
"""Whether values can be searched for, also by LIKE, or not at all."""
_LONGEST = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """A type as DatabaseMetaData describes it; None where Hive tells nothing."""

    kind: Kind
    name: str
    number: int
    """In java.sql.Types."""
    size: int | None = None
    digits: int | None = None
    radix: int | None = None

    @property
    def is_number(self) -> bool:
        """Tell whether its values are numbers."""
        return self.kind in NUMBERS

    @property
    def is_case_sensitive(self) -> bool:
        """Tell whether values of other case are others."""
        return self.kind in TEXTS

    @property
    def searchable(self) -> int:
        """Tell how its values can be searched for."""
        nested = (Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.UNION)
        return _NONE if self.kind in nested else _FULL

    @property
    def precision(self) -> int | None:
        """The most digits of a number."""
        return self.size if self.is_number else None


def _facts(
    kind: Kind, number: int, size: int | None = None, digits: int | None = None,
    radix: int | None = None,
) -> TypeFacts:  # fmt: skip
    name = {Kind.INSTANT: "TIMESTAMP WITH LOCAL TIME ZONE"}.get(kind, kind.value.upper())
    return TypeFacts(kind=kind, name=name, number=number, size=size, digits=digits, radix=radix)


TYPE_FACTS = (
    _facts(Kind.VOID, 0),
    _facts(Kind.BOOLEAN, 16, digits=0),
    _facts(Kind.TINYINT, -6, 3, 0, 10),
    _facts(Kind.SMALLINT, 5, 5, 0, 10),
    _facts(Kind.INT, 4, 10, 0, 10),
    _facts(Kind.BIGINT, -5, 19, 0, 10),
    _facts(Kind.FLOAT, 6, 7, 7, 10),
    _facts(Kind.DOUBLE, 8, 15, 15, 10),
    _facts(Kind.STRING, 12, _LONGEST),
    _facts(Kind.CHAR, 1, 255),
    _facts(Kind.VARCHAR, 12, 65535),
    _facts(Kind.DATE, 91, 10),
    _facts(Kind.TIMESTAMP, 93, 29, 9),
    _facts(Kind.INSTANT, 1111, 31),
    _facts(Kind.BINARY, -2, _LONGEST),
    _facts(Kind.DECIMAL, 3, 38, 38, 10),
    _facts(Kind.ARRAY, 2003),
    _facts(Kind.MAP, 2000),
    _facts(Kind.STRUCT, 2002),
    _facts(Kind.UNION, 1111),
    _facts(Kind.YEAR_MONTH, 1111),
    _facts(Kind.DAY_TIME, 1111),
)
_BY_KIND = {facts.kind: facts for facts in TYPE_FACTS}
_UNKNOWN = _facts(Kind.OTHER, 1111)


def facts_of(type_: HiveType) -> TypeFacts:
    """Return what is told of a column's type: with its own digits, length, and what is inside."""
    facts = _BY_KIND.get(type_.kind, _UNKNOWN)
    if type_.scale is not None:
        return replace(facts, size=type_.arguments[0], digits=type_.scale)
    if type_.length is not None:
        return replace(facts, size=type_.length)
    if type_.is_nested or type_.kind is Kind.OTHER:
        return replace(facts, name=str(type_))
    return facts
