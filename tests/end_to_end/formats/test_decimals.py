"""Decimals of up to 18 digits, by a reader of our own, from files of all kinds of writers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOURCES = Path(__file__).parents[3] / "executor/java/main/hivesql"
ROWS = 30_000
COLUMNS = "n INT, a DECIMAL(18,4), b DECIMAL(5,2), c DECIMAL(10,0), e DECIMAL(18,18)"
EVENT = "struct({}) AS row".format(", ".join(part.split()[0] for part in COLUMNS.split(", ")))
Row = tuple[int, Decimal | None, Decimal | None, Decimal | None, Decimal | None]


def made() -> list[Row]:
    """Numbers of all lengths, with trailing zeros, and NULLs: scattered ones and long runs."""
    chance = random.Random(20261122)

    def some(n: int, digits: int, scale: int) -> Decimal | None:
        if chance.random() < 0.1 or n // 3000 == digits % 5:
            return None
        number = chance.randrange(10 ** chance.randint(1, digits)) * chance.choice((1, -1))
        number -= number % 10 ** chance.choice((0, 0, 1, 3))
        return Decimal(number % 10**digits).scaleb(-scale)

    return [
        (n, some(n, 18, 4), some(n, 5, 2), some(n, 10, 0), some(n, 18, 18)) for n in range(ROWS)
    ]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return made()


@pytest.fixture(scope="module")
def session(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[hivesql.Session]:
    place = tmp_path_factory.mktemp("decimals")
    url = f"sqlite:///{place}/metastore.db"
    settings = {"hivesql.local.max.bytes": "0", "hivesql.scan.filter.min": "0"}
    with hivesql.connect(url, f"{place}/w", spark=spark, settings=settings) as session:
        yield session


def only_file(session: hivesql.Session, name: str) -> Path:
    location = session.runtime.metastore.table(TableName("default", name)).location
    (file,) = Path(location).glob("delta_*/bucket_*")
    return file


def write(session: hivesql.Session, name: str, rows: Sequence[Row], codec: str) -> None:
    """A table whose file Spark's writer has made: each value has the scale that it needs."""
    session.sql(f"CREATE TABLE {name} ({COLUMNS}) STORED AS ORC "
                "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
    session.sql(f"INSERT INTO {name} (n) VALUES (1)")
    file = only_file(session, name)
    spark = session.runtime.spark()
    frame = spark.createDataFrame(list(rows), COLUMNS).coalesce(1).selectExpr(
        "0 AS operation", "1L AS originalTransaction", "536870912 AS bucket",
        "CAST(n AS BIGINT) AS rowId", "1L AS currentTransaction", EVENT)  # fmt: skip
    options = {"orc.compress.size": "1024", "orc.row.index.stride": "1000",
               "orc.stripe.size": "400000"}  # fmt: skip
    staged = file.parent.parent / "_staged"
    frame.write.options(compression=codec, **options).orc(str(staged))
    (part,) = staged.glob("part-*")
    part.replace(file)


CODECS = ("none", "zlib", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module", params=CODECS)
def table(session: hivesql.Session, rows: list[Row], request: pytest.FixtureRequest) -> str:
    name = f"t_{request.param}"
    write(session, name, rows, request.param)
    return name


def test_all_rows(session: hivesql.Session, table: str, rows: list[Row]) -> None:
    assert sorted(session.sql(f"SELECT * FROM {table}").rows, key=lambda row: row[0]) == rows


@pytest.mark.parametrize(("where", "asked"), [
    ("n % 100 = 7", range(7, ROWS, 100)),
    ("n % 9 = 0", range(0, ROWS, 9)),
    ("n BETWEEN 12345 AND 12360", range(12345, 12361)),
    ("n = 29999 OR n = 0", (0, 29999)),
    ("n = 300 OR n = 3500 OR n = 20000", (300, 3500, 20000)),
    ("n > 28000", range(28001, ROWS)),
    ("n % 1000 = 999", range(999, ROWS, 1000)),
    ("n BETWEEN 14000 AND 16000 AND n % 50 = 3", range(14003, 16001, 50)),
])  # fmt: skip
def test_rows_between_others(
    session: hivesql.Session, table: str, rows: list[Row], where: str, asked: Sequence[int]
) -> None:
    found = session.sql(f"SELECT * FROM {table} WHERE {where}").rows
    assert sorted(found, key=lambda row: row[0]) == [rows[n] for n in asked]


def test_rows_that_a_decimal_chooses(session: hivesql.Session, table: str, rows: list[Row]) -> None:
    found = session.sql(f"SELECT n, e FROM {table} WHERE b > 900 AND a IS NULL").rows
    asked = [(n, e) for n, a, b, _, e in rows if b is not None and b > 900 and a is None]
    assert len(asked) > 10
    assert sorted(found) == sorted(asked)


def test_changed_and_written_again(session: hivesql.Session, rows: list[Row]) -> None:
    write(session, "again", rows, "zlib")
    session.sql("UPDATE again SET c = 7 WHERE n % 100 = 3; DELETE FROM again WHERE n % 10 = 4")
    session.sql(f"CREATE TABLE copied ({COLUMNS}) STORED AS ORC TBLPROPERTIES "
                "('transactional'='true'); INSERT INTO copied SELECT * FROM again")  # fmt: skip
    seven = Decimal(7)
    changed = [(n, a, b, seven if n % 100 == 3 else c, e) for n, a, b, c, e in rows if n % 10 != 4]
    for name in ("again", "copied"):
        found = session.sql(f"SELECT * FROM {name}").rows
        assert sorted(found, key=lambda row: row[0]) == changed


def test_a_stripe_without_any(session: hivesql.Session) -> None:
    write(session, "nothing", [(n, None, None, None, None) for n in range(5000)], "zlib")
    assert session.sql("SELECT count(a), count(b), count(*) FROM nothing WHERE n % 7 = 0").rows == [
        (0, 0, 715)
    ]


def test_a_file_that_is_cut(session: hivesql.Session, rows: list[Row]) -> None:
    """Bytes that end within a value are an error that names the file."""
    write(session, "cut", rows[:2000], "none")
    file = only_file(session, "cut")
    data = bytearray(file.read_bytes())
    data[3 : len(data) // 2] = b"\xff" * (len(data) // 2 - 3)
    file.write_bytes(data)
    with pytest.raises(hivesql.HiveSqlError, match="bucket_"):
        session.sql("SELECT sum(a) FROM cut")
    # Hive, which reads what tests leave behind, would stumble over it too.
    session.sql("DROP TABLE cut")


def test_this_orc_has_what_our_reader_takes_out_of_it(spark: SparkSession) -> None:
    """Without these fields decimals would be read slowly, and that be told in a log alone."""
    source = (SOURCES / "DecimalReader.java").read_text()
    taken = set(re.findall(r'inside\(\s*([\w.]+)\.class, "(\w+)"', source))
    assert len(taken) == 4
    jvm: Any = spark._jvm
    for owner, name in taken:
        known = jvm.java.lang.Class.forName(f"org.apache.orc.impl.{owner.replace('.', '$')}")
        assert known.getDeclaredField(name).getName() == name
