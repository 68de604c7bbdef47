"""Expressions and queries give what real Hive gives: the same values, printed the same way."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

import hivesql
from hive_results import REFUSED, Answer, answers, blocks, differences
from hivesql.rendering.hive_text import hive_text, with_hive_types
from hivesql_executor.jvm import spark_line
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from interop.hive import Block

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
GROUPED_MAPS = (
    "GROUP BY m ORDER BY", "count(DISTINCT m)", "DISTINCT map(", "DISTINCT m FROM nest",
    "DISTINCT named_struct('l'", "DISTINCT emp.dept, map(", "UNION SELECT m", "UNION (SELECT map(",
    "UNION DISTINCT SELECT map(",
)  # fmt: skip
TOGETHER = 40
"""Expressions in one SELECT, so that hundreds of them cost few Spark jobs."""


@pytest.fixture(scope="module")
def session(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[hivesql.Session]:
    """A warehouse with the tables that the queries read."""
    root = tmp_path_factory.mktemp("hive_results")
    with hivesql.connect(
        f"sqlite:///{root}/metastore.db", str(root / "warehouse"), spark=spark
    ) as session:
        for block in blocks():
            if is_setup(block):
                session.sql(block.statement)
        yield session


def is_setup(block: Block) -> bool:
    """Whether the statement makes a table rather than asking."""
    return block.statement.startswith(("CREATE", "INSERT"))


def printed(result: hivesql.Result) -> list[list[str]]:
    """The rows as Hive prints them."""
    rows = with_hive_types(result.types, result.rows)
    return [[hive_text(value) for value in row] for row in rows]


def same_type(ours: str, hive: str) -> bool:
    """Spark keeps CHAR and VARCHAR as strings, and tells intervals apart by their fields."""
    plain = re.sub(r"\b(?:var)?char\(\d+\)", "string", hive)
    if ours.startswith("decimal") and hive.startswith("decimal"):
        return True  # what Hive says of folded constants is not what it computes with
    if hive == "interval_day_time":
        return ours.startswith("interval ")
    if hive == "timestamp with local time zone":
        return ours == "timestamp with local time zone"
    if hive == "interval_year_month":
        return ours == "string"
    return ours == plain


def same_value(ours: str, hive: str, kind: str = "") -> bool:
    """Equal text; a CHAR without its padding, doubles up to their last digit."""
    if ours == hive or (kind.startswith("char") and ours == hive.rstrip(" ")):
        return True
    try:
        return len(ours) > 15 and math.isclose(float(ours), float(hive), rel_tol=1e-14)
    except ValueError:
        return False


def unlike(session: hivesql.Session, asked: Sequence[Answer]) -> list[str]:
    """The expressions whose value or type is not Hive's."""
    items = ", ".join(f"{one.expression} AS `v{i}`" for i, one in enumerate(asked))
    result = session.sql(f"SELECT {items}")
    (row,) = printed(result)
    found = []
    for one, kind, value in zip(asked, result.types, row, strict=True):
        if not (same_value(value, one.value, one.type or "") and same_type(kind, one.type or "")):
            found.append(f"{one.expression}: {value} {kind}, in Hive {one.value} {one.type}")
    return found


def agrees(session: hivesql.Session, asked: Answer) -> bool:
    """Whether an expression runs and gives what Hive gives."""
    try:
        return not unlike(session, [asked])
    except HiveSqlError:
        return False


KNOWN = differences()
ANSWERS = [one for one in answers() if one.type is not None and one.expression not in KNOWN]
GROUPS = [ANSWERS[i : i + TOGETHER] for i in range(0, len(ANSWERS), TOGETHER)]


@pytest.mark.parametrize("group", GROUPS, ids=[group[0].expression for group in GROUPS])
def test_expressions(session: hivesql.Session, group: list[Answer]) -> None:
    assert unlike(session, group) == []


def test_expressions_that_hive_refuses(session: hivesql.Session) -> None:
    accepted = []
    for one in answers():
        if one.type is None and one.expression not in KNOWN:
            try:
                session.sql(f"SELECT {one.expression}")
            except HiveSqlError:
                continue
            accepted.append(one.expression)
    assert accepted == []


def test_codes_of_wrong_numbers_of_arguments(session: hivesql.Session) -> None:
    """Those that Hive gives, whether it looks for a method or counts for itself."""
    others = []
    for one in answers():
        code = re.search(r"\[Error (\d+)\]", one.value or "") if one.type is None else None
        is_counted = re.search(r"No matching method for class|Arguments length", one.value or "")
        if code is None or not is_counted or one.expression in KNOWN:
            continue
        with pytest.raises(HiveSqlError) as caught:
            session.sql(f"SELECT {one.expression}")
        if caught.value.code != int(code[1]):
            others.append((one.expression, caught.value.code, one.value))
    assert others == []


def test_known_differences_are_still_there(session: hivesql.Session) -> None:
    asked = {one.expression: one for one in answers()}
    gone = []
    for expression, reason in KNOWN.items():
        if expression not in asked:
            continue
        if reason.startswith(REFUSED):
            with pytest.raises(NotSupported):
                session.sql(f"SELECT {expression}")
        elif asked[expression].type is not None and agrees(session, asked[expression]):
            gone.append(expression)
    assert gone == []


@pytest.mark.parametrize(
    "block", [block for block in blocks() if not is_setup(block)], ids=lambda block: block.statement
)
def test_queries(session: hivesql.Session, block: Block) -> None:
    reason = KNOWN.get(block.statement, "")
    if spark_line() < (4, 0) and any(part in block.statement for part in GROUPED_MAPS):
        pytest.skip("Spark 3.5 makes no groups of maps")
    if reason.startswith(REFUSED):
        with pytest.raises(NotSupported):
            session.sql(block.statement)
        return
    if block.error:
        with nullcontext() if reason else pytest.raises(HiveSqlError):
            session.sql(block.statement)
        return
    result = session.sql(block.statement)
    names = [name.rpartition(".")[2] for name in block.columns]
    rows = ["\t".join(row).split("\t") for row in printed(result)]
    wanted = [line.split("\t") for line in block.lines]
    equal = (
        list(result.columns) == names
        and len(rows) == len(wanted)
        and all(
            len(ours) == len(hive) and all(map(same_value, ours, hive))
            for ours, hive in zip(rows, wanted, strict=True)
        )
    )
    assert equal != bool(reason), f"{list(result.columns)} {rows}\nin Hive {names} {wanted}"


def test_zone_of_the_session(session: hivesql.Session) -> None:
    session.sql("SET TIME ZONE 'America/Los_Angeles'")
    try:
        times = """
            SELECT from_unixtime(0), from_unixtime(1700000000, 'yyyy-MM-dd HH:mm:ss'),
            unix_timestamp('2020-01-01 00:00:00'), unix_timestamp(timestamp '2020-07-01 00:00:00'),
            unix_timestamp(date '2020-07-01'), unix_timestamp('2020-07-01', 'yyyy-MM-dd'),
            to_unix_timestamp('2020-01-01 00:00:00')"""
        assert printed(session.sql(times)) == [[
            "1969-12-31 16:00:00", "2023-11-14 14:13:20", "1577865600", "1593586800", "1593586800",
            "1593586800", "1577865600",
        ]]  # fmt: skip
        now = """
            SELECT unix_timestamp(current_timestamp) - unix_timestamp() between -60 and 60,
            cast(current_timestamp() as date) = current_date, current_date() = current_date,
            from_unixtime(unix_timestamp(current_timestamp), 'H') = hour(current_timestamp)"""
        assert printed(session.sql(now)) == [["true", "true", "true", "true"]]
        assert printed(session.sql("SELECT from_unixtime(0, 'HH z')")) == [["16 PST"]]
        session.sql("SET hive.local.time.zone=nonsense")
        with pytest.raises(HiveSqlError, match="Unknown time-zone ID: nonsense"):
            session.sql("SELECT from_unixtime(0)")
    finally:
        session.sql("SET TIME ZONE LOCAL")
    assert printed(session.sql("SELECT from_unixtime(0)")) == [["1970-01-01 00:00:00"]]


def test_the_algorithm_of_masks(session: hivesql.Session) -> None:
    # What real Hive 4.1 gives: it knows these two, and no others.
    short = "995bb88e7a32d9028c50d47cc4711e8bae0c94d5a746c0daa9fda1cc9dc41093"
    long = (
        "7b375ec2327810383a3c6cfb871b5e433feda829cb882b8880a38f17039a34d7"
        "1900de20b17884e703e411c483c47bec54fd9e8ef06adf1269202776e5b3c607"
    )
    try:
        for algorithm, hashed in (("SHA512", long), ("md5", short), ("sha256", short)):
            session.sql(f"SET hive.masking.algo={algorithm}")
            assert session.sql("SELECT mask_hash('01-28-2021')").scalar() == hashed
    finally:
        session.sql("RESET hive.masking.algo")


def test_patterns_as_before_hive_4(session: hivesql.Session) -> None:
    # What real Hive 4.1 gives with hive.datetime.formatter=SIMPLE.
    texts = "VALUES ('2020-1-1'), ('2020-02-30 25:61:00'), ('x'), ('2020-13-01 10:11:12')"
    days = "VALUES (DATE '2020-01-05'), (DATE '1999-12-31'), (DATE '1500-01-01'), (NULL)"
    by_day = [("1", 1), ("5", 1), ("7", 1), (None, 1)]
    read = [(1577836800, None), (1583020800, 1583114460), (None, None), (1609459200, 1609495872)]
    written = ["2020-01-05 7 2020 02 1", "1999-12-31 5 2000 01 5", "1499-12-23 1 1499 52 4", None]
    others = ("1970/01/01 4", "2020-02-05 3", 1580461200, None, None, 86400)
    answers_by_query: dict[str, list[tuple[object, ...]]] = {
        f"SELECT unix_timestamp(s, 'yyyy-MM-dd'), to_unix_timestamp(s) FROM ({texts}) t(s)": read,
        f"SELECT date_format(d, 'yyyy-MM-dd u YYYY ww F') FROM ({days}) t(d)": [
            (text,) for text in written
        ],
        f"SELECT date_format(d, 'u') u, count(*) FROM ({days}) t(d) "
        "GROUP BY date_format(d, 'u') ORDER BY u": by_day,
        "SELECT from_unixtime(0, 'yyyy/MM/dd u'), add_months('2020-01-05', 1, 'yyyy-MM-dd u'), "
        "unix_timestamp('31/Jan/2020:10:00:00 +0100', 'dd/MMM/yyyy:HH:mm:ss Z'), "
        "date_format('2020-01-05', 'bad pattern'), unix_timestamp('2020', 'bad pattern'), "
        "unix_timestamp(DATE '1970-01-02', 'yyyy')": [others],
    }
    try:
        session.sql("SET hive.datetime.formatter=simple")
        for query, rows in answers_by_query.items():
            assert session.sql(query).rows == rows
        session.sql("SET hive.datetime.formatter=nonsense")
        with pytest.raises(SemanticError):
            session.sql("SELECT date_format('2020-01-05', 'u')")
    finally:
        session.sql("RESET hive.datetime.formatter")
    assert session.sql("SELECT unix_timestamp('2020-1-1', 'yyyy-MM-dd')").scalar() is None


def test_texts_of_small_decimals(session: hivesql.Session) -> None:
    # What real Hive 4.1 gives; Spark writes 0E-10 and -1E-10.
    values = "VALUES (-0.0000000001), (0), (1.5), (NULL)"
    numbers = f"SELECT cast(x AS DECIMAL(38,10)) c FROM ({values}) t(x)"
    rows = session.sql(
        "SELECT cast(c AS STRING), concat(c, ''), cast(c AS VARCHAR(5)), coalesce(c, 'x') "
        f"FROM ({numbers}) q"
    ).rows
    texts = ("-0.0000000001", "0.0000000000", "1.5000000000")
    assert rows == [*((text, text, text[:5], text) for text in texts), (None, None, None, "x")]


def test_qualify_counts_before_order_and_limit(session: hivesql.Session) -> None:
    """Hive 4.1 forgets QUALIFY where ORDER BY follows."""
    last = "FROM emp e QUALIFY row_number() OVER (PARTITION BY dept ORDER BY id DESC) = 1"
    for query, expected in (
        (f"SELECT id, dept {last} ORDER BY id", [(4, "ops"), (5, None), (6, "dev")]),
        (f"SELECT id i, dept {last} ORDER BY i DESC LIMIT 2", [(6, "dev"), (5, None)]),
        (f"SELECT dept {last} ORDER BY salary DESC, 1 LIMIT 2", [("ops",), ("dev",)]),
        (f"SELECT id {last} ORDER BY pmod(e.id, 3), 1", [(6,), (4,), (5,)]),
        (f"SELECT DISTINCT dept d {last} ORDER BY d", [("dev",), ("ops",), (None,)]),
        (f"SELECT id, dept {last} ORDER BY 2, id LIMIT 1 OFFSET 1", [(4, "ops")]),
    ):
        assert [tuple(row) for row in session.sql(query).rows] == expected, query
