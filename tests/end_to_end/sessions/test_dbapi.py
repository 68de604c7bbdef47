"""The DB-API: what PEP 249 promises, and transactions that Hive's other drivers lack."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from hivesql import dbapi

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def place(tmp_path: Path, spark: SparkSession) -> dict[str, Any]:
    """Arguments of connect for a warehouse of the test's own."""
    return {
        "metastore": f"sqlite:///{tmp_path}/metastore.db",
        "warehouse": str(tmp_path / "warehouse"),
        "spark": spark,
    }


@pytest.fixture
def connection(place: dict[str, Any]) -> Iterator[dbapi.Connection]:
    """A connection to a warehouse with table t (id INT, v STRING) of two rows."""
    with dbapi.connect(**place) as opened:
        cursor = opened.cursor()
        cursor.execute(f"CREATE TABLE t (id INT, v STRING) {ACID};")
        cursor.execute("INSERT INTO t VALUES (%s, %s), (%s, %s)", [1, "it's", 2, None])
        assert cursor.rowcount == 2
        opened.commit()
        yield opened


def test_module_says_what_it_is() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "pyformat")
    assert issubclass(dbapi.ProgrammingError, dbapi.DatabaseError)
    assert issubclass(dbapi.InterfaceError, dbapi.Error)
    assert dbapi.STRING == "varchar(10)"
    assert dbapi.NUMBER == "decimal(10,2)"
    assert dbapi.DATETIME != "string"


def test_rows_and_their_description(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    assert cursor.description is None
    cursor.execute("SELECT id, v, CAST(id AS DECIMAL(10,2)) AS d FROM t ORDER BY id")
    assert cursor.rowcount == 2
    assert [column[:2] for column in cursor.description or ()] == [
        ("id", "int"), ("v", "string"), ("d", "decimal(10,2)"),
    ]  # fmt: skip
    assert (cursor.description or ())[2][4:6] == (10, 2)
    assert cursor.fetchone() == (1, "it's", Decimal("1.00"))
    assert cursor.fetchmany(5) == [(2, None, Decimal("2.00"))]
    assert cursor.fetchone() is None
    assert cursor.fetchall() == []
    assert cursor.fetch_arrow_table().column("v").to_pylist() == ["it's", None]
    assert isinstance(cursor.fetch_arrow_table(), pa.Table)
    assert list(cursor.fetch_df()["id"]) == [1, 2]
    assert list(cursor.execute("SHOW TABLES")) == [("t",)]


def test_values_come_back_as_they_went(connection: dbapi.Connection) -> None:
    values = {
        "text": "a'b\\c\n${hivevar:x};--é", "number": 3_000_000_000, "float": 0.1,
        "decimal": Decimal("12.340"), "date": datetime.date(1969, 12, 31), "bytes": b"\x00\xff",
        "time": datetime.datetime(2024, 2, 29, 1, 2, 3, 400000), "none": None, "true": True,
    }  # fmt: skip
    select = ", ".join(f"%({name})s" for name in values)
    cursor = connection.cursor().execute(f"SELECT {select}", values)
    assert cursor.fetchall() == [tuple(values.values())]
    nested = "SELECT array(1, 2), map('k', 1), named_struct('a', 1)"
    assert connection.cursor().execute(nested).fetchone() == ([1, 2], {"k": 1}, {"a": 1})
    found = connection.cursor().execute("SELECT id FROM t WHERE id IN %s", [[2, 7]])
    assert found.fetchall() == [(2,)]


def test_question_marks(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO t VALUES (?, ?)", [(3, "100%"), (4, "what?")])
    assert cursor.rowcount == 2
    cursor.execute("SELECT id, '?' AS a, 7 % 4 AS b FROM t /* ? */ WHERE v LIKE ? AND id > ?",
                   ("%0%", 1))  # fmt: skip
    assert cursor.fetchall() == [(3, "?", 3)]
    assert cursor.execute("SELECT id FROM t WHERE v = '?' OR id = %s", [4]).fetchall() == [(4,)]
    for text, given in (("SELECT ?, ?", [1]), ("SELECT ?", [1, 2]), ("SELECT ?, %s", [1, 2]),
                        ("SELECT ?", {"a": 1}), ("SELECT ?", [object()])):  # fmt: skip
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute(text, given)
    connection.rollback()


def test_rollback_and_commit(place: dict[str, Any], connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("DELETE FROM t WHERE id = 1")
    cursor.execute("UPDATE t SET v = 'x'")
    assert cursor.rowcount == 1
    assert cursor.execute("SELECT count(*) FROM t").fetchone() == (1,)
    connection.rollback()
    assert cursor.execute("SELECT count(*) FROM t").fetchone() == (2,)
    connection.commit()
    with dbapi.connect(**place, autocommit=True) as other:
        other.cursor().execute("INSERT INTO t VALUES (3, 'c')")
        assert other.session.open_transaction is None
    assert cursor.execute("SELECT max(id) FROM t").fetchone() == (3,)
    connection.rollback()
    # What was not committed when a connection closes never happened.
    closing = dbapi.connect(**place)
    closing.cursor().execute("DELETE FROM t")
    closing.close()
    assert cursor.execute("SELECT count(*) FROM t").fetchone() == (3,)


def test_errors(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    with pytest.raises(dbapi.ProgrammingError, match="10001") as caught:
        cursor.execute("SELECT * FROM nosuch")
    assert caught.value.code == 10001
    assert not caught.value.retryable
    assert pickle.loads(pickle.dumps(caught.value)).code == 10001
    with pytest.raises(dbapi.NotSupportedError):
        cursor.execute("OPTIMIZE TABLE t")
    with pytest.raises(dbapi.ProgrammingError, match="bad parameters"):
        cursor.execute("SELECT %s", [])
    with pytest.raises(dbapi.ProgrammingError, match="no rows"):
        connection.cursor().fetchone()
    cursor.close()
    with pytest.raises(dbapi.InterfaceError):
        cursor.execute("SELECT 1")
    connection.close()
    with pytest.raises(dbapi.InterfaceError):
        connection.cursor()
