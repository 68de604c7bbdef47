"""Names in double quotes: which they are, and the places of what is behind them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import hivesql
from hivesql.dialect.double_quotes import with_back_quotes
from hivesql.dry_run import rehearse
from hivesql.script import StatementText
from hivesql_planner.errors import NoSuchObject, ParseError
from hivesql_planner.settings.settings import Settings

KEY = "hive.support.quoted.identifiers"
STANDARD = Settings(values={KEY: "standard"})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ('SELECT "a b" FROM "t"', "SELECT `a b` FROM `t`"),
        ('SELECT "a""b", "c`d"', 'SELECT `a"b`, `c``d`'),
        ('SELECT \'a "b" \\\' "c"\', "d"', 'SELECT \'a "b" \\\' "c"\', `d`'),
        ('SELECT `a"b`, "c" -- "d"\n/* "e */, "f"', 'SELECT `a"b`, `c` -- "d"\n/* "e */, `f`'),
        ('SET x="y"', 'SET x="y"'),
    ],
)
def test_what_stands_in_double_quotes_names_something(sql: str, expected: str) -> None:
    assert with_back_quotes(StatementText(sql), STANDARD).text == expected
    assert with_back_quotes(StatementText(sql), Settings()).text == sql


def test_places_are_those_of_the_written_text() -> None:
    written = StatementText('SELECT "a""b",\n "`" x', "f.sql", 3, 5)
    changed = with_back_quotes(written, STANDARD)
    assert changed.place(changed.text.index("SELECT")) == (3, 5)
    assert changed.place(changed.text.index("`a")) == (3, 12)
    assert changed.place(changed.text.index("````")) == (4, 2)
    assert changed.place(changed.text.index("x")) == (4, 6)
    assert changed.end_place(len(changed.text)) == (4, 7)


def test_statements_with_names_in_double_quotes(
    prepared: Callable[..., str], tmp_path: Path
) -> None:
    """What real Hive 4.1 gives; it cannot read such a view with the other setting."""
    url = prepared("sqlite", tmp_path / "warehouse")
    with hivesql.connect(url, str(tmp_path / "warehouse")) as session:
        session.sql(f"SET {KEY}=standard")
        session.sql('CREATE TABLE "st" ("x+1" STRING, "y""z" INT, `b` INT)')
        session.sql('CREATE VIEW "v~1" AS SELECT "x+1" AS "a-b", \'q"\' AS t FROM st -- "')
        assert [row[0] for row in session.sql('DESCRIBE "st"').rows] == ["x+1", 'y"z', "b"]
        with pytest.raises(NoSuchObject, match="'nope'") as error:
            session.sql('SELECT "y""z", "nope" FROM st')
        assert (error.value.code, error.value.column) == (10004, 16)
        with pytest.raises(ParseError):
            session.sql('CREATE TABLE p (a INT) TBLPROPERTIES ("k"="v")')
        steps = list(rehearse(session, 'SELECT "y""z" FROM "st"', None))
        assert [step.error for step in steps] == [None]
        session.sql(f"SET {KEY}=column")
        assert [row[0] for row in session.sql("DESCRIBE `v~1`").rows] == ["a-b", "t"]
        with pytest.raises(ParseError):
            session.sql('DESCRIBE "st"')
