"""Statements with very many rows."""

from __future__ import annotations

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.plain_rows import members_tail, plain_tail
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import TableName
from hivesql_planner.plan import Insert
from hivesql_planner.planning import plan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import DeleteRows, InsertRows
from memory_catalog import MemoryCatalog, table, warehouse


def query(sql: str) -> str:
    made = bind(parse(StatementText(sql)), warehouse())
    assert isinstance(made, InsertRows)
    return made.targets[0].query.sql


ROWS = [
    "(1, 'a', 1.5), (2, 'b', 2.5), (-3, NULL, +0.25)",
    "(1, 'a', 1.50), (2, 'b', 2.00), (3, '1.00', 007.10)\n,\n(4,'',0.0)",
    "(1, 'it\\'s; (2', 1), (2, \"a\\\\\", 2), (3, 'x\n-- y', 3)  ",
    "(TRUE, DATE '2020-01-01', null),(false,timestamp'2020-01-01 00:00:00', NULL)",
    "(1, 'a', 99999999999999999999), (2, 'b', 1)",
    "(1, 'a', 1L), (2, 'b', 2BD), (3, 'c', 1e3), (4, 'd', 1.0D)",
    "(1, 'a' 'b', 1), (2, 'it''s', 2)",
    "(1, 'a', DEFAULT), (2, 'b', 1)",
    "(1, 'a', 1), (2, 'b', DEFAULT)",
    "(1, upper('a'), 1 + 1), (2, 'b', 2)",
]


@pytest.mark.parametrize("rows", ROWS)
def test_rows_that_are_not_parsed_are_sent_as_those_that_are(rows: str) -> None:
    parsed = rows.replace("),", "),/**/", 1)
    for head in ("INSERT INTO t VALUES", "INSERT INTO t (amount, name, id) VALUES "):
        assert query(head + parsed).replace("/**/", "") == query(head + rows)


@pytest.mark.parametrize(
    ("values", "tail"),
    [
        ("(1), (2), (3)", ", (2), (3)"),
        ("(1), (2); ", None),
        ("(1)", None),
        ("(1), (2, 3)", None),
        ("(1), (x)", None),
        ("(1), (2) x", None),
        ("(1), (.5)", None),
        ("(1), (2.)", None),
        ("('a'), ('b' 'c')", None),
        ("('a'), ('b", None),
        ("(1), (nulls)", None),
    ],
)
def test_what_is_a_list_of_constants(values: str, tail: str | None) -> None:
    found = plain_tail(values, 0)
    assert (found and values[slice(*found)]) == tail


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ("(1, 'a', 1), (2, 'b')", (1, 15)),
        ("(1, 'a', 1),\n(2, nosuch, 2)", (2, 5)),
        ("(1, 'a', 1), (2, 'b', 2", None),
        ("(1, 'a'), (2, 'b')", (1, 15)),
    ],
)
def test_errors_among_many_rows(rows: str, place: tuple[int, int] | None) -> None:
    with pytest.raises(HiveSqlError) as caught:
        query(f"INSERT INTO t VALUES {rows}")
    assert place is None or (caught.value.line, caught.value.column) == place


TYPED = MemoryCatalog.of(
    table("t", "i int, l bigint, d double, n decimal(10,2), s string, c char(4), v varchar(4), "
               "b boolean, day date, ts timestamp, z timestamp with local time zone, x binary, "
               "a array<int>"),
)  # fmt: skip
LISTS = {
    "numbers": [*range(-60, 50)],
    "large numbers": [*range(2**31 - 100, 2**31 + 5)],
    "numbers of nineteen digits": [*range(10**18, 10**18 + 105)],
    "texts": [f"'v{i} '" for i in range(105)],
    "texts of two kinds": [f'"it\'s,{i}"' for i in range(105)],
    "texts of numbers": [f"'{i}'" for i in range(105)],
    "texts of days": [f"'2020-01-{i % 31 + 1:02}'" for i in range(105)],
    "texts of instants": [f"'2020-01-01 00:00:{i % 60:02}.000000{i}'" for i in range(105)],
    "escapes": [f"'v\\t{i}'" for i in range(105)],
    "numbers and NULL": ["1", *range(105), "NULL", *range(105)],
    "numbers and texts": [*range(105), "'x'", *range(105)],
    "zeros before": [f"00{i}" for i in range(105)],
    "suffixes": [f"{i}L" for i in range(105)],
    "fractions": [f"{i}.50" for i in range(105)],
    "texts side by side": [f"'a' '{i}'" for i in range(105)],
    "expressions": [f"{i} + 1" for i in range(105)],
}


@pytest.mark.parametrize("values", LISTS.values(), ids=LISTS)
def test_long_lists_mean_what_they_mean_read_value_by_value(values: list[object]) -> None:
    def bound(test: str, values: str, settings: Settings) -> object:
        sql = f"DELETE FROM t WHERE {test} ({values}) AND i > 0"
        try:
            made = bind(parse(StatementText(sql)), TYPED, settings=settings)
        except HiveSqlError as error:
            return str(error)
        assert isinstance(made, DeleteRows)
        assert made.where is not None
        return made.where.sql.replace("/**/", ""), made.where.meaning

    text = ", ".join(map(str, values))
    one_by_one = text.replace(", ", ", /**/", 1)
    strict = Settings().with_value("hive.strict.checks.type.safety", "true")
    names = [column.name for column in TYPED.tables[TableName("default", "t")].columns]
    for test in (*(f"{name} IN" for name in names), "upper(concat(s, '')) NOT IN"):
        assert bound(test, text, Settings()) == bound(test, one_by_one, Settings())
    for test in ("l NOT IN", "NOT s IN", "x NOT IN"):
        assert bound(test, text, strict) == bound(test, one_by_one, strict)


@pytest.mark.parametrize(
    ("values", "is_plain"),
    [
        ([*range(101)], False),
        ([*range(102)], True),
        ([*(f"'{i}'" for i in range(200))], True),
        ([*range(200), "'x'"], False),
        ([*range(200), "x"], False),
        ([*range(200), "1L"], False),
        ([*range(200), ""], False),
        ([*range(200), 10**18], False),
    ],
)  # fmt: skip
def test_what_is_a_long_list(values: list[object], is_plain: bool) -> None:
    text = ",\n".join(map(str, values)) + "\n) AND x"
    found = members_tail(text, 0)
    assert (found is not None) == is_plain
    if found is not None:
        assert text[slice(*found)].split() == text[: text.index(")")].split()[1:]


@pytest.mark.slow
def test_a_hundred_thousand_rows_of_values() -> None:
    values = ", ".join(f"({i}, 'name {i}', {i}.50)" for i in range(100_000))
    made = plan(bind(parse(StatementText(f"INSERT INTO t VALUES {values}")), warehouse()),
                Settings())  # fmt: skip
    assert isinstance(made.body, Insert)
    (branch,) = made.body.branches
    assert branch.query.sql.count("'name ") == 100_000
    assert branch.query.sql.endswith("(99999, 'name 99999', 99999.5)")
