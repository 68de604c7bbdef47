"""MERGE of few rows: which rows of the target they match, and what becomes of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.local.change import Hit, hits_of, new_value
from hivesql_executor.local.evaluate import enforce_check, evaluate
from hivesql_executor.local.events import bucket_numbers, has_early_fractions
from hivesql_executor.local.fitting import KEYS, Fitting, fitting, partition_columns
from hivesql_executor.local.read import OnlySpark, SmallSnapshot
from hivesql_executor.local.types import arrow_type, row_type
from hivesql_planner.errors import CardinalityViolation, matched_twice
from hivesql_planner.few_rows import Conditions, FromSource, SmallBranch, SmallMerge
from hivesql_planner.local.decide import MOST_MATCHING
from hivesql_planner.model.table import Column, Table
from hivesql_planner.predicates.predicate import AllOf, OneOf, Predicate, columns_of
from hivesql_planner.predicates.pruning import PartitionPruner

Items = Sequence[pa.Array]
"""What is wanted of the source's rows, by the numbers of the plan's items."""
_GREGORIAN_DAY = -141_427
"""1582-10-15, in days; older ones depend on the calendar that a file says it has."""


class Changed(NamedTuple):
    """Rows of one bucket that a branch changes or makes, and the write that is an event of them."""

    hit: Hit
    write: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Matches:
    """Rows of one data file with the number of the source's row that matches each."""

    file: Fitting
    rows: npt.NDArray[np.int64]


def source_rows(merge: SmallMerge) -> list[pa.Array]:
    """Return the items of rows that stand in the statement."""
    assert merge.rows is not None
    columns = zip(*merge.rows, strict=True)
    return [
        pa.array(values, pa.string() if item.is_partition else arrow_type(item.type))
        for values, item in zip(columns, merge.items, strict=True)
    ]


def check_items(items: Items) -> None:
    """OnlySpark where the source gives what is not written here as Spark writes it."""
    for array in items:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            # Bytes that are no UTF-8.
            raise OnlySpark from None
        if pa.types.is_timestamp(array.type) and has_early_fractions(array):
            raise OnlySpark
        if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type):
            first = pc.min(array.cast(pa.date32(), safe=False).cast(pa.int32())).as_py()
            if first is not None and first < _GREGORIAN_DAY:
                raise OnlySpark


def joined_rows(
    merge: SmallMerge,
    items: Items,
    snapshot: SmallSnapshot,
    *,
    once: bool,
) -> list[Changed]:
    """Find what matches and tell what becomes of it; OnlySpark where that is too much to read.

    CardinalityViolation where several rows of the source match one of the target, with ``once``.
    """
    matches, matched = [], np.zeros(len(items[0]), np.bool_)
    for match in _matches(merge, items, snapshot, once=once):
        matched[match.rows] = True
        matches.append(match)
    changed: list[Changed] = []
    for number, branch in enumerate(merge.branches):
        if not branch.is_new:
            earlier = [other for other in merge.branches[:number] if not other.is_new]
            changed += _changed(branch, earlier, merge, items, matches, snapshot.table)
    rest = np.flatnonzero(~matched)
    for branch in merge.branches:
        if branch.is_new:
            taken = pc.indices_nonzero(_fits(branch, {}, _taken(items, rest))).to_numpy()
            chosen, rest = rest[taken], np.delete(rest, taken)
            changed += _new(branch, merge, _taken(items, chosen), len(chosen), snapshot.table)
    return changed


def _taken(items: Items, rows: npt.NDArray[np.int64]) -> list[pa.Array]:
    numbers = pa.array(rows)
    return [array.take(numbers) for array in items]


def _matches(
    merge: SmallMerge, items: Items, snapshot: SmallSnapshot, *, once: bool
) -> Iterator[_Matches]:
    """Yield the rows of the target that match, each with the source's row."""
    table, by_keys = snapshot.table, _numbers_by_keys(merge, items)
    if not by_keys:
        return
    where = _condition(merge, by_keys)
    types = {column.name: column.type for column in table.partition_columns}
    if types:
        pruner = PartitionPruner(where, types)
        parts = tuple(
            part for part in snapshot.parts
            if part.partition is None or pruner.may_hold(
                dict(zip(types, table.read_values(part.partition), strict=True))
            )
        )  # fmt: skip
        snapshot = replace(snapshot, parts=parts)
    columns_read = _columns_read(merge, table)
    for file in fitting(snapshot, where, columns_read, merge.most_matching_bytes, MOST_MATCHING):
        count = len(file.ids["rowId"])
        columns = file.columns | partition_columns(file.part.partition, table, count)
        keys = zip(*(columns[name].to_pylist() for name, _ in merge.keys), strict=True)
        nothing: list[int] = []
        sources = [by_keys.get(key, nothing) for key in keys]
        for number, rows in enumerate(sources):
            if len(rows) > 1 and once:
                raise _violation(file, number)
            if len(rows) > 1 and not merge.by_any:
                raise OnlySpark
        chosen = [number for number, rows in enumerate(sources) if rows]
        if chosen:
            numbers = np.array([sources[number][0] for number in chosen], np.int64)
            yield _Matches(file.take(pa.array(chosen)), numbers)


def _columns_read(merge: SmallMerge, table: Table) -> tuple[Column, ...]:
    """Return the columns of the target that are wanted of a row that matches."""
    if any(not branch.is_new and branch.values for branch in merge.branches):
        return table.columns
    names = {name for name, _ in merge.keys}
    for branch in merge.branches:
        for conditions in (branch.conditions, branch.unless):
            if conditions is not None and conditions.of_target is not None:
                names |= set(columns_of(conditions.of_target))
    return tuple(column for column in table.columns if column.name in names)


def _numbers_by_keys(merge: SmallMerge, items: Items) -> dict[tuple[Any, ...], list[int]]:
    """Give the numbers of the source's rows that may match, by the values of their keys."""
    is_asked = _all_true([items[number] for number in merge.on.items], len(items[0]))
    keys = zip(*(items[number].to_pylist() for _, number in merge.keys), strict=True)
    by_keys: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, (key, can) in enumerate(zip(keys, is_asked.to_pylist(), strict=True)):
        if can and None not in key:
            by_keys[key].append(number)
    return by_keys


def _condition(merge: SmallMerge, by_keys: Mapping[tuple[Any, ...], object]) -> Predicate:
    """Tell which rows of the target may match."""
    values = zip(*by_keys, strict=True)
    parts: list[Predicate] = [
        OneOf(name, tuple(sorted(set(several))))
        for (name, _), several in zip(merge.keys, values, strict=True)
    ]
    return AllOf((*parts, *([merge.on.of_target] if merge.on.of_target else [])))


def _violation(file: Fitting, number: int) -> CardinalityViolation:
    """Return the error of a row that several match, in the words of Spark's way."""
    ids = [str(file.ids[name][number].as_py()) for name in KEYS]
    return matched_twice(f"[{', '.join([*ids, *file.part.texts])}]")


def _all_true(arrays: Sequence[pa.Array], count: int) -> pa.Array:
    fits = pa.array(np.ones(count, np.bool_))
    for array in arrays:
        fits = pc.and_kleene(fits, array)
    return fits


def _holds(conditions: Conditions, columns: Mapping[str, pa.Array], items: Items) -> pa.Array:
    """Give true, false or NULL for each joined row."""
    count = len(items[0])
    fits = _all_true([items[number] for number in conditions.items], count)
    if conditions.of_target is None:
        return fits
    return pc.and_kleene(fits, evaluate(conditions.of_target, columns))


def _fits(branch: SmallBranch, columns: Mapping[str, pa.Array], items: Items) -> pa.Array:
    fits = _holds(branch.conditions, columns, items)
    if branch.unless is not None:
        fits = pc.and_kleene(fits, pc.invert(_holds(branch.unless, columns, items)))
    return pc.fill_null(fits, False)


def _changed(
    branch: SmallBranch,
    earlier: Sequence[SmallBranch],
    merge: SmallMerge,
    items: Items,
    matches: Sequence[_Matches],
    table: Table,
) -> Iterator[Changed]:
    """Yield the matched rows that a branch takes, with what becomes of them."""
    by_part: dict[tuple[str, ...], list[tuple[Fitting, pa.StructArray]]] = defaultdict(list)
    for match in matches:
        of_rows = _taken(items, match.rows)
        count = len(match.rows)
        columns = match.file.columns | partition_columns(match.file.part.partition, table, count)
        fits = _fits(branch, columns, of_rows)
        for other in earlier:
            fits = pc.and_(fits, pc.invert(_fits(other, columns, of_rows)))
        chosen = pc.indices_nonzero(fits)
        if not len(chosen):
            continue
        file, of_rows = match.file.take(chosen), [array.take(chosen) for array in of_rows]
        row = _row(branch, of_rows, len(chosen), table, file)
        by_part[file.part.texts].append((file, row))
    for partition, files in by_part.items():
        for hit in hits_of(partition, files):
            if branch.values is not None:
                enforce_check(merge.check, hit.row, table)
            for write in branch.writes:
                yield Changed(hit, write, is_new=False)


def _row(
    branch: SmallBranch, items: Items, count: int, table: Table, file: Fitting | None
) -> pa.StructArray:
    """Return the new rows; NULLs for a delete."""
    if branch.values is None:
        return pa.nulls(count, row_type(table))
    arrays = [
        items[value.item]
        if isinstance(value, FromSource)
        else new_value(value, arrow_type(column.type), count, file.columns if file else {})
        for value, column in zip(branch.values, table.columns, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, list(table.column_names))


def _new(
    branch: SmallBranch, merge: SmallMerge, items: Items, count: int, table: Table
) -> Iterator[Changed]:
    """Yield the rows that a branch inserts, by the files that they go to."""
    if not count:
        return
    row = _row(branch, items, count, table, None)
    enforce_check(merge.check, row, table)
    buckets = (
        bucket_numbers(row, table, table.bucket_columns).tolist()
        if table.is_bucketed
        else [0] * count
    )
    texts = [
        items[text.item].to_pylist() if isinstance(text, FromSource) else [text] * count
        for text in branch.partition
    ]
    places: dict[tuple[int, tuple[str, ...]], list[int]] = defaultdict(list)
    for number, bucket in enumerate(buckets):
        places[bucket, tuple(column[number] for column in texts)].append(number)
    (write,) = branch.writes
    for (bucket, partition), numbers in sorted(places.items()):
        yield Changed(Hit(bucket, partition, {}, row.take(pa.array(numbers))), write, is_new=True)
