"""Characters that no text, name or place can have are refused, and nothing else is blamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hivesql

HALF, NUL = "\ud800", "\0"
STATEMENTS = {
    "a value": "INSERT INTO t VALUES (1, '{}')",
    "a comment of SQL": "INSERT INTO t VALUES (1, 'x') -- {}",
    "what Spark computes": "SELECT concat('{}', v) FROM t",
    "a comparison": "UPDATE t SET id = 2 WHERE v = '{}'",
    "a name": "SELECT * FROM `{}`",
    "a database": "USE `{}`",
    "a setting": "SET hivevar:x={}",
    "a place": "CREATE EXTERNAL TABLE e (id INT) LOCATION '/tmp/{}'",
}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path, prepared: Callable[..., str]
) -> Iterator[hivesql.Session]:
    """A session of an empty warehouse."""
    with hivesql.connect(prepared(request.param, tmp_path / "wh")) as session:
        yield session


@pytest.mark.parametrize("text", STATEMENTS.values(), ids=list(STATEMENTS))
def test_a_half_of_a_character_is_refused_where_it_stands(
    opened: hivesql.Session, text: str
) -> None:
    opened.sql("CREATE TRANSACTIONAL TABLE t (id INT, v STRING) STORED AS ORC")
    with pytest.raises(hivesql.ParseError, match=r"'\\ud800' is a half of a character") as refused:
        opened.sql("SHOW TABLES;\n" + text.format(HALF))
    assert (refused.value.line, refused.value.column) == (2, text.index("{}") + 1)
    assert opened.sql("SELECT count(*) FROM t").scalar() == 0


def test_a_parameter_with_it_is_refused_where_its_mark_stands(opened: hivesql.Session) -> None:
    with pytest.raises(hivesql.ParseError) as refused:
        opened.sql("SELECT\n  ?", [f"a{HALF}"])
    assert (refused.value.line, refused.value.column) == (2, 3)


def test_it_is_refused_beside_statements_too(opened: hivesql.Session, tmp_path: Path) -> None:
    opened.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC")
    calls: list[Callable[[], object]] = [
        lambda: opened.sql("INSERT INTO t VALUES (1)", idempotency_key=HALF),
        lambda: opened.forget(HALF),
        lambda: opened.inspect(HALF),
        lambda: hivesql.connect(f"sqlite:///{tmp_path}/m.db", database=HALF),
    ]
    for call in calls:
        with pytest.raises(hivesql.HiveSqlError, match=r"\\ud800") as refused:
            call()
        assert "reachable" not in str(refused.value)
    assert opened.sql("SELECT count(*) FROM t").scalar() == 0


@pytest.mark.parametrize("text", ["EXTERNAL TABLE e (id INT)", "DATABASE d", "TABLE f (id INT)"])
def test_no_place_has_the_character_of_code_0(opened: hivesql.Session, text: str) -> None:
    with pytest.raises(hivesql.SemanticError, match="no file system has the character of code 0"):
        opened.sql(f"CREATE {text} LOCATION '/tmp/{NUL}'")


@pytest.mark.parametrize(
    "opened", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)
def test_a_database_that_has_no_such_character_says_so(opened: hivesql.Session) -> None:
    made = "CREATE TABLE c (id INT) COMMENT 'a\0b'"
    with pytest.raises(hivesql.ExecutionError, match="Leave the character of code 0 out"):
        opened.sql(made)
    assert opened.sql("SHOW TABLES").rows == []


@pytest.mark.parametrize("words", [{"metastore": "sqlite:///\0.db"}, {"warehouse": "\0"}])
def test_nothing_is_opened_there(words: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(hivesql.SemanticError, match="character of code 0"):
        hivesql.connect(**{"metastore": f"sqlite:///{tmp_path}/m.db", **words})
