"""A session that may name no places of this machine but some, as those of a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_planner.errors import SemanticError

STATEMENTS = (
    "CREATE EXTERNAL TABLE n (a int) LOCATION '{}'",
    "CREATE EXTERNAL TABLE n (a int) LOCATION 'file://{}'",
    "CREATE EXTERNAL TABLE n LIKE t LOCATION '{}'",
    "CREATE TABLE n LIKE FILE PARQUET '{}/file'",
    "CREATE TABLE n (a int) STORED AS AVRO TBLPROPERTIES ('avro.schema.url'='{}/file')",
    "CREATE TABLE n STORED AS AVRO TBLPROPERTIES ('avro.schema.url'='file:{}/file')",
    "CREATE DATABASE d LOCATION '{}'",
    "CREATE DATABASE d MANAGEDLOCATION '{}'",
    "ALTER DATABASE default SET LOCATION '{}'",
    "ALTER TABLE t SET LOCATION '{}'",
    "ALTER TABLE t ADD PARTITION (p = 1) LOCATION '{}'",
    "LOAD DATA INPATH '{}/file' INTO TABLE t PARTITION (p = 1)",
    "INSERT OVERWRITE DIRECTORY '{}' SELECT a FROM t",
    "INSERT OVERWRITE LOCAL DIRECTORY '{}' SELECT a FROM t",
    "EXPORT TABLE t TO '{}'",
    "IMPORT FROM '{}'",
)


@pytest.fixture
def confined(tmp_path: Path) -> Iterator[hivesql.Session]:
    """A session that may name places below the warehouse."""
    home = tmp_path / "wh"
    with hivesql.connect(
        f"sqlite:///{tmp_path}/m.db", str(home), settings={"hivesql.local.places": str(home)}
    ) as session:
        session.sql("CREATE TABLE t (a int) PARTITIONED BY (p int)")
        yield session


@pytest.mark.parametrize("statement", STATEMENTS)
def test_places_elsewhere_are_refused(
    confined: hivesql.Session, tmp_path: Path, statement: str
) -> None:
    outside = tmp_path / "wh-of-others"
    outside.mkdir()
    (outside / "file").write_text("7\n")
    before = confined.sql("SHOW TABLES").rows
    for place in (outside, f"{tmp_path}/wh/../{outside.name}"):
        with pytest.raises(SemanticError, match=r"may name no places .*\(hivesql\.local\.places\)"):
            confined.sql(statement.format(place))
    assert confined.sql("SHOW TABLES").rows == before
    assert [path.name for path in outside.iterdir()] == ["file"]


def test_places_of_the_warehouse_and_of_databases_are_not(
    confined: hivesql.Session, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as administrator:
        administrator.sql(f"CREATE DATABASE d LOCATION '{elsewhere}'")
    confined.sql(f"CREATE EXTERNAL TABLE a (a int) LOCATION '{tmp_path}/wh/a-place'")
    confined.sql(f"CREATE EXTERNAL TABLE b (a int) LOCATION '{elsewhere}/b'")
    confined.sql("CREATE TABLE d.c (a int)")
    assert (elsewhere / "c").is_dir()


def test_the_session_cannot_change_it(confined: hivesql.Session, tmp_path: Path) -> None:
    with pytest.raises(SemanticError, match=r"Cannot modify hivesql\.local\.places at runtime"):
        confined.sql("SET hivesql.local.places=/")
    confined.sql("RESET hivesql.local.places")
    with pytest.raises(SemanticError, match="may name no places"):
        confined.sql(f"CREATE DATABASE d LOCATION '{tmp_path}'")
