"""Our two ways of running a walk, beside the model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hivesql
from acid_files import bucket_files
from fuzz.kinds import Kind, shown
from fuzz.queries import Earlier, Past, Query, Restore
from fuzz.statements import Statement
from fuzz.stores import FAULTS, Store
from fuzz.upkeep import AddColumn, Compact, DropPartition
from fuzz.world import Bag, Inapplicable, Refused, TableModel, World
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.metastore.api import AbortLimits
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import TableName
from stored_orc import stored_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAYS = {"local": "16777216", "spark": "0"}
"""How much may be done without Spark (hivesql.local.max.bytes)."""


class Differs(Exception):
    """A walk went wrong: what should be, and what is."""

    def __init__(self, step: int, told: str) -> None:
        super().__init__(told)
        self.step, self.told = step, told


@dataclass(slots=True)
class Side:
    """A session on a warehouse of its own, and what its tables were before."""

    name: str
    session: hivesql.Session
    root: Path
    store: Store | None = None
    """In which its warehouse lies; None for this machine's disk."""
    past: dict[str, list[Earlier]] = field(default_factory=lambda: defaultdict(list))

    def run(self, sql: str) -> hivesql.Result | Exception:
        """The result, or the error that the statement ended with."""
        try:
            return self.session.sql(sql)
        except Exception as error:  # noqa: BLE001, also what is not ours
            return error

    def attempt(self, sql: str) -> hivesql.Result | Exception | None:
        """The same while requests to its store fail; None where it failed for that reason."""
        if self.store is None:
            return self.run(sql)
        told, before = self.store.told, self.store.told.copy()
        with self.store.failing():
            result = self.run(sql)
        told["statements"] += 1
        is_hit = any((told - before)[kind] for kind in FAULTS)
        if is_hit and isinstance(result, HiveSqlError):
            told["failed"] += 1
            return None
        return result

    def rows(self, sql: str, kinds: Sequence[Kind]) -> Bag:
        """A query's rows in the form in which sides are compared."""
        return as_bag(self.session.sql(sql), kinds)

    def written(self, table: TableModel) -> int:
        """The last write id of a table."""
        return self._write_ids(table).high_watermark

    def aborted(self, table: TableModel) -> tuple[int, ...]:
        """The write ids of statements on the table that failed."""
        return tuple(sorted(self._write_ids(table).aborted)) if table.is_transactional else ()

    def _write_ids(self, table: TableModel) -> ValidWriteIdList:
        store, name = self.session.runtime.metastore, TableName("default", table.name)
        return store.valid_write_ids(store.valid_txns(), [name])[name]


def is_kept(earlier: TableModel, now: TableModel) -> bool:
    """Whether files show what was there: below an overwrite of nothing there might be others."""
    filled = set(map(earlier.place_of, earlier.rows))
    return (now.places if now.parts else {()}) <= filled


def as_bag(result: hivesql.Result, kinds: Sequence[Kind]) -> Bag:
    """The rows of a result whose columns have these types."""
    cells = (zip(kinds, row, strict=True) for row in result.rows)
    return Bag(tuple(shown(*cell) for cell in row) for row in cells)


def difference(expected: Bag, found: Bag) -> str:
    """The rows that only one of two has; empty where they are the same."""
    lines = [
        f"  missing {count}x {row}" for row, count in sorted((expected - found).items(), key=repr)
    ]
    lines += [
        f"  too many {count}x {row}" for row, count in sorted((found - expected).items(), key=repr)
    ]
    return "\n".join(lines[:20])


@contextmanager
def sides(
    place: Path,
    spark: SparkSession,
    ways: Sequence[str] = tuple(WAYS),
    store: Store | None = None,
) -> Iterator[list[Side]]:
    """Empty warehouses, one for each way; in a ``store`` where one is given."""
    opened = []
    for way in ways:
        settings = {"hivesql.local.max.bytes": WAYS[way], **(store.settings() if store else {})}
        session = hivesql.connect(
            f"sqlite:///{place}/{way}.db", store.home() if store else str(place / way),
            spark=spark, settings=settings, notify=lambda line: None,
        )  # fmt: skip
        opened.append(Side(way, session, place / way, store))
    try:
        yield opened
    finally:
        for side in opened:
            side.session.close()


class Run:
    """A walk on some sides."""

    def __init__(self, opened: Sequence[Side], *, checks: bool = True) -> None:
        self.sides, self.checks = opened, checks
        self.world: World = {}
        self.taken: list[str] = []
        """The SQL that ran so far."""

    def walk(self, statements: Sequence[Statement]) -> None:
        """Take every step that makes sense; raises Differs where a side is wrong."""
        for number, statement in enumerate(statements):
            try:
                self.step(number, statement)
            except Inapplicable:
                continue
        self.finish(len(statements))

    def step(self, number: int, statement: Statement) -> None:
        """Take one step and look at the tables that it may have changed."""
        if isinstance(statement, Restore):
            self._restore(number, statement)
            return
        if isinstance(statement, Past):
            self._look_back(number, statement)
            return
        if isinstance(statement, Query):
            self._ask(number, statement)
            return
        try:
            after, refused = statement.after(self.world), False
        except Refused:
            after, refused = self.world, True
        sql = statement.sql()
        self.taken.append(sql)
        if self._take(number, sql, refused=refused):
            self.world = after
        for name in sorted({*statement.tables} & {*self.world}):
            for side in self.sides:
                if side is self.sides[0]:  # the others at the end: a Spark job takes its time
                    self._check_table(number, side, self.world[name])
                self._remember(side, self.world[name], statement)

    def _take(self, number: int, sql: str, *, refused: bool) -> bool:
        """Run a statement on each side; False where it failed since requests did.

        Then it has done nothing, which the tables show.
        """
        affected = set()
        for side in self.sides:
            result = side.attempt(sql)
            if result is None:
                return False
            self._check(number, side, result, refused=refused)
            affected.add(getattr(result, "affected", None))
        if len(affected) > 1:
            raise Differs(number, f"the sides count other rows: {affected}")
        return True

    def _ask(self, number: int, query: Query) -> None:
        query.after(self.world)
        wanted, kinds = query.answer(self.world), query.kinds(self.world)
        self.taken.append(query.sql())
        for side in self.sides:
            self._check_rows(number, side, query.sql(), kinds, wanted)

    def _check(self, number: int, side: Side, result: Any, *, refused: bool) -> None:
        failed = isinstance(result, Exception)
        if failed and not isinstance(result, HiveSqlError):
            raise Differs(number, f"{side.name}: no error of ours: {result!r}")
        if refused and not failed:
            raise Differs(number, f"{side.name}: should fail, and did not")
        if failed and not refused:
            raise Differs(number, f"{side.name}: {type(result).__name__}: {result}")

    def _check_rows(
        self, number: int, side: Side, sql: str, kinds: Sequence[Kind], wanted: Bag
    ) -> None:
        result = side.attempt(sql)
        if result is None:
            result = side.run(sql)
        self._check(number, side, result, refused=False)
        assert isinstance(result, hivesql.Result)
        if told := difference(wanted, as_bag(result, kinds)):
            raise Differs(number, f"{side.name}: other rows of {sql}\n{told}")

    def _check_table(self, number: int, side: Side, table: TableModel) -> None:
        kinds = tuple(table.columns.values())
        self._check_rows(number, side, f"SELECT * FROM {table.name}", kinds, table.bag())

    def _remember(self, side: Side, table: TableModel, statement: Statement) -> None:
        if not table.is_full_acid:
            return
        if isinstance(statement, (AddColumn, Compact, DropPartition)):
            # Columns are those of today, and compaction removes what was.
            side.past[table.name].clear()
        side.past[table.name].append(Earlier(side.written(table), table))

    def _look_back(self, number: int, statement: Past) -> None:
        for side in self.sides:
            known = side.past[statement.table]
            if not known:
                continue
            earlier = known[-1 - statement.back % len(known)]
            sql = f"SELECT * FROM {statement.table} FOR SYSTEM_VERSION AS OF {earlier.write_id}"
            self.taken.append(sql)
            if not is_kept(earlier.table, self.world[statement.table]):
                result = side.run(sql)
                if isinstance(result, hivesql.DataError) and result.code == 10327:
                    continue
            kinds = tuple(earlier.table.columns.values())
            self._check_rows(number, side, sql, kinds, earlier.table.bag())

    def _restore(self, number: int, statement: Restore) -> None:
        """Take every side back to a state whose files are all there."""
        now = self.world[statement.table]
        states = self.sides[0].past[now.name]
        if not states or not is_kept(states[-1 - statement.back % len(states)].table, now):
            return
        for side in self.sides:
            earlier = side.past[now.name][-1 - statement.back % len(states)]
            sql = f"RESTORE TABLE {now.name} TO VERSION AS OF {earlier.write_id}"
            self._check(number, side, side.run(sql), refused=False)
        self.taken.append(sql)
        rows = earlier.table.rows
        after = replace(now, rows=rows, places=now.places | frozenset(map(now.place_of, rows)))
        self.world = {**self.world, now.name: after}
        for side in self.sides:
            self._check_table(number, side, after)
            self._remember(side, after, statement)

    def finish(self, number: int) -> None:
        """Look at all tables in all ways, and at the files."""
        for table in self.world.values():
            for side in self.sides:
                self._check_table(number, side, table)
            # The files of the others are the same.
            if table.is_transactional and self.checks:
                side = self.sides[0]
                if side.store is not None:
                    # What a failed statement could not take back is there until then.
                    clean_aborted(side.session.runtime, AbortLimits(count=0, age=0))
                if found := side.session.check(table.name):
                    raise Differs(number, f"{side.name}: check {table.name}: {found}")
            if table.is_full_acid and len(self.sides) > 1:
                self._compare_files(number, table)

    def _compare_files(self, number: int, table: TableModel) -> None:
        first, *others = self.sides
        known = events_of(first.root / table.name, table)
        for other in others:
            found = events_of(other.root / table.name, table)
            if known.keys() != found.keys():
                told = f"{first.name} {sorted(known)}, {other.name} {sorted(found)}"
                raise Differs(number, f"other files of {table.name}: {told}")
            for name, expected in known.items():
                if told := difference(expected, found[name]):
                    raise Differs(number, f"other events in {name}\n{told}")


def events_of(root: Path, table: TableModel) -> dict[str, Bag]:
    """The events in each file of a table; which transaction compacted does not count.

    Which task has a row of a query, and so its row id, may be otherwise each time: of tables
    without buckets, a directory's files count as one.
    """
    found: dict[str, Bag] = defaultdict(Bag)
    for path in bucket_files(root):
        place = path if table.buckets else path.parent
        name = re.sub(r"_v\d+", "", str(place.relative_to(root)))
        for operation, original, _, _, current, row in stored_rows(path):
            found[name][repr(operation), repr(original), repr(current), repr(row)] += 1
    return found
