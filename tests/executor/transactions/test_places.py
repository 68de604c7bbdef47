"""What cannot have its directory leaves nothing, and removes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_executor.files.local import LocalFiles

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
LONG = "v" * 300
REFUSED = {
    # name: (statement, text)
    "below a file": ("CREATE TABLE n (a INT) LOCATION '{user}/file/x'", "cannot be made"),
    "at a file": ("CREATE TABLE n (a INT) LOCATION '{user}/file'", "is a file"),
    "external": ("CREATE EXTERNAL TABLE n (a INT) LOCATION '{user}/file/x/y'", "cannot be made"),
    "like": ("CREATE TABLE n LIKE p LOCATION '{user}/file/x'", "cannot be made"),
    "a long place": (f"CREATE TABLE n (a INT) LOCATION '{{user}}/{LONG}'", "too long"),
    "a dangling link inside": (f"CREATE TABLE n (a INT) {ACID[:13]} LOCATION '{{user}}/links' "
                               f"{ACID[13:]}", "link to a file that is missing"),
    "files inside": (f"CREATE TABLE n (a INT) {ACID[:13]} LOCATION '{{user}}/data' {ACID[13:]}",
                     "already holds files"),
    "a database": ("CREATE DATABASE n LOCATION '{user}/file/x'", "cannot be made"),
    "a managed place": ("CREATE DATABASE n MANAGEDLOCATION '{user}/file/x'", "cannot be made"),
    "one of two partitions": (
        "ALTER TABLE p ADD PARTITION (k = '1') LOCATION '{user}/made/here' "
        "PARTITION (k = '2') LOCATION '{user}/file/x'", "cannot be made"),
    "a long value": (f"ALTER TABLE p ADD PARTITION (k = '{LONG}')", "no name of a directory"),
    "a value that is long in bytes": (
        f"ALTER TABLE p ADD PARTITION (k = '{'ü' * 127}')", "of 256 bytes"),
    "a value that is long when escaped": (
        f"ALTER TABLE p ADD PARTITION (k = '{':' * 85}')", "of 257 bytes"),
    "a long new name": (
        f"ALTER TABLE p PARTITION (k = 'x') RENAME TO PARTITION (k = '{LONG}')", "302 bytes"),
    "rows with a long value": (
        f"INSERT INTO p PARTITION (k) VALUES (1, 'good'), (2, '{LONG}')", "302 bytes"),
    "rows for a long value": (f"INSERT INTO p PARTITION (k = '{LONG}') VALUES (1)", "302 bytes"),
    "files for a long value": (
        f"LOAD DATA INPATH '{{user}}/file' INTO TABLE p PARTITION (k = '{LONG}')", "302 bytes"),
    "all values together": (
        f"ALTER TABLE q ADD PARTITION (a = '{'a' * 250}', b = '{'b' * 250}', c = '{'c' * 250}', "
        f"d = '{'d' * 250}')", "takes no more than 767"),
}  # fmt: skip


@pytest.fixture
def session(tmp_path: Path) -> Iterator[hivesql.Session]:
    with hivesql.connect(
        f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    ) as session:
        session.sql(f"""
            CREATE TABLE p (a INT) PARTITIONED BY (k STRING) {ACID};
            INSERT INTO p PARTITION (k = 'x') VALUES (7);
            CREATE TABLE q (i INT) PARTITIONED BY (a STRING, b STRING, c STRING, d STRING) {ACID};
        """)
        yield session


def everything(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


def test_what_fails_leaves_nothing(session: hivesql.Session, tmp_path: Path) -> None:
    user = tmp_path / "user"
    (user / "data").mkdir(parents=True)
    (user / "links").mkdir()
    (user / "data" / "mine").write_text("1\n")
    (user / "file").write_text("1\n")
    (user / "links" / "dangling").symlink_to("/nosuch")
    before, warehouse = everything(user), tmp_path / "warehouse"
    (inside,) = [path.name for path in (warehouse / "p").iterdir()]
    for name, (statement, text) in REFUSED.items():
        with pytest.raises(hivesql.HiveSqlError) as raised:
            session.sql(f"-- {name}\n{statement.format(user=user)}")
        assert text in str(raised.value).lower() or text in str(raised.value), name
        assert raised.value.line == 2, name
        assert session.sql("SHOW TABLES").rows == [("p",), ("q",)], name
        assert session.sql("SHOW DATABASES").rows == [("default",)], name
        assert session.sql("SHOW PARTITIONS p").rows == [("k=x",)], name
        assert everything(user) == before, name
        assert [path.name for path in (warehouse / "p").iterdir()] == [inside], name
        assert session.runtime.metastore.lost_moves(-1) == (), name
    # The longest that fits.
    longest = "v" * 253
    session.sql(f"INSERT INTO p PARTITION (k) VALUES (8, '{longest}')")
    assert session.sql(f"SELECT a FROM p WHERE k = '{longest}'").rows == [(8,)]
    assert session.sql("SELECT count(*) FROM p").rows == [(2,)]


def test_a_partition_that_can_have_no_directory_is_empty(
    session: hivesql.Session, tmp_path: Path
) -> None:
    """Earlier versions could make one."""
    session.sql("ALTER TABLE p ADD PARTITION (k = 'long')")
    with sqlite3.connect(tmp_path / "metastore.db") as db:
        place = f"{tmp_path}/warehouse/p/k={LONG}"
        db.execute("UPDATE SDS SET LOCATION = ? WHERE LOCATION LIKE '%k=long'", (place,))
    assert [tuple(row) for row in session.sql("SELECT * FROM p").rows] == [(7, "x")]
    assert session.sql("UPDATE p SET a = a + 1").affected == 1
    session.sql("ALTER TABLE p DROP PARTITION (k = 'long')")
    assert [tuple(row) for row in session.sql("SELECT * FROM p").rows] == [(8, "x")]


def test_a_link_goes_and_what_it_leads_to_stays(session: hivesql.Session, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    (real / "data").write_text("1\n")
    link.symlink_to(real)
    session.sql(f"CREATE TABLE n (a INT) STORED AS TEXTFILE LOCATION '{link}'; DROP TABLE n")
    assert [path.name for path in real.iterdir()] == ["data"]
    assert not link.is_symlink()
    assert not list(tmp_path.glob(".hivesql-*"))
    (tmp_path / "again").symlink_to(real)
    LocalFiles().remove_if_empty(f"{tmp_path}/again")
    assert (tmp_path / "again").is_symlink()
