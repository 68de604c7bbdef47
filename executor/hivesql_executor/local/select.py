"""SELECT of few rows of one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.local.count import living_rows
from hivesql_executor.local.evaluate import evaluate
from hivesql_executor.local.fitting import Fitting, first_rows, fitting, partition_columns
from hivesql_executor.local.read import OnlySpark, SmallSnapshot
from hivesql_executor.local.types import arrow_type
from hivesql_executor.outcome import NamedRow, Outcome, is_outside_years
from hivesql_planner.model.hive_type import VOID, HiveType, Kind
from hivesql_planner.model.table import Column, Table
from hivesql_planner.predicates.predicate import Constant, Shown, SmallSelect, Sorting, Total

_MOST_ROWS = 100_000
"""More come from Spark, which hands them out part by part."""
_LONGEST = 2**63


def select_rows(small: SmallSelect, snapshot: SmallSnapshot, columns: Sequence[Column]) -> Outcome:
    """Return the rows; OnlySpark where a file holds what cannot be read here, or too much."""
    try:
        return _select_rows(small, snapshot, columns)
    except (ValueError, OverflowError) as error:
        if not is_outside_years(error):
            raise
        # Spark sorts such times, and casts them to texts.
        raise OnlySpark from None


def select_unread(small: SmallSelect, columns: Sequence[Column]) -> Outcome:
    """Return the row of a query without a table, or no row where none is wanted."""
    if small.limit != 0:
        return _shown_rows(small, {}, 1, columns)
    schema = pa.schema([(column.name, _shown_type(column.type)) for column in columns])
    return _outcome(schema.empty_table(), columns)


def select_from(small: SmallSelect, relation: pa.Table, columns: Sequence[Column]) -> Outcome:
    """Return the rows of a query over rows that are in memory; OnlySpark where they are many."""
    arrays = {name: relation[name].combine_chunks() for name in relation.column_names}
    if small.where is not None:
        fits = pc.indices_nonzero(pc.fill_null(evaluate(small.where, arrays), False))
        arrays = {name: array.take(fits) for name, array in arrays.items()}
    count = len(arrays[relation.column_names[0]])
    return _shown_rows(small, arrays, count, columns)


def _select_rows(small: SmallSelect, snapshot: SmallSnapshot, columns: Sequence[Column]) -> Outcome:
    table = snapshot.table
    names_read = {
        item.column for item in (*small.items, *small.order) if not isinstance(item, Constant)
    }
    columns_read = tuple(column for column in table.columns if column.name in names_read)
    counted = living_rows(snapshot, small.most_bytes) if _only_counts(small) else None
    fittings = _find_rows(small, snapshot, columns_read) if counted is None else []
    count = sum(len(file.ids["rowId"]) for file in fittings) if counted is None else counted
    values_by_name = {
        column.name: _joined(column, fittings, table) for column in table.all_columns
        if column.name in names_read
    }  # fmt: skip
    return _shown_rows(small, values_by_name, count, columns)


def _shown_rows(
    small: SmallSelect, values_by_name: dict[str, pa.Array], count: int, columns: Sequence[Column]
) -> Outcome:
    """Return totals of all rows that fit, or as many of them as are wanted, in their order."""
    if any(isinstance(item, Total) for item in small.items):
        values = [
            _total(item, values_by_name, count) for item in small.items if isinstance(item, Total)
        ]
        arrays = [
            pa.array([value], arrow_type(column.type))
            for value, column in zip(values, columns, strict=True)
        ]
        count = 1
    else:
        if min(count, count if small.limit is None else small.limit) > _MOST_ROWS:
            raise OnlySpark
        chosen = _in_order(small.order, values_by_name, count)
        values_by_name = {
            name: array.take(pa.array(chosen, pa.int64())) for name, array in values_by_name.items()
        }
        arrays = [
            _array(item, column, values_by_name, count)
            for item, column in zip(small.items, columns, strict=True)
        ]
    arrays = (
        [array.slice(0, small.limit) for array in arrays] if small.limit is not None else arrays
    )
    rows = pa.Table.from_arrays(arrays, names=[column.name for column in columns])
    return _outcome(rows, columns)


def _only_counts(small: SmallSelect) -> bool:
    """Tell whether nothing but the number of all rows is asked for."""
    every = all(isinstance(item, Total) and item.column is None for item in small.items)
    return every and small.where is None


def _find_rows(
    small: SmallSelect, snapshot: SmallSnapshot, columns: tuple[Column, ...]
) -> list[Fitting]:
    """Return the rows that fit; of those that need not be chosen or sorted, enough."""
    every = small.where or small.order or any(isinstance(item, Total) for item in small.items)
    if small.limit is None or every:
        return fitting(snapshot, small.where, columns, small.most_bytes)
    return first_rows(snapshot, columns, small.limit, small.most_bytes)


def _joined(column: Column, fittings: Sequence[Fitting], table: Table) -> pa.Array:
    """Return the values of all rows of a column of data or of the partitions."""
    kind = arrow_type(column.type)
    if column.name not in table.partition_names:
        joined = pa.concat_arrays(
            [pa.array([], kind), *(file.columns[column.name] for file in fittings)]
        )
        try:
            joined.validate(full=True)
        except pa.ArrowInvalid:
            # Bytes that are no UTF-8.
            raise OnlySpark from None
        return joined
    parts = [
        partition_columns(file.part.partition, table, len(file.ids["rowId"]), (column.name,))[
            column.name
        ]
        for file in fittings
    ]
    return pa.concat_arrays([pa.array([], kind), *parts])


def _in_order(
    order: Sequence[Sorting], values_by_name: dict[str, pa.Array], count: int
) -> list[int]:
    """Numbers of the rows as they are sorted."""
    chosen = list(range(count))
    for sorting in reversed(order):
        values = values_by_name[sorting.column].to_pylist()
        nulls = [i for i in chosen if values[i] is None]
        others = [i for i in chosen if values[i] is not None]
        others.sort(key=values.__getitem__, reverse=sorting.descending)
        chosen = nulls + others if sorting.nulls_first else others + nulls
    return chosen


def _array(
    item: Shown | Constant | Total, column: Column, values_by_name: dict[str, pa.Array], count: int
) -> pa.Array:
    if isinstance(item, Constant):
        return pa.repeat(pa.scalar(item.value, _shown_type(column.type)), count)
    assert isinstance(item, Shown)
    array, kind = values_by_name[item.column], column.type.kind
    return pc.utf8_rpad(array, column.type.length, " ") if kind is Kind.CHAR else array


def _shown_type(hive_type: HiveType) -> pa.DataType:
    return pa.null() if hive_type == VOID else arrow_type(hive_type)


def _total(item: Total, values_by_name: dict[str, pa.Array], count: int) -> Any:
    if item.column is None:
        return count
    values = values_by_name[item.column].drop_null()
    if item.function == "count":
        return len(values)
    if not len(values):
        return None
    if item.function != "sum":
        return {"min": min, "max": max}[item.function](values.to_pylist())
    total = sum(values.to_pylist())
    if not -_LONGEST <= total < _LONGEST:
        # What becomes of a number that is too large is Spark's affair.
        raise OnlySpark
    return total


def _outcome(rows: pa.Table, columns: Sequence[Column]) -> Outcome:
    names = tuple(column.name for column in columns)
    values = [_python_values(column.combine_chunks()) for column in rows.columns]
    named_rows = [NamedRow(names, row) for row in zip(*values, strict=True)]
    types = tuple(_printed_type(column.type) for column in columns)
    return Outcome(columns=names, types=types, rows=named_rows, value=named_rows, table=rows)


def _printed_type(hive_type: HiveType) -> str:
    """Spark's name of the type, but Hive's where there are instants inside."""
    return str(hive_type) if hive_type.holds(Kind.INSTANT) else hive_type.spark


def _python_values(array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    if not pa.types.is_nested(array.type):
        return values
    return list(map(_shaped(array.type), values))


def _shaped(kind: pa.DataType) -> Callable[[Any], Any]:
    """Tell what makes rows of Arrow's structs, and mappings of its lists of pairs."""
    if pa.types.is_struct(kind):
        inner = [(kind.field(i).name, _shaped(kind.field(i).type)) for i in range(kind.num_fields)]
        names = [name for name, _ in inner]
        return _unless_null(
            lambda value: NamedRow(names, [shape(value[name]) for name, shape in inner])
        )
    if pa.types.is_map(kind):
        key, item = _shaped(kind.key_type), _shaped(kind.item_type)

        def mapping(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
            if len(pairs) > 1:
                # They come from Spark in an order of its own.
                raise OnlySpark
            return {key(entry_key): item(other) for entry_key, other in pairs}

        return _unless_null(mapping)
    if pa.types.is_list(kind):
        shape = _shaped(kind.value_type)
        return _unless_null(lambda value: [shape(element) for element in value])
    return lambda value: value


def _unless_null(shape: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else shape(value)
