"""TIMESTAMP WITH LOCAL TIME ZONE in a zone that is not UTC, as Hive's command line shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import hivesql
from hivesql.rendering.hive_text import hive_text, with_hive_types
from hivesql_executor.jvm import spark_line
from hivesql_planner.errors import HiveSqlError, NotSupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
PLACE = "2016-01-03 12:26:34 America/Los_Angeles"


@pytest.fixture(scope="module")
def session(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[hivesql.Session]:
    """A warehouse whose session is in the zone of Hive's own tests."""
    root = tmp_path_factory.mktemp("zones")
    with hivesql.connect(
        f"sqlite:///{root}/metastore.db", str(root / "warehouse"), spark=spark
    ) as session:
        session.sql("SET TIME ZONE 'US/Pacific'")
        yield session


def shown(session: hivesql.Session, query: str) -> list[list[str]]:
    """Return the rows as the command line prints them."""
    result = session.sql(query)
    return [[hive_text(cell) for cell in row] for row in with_hive_types(result.types, result.rows)]


def test_texts_become_instants(session: hivesql.Session) -> None:
    # As Hive's timestamptz.q.out shows them.
    texts = {
        "2005-01-03 02:01:00 GMT": "2005-01-02 18:01:00.0 US/Pacific",
        "2016-01-03 12:26:34.0123 America/Los_Angeles": "2016-01-03 12:26:34.0123 US/Pacific",
        "2016-01-03Europe/London": "2016-01-02 16:00:00.0 US/Pacific",
        "2016-01-03 13:34:56.38 +1:00": "2016-01-03 04:34:56.38 US/Pacific",
        "2016-01-03 12:26:34.012300 GMT+08:00": "2016-01-02 20:26:34.0123 US/Pacific",
        "2016-07-03 12:26:34": "2016-07-03 12:26:34.0 US/Pacific",
        "2016-07-03": "2016-07-03 00:00:00.0 US/Pacific",
        "no time": "NULL",
    }
    casts = ", ".join(f"cast('{text}' as timestamp with local time zone)" for text in texts)
    assert shown(session, f"SELECT {casts}") == [list(texts.values())]
    literal = "SELECT timestamplocaltz '2016-07-03 12:26:34', array(timestamplocaltz '2016-01-03Z')"
    assert shown(session, literal) == [
        ["2016-07-03 12:26:34.0 US/Pacific", '["2016-01-02 16:00:00.0 US/Pacific"]']
    ]


@pytest.mark.skipif(spark_line() < (4, 2), reason="ORC of it cannot be read")
def test_instants_are_written_read_and_changed(session: hivesql.Session) -> None:
    default = f"DEFAULT timestamplocaltz '{PLACE}'"
    session.sql(f"""
        CREATE TABLE z (id int, t timestamp with local time zone {default}) {ACID};
        INSERT INTO z(id) VALUES (1);
        INSERT INTO z VALUES (2, '2016-01-03 12:26:34.1 GMT'), (3, DEFAULT), (4, NULL);
        INSERT INTO z SELECT 5, timestamp '2020-06-01 10:00:00';
        INSERT INTO z SELECT 6, date '2020-06-01';
        UPDATE z SET t = '2021-07-01 01:00:00' WHERE id = 3;
        MERGE INTO z USING (SELECT 4 k, timestamp '2022-07-01 00:00:00' w) s ON z.id = s.k
          WHEN MATCHED THEN UPDATE SET t = s.w;
    """)
    assert shown(session, "SELECT id, t FROM z ORDER BY id") == [
        ["1", "2016-01-03 12:26:34.0 US/Pacific"], ["2", "2016-01-03 04:26:34.1 US/Pacific"],
        ["3", "2021-07-01 01:00:00.0 US/Pacific"], ["4", "2022-07-01 00:00:00.0 US/Pacific"],
        ["5", "2020-06-01 10:00:00.0 US/Pacific"], ["6", "2020-06-01 00:00:00.0 US/Pacific"],
    ]  # fmt: skip
    parts = """
        SELECT cast(t AS string), cast(t AS date), cast(t AS timestamp), to_epoch_milli(t), hour(t),
        extract(hour FROM t), date_format(t, 'HH'), to_date(t), unix_timestamp(t), concat(t, '!')
        FROM z WHERE id = 2"""
    assert shown(session, parts) == [[
        "2016-01-03 04:26:34.1 US/Pacific", "2016-01-03", "2016-01-03 04:26:34.1", "1451823994100",
        "4", "4", "04", "2016-01-03", "1451823994", "2016-01-03 04:26:34.1 US/Pacific!",
    ]]  # fmt: skip
    compared = """
        SELECT id FROM z WHERE t = '2016-01-03 12:26:34.1 GMT'
        OR t = timestamp '2020-06-01 10:00:00' OR t = date '2020-06-01'
        OR t > timestamplocaltz '2022-01-01 00:00:00' ORDER BY id"""
    assert shown(session, compared) == [["2"], ["4"], ["5"], ["6"]]
    mixed = """
        SELECT CASE WHEN id = 1 THEN t ELSE timestamp '2020-01-01 00:00:00' END,
        coalesce(t, date '2020-01-01'), if(id = 2, 'a', t) FROM z WHERE id < 3 ORDER BY id"""
    assert shown(session, mixed) == [
        ["2016-01-03 12:26:34.0 US/Pacific"] * 3,
        ["2020-01-01 00:00:00.0 US/Pacific", "2016-01-03 04:26:34.1 US/Pacific", "a"],
    ]
    with pytest.raises(NotSupported, match="UNION"):
        session.sql("SELECT t FROM z UNION ALL SELECT timestamp '2020-01-01 00:00:00'")


def test_instants_are_the_same_in_every_zone(session: hivesql.Session) -> None:
    # As Hive's timestamptz_3.q.out shows it.
    session.sql("CREATE TABLE tz (t timestamp with local time zone)")
    session.sql(f"INSERT INTO tz SELECT cast('{PLACE}' AS timestamp with local time zone)")
    query = "SELECT cast(t AS timestamp), t FROM tz"
    assert shown(session, query) == [["2016-01-03 12:26:34", "2016-01-03 12:26:34.0 US/Pacific"]]
    try:
        session.sql("SET TIME ZONE UTC")
        assert shown(session, query) == [["2016-01-03 20:26:34", "2016-01-03 20:26:34.0 UTC"]]
    finally:
        session.sql("SET TIME ZONE 'US/Pacific'")


def test_partition_columns_are_refused(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE pz (a int) PARTITIONED BY (t timestamp with local time zone)")
    with pytest.raises(NotSupported, match="partition column t"):
        session.sql("SELECT * FROM pz")


# What real Hive 4.1 shows in US/Pacific.
PATTERNS = [
    (
        "date_format(timestamp '2024-07-01 12:30:45.123', 'yyyy-MM-dd HH:mm:ss z')",
        "2024-07-01 12:30:45 PDT",
    ),
    (
        "date_format(timestamp '2024-01-15 02:30:45', 'HH:mm XXX Z VV')",
        "02:30 -08:00 -0800 US/Pacific",
    ),
    (
        "date_format('2024-07-01 23:59:59', 'yyyy MMM EEE a hh zzzz')",
        "2024 Jul Mon PM 11 Pacific Daylight Time",
    ),
    ("from_unixtime(0, 'yyyy-MM-dd HH:mm:ss z')", "1969-12-31 16:00:00 PST"),
    ("unix_timestamp('2024-07-01 12:00:00 +0200', 'yyyy-MM-dd HH:mm:ss Z')", "1719828000"),
    ("unix_timestamp('2024-07-01 12:00:00', 'yyyy-MM-dd HH:mm:ss')", "1719860400"),
    ("unix_timestamp('2024-07-01', 'yyyy-MM-dd')", "1719817200"),
    ("to_unix_timestamp('2024-03-10 02:30:00', 'yyyy-MM-dd HH:mm:ss')", "1710066600"),
    ("to_unix_timestamp('2024-07-01T12:00:00Z', \"yyyy-MM-dd'T'HH:mm:ssX\")", "1719835200"),
    ("unix_timestamp('01/jul/2024:10:11:12', 'dd/MMM/yyyy:HH:mm:ss')", "1719853872"),
    ("unix_timestamp('bad', 'yyyy-MM-dd')", "NULL"),
    ("unix_timestamp('2024-02-30', 'yyyy-MM-dd')", "1709193600"),
    ("date_format(date '2024-07-01', 'z')", "PDT"),
    ("date_format('1900-01-01', 'yyyy-MM-dd G z')", "1900-01-01 AD PST"),
    ("add_months('2024-01-31 10:11:12', 1, 'yyyy-MM-dd HH:mm:ss z')", "2024-02-29 10:11:12 UTC"),
    ("add_months('1500-03-01', 1, 'yyyy-MM-dd')", "1500-04-01"),
    ("add_months(timestamp '2024-01-31 22:11:12', 1, 'YYYY-MMM-dd')", "2024-Feb-29"),
    ("date_format(timestamp '2024-07-01 12:30:45.123456', 'SSS SSSSSS')", "123 123456"),
    ("date_format('2024-12-30', 'YYYY ww u')", "2025 01 2024"),
    ("date_format('2024-07-01', 'QQQ')", "Q3"),
    ("unix_timestamp('2024-07-01 12:00:00 PST', 'yyyy-MM-dd HH:mm:ss z')", "1719860400"),
    ("unix_timestamp(timestamp '2024-07-01 12:00:00')", "1719860400"),
    ("date_format('2024-07-01', 'TT z')", "NULL"),
]


def test_patterns_show_and_read_the_session_s_zone(session: hivesql.Session) -> None:
    """Zones and offsets in patterns, and texts that no zone's clock shows."""
    texts = ", ".join(f"CAST({expression} AS STRING)" for expression, _ in PATTERNS)
    (row,) = session.sql(f"SELECT {texts}").rows
    shown_texts = ["NULL" if text is None else text for text in row]
    assert shown_texts == [expected for _, expected in PATTERNS]
    with pytest.raises(HiveSqlError, match="Unknown pattern letter: T"):
        session.sql("SELECT from_unixtime(1, 'TT z')")
