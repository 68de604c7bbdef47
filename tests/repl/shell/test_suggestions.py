"""What is suggested at the cursor, marked with |."""

from __future__ import annotations

import pytest

from hivesql_planner.model.table import TableName
from hivesql_repl.shell.suggestions import suggest
from memory_catalog import warehouse


class Listed:
    """The listing part of a metastore over the catalog of the binder's tests."""

    def __init__(self) -> None:
        self.catalog = warehouse()
        self.table = self.catalog.table

    def databases(self) -> tuple[str, ...]:
        return ("db2", "default")

    def some_tables(self, database: str, most: int) -> tuple[TableName, ...]:
        tables = [name for name in self.catalog.tables if name.database == database]
        return tuple(tables[:most])


def found(marked: str, kind: str | None = None) -> list[str]:
    cursor = marked.index("|")
    text = marked.replace("|", "")
    suggestions = suggest(text, cursor, Listed(), database="default")
    return [one.text for one in suggestions if kind in (None, one.kind)]


CASES = {
    "tables after FROM": ("SELECT * FROM pl|", ["plain"], "table"),
    "database after FROM": ("SELECT * FROM db|", ["db2"], "database"),
    "tables of a database": ("SELECT * FROM db2.|", ["t"], None),
    "columns of an alias": ("SELECT x.na| FROM t x", ["name"], None),
    "columns of a table": ("UPDATE p SET p.|", ["id", "v", "day", "ds", "hr", "row__id"], None),
    "columns with their database": ("SELECT db2.t.| FROM db2.t", ["k", "w", "row__id"], None),
    "columns in scope": ("SELECT am| FROM t", ["amount"], "column"),
    "second table": ("SELECT b.o| FROM t a JOIN s AS b ON a.id = b.id", ["op"], None),
    "comma join": ("SELECT b.o| FROM t a, s b", ["op"], None),
    "merge": ("MERGE INTO t USING s AS src ON t.id = src.|", ["id", "name", "op", "row__id"], None),
    "other statement's alias": ("SELECT * FROM s x; SELECT x.| FROM t y", [], None),
    "settings": ("SET hive.lock.num|", ["hive.lock.numretries"], None),
    "values of a flag": ("SET hive.exec.parallel=|", [], "keyword"),
    "values of a setting": ("SET hive.lock.numretries = |", ["100"], None),
    "a database whose tables are listed": ("SHOW TABLES IN d|", ["db2", "default"], None),
    "a database whose views are listed": ("show views from db|", ["db2"], None),
    "use": ("USE de|", ["default"], None),
    "functions": ("SELECT unix_t|", ["unix_timestamp"], None),
    "keywords as typed": ("sel|", ["select"], None),
    "keywords in capitals": ("SELECT * FROM t WH|", ["WHERE", "WHEN"], None),
    "inside a text": ("SELECT 'fr|", [], None),
    "inside a comment": ("SELECT 1 -- fr|", [], None),
    "unknown alias": ("SELECT nosuch.| FROM t", [], None),
}


@pytest.mark.parametrize(("marked", "wanted", "kind"), CASES.values(), ids=CASES)
def test_suggestions(marked: str, wanted: list[str], kind: str | None) -> None:
    assert sorted(found(marked, kind)) == sorted(wanted)


def test_a_suggestion_replaces_the_word_and_says_what_it_is() -> None:
    text = "SELECT x.am FROM t x"
    (one,) = suggest(text, len("SELECT x.am"), Listed(), database="default")
    assert (one.text, one.kind, one.length, one.about) == ("amount", "column", 2, "decimal(10,2)")
