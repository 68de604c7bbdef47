"""Partitions that are not read, and predicates that ORC gets."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.model.hive_type import DATE, INT
from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    Not,
    OneOf,
    Other,
    Predicate,
    Value,
)
from hivesql_planner.predicates.pruning import PartitionPruner
from hivesql_planner.predicates.search_text import search_of
from hivesql_planner.relations import Scan
from hivesql_planner.statements.bound import SelectRows, UpdateRows
from memory_catalog import warehouse

ALL = ["1", "12", "2", "3", None]


def scan(sql: str) -> Scan:
    made = bind(parse(StatementText(sql)), warehouse())
    if isinstance(made, UpdateRows):
        return made.target
    assert isinstance(made, SelectRows)
    return made.query.sources[0].scan


@pytest.mark.parametrize(
    ("where", "hours"),
    [
        ("ds = '2024-01-01'", ["1", "12"]),
        ("'2024-01-01' = ds", ["1", "12"]),
        # ds of the default partition is its name
        ("ds <> '2024-01-01'", ["2", "3", None]),
        ("ds != '2024-01-01' AND hr IS NOT NULL", ["2", "3"]),
        ("ds < '2024-01-02'", ["1", "12"]),
        ("'2024-01-02' <= ds", ["2", "3", None]),
        ("ds BETWEEN '2024-01-02' AND '2024-01-09'", ["2", None]),
        ("ds NOT BETWEEN '2024-01-02' AND '2024-01-09'", ["1", "12", "3"]),
        ("ds IN ('2024-01-02', '2024-01-03')", ["2", None]),
        ("ds NOT IN ('2024-01-02', '2024-01-03')", ["1", "12", "3"]),
        ("NOT (ds = '2024-01-01' OR hr = 2)", ["3"]),
        ("ds IS NULL", []),
        ("ds = '__HIVE_DEFAULT_PARTITION__'", ["3"]),
        ("hr IS NULL", [None]),
        # numbers are compared as numbers
        ("hr > 2", ["12", "3"]),
        ("hr > '2'", ["12", "3"]),
        ("hr = 1.0", ["1"]),
        ("hr >= 10L", ["12"]),
        ("hr > -1", ["1", "12", "2", "3"]),
        ("hr IN (1, 3)", ["1", "3"]),
        ("hr = NULL", []),
        ("hr <=> NULL", [None]),
        ("hr <=> 3", ["3"]),
        # columns of the rows may hold anything
        ("hr = 1 AND id = 5", ["1"]),
        ("hr = 1 OR id = 5", ALL),
        ("hr = 1 OR (id = 5 AND hr = 2)", ["1", "2"]),
        ("NOT (hr = 1 AND id = 5)", ALL),
        ("NOT (hr = 1 OR id = 5)", ["12", "2", "3"]),
        # what is not understood keeps everything
        ("hr + 1 = 2", ALL),
        ("hr = id", ALL),
        ("upper(ds) = 'X'", ALL),
        ("ds = concat('2024', '-01-01')", ALL),
        ("hr > 'x'", ["1", "12", "2", "3"]),
        ("hr = CAST(1.7 AS INT)", ALL),
        ("ds = '2024\\-01-01'", ["1", "12"]),
        ("ds LIKE '2024%'", ALL),
        ("hr IN (SELECT id FROM t)", ALL),
        ("hr IN (1, id)", ALL),
        ("hr = 1 AND hr + 1 = 2", ["1"]),
        ("CASE WHEN hr = 1 THEN true END", ALL),
    ],
)
@pytest.mark.parametrize("start", ["SELECT id FROM p WHERE", "UPDATE p SET v = 'x' WHERE"])
def test_partitions_that_are_left(start: str, where: str, hours: list[str | None]) -> None:
    found = scan(f"{start} {where}")
    assert [partition.values[1] for partition in found.partitions] == hours
    assert found.partition_count == 5


def search(sql: str) -> str | None:
    found = scan(sql)
    return search_of(found.table, found.where)


@pytest.mark.parametrize(
    ("where", "pushed"),
    [
        ("id = 1", "`id` = 1"),
        ("t.ID > 1 AND 5 >= id", "`id` > 1 AND `id` <= 5"),
        ("id IN (1, 2)", "(`id` = 1 OR `id` = 2)"),
        ("id BETWEEN -1 AND 2", "`id` >= -1 AND `id` <= 2"),
        ("name = 'a'", "`name` = 'a'"),
        ('name = "it\'s"', "`name` = 'it\\'s'"),
        ("name = 'a\\%b'", None),
        ("name IS NULL OR id < 3", "(`name` IS NULL OR `id` < 3)"),
        ("name IS NOT NULL", "`name` IS NOT NULL"),
        ("amount > 1.5", "`amount` > 1.5"),
        ("id = 1 AND upper(name) = 'X'", "`id` = 1"),
        ("id = 1 OR upper(name) = 'X'", None),
        ("id = '1'", None),
        ("name = 1", None),
        ("name = 'a\\nb'", None),
        ("NOT id = 1", None),
        ("id <=> 1", None),
        ("row__id.writeid = 1", None),
    ],
)
def test_predicates_for_orc(where: str, pushed: str | None) -> None:
    assert search(f"SELECT id FROM t WHERE {where}") == pushed


def test_dates_are_compared_from_the_gregorian_calendar_on() -> None:
    for text in ("DATE '2020-01-01'", "'2020-01-01'"):
        assert search(f"SELECT id FROM p WHERE day > {text}") == "`day` > DATE '2020-01-01'"
    assert search("SELECT id FROM p WHERE day > '1500-01-01'") is None
    assert search("SELECT id FROM p WHERE day > 'soon'") is None
    # No day: Spark makes NULL of it, which is neither before nor after.
    assert search("SELECT id FROM p WHERE day > '2020-02-30'") is None


def test_a_text_that_is_no_day_is_compared_with_no_partition() -> None:
    pruner = PartitionPruner(Compare("p", "<=", "2020-02-30"), {"p": DATE})
    assert not pruner.is_certain({"p": "2020-01-02"})
    assert pruner.may_hold({"p": "2020-01-02"})


def test_null_may_be_the_same_as_a_text_that_is_no_day() -> None:
    same = Compare("p", "<=>", "2020-02-30")
    assert PartitionPruner(same, {"p": DATE}).may_hold({"p": None})
    assert not PartitionPruner(Not(same), {"p": DATE}).is_certain({"p": None})


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT p.id FROM p JOIN t ON p.id = t.id WHERE p.hr = 1", 1),
        ("SELECT p.id FROM p LEFT JOIN t ON p.id = t.id WHERE p.hr = 1", 1),
        ("SELECT t.id FROM p RIGHT JOIN t ON p.id = t.id WHERE p.hr = 1", 5),
        ("SELECT t.id FROM p FULL JOIN t ON p.id = t.id WHERE p.hr = 1", 5),
        ("SELECT t.id FROM p JOIN t ON p.id = t.id LEFT JOIN s ON s.id = t.id WHERE hr = 1", 1),
        ("SELECT t.id FROM p JOIN t ON p.id = t.id RIGHT JOIN s ON s.id = t.id WHERE hr = 1", 5),
        ("SELECT p.id FROM p, t WHERE p.hr = 1 AND p.hr = t.id", 1),
        ("SELECT p.id FROM p WHERE hr = 1 AND EXISTS (SELECT 1 FROM t WHERE t.id = p.hr)", 1),
        ("SELECT x.id FROM (SELECT * FROM p WHERE hr = 1) x WHERE ds = 'y'", 1),
        ("SELECT p.id FROM p LATERAL VIEW explode(array(1)) e AS hr2 WHERE hr = 1", 1),
        ("SELECT count(*) FROM p WHERE hr = 1 GROUP BY id HAVING id = 3", 1),
    ],
)
def test_joins_and_subqueries(sql: str, left: int) -> None:
    assert len(scan(sql).partitions) == left


def test_a_condition_on_the_other_side_of_an_outer_join_prunes_nothing() -> None:
    made = bind(
        parse(StatementText("SELECT t.id FROM t LEFT JOIN p ON p.id = t.id WHERE p.ds IS NULL")),
        warehouse(),
    )
    assert isinstance(made, SelectRows)
    assert len(made.query.sources[1].scan.partitions) == 5


_VALUES = st.sampled_from([None, "1", "2", "10"])
_COLUMNS = st.sampled_from(["p", "q", "data"])
_CONSTANTS: st.SearchStrategy[Value] = st.sampled_from([1, 2, None])
_COMPARISONS: st.SearchStrategy[Predicate] = st.builds(
    Compare, _COLUMNS, st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"]), _CONSTANTS
) | st.builds(
    OneOf, _COLUMNS, st.lists(st.sampled_from([1, 2]), max_size=3).map(tuple), st.booleans()
).filter(lambda one_of: one_of.values or one_of.has_null)  # no SQL says IN ()
_PREDICATES: st.SearchStrategy[Predicate] = st.recursive(
    _COMPARISONS | st.builds(IsNull, st.sampled_from(["p", "q", "data"])) | st.just(Other()),
    lambda inner: (
        st.builds(AllOf, st.tuples(inner, inner))
        | st.builds(AnyOf, st.tuples(inner, inner, inner))
        | st.builds(Not, inner)
    ),
    max_leaves=6,
)


def truth(predicate: Predicate, row: dict[str, str | None], other: bool | None) -> bool | None:
    """SQL's answer for one whole row, where Other() has a given value."""
    match predicate:
        case Compare(column=column, operator=operator, value=constant):
            left = None if row[column] is None else int(row[column] or 0)
            right = constant
            if operator == "<=>":
                return left == right
            if left is None or right is None:
                return None
            return {"=": left == right, "<>": left != right, "<": left < right,
                    "<=": left <= right, ">": left > right,
                    ">=": left >= right}[operator]  # fmt: skip
        case IsNull(column=column):
            return row[column] is None
        case Not(part=part):
            found = truth(part, row, other)
            return None if found is None else not found
        case OneOf(column=column, values=values, has_null=has_null):
            constants = (*values, None) if has_null else values
            either = AnyOf(tuple(Compare(column, "=", constant) for constant in constants))
            return truth(either, row, other)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            found_of_parts = [truth(part, row, other) for part in parts]
            decisive = isinstance(predicate, AnyOf)
            if decisive in found_of_parts:
                return decisive
            return None if None in found_of_parts else not decisive
    return other


@given(_PREDICATES, _VALUES, _VALUES)
def test_no_partition_with_a_wanted_row_is_dropped(
    predicate: Predicate, p: str | None, q: str | None
) -> None:
    wanted = any(
        truth(predicate, {"p": p, "q": q, "data": data}, other) is True
        for data, other in product([None, "1", "2", "3"], [True, False, None])
    )
    if wanted:
        assert PartitionPruner(predicate, {"p": INT, "q": INT}).may_hold({"p": p, "q": q})
