"""A row that is changed again and again leaves versions that nobody need read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import orc

import hivesql

CREATE = """
CREATE TABLE t (id INT, v STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three');
"""
# Where an ORC file has its first stripe.
MAGIC = 3
WITHOUT_SPARK = "import sys; sys.modules['pyspark.sql'] = None\n"


Rows = Callable[..., list[tuple[object, ...]]]


@pytest.fixture(params=["alone", pytest.param("spark", marks=pytest.mark.spark)])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Who reads whole tables: the suite's Spark, or we without any."""
    if request.param == "spark":
        return request.getfixturevalue("spark")
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    return None


@pytest.fixture
def session(tmp_path: Path, reader: Any) -> Iterator[hivesql.Session]:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/wh", spark=reader) as session:
        session.sql(CREATE)
        yield session


@pytest.fixture
def rows(reader: Any) -> Rows:
    # A condition without columns is Spark's.
    every = "" if reader is None else " WHERE true"

    def read(session: hivesql.Session, where: str = "") -> list[tuple[object, ...]]:
        found = session.sql("SELECT id, v FROM t" + (f" WHERE {where}" if where else every)).rows
        return sorted(tuple(row) for row in found)

    return read


def test_only_the_last_version_counts(session: hivesql.Session, rows: Rows) -> None:
    for number in range(8):
        session.sql(f"UPDATE t SET v = 'x{number}' WHERE id = 2")
        assert rows(session, "id = 2") == [(2, f"x{number}")]
    session.sql("UPDATE t SET v = 'all' WHERE id > 1")
    assert rows(session) == [(1, "one"), (2, "all"), (3, "all")]
    session.sql("DELETE FROM t WHERE id = 3")
    session.sql("INSERT INTO t VALUES (3, 'again')")
    assert rows(session) == [(1, "one"), (2, "all"), (3, "again")]
    session.sql("DELETE FROM t WHERE v = 'all'")
    assert rows(session) == [(1, "one"), (3, "again")]
    assert session.sql("SELECT count(*) FROM t").rows[0][0] == 2


def test_what_others_have_not_committed_deletes_nothing(
    session: hivesql.Session, reader: Any, rows: Rows, tmp_path: Path
) -> None:
    session.sql("UPDATE t SET v = 'new' WHERE id = 2")
    session.sql("START TRANSACTION; DELETE FROM t WHERE id = 2")
    assert rows(session) == [(1, "one"), (3, "three")]
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/wh", spark=reader) as other:
        assert rows(other) == [(1, "one"), (2, "new"), (3, "three")]
    session.sql("ROLLBACK")
    assert rows(session, "id = 2") == [(2, "new")]


def test_deleted_versions_are_not_read(session: hivesql.Session, tmp_path: Path) -> None:
    for text in ("first", "second", "last"):
        session.sql(f"UPDATE t SET v = '{text}' WHERE id = 2")
    versions = sorted((tmp_path / "wh/t").glob("delta_*/bucket_*"))
    assert len(versions) == 4
    for one in versions[1:3]:
        content, end = one.read_bytes(), orc.ORCFile(one).content_length
        one.write_bytes(content[:MAGIC] + bytes(end - MAGIC) + content[end:])
    # In a process of its own, where no file is remembered and Spark cannot help.
    program = (
        f"{WITHOUT_SPARK}import hivesql\n"
        f"session = hivesql.connect('sqlite:///{tmp_path}/m.db', '{tmp_path}/wh')\n"
        "session.sql(\"UPDATE t SET v = 'other' WHERE id = 2\")\n"
        "print(session.sql('SELECT v FROM t WHERE id = 2').rows[0][0])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "other\n", done.stderr
