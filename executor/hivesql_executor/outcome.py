"""What a plan gave: rows for the user, or a count of rows changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from hivesql_planner.errors import DataError
from hivesql_planner.model.hive_type import TIMESTAMPS, HiveType, Kind

HIVE_TYPE = "hivesql.type"
"""Key of a column's metadata: its type in Hive, where Spark's does not tell enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Columns and rows of a query or SHOW, or how many rows a statement changed.

    ``value`` is what the consumer of a SELECT returned; by default its rows.
    """

    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    rows: Sequence[Sequence[Any]] = ()
    value: Any = None
    affected: int | None = None
    message: str | None = None
    schema: StructType | None = None
    """The types of a query's columns, where Spark gave its rows."""
    table: pa.Table | None = None
    """A query's rows, where they came without Spark."""
    of_server: Sequence[Sequence[Any]] | None = None
    """What HiveServer2 sends, where that is not the ``rows``, which the shell prints."""

    @classmethod
    def of_query(cls, frame: DataFrame, value: Any) -> Outcome:
        """Return the outcome of a SELECT, once its rows have been consumed."""
        rows = value if isinstance(value, list) else ()
        columns = tuple(frame.columns)
        return cls(
            columns=columns,
            types=types_of(frame.schema),
            rows=rows,
            value=value,
            schema=frame.schema,
        )

    @classmethod
    def of_table(
        cls,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        types: Mapping[str, str] | None = None,
        of_server: Sequence[Sequence[Any]] | None = None,
    ) -> Outcome:
        """Return a small table of the metastore; columns that are not in ``types`` are text."""
        kinds = tuple((types or {}).get(column, "string") for column in columns)
        return cls(columns=tuple(columns), types=kinds, rows=rows, of_server=of_server)


def types_of(schema: StructType) -> tuple[str, ...]:
    """Name the types of a query's columns: as Spark, but as Hive where instants are inside."""
    return tuple(
        field.metadata.get(HIVE_TYPE) or str(HiveType.parse(field.dataType.simpleString()))
        for field in schema.fields
    )


class NamedRow(tuple[Any, ...]):
    """A tuple whose values also have names: what PySpark's Row is to a caller."""

    __fields__: tuple[str, ...]

    def __new__(cls, fields: Sequence[str], values: Sequence[Any]) -> NamedRow:
        row = super().__new__(cls, values)
        row.__fields__ = tuple(fields)
        return row

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, slice)):
            return super().__getitem__(key)
        if key not in self.__fields__:
            raise KeyError(key)
        return super().__getitem__(self.__fields__.index(key))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__fields__:
            raise AttributeError(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self.__fields__

    def asDict(self, recursive: bool = False) -> dict[str, Any]:  # noqa: N802 - PySpark's name
        """Values by name, those of rows and of collections inside too where ``recursive``."""
        values = map(_as_dict, self) if recursive else self
        return dict(zip(self.__fields__, values, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedRow, (self.__fields__, tuple(self))

    def __repr__(self) -> str:
        inside = zip(self.__fields__, self, strict=True)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in inside)})"


def _as_dict(value: Any) -> Any:
    if isinstance(value, NamedRow):
        return value.asDict(recursive=True)
    if isinstance(value, list):
        return [_as_dict(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_dict(item) for key, item in value.items()}
    return value


_FINER = re.compile(r":\d\d\.\d{6}(\d{1,3})$")


class NanosecondTime(datetime):
    """A datetime that knows and shows what comes after its microseconds.

    It compares, and counts, as the datetime that it is: by microseconds.
    """

    nanosecond: int = 0
    """Billionths of a second after the microsecond: 0 to 999."""

    @classmethod
    def of(cls, time: datetime, nanosecond: int) -> NanosecondTime:
        """Return the time, and so many nanoseconds."""
        moment = cls(*time.timetuple()[:6], time.microsecond)
        moment.nanosecond = nanosecond
        return moment

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """As of every datetime, with nine digits where no other number is asked for."""
        if timespec != "auto":
            return super().isoformat(sep, timespec)
        return f"{super().isoformat(sep, 'microseconds')}{self.nanosecond:03d}"

    def __repr__(self) -> str:
        return f"NanosecondTime({self.isoformat(' ')!r})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        plain = datetime(*self.timetuple()[:6], self.microsecond)
        return NanosecondTime.of, (plain, self.nanosecond)


def with_text(value: Any, text: Any) -> Any:
    """Return a time, or what holds times, with the nanoseconds of the texts in their places."""
    if text is None:
        return value
    match value:
        case datetime():
            match_ = _FINER.search(text)
            nanosecond = int(match_[1].ljust(3, "0")) if match_ else 0
            return NanosecondTime.of(value, nanosecond) if nanosecond else value
        case list():
            return list(map(with_text, value, text))
        case dict():
            pairs = zip(value.items(), text.items(), strict=True)
            return {
                with_text(key, key_text): with_text(item, item_text)
                for (key, item), (key_text, item_text) in pairs
            }
        case tuple():
            row: Any = tuple.__new__(type(value), map(with_text, value, text))
            row.__fields__ = value.__fields__  # type: ignore[attr-defined]
            return row
    return value


class OutsideTime(str):
    """The text of a DATE or TIMESTAMP whose year Python does not have: before 1, after 9999."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"OutsideTime({str(self)!r})"


# What the conversions of Python, PySpark and pyarrow say.
_SAID = re.compile(
    r"year -?\d+ is out of range|ordinal must be >= 1|date value out of range|year is out of range"
    r"|days=-?\d+; must have magnitude"
)


def is_outside_years(error: Exception) -> bool:
    """Tell whether the error is that of a time whose year Python does not have."""
    return isinstance(error, (ValueError, OverflowError)) and bool(_SAID.search(str(error)))


def outside_years(columns: Sequence[str] = ()) -> DataError:
    """Make the error for the user; ``columns`` may hold the value, none where that is unknown."""
    where = f" in {' or '.join(columns)}" if columns else ""
    return DataError(
        f"a DATE or TIMESTAMP{where} is outside of the years 1 to 9999, and Python has no others: "
        "select it as CAST(… AS STRING), or leave such rows out by a condition"
    )


@contextmanager
def naming_times(columns: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Tell which columns, of these names and Spark's types, hold what Python has not."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        types = [(name, HiveType.parse(kind)) for name, kind in columns]
        times = [name for name, type_ in types if type_.holds(Kind.DATE, *TIMESTAMPS)]
        if not times or not is_outside_years(error):
            raise
        raise outside_years(times) from error
