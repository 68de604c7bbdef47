"""Values of one type written into columns of another: what real Hive 4.1 stores of them.

``hive_results/writes.tsv`` has a row for each value and a column for each type it was inserted
into; ``interop/record_writes.py`` asked Hive.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest

import hivesql
from hivesql.rendering.hive_text import Single, hive_text
from hivesql_executor.jvm import spark_line
from hivesql_planner.errors import SemanticError
from hivesql_planner.local.values import Unclear, stored
from hivesql_planner.model.conversions import check_conversion
from hivesql_planner.model.hive_type import HiveType

RECORDED = Path(__file__).parents[2] / "hive_results" / "writes.tsv"
REFUSED, STRICT, UNASKED = "refused", "strict:", "?"
TEXTS = ("STRING", "CHAR(40)", "VARCHAR(40)")
INSTANT = "TIMESTAMP WITH LOCAL TIME ZONE"


class Given(NamedTuple):
    """A value of a type, and what Hive stores of it by the type of the column."""

    source: str
    value: str
    stored: dict[str, str]


def recorded() -> list[Given]:
    with RECORDED.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Given(row[0], row[1], dict(zip(header[2:], row[2:], strict=True))) for row in rows]


ALL = recorded()
SOURCES = list(dict.fromkeys(one.source for one in ALL))
TARGETS = list(ALL[0].stored)
# Before Spark 4.2 columns of instants in ORC are refused.
WITH_INSTANTS = spark_line() >= (4, 2)


def difference(source: str, value: str, target: str) -> str | None:
    """Why a value is known to become another one here."""
    whole = target in ("TINYINT", "SMALLINT", "INT", "BIGINT")
    if source in TEXTS:
        return _of_text(value.strip("'"), target)
    if source in ("FLOAT", "DOUBLE") and whole:
        return "vectorized Hive takes the lowest bits, its CAST and Spark the nearest number"
    if source in ("FLOAT", "DOUBLE", "BIGINT", "DECIMAL(20,3)") and target == "TIMESTAMP":
        # Beyond what fits, Hive's are other days than Spark's.
        return "a time that is computed has microseconds"
    if value == "1e-300" and target.startswith("DECIMAL"):
        return "Hive reads no number of so many digits"
    if source == INSTANT and target not in ("TIMESTAMP", "DATE", INSTANT, *TEXTS):
        return "to Spark it is a TIMESTAMP, of which Hive makes numbers"
    if source in ("TINYINT", "SMALLINT", "INT") and value.startswith("-"):
        return "vectorized Hive loses a second of negative ones in TIMESTAMP"
    return None


def _of_text(value: str, target: str) -> str | None:
    if target in ("TINYINT", "SMALLINT", "INT", "BIGINT") and value != value.strip():
        return "vectorized Hive reads no number with blanks around it, its CAST does"
    if target in ("FLOAT", "DOUBLE") and value in ("nan", "2014-09"):
        return "Spark reads nan as a number; vectorized Hive what stands before a minus"
    if "1234567891" in value and target in ("TIMESTAMP", INSTANT):
        return "a time that is computed has microseconds"
    if target == INSTANT and value in ("2014-02-30", "1500-02-29", "2014-09-01 24:00:00"):
        return "Hive takes the next day that there is"
    return None


def shown(column: str, target: str) -> str:
    """As the values were recorded."""
    if target == "BINARY":
        return f"hex({column})"
    return column if target == "BOOLEAN" else f"concat('[', CAST({column} AS STRING), ']')"


def pairs(*, strict: bool) -> list[tuple[str, str]]:
    """The pairs of types that Hive converts always, or only when it is not strict."""
    found = []
    for source in SOURCES:
        for target in TARGETS:
            cells = [one.stored[target] for one in ALL if one.source == source]
            asked = {cell for cell in cells if cell.removeprefix(STRICT) != UNASKED}
            if asked - {REFUSED} and any(cell.startswith(STRICT) for cell in asked) != strict:
                found.append((source, target))
    return found


def rows() -> list[list[str | None]]:
    """For each number of a value, that value of every source type as text."""
    columns = [[one.value for one in ALL if one.source == source] for source in SOURCES]
    return [list(row) for row in itertools.zip_longest(*columns)]


@pytest.mark.spark
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "not strict"])
def test_every_pair_of_types(session: hivesql.Session, strict: bool) -> None:
    session.sql(f"SET hive.strict.timestamp.conversion={str(strict).lower()}")
    chosen = [pair for pair in pairs(strict=strict) if WITH_INSTANTS or INSTANT not in pair]
    given = ", ".join(
        f"s{n} {source if WITH_INSTANTS else source.replace(INSTANT, 'TIMESTAMP')}"
        for n, source in enumerate(SOURCES)
    )
    taken = ", ".join(f"c{i} {target}" for i, (_, target) in enumerate(chosen))
    sources = [f"s{SOURCES.index(source)}" for source, _ in chosen]
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    values = ", ".join(
        f"({k}, {', '.join('NULL' if one is None else quoted(one) for one in row)})"
        for k, row in enumerate(rows())
    )
    session.sql(
        f"CREATE TABLE s (k INT, {given}) {acid}; INSERT INTO s VALUES {values};"
        f"CREATE TABLE w (k INT, {taken}) {acid};"
        f"INSERT INTO w SELECT k, {', '.join(sources)} FROM s;"
        f"CREATE TABLE u (k INT, {given}, {taken}) {acid};"
        f"INSERT INTO u (k, {', '.join(f's{n}' for n in range(len(SOURCES)))}) SELECT * FROM s;"
        f"UPDATE u SET {', '.join(f'c{i} = {one}' for i, one in enumerate(sources))}"
    )
    stored = ", ".join(shown(f"c{i}", target) for i, (_, target) in enumerate(chosen))
    cast = ", ".join(
        shown(f"CAST({one} AS {target})", target)
        for one, (_, target) in zip(sources, chosen, strict=True)
    )
    wrong: list[str] = []
    for how, text in (
        ("INSERT", f"SELECT {stored} FROM w ORDER BY k"),
        ("UPDATE", f"SELECT {stored} FROM u ORDER BY k"),
        ("CAST", f"SELECT {cast} FROM s ORDER BY k"),
    ):
        columns = list(zip(*session.sql(text).rows, strict=True))
        for (source, target), found in zip(chosen, columns, strict=True):
            of_type = [one for one in ALL if one.source == source]
            wrong += unlike(how, of_type, target, found)
    assert wrong == []


def quoted(value: str) -> str:
    return value if value.startswith("'") else f"'{value}'"


def unlike(how: str, given: Sequence[Given], target: str, found: Sequence[object]) -> list[str]:
    """The values that are not Hive's."""
    wrong = []
    for one, value in zip(given, found, strict=False):
        told, hive = hive_text(value), one.stored[target].removeprefix(STRICT)
        if hive not in (told, UNASKED) and not difference(one.source, one.value, target):
            wrong.append(f"{how} {one.value} {one.source} into {target}: {told}, Hive {hive}")
    return wrong


def test_what_hive_refuses() -> None:
    """The planner refuses exactly the pairs that Hive refuses."""
    for source in SOURCES:
        for target in TARGETS:
            cell = next(one.stored[target] for one in ALL if one.source == source)
            if UNASKED in cell:
                continue
            for strict in (True, False):
                refused = cell == REFUSED or (strict and cell.startswith(STRICT))
                with pytest.raises(SemanticError) if refused else nullcontext():
                    check_conversion(HiveType.parse(source), HiveType.parse(target), strict=strict)


def test_values_stored_without_spark() -> None:
    """What needs no Spark stores what Hive stores, or leaves it to Spark."""
    clear = 0
    for one in ALL:
        if one.source != "STRING":
            continue
        for target, hive in one.stored.items():
            try:
                value = stored(one.value[1:-1], HiveType.parse(target))
            except Unclear:
                continue
            clear += 1
            value = Single(value) if target == "FLOAT" and isinstance(value, float) else value
            told = value.hex().upper() if isinstance(value, bytes) else f"[{hive_text(value)}]"
            told = hive_text(value) if target == "BOOLEAN" else told
            assert told.rstrip(" ]") == hive.rstrip(" ]"), (one.value, target)
    assert clear > 200


@pytest.mark.spark
def test_whole_numbers_are_cast_as_seconds_where_that_is_set(session: hivesql.Session) -> None:
    """A cast takes seconds then, a write milliseconds: as real Hive 4.1 answered."""
    session.sql("""
        SET hive.strict.timestamp.conversion=false;
        SET hive.int.timestamp.conversion.in.seconds=true;
        CREATE TABLE whole (b boolean, t tinyint, s smallint, i int, l bigint, f float);
        INSERT INTO whole VALUES (true, 5, 300, 86400, 1500000000, 1.5);
        CREATE TABLE moments (ts timestamp) STORED AS ORC;
        INSERT INTO moments SELECT l FROM whole
    """)
    casts = ", ".join(f"CAST({name} AS TIMESTAMP)" for name in "btsilf")
    (row,) = session.sql(f"SELECT {casts}, timestamp(l), CAST(5 AS TIMESTAMP) FROM whole").rows
    assert [str(moment) for moment in row] == [
        "1970-01-01 00:00:01", "1970-01-01 00:00:05", "1970-01-01 00:05:00", "1970-01-02 00:00:00",
        "2017-07-14 02:40:00", "1970-01-01 00:00:01.500000", "2017-07-14 02:40:00",
        "1970-01-01 00:00:05",
    ]  # fmt: skip
    assert [str(moment) for (moment,) in session.sql("SELECT * FROM moments").rows] == [
        "1970-01-18 08:40:00"
    ]
