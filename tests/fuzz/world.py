"""The model: tables as bags of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from fuzz.conditions import Row, Schema
from fuzz.kinds import Kind, Value, shown
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import default_value

Bag = Counter[tuple[str | None, ...]]
"""Rows by the one text of each of their values."""
Place = tuple[Value, ...]
"""A partition: its values."""


class Inapplicable(Exception):
    """The statement makes no sense here, since one before it was dropped."""


class Refused(Exception):
    """The statement must fail, and change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableModel:
    """A table, and the rows that are in it now."""

    name: str
    data: tuple[tuple[str, Kind], ...]
    parts: tuple[tuple[str, Kind], ...] = ()
    buckets: tuple[str, ...] = ()
    bucket_count: int = 0
    format: str = "ORC"
    properties: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[tuple[Value, ...], ...] = ()
    places: frozenset[Place] = frozenset()
    """The partitions that the catalog has; empty ones too."""

    @property
    def columns(self) -> Schema:
        """All columns, those of partitions last."""
        return dict((*self.data, *self.parts))

    @property
    def is_full_acid(self) -> bool:
        """Whether rows can be changed."""
        return self.is_transactional and "transactional_properties" not in self.properties

    @property
    def is_transactional(self) -> bool:
        """Whether it has deltas."""
        return self.properties.get("transactional") == "true"

    @property
    def settable(self) -> tuple[tuple[str, Kind], ...]:
        """The columns that an UPDATE of Hive's may set."""
        return tuple(one for one in self.data if one[0] not in self.buckets)

    def ddl(self, name: str = "") -> str:
        """CREATE TABLE with the columns of now."""
        listed = ", ".join(f"`{column}` {kind.type}" for column, kind in self.data)
        text = f"CREATE TABLE {name or self.name} ({listed})"
        if self.parts:
            parts = ", ".join(f"`{column}` {kind.type}" for column, kind in self.parts)
            text += f" PARTITIONED BY ({parts})"
        if self.buckets:
            names = ", ".join(f"`{one}`" for one in self.buckets)
            text += f" CLUSTERED BY ({names}) INTO {self.bucket_count} BUCKETS"
        text += f" STORED AS {self.format}"
        if self.properties:
            listed = ", ".join(f"'{key}'='{value}'" for key, value in self.properties.items())
            text += f" TBLPROPERTIES ({listed})"
        return text

    def named(self, values: tuple[Value, ...]) -> Row:
        """A row by the names of its columns."""
        return dict(zip(self.columns, values, strict=True))

    def place_of(self, values: tuple[Value, ...]) -> Place:
        """The partition that a row is in."""
        return values[len(self.data) :]

    def placed(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """A row as it is read: a text partition column without a value has a name for that."""
        width = len(self.data)
        cells = zip(self.parts, values[width:], strict=True)
        return (
            *values[:width],
            *(default_value(HiveType.parse(kind.type)) if value in ("", None) else value
              for (_, kind), value in cells),
        )  # fmt: skip

    def bag(self) -> Bag:
        """The rows in the form in which sides are compared."""
        kinds = tuple(self.columns.values())
        return bag(kinds, self.rows)

    def with_rows(self, rows: Iterable[tuple[Value, ...]]) -> TableModel:
        """These rows instead; their partitions exist from now on."""
        rows = tuple(map(self.placed, rows))
        places = self.places | {self.place_of(row) for row in rows} if self.parts else self.places
        return replace(self, rows=rows, places=places)


def bag(kinds: tuple[Kind, ...], rows: Iterable[tuple[Value, ...]]) -> Bag:
    """Rows of these types, with how often each is there."""
    return Counter(tuple(map(shown, kinds, row)) for row in rows)


World = Mapping[str, TableModel]


def table_of(world: World, name: str) -> TableModel:
    """The table, if it is there."""
    if name not in world:
        raise Inapplicable(name)
    return world[name]


def need(table: TableModel, columns: Iterable[str]) -> None:
    """Refuse a statement whose columns were never added."""
    if not set(columns) <= set(table.columns):
        raise Inapplicable(table.name)
