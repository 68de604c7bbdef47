"""All that looks at a predicate agrees with Spark, row by row, and nothing wanted is left out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hivesql
from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_executor.local.evaluate import evaluate
from hivesql_executor.local.types import arrow_type
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.partition_values import normal_value
from hivesql_planner.plan import Select
from hivesql_planner.planning import plan
from hivesql_planner.predicates.partitions import may_pass
from hivesql_planner.predicates.predicate import Predicate
from hivesql_planner.predicates.pruning import PartitionPruner, partition_tests
from hivesql_planner.predicates.ranges import Extent, may_hold
from hivesql_planner.predicates.search_text import search_of
from hivesql_planner.relations import Scan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import SelectRows
from memory_catalog import MemoryCatalog, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = table(
    "t",
    "id int, i int, l bigint, n decimal(5,2), s string, c char(3), v varchar(4), d date, "
    "ts timestamp, b boolean, f double",
    "k int, p string, q date",
)
TYPES = {column.name: column.type for column in TABLE.all_columns}
COLUMNS = ("i", "l", "n", "s", "c", "v", "d", "ts", "b", "f", "k", "p", "q")
CONSTANTS = {
    "i": ("-1", "0", "1", "2", "1.0", "1.5", "3L", "1e0", "'2'", "' 2'", "2147483648", "NULL"),
    "l": ("-1", "0", "1L", "9223372036854775807", "-9223372036854775808", "1.5", "NULL"),
    "n": ("-1", "0", "1.50", "1.5BD", "1.555", "1.5D", "999.99", "1000", "NULL"),
    "s": ("''", "'a'", "'A'", "'a '", "'é'", "'𝄞'", "'a\\nb'", '"it\'s"', "'10'", "'9'", "10",
          "9.0", "NULL"),
    "c": ("'a'", "'a '", "'a  '", "''", "'abc'", "'é'", "NULL"),
    "v": ("'a'", "'a '", "''", "'abcd'", "'10'", "10", "NULL"),
    "d": ("'2020-01-01'", "DATE '2020-01-02'", "'1500-01-01'", "DATE '1500-01-01'", "'2020-1-1'",
          "'2020-02-30'", "CAST('2020-01-01' AS DATE)", "NULL"),
    "ts": ("'2020-01-01 00:00:00'", "TIMESTAMP '2020-01-01 00:00:00.5'", "'2020-01-01'",
           "DATE '2020-01-01'", "NULL"),
    "b": ("true", "false", "NULL"),
    "f": ("0", "1", "1.5", "1e0", "-0.0D", "1.5D", "NULL"),
}  # fmt: skip
CONSTANTS |= {"k": CONSTANTS["i"], "p": CONSTANTS["s"], "q": CONSTANTS["d"]}
VALUES: dict[str, Sequence[str]] = {
    "i": ("-1", "0", "1", "2", "NULL"),
    "l": ("-1", "1", "9223372036854775807", "-9223372036854775807", "NULL"),
    "n": ("-1", "0", "1.5", "1.56", "999.99", "NULL"),
    "s": ("''", "'a'", "'A'", "'a '", "'é'", "'𝄞'", "'a\\nb'", "'10'", "'9'", "NULL"),
    "c": ("'a'", "''", "'abc'", "'é'", "NULL"),
    "v": ("'a'", "'a '", "''", "'abcd'", "'10'", "NULL"),
    "d": ("DATE '2020-01-01'", "DATE '2020-01-02'", "DATE '1999-12-31'", "NULL"),
    "ts": ("TIMESTAMP '2020-01-01 00:00:00'", "TIMESTAMP '2020-01-01 00:00:00.5'", "NULL"),
    "b": ("true", "false", "NULL"),
    "f": ("0.0D", "1.0D", "1.5D", "CAST('NaN' AS DOUBLE)", "NULL"),
}
PARTITIONS = (("1", "'a'", "DATE '2020-01-01'"), ("2", "'10'", "DATE '2020-01-02'"),
              ("-1", "'9.0'", "DATE '1999-12-31'"), ("NULL", "'A '", "NULL"),
              ("10", "NULL", "DATE '2020-01-01'"))  # fmt: skip
NUMBERS = st.sampled_from(("i", "l", "n", "s", "f", "k", "p"))
DIVISORS = st.sampled_from(("2", "3L", "9223372036854775807", "0", "-2", "1.5", "NULL"))
REMAINDERS = st.sampled_from(("1", "0", "-1", "5", "1.0", "'1'", "NULL", "i"))
SIGNS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
KEPT = (("1", "a", "2020-01-01"), ("2", "10", "2020-01-02"), ("-1", "9.0", "1999-12-31"),
        (None, "A ", None), ("10", None, "2020-01-01"))  # fmt: skip
CATALOG = MemoryCatalog.of(TABLE).with_partitions("t", *KEPT)
SETTINGS = Settings.of({"hive.strict.checks.type.safety": "false"})


@st.composite
def column_tests(draw: st.DrawFn) -> str:
    column = draw(st.sampled_from(COLUMNS))
    one = st.sampled_from(CONSTANTS[column])
    negated = "NOT " * draw(st.booleans())
    match draw(st.integers(0, 8)):
        case 0:
            return f"{column} IS {negated}NULL"
        case 1:
            listed = ", ".join(draw(st.lists(one, min_size=1, max_size=4)))
            return f"{column} {negated}IN ({listed})"
        case 2:
            return f"{column} {negated}BETWEEN {draw(one)} AND {draw(one)}"
        case 3:
            return f"{draw(one)} {draw(st.sampled_from(SIGNS))} {column}"
        case 4:
            return draw(st.sampled_from(("b", "1 = 1", "s LIKE 'a%'", "i + 1 = 2", "k = i")))
        case 5:
            sides = [f"{draw(NUMBERS)} % {draw(DIVISORS)}", draw(REMAINDERS)]
            return f" {draw(st.sampled_from(SIGNS))} ".join(draw(st.permutations(sides)))
    return f"{column} {draw(st.sampled_from(SIGNS))} {draw(one)}"


CONDITIONS = st.recursive(
    column_tests(),
    lambda inner: (
        st.tuples(inner, st.sampled_from(("AND", "OR")), inner).map(
            lambda three: f"({' '.join(three)})"
        )
        | inner.map(lambda one: f"NOT ({one})")
    ),
    max_leaves=5,
)


@dataclass(frozen=True)
class Asked:
    """What became of a condition: the scan that it leaves, and its form without Spark."""

    scan: Scan
    search: str
    small: Predicate | None
    is_understood: bool


def asked(condition: str) -> Asked:
    statement = bind(
        parse(StatementText(f"SELECT id FROM t WHERE {condition}")), CATALOG, settings=SETTINGS
    )
    assert isinstance(statement, SelectRows)
    body = plan(statement, SETTINGS).body
    assert isinstance(body, Select)
    ((source),) = statement.query.sources
    search = search_of(TABLE, source.scan.where) or "true"
    where = body.small.where if body.small is not None else None
    return Asked(source.scan, search, where, body.small is not None)


@dataclass(frozen=True)
class Warehouse:
    """A session with one table, and its rows by their ids, as Spark reads them."""

    session: hivesql.Session
    rows: Mapping[int, Mapping[str, Any]]

    def truths(self, conditions: Sequence[str]) -> list[dict[int, bool | None]]:
        """What Spark says of each condition for each row."""
        listed = ", ".join(f"({one}) AS `x{i}`" for i, one in enumerate(conditions))
        found = self.session.sql(f"SELECT id, {listed} FROM t").rows
        return [{row[0]: row[i] for row in found} for i in range(1, len(conditions) + 1)]


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    path = tmp_path_factory.mktemp("predicates")
    with hivesql.connect(
        f"sqlite:///{path}/m.db",
        str(path / "warehouse"),
        spark=spark,
        settings={"hive.strict.checks.type.safety": "false"},
    ) as session:
        data, keys = (
            ", ".join(f"{one.name} {one.type}" for one in columns)
            for columns in (TABLE.columns, TABLE.partition_columns)
        )
        session.sql(f"CREATE TABLE t ({data}) PARTITIONED BY ({keys}) STORED AS ORC "
                    "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
        for start in range(0, 60, 20):
            rows = ", ".join(map(_row, range(start, start + 20)))
            session.sql(f"INSERT INTO t VALUES {rows}")
        found = session.sql("SELECT * FROM t").rows
        assert len(found) == 60
        yield Warehouse(session, {row.id: row.asDict() for row in found})


def _row(number: int) -> str:
    steps = (1, 3, 5, 7, 2, 4, 1, 1, 1, 2)
    given = zip(steps, VALUES.values(), strict=True)
    values = [of[number * step // 2 % len(of)] for step, of in given]
    return f"({', '.join((str(number), *values, *PARTITIONS[number % len(PARTITIONS)]))})"


# BETWEEN and <=> see blanks at the end of a literal beside CHAR, other comparisons do not.
BLANKS = [
    f"{negation}({test})"
    for negation in ("", "NOT ")
    for test in ("c BETWEEN 'a  ' AND 'b'", "c BETWEEN '0' AND 'a  '", "c BETWEEN 'a  ' AND NULL",
                 "c <=> 'a  '", "'a ' <=> c", "c = 'a  '", "c IN ('a  ', 'b')", "c < 'a  '")
]  # fmt: skip


@pytest.mark.spark
@example(BLANKS)
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(st.lists(CONDITIONS, min_size=25, max_size=25))
def test_all_agree_with_spark(warehouse: Warehouse, conditions: list[str]) -> None:
    found = list(map(asked, conditions))
    said = warehouse.truths([*conditions, *(one.search for one in found)])
    for condition, one, truth, search in zip(
        conditions, found, said[: len(found)], said[len(found) :], strict=True
    ):
        wanted = {number for number, value in truth.items() if value}
        assert all(search[number] for number in wanted), (condition, one.search)
        check_partitions(one, truth, warehouse.rows, condition)
        if one.is_understood:
            check_small(one.small, truth, warehouse.rows, condition)
            answer = warehouse.session.sql(f"SELECT id FROM t WHERE {condition}").rows
            assert {row[0] for row in answer} == wanted, condition


def check_partitions(
    of: Asked,
    truth: Mapping[int, bool | None],
    rows: Mapping[int, Mapping[str, Any]],
    condition: str,
) -> None:
    """No partition of a wanted row goes, whichever columns are taken for those of partitions.

    A scan is told no part of a condition that names no column, such as ``1 = 2``.
    """
    left = {one.values for one in of.scan.partitions}
    predicate = of.scan.where
    every = PartitionPruner(predicate, TYPES) if predicate is not None else None
    tests = partition_tests(TABLE, [predicate] if predicate is not None else [])
    for number, value in truth.items():
        values = KEPT[number % len(PARTITIONS)]
        texts = {name: _text(one, TYPES[name]) for name, one in rows[number].items()}
        if value:
            assert values in left, (condition, values)
            assert all(may_pass(values[one.position], one) for one in tests), (condition, values)
            assert every is None or every.may_hold(texts), (condition, texts)
        elif every is not None and of.is_understood:
            assert not every.is_certain(texts), (condition, texts)


def _text(value: Any, type_: HiveType) -> str | None:
    if value is None:
        return None
    text = "NaN" if isinstance(value, float) and math.isnan(value) else str(value)
    return normal_value(text.lower() if isinstance(value, bool) else text, type_)


def check_small(
    where: Predicate | None,
    truth: Mapping[int, bool | None],
    rows: Mapping[int, Mapping[str, Any]],
    condition: str,
) -> None:
    """Arrow says the same of each row, and no piece of a file with a wanted row goes."""
    if where is None:
        assert set(truth.values()) == {True}, condition
        return
    numbers = sorted(truth)
    columns = {
        one.name: [_plain(rows[number][one.name]) for number in numbers]
        for one in TABLE.all_columns
    }
    arrays = {
        one.name: pa.array(columns[one.name], arrow_type(one.type)) for one in TABLE.all_columns
    }
    assert evaluate(where, arrays).to_pylist() == [truth[number] for number in numbers], condition
    for first in range(0, len(numbers), 6):
        extents = {name: _extent(of[first : first + 6]) for name, of in columns.items()
                   if name not in ("b", "f", "c")}  # fmt: skip
        if any(truth[number] for number in numbers[first : first + 6]):
            assert may_hold(where, extents), (condition, extents)


def _plain(value: Any) -> Any:
    return value.rstrip(" ") if isinstance(value, str) and value.endswith("  ") else value


def _extent(values: Sequence[Any]) -> Extent:
    known = [one for one in values if one is not None]
    low, high = (min(known), max(known)) if known else (None, None)
    return Extent(len(known), low, high, len(known) < len(values))
