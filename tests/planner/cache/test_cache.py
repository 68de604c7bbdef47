"""Copies of the catalog: when they may answer, and what events make of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.cache.entries import Entry, answers, chosen, may_fill, partitions_of
from hivesql_planner.cache.events import Event, EventKind, LogPage, has_gap
from hivesql_planner.cache.lists import WIDEST_GAP, compare, mark_aborted, mark_committed
from hivesql_planner.cache.steps import (
    Change,
    Created,
    Dropped,
    Evict,
    EvictDatabase,
    Settle,
    Steps,
    TableStep,
    TxnNotes,
    advanced,
    is_touched,
    steps,
    unresolved,
)
from hivesql_planner.model.table import Column, Partition, Table, TableName
from hivesql_planner.predicates.partitions import PartitionTest, among, equal_to, may_pass

T, U = TableName("d", "t"), TableName("d", "u")
ACID = Table(
    name=T, columns=(Column.of("a", "int"),), location="/t", id=5,
    properties={"transactional": "true"},
)  # fmt: skip
PLAIN = replace(ACID, properties={})


def writes(text: str) -> ValidWriteIdList:
    """``high watermark:exceptions``."""
    high, _, rest = text.partition(":")
    return ValidWriteIdList(
        int(high), frozenset(map(int, filter(None, rest.split(",")))), table="d.t"
    )


COMPARED = [
    ("12:7,8,12", "11:7,8", 0),
    ("12:7,8,12", "12:7,12", -1),
    ("12:7,8", "11:7,8", 1),
    ("14:7,13,14", "12:7", 0),
    ("14:7,13", "12:7", 1),
    ("5:", "8:6,7,8", 0),
    ("6:6", "5:", 0),
    ("0:", "0:", 0),
]


@pytest.mark.parametrize(("a", "b", "expected"), COMPARED)
def test_compare(a: str, b: str, expected: int) -> None:
    assert compare(writes(a), writes(b)) == expected
    assert compare(writes(b), writes(a)) == -expected


def test_lists_of_two_tables_are_never_equal() -> None:
    assert compare(writes("5:"), replace(writes("5:"), table="d.u")) != 0


lists = st.builds(
    lambda high, ids, aborted: ValidWriteIdList(
        high,
        frozenset(one for one in ids if one <= high) - aborted,
        frozenset(one for one in aborted if one <= high),
        "d.t",
    ),
    st.integers(0, 9),
    st.frozensets(st.integers(1, 9)),
    st.frozensets(st.integers(1, 9)),
)


@given(lists, lists)
def test_equal_means_the_same_committed_writes(a: ValidWriteIdList, b: ValidWriteIdList) -> None:
    ids = range(1, 12)
    same = [one for one in ids if a.sees(one)] == [one for one in ids if b.sees(one)]
    assert (compare(a, b) == 0) == same


@given(lists, st.integers(1, 12))
def test_a_write_that_ends(visible: ValidWriteIdList, write_id: int) -> None:
    ids = range(1, 14)
    before = {one for one in ids if visible.sees(one)}
    committed, aborted = mark_committed(visible, write_id), mark_aborted(visible, write_id)
    assert committed is not None
    assert aborted is not None
    assert {one for one in ids if committed.sees(one)} == before | {write_id}
    assert {one for one in ids if aborted.sees(one)} == before - {write_id}


def test_ids_in_between_stay_open_until_their_own_end() -> None:
    assert mark_committed(writes("13:"), 15) == writes("15:14")
    assert mark_committed(writes("13:"), 13 + WIDEST_GAP + 1) is None


ENTRY = Entry(table=ACID, visible=writes("11:7,8"))
PENDING = replace(ENTRY, pending=frozenset({(20, 12)}))
ANSWERS = {
    "equal committed set": (ENTRY, 5, "12:7,8,12", True),
    "a newer copy": (replace(ENTRY, visible=writes("12:7,12")), 5, "12:7,8,12", False),
    "an older copy": (ENTRY, 5, "12:7,8", False),
    "another table of that name": (ENTRY, 9, "11:7,8", False),
    "in the middle of a write": (PENDING, 5, "11:7,8", False),
    "no list": (ENTRY, 5, None, False),
    "no list known": (replace(ENTRY, visible=None), 5, "11:7,8", False),
    "not transactional": (Entry(table=PLAIN), 0, None, True),
    "not transactional, whatever is asked": (Entry(table=PLAIN), 9, "3:", True),
}


@pytest.mark.parametrize(("entry", "table_id", "asked", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_answers(entry: Entry, table_id: int, asked: str | None, expected: bool) -> None:
    assert answers(entry, table_id, writes(asked) if asked else None) is expected


FILLS = {
    "a reader's list": ("11:7,8", "12:7,8,12", ACID, 5, True),
    "a write of the reader's own": ("12:7,8", "12:7,8,12", ACID, 5, False),
    "another table": ("11:", "11:", ACID, 9, False),
    "without a list": (None, "11:", ACID, 5, False),
    "not transactional": (None, None, PLAIN, 0, True),
}


@pytest.mark.parametrize(
    ("asked", "current", "row", "table_id", "expected"), FILLS.values(), ids=FILLS
)
def test_may_fill(
    asked: str | None, current: str | None, row: Table, table_id: int, expected: bool
) -> None:
    lists = [writes(one) if one else None for one in (asked, current)]
    assert may_fill(lists[0], lists[1], row, table_id) is expected


def test_a_newer_copy_stays() -> None:
    newer = replace(ENTRY, visible=writes("12:7,8"))
    listed = replace(ENTRY, listings={(): ()})
    assert chosen(newer, ENTRY) is newer
    assert chosen(ENTRY, newer) is newer
    assert chosen(None, ENTRY) is ENTRY
    assert chosen(listed, ENTRY).listings == {(): ()}
    other = replace(newer, table=replace(ACID, id=9))
    assert chosen(other, ENTRY) is ENTRY


def test_partitions_of_a_copy() -> None:
    year = PartitionTest(position=0, operator=">=", values=("10",), kind="integer")
    all_of = tuple(Partition(values=(one,), location="") for one in ("9", "10", None, "x"))
    some = replace(ENTRY, listings={(year,): all_of[1:]})
    whole = replace(ENTRY, listings={(): all_of})
    assert partitions_of(some, [year]) == all_of[1:]
    assert partitions_of(some, []) is None
    assert partitions_of(whole, []) == all_of
    assert partitions_of(whole, [year]) == all_of[1:]


def event(kind: EventKind, **fields: object) -> Event:
    return Event(kind=kind, **fields)  # type: ignore[arg-type]


SEEN = {20: TxnNotes(seen=True, writes=frozenset({(T, 12), (U, 3)}), touched=frozenset({T}))}
MOVED = frozenset({(U, 12), (U, 3)})
STEPS = {
    "opened": (event(EventKind.OPEN_TXN, txn_ids=(20, 21)), {},
               Steps(notes={20: TxnNotes(seen=True), 21: TxnNotes(seen=True)})),
    "a write id": (event(EventKind.ALLOC_WRITE_ID, table=T, writes=((20, 12),)), {},
                   Steps(notes={20: TxnNotes(writes=frozenset({(T, 12)}))})),
    "changed by a write": (
        event(EventKind.ALTER_TABLE, table=T, table_id=5, writes=((20, 12),)), {},
        Steps(notes={20: TxnNotes(touched=frozenset({T}))}, tables=(Change(T, 5, ((20, 12),)),))),
    "partitions changed": (
        event(EventKind.ADD_PARTITION, table=T, table_id=5), {},
        Steps(tables=(Change(T, 5, (), partitions_only=True),))),
    "committed": (
        event(EventKind.COMMIT_TXN, txn_ids=(20,)), SEEN,
        Steps(notes={20: None},
              tables=(Settle(T, (20, 12), True), Settle(U, (20, 3), True)))),
    "aborted": (
        event(EventKind.ABORT_TXN, txn_ids=(20,)), SEEN,
        Steps(notes={20: None},
              tables=(Settle(T, (20, 12), False), Settle(U, (20, 3), False), Evict(T)))),
    "committed, and its write cannot be found": (
        event(EventKind.COMMIT_TXN, txn_ids=(20,)), {20: TxnNotes(touched=frozenset({T}))},
        Steps(notes={20: None}, tables=(Evict(T),))),
    "renamed": (
        event(EventKind.ALTER_TABLE, table=T, renamed_to=U, writes=((20, 12),)), SEEN,
        Steps(notes={20: TxnNotes(seen=True, writes=MOVED, touched=frozenset({U}))},
              tables=(Evict(T), Evict(U)))),
    "altered by some open write": (
        event(EventKind.ALTER_TABLE, table=U, tells_writes=False), SEEN,
        Steps(notes={20: replace(SEEN[20], touched=frozenset({T, U}))},
              tables=(Change(U, 0, ((20, 3),)),))),
    "altered by nobody known": (
        event(EventKind.ALTER_TABLE, table=TableName("d", "v"), tells_writes=False), SEEN,
        Steps(tables=(Change(TableName("d", "v"), 0, ()),))),
    "dropped": (
        event(EventKind.DROP_TABLE, table=T, table_id=5), SEEN,
        Steps(notes={20: TxnNotes(seen=True, writes=frozenset({(U, 3)}))},
              tables=(Dropped(T, 5),))),
    "created": (event(EventKind.CREATE_TABLE, table=T, table_id=5), {},
                Steps(tables=(Created(T, 5),))),
    "database dropped": (event(EventKind.DROP_DATABASE, database="d"), {},
                         Steps(tables=(EvictDatabase("d"),))),
    "database made": (event(EventKind.CREATE_DATABASE, database="d"), {}, Steps()),
    "compacted": (event(EventKind.COMMIT_COMPACTION, txn_ids=(20,)), {}, Steps()),
    "something else": (event(EventKind.OTHER, table=T), {}, Steps()),
}  # fmt: skip


@pytest.mark.parametrize(("told", "notes", "expected"), STEPS.values(), ids=STEPS)
def test_steps(told: Event, notes: dict[int, TxnNotes], expected: Steps) -> None:
    assert steps(told, notes, {}) == expected


@pytest.mark.parametrize(
    ("current", "expected"),
    [(None, True), ("12:12", True), ("11:", True), ("12:", False), ("14:13", False)],
)
def test_a_change_of_an_unfinished_write(current: str | None, expected: bool) -> None:
    visible = writes(current) if current else None
    assert is_touched(T, SEEN, visible) is expected
    assert is_touched(T, {20: TxnNotes(touched=frozenset({T}))}, visible)
    assert not is_touched(U, SEEN, visible)


def test_what_has_to_be_looked_up() -> None:
    end = event(EventKind.COMMIT_TXN, txn_ids=(20, 21, 22))
    notes = SEEN | {21: TxnNotes(writes=frozenset({(T, 13)}))}
    assert unresolved(end, notes) == (21, 22)
    assert unresolved(event(EventKind.OPEN_TXN, txn_ids=(22,)), notes) == ()
    found = {21: frozenset({(T, 13), (T, 14)}), 22: frozenset({(U, 4)})}
    settled = steps(end, notes, found).tables
    assert Settle(T, (21, 14), True) in settled
    assert Settle(U, (22, 4), True) in settled


CHANGED = replace(ACID, comment="new")
LISTED = replace(ENTRY, listings={(): ()})
ADVANCED = {
    "a change of a write": (
        LISTED, Change(T, 5, ((20, 12),)), CHANGED,
        replace(ENTRY, table=CHANGED, pending=frozenset({(20, 12)}))),
    "of partitions": (
        LISTED, Change(T, 5, ((20, 12),), partitions_only=True), None, PENDING),
    "of nobody known": (ENTRY, Change(T, 5, ()), CHANGED, None),
    "of another table": (ENTRY, Change(T, 9, ((20, 12),)), CHANGED, None),
    "of a table that is gone": (ENTRY, Change(T, 5, ((20, 12),)), None, None),
    "of its kind": (ENTRY, Change(T, 5, ((20, 12),)), PLAIN, None),
    "of a plain table": (
        Entry(table=PLAIN, listings={(): ()}), Change(T, 5, ()), replace(CHANGED, properties={}),
        Entry(table=replace(CHANGED, properties={}))),
    "the write commits": (
        PENDING, Settle(T, (20, 12), True), None, replace(ENTRY, visible=writes("12:7,8"))),
    "another write commits": (
        PENDING, Settle(T, (21, 13), True), None,
        replace(PENDING, visible=writes("13:7,8,12"))),
    "data only": (
        LISTED, Settle(T, (20, 12), True), None, replace(LISTED, visible=writes("12:7,8"))),
    "too far ahead": (ENTRY, Settle(T, (20, 10_000_000), True), None, None),
    "it was created": (ENTRY, Created(T, 5), None, ENTRY),
    "another one was created": (ENTRY, Created(T, 9), None, None),
    "it was dropped": (ENTRY, Dropped(T, 5), None, None),
    "another one was dropped": (ENTRY, Dropped(T, 4), None, ENTRY),
    "some table was dropped": (ENTRY, Dropped(T, 0), None, None),
    "it can no longer be kept": (ENTRY, Evict(T), None, None),
    "a plain table has no list": (
        Entry(table=PLAIN), Settle(T, (20, 1), True), None, Entry(table=PLAIN)),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "step", "content", "expected"), ADVANCED.values(), ids=ADVANCED)
def test_advanced(
    entry: Entry, step: TableStep, content: Table | None, expected: Entry | None
) -> None:
    after = advanced(entry, step, content)
    assert after == expected
    assert after is None or expected is None or after.listings == expected.listings


def page(latest: int, *ids: int) -> LogPage:
    return LogPage(events=tuple(Event(id=one, kind=EventKind.OTHER) for one in ids), latest=latest)


GAPS = {
    "nothing new": (page(7), False),
    "the next ones": (page(9, 8, 9), False),
    "one page of many": (page(99, 8, 9), False),
    "the next one is purged": (page(9, 9), True),
    "all are purged": (page(9), True),
    "the log began anew": (page(3), True),
}


@pytest.mark.parametrize(("read", "expected"), GAPS.values(), ids=GAPS)
def test_has_gap(read: LogPage, expected: bool) -> None:
    assert has_gap(7, read) is expected


KEYED = replace(
    ACID,
    partition_columns=tuple(
        Column.of(*one)
        for one in [("s", "string"), ("n", "int"), ("d", "date"), ("x", "decimal(3,1)")]
    ),
)
EQUAL = {
    "each kind": ({"s": "a", "n": "07", "d": "2020-01-01"}, ["a", "07", "2020-01-01"]),
    "what no database compares": ({"x": "1.0", "n": "+7", "d": "today", "s": None}, []),
    "nothing": ({}, []),
}


@pytest.mark.parametrize(("wanted", "expected"), EQUAL.values(), ids=EQUAL)
def test_equal_to(wanted: dict[str, str | None], expected: list[str]) -> None:
    tests = equal_to(KEYED, wanted)
    assert [value for test in tests for value in test.values] == expected
    values = [wanted.get(name) for name in KEYED.partition_names]
    assert all(may_pass(values[test.position], test) for test in tests)


def test_one_of_many_partitions() -> None:
    days = [("a", "1", "2020-01-01", "1.0"), ("b", None, "2020-01-02", "1.0")]
    tests = among(KEYED, days)
    # Which has the default partition's value in n: no database is asked about it.
    assert [test.values for test in tests] == [("a", "b"), ("2020-01-01", "2020-01-02")]
    assert all(may_pass(day[test.position], test) for day in days for test in tests)
    assert among(KEYED, [(f"{i}", "1", "2020-01-01", "1.0") for i in range(101)])[0].kind != "text"
