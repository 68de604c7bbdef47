"""Errors point at the whole offending text: « and » mark it in the script as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import split
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.settings.settings import Settings
from hivesql_repl.output.underline import underlined
from memory_catalog import warehouse

VARIABLES = {
    "hivevar:table": "nosuch", "hivevar:q": "nosuch\n\n\n", "hivevar:short": "id", "hivevar:n": "1",
    "hivevar:nested": "${table}",
}  # fmt: skip
CASES = {
    "table": "select * from «nosuch»",
    "qualified table": "select * from «nosuch.t» where 1 = 1",
    "qualified column": "select id, «t.nosuch» from t",
    "quoted name": "select «`no such`» from t",
    "alias of a star": "select «u.*» from t",
    "argument": "select id from t where upper(«nosuch») = 'a'",
    "call": "select «concat_ws(1, 2)» from t",
    "call over lines": "select id,\n  «concat_ws(1,\n  2)» from t",
    "target of UPDATE": "update «plain» set v = 'x'",
    "column of UPDATE": "update t set id = 1,\n «nosuch» = 2",
    "partition": "alter table p drop partition («ds='x', hr=7»)",
    "partitions missing": "insert into p partition («ds='x'») values (1, 'a', null)",
    "rows of another width": "insert into t «values (1, 'a')»",
    "ON without the target": "merge into t using s on «s.id = 1» when not matched then "
                             "insert values (1, 'a', 1)",
    "second DELETE": "merge into t using s on t.id = s.id when matched then delete\n"
                     "«when matched then delete»",
    "values of MERGE": "merge into t using s on t.id = s.id when not matched then insert (id) "
                       "values («1, 2»)",
    "branches of UNION": "select id from t union all «select id, name from t»",
    "unexpected word": "select id from t group «buy» id",
    "unexpected end": "update t set id =",
    "open quote": "select id from t where name = «'»abc",
    "refused words": "select transform(id) using 'cat' as («a» array<int>) from t",
    "refused statement": "«optimize» table t",
    "second statement": "select 1;\n select 2; select\n «nosuch» from t; select 3",
    "after a comment": "/* a\n b */ -- c\nselect «nosuch» from t",
    "variable": "select * from «${table}» where 1 = 1",
    "variable of lines": "select ${n},\n ${n} from «${q}» where 1 = 1",
    "behind a variable": "select ${n}, ${short},\n ${n} + «nosuch» from t",
    "around a variable": "select «concat_ws(${n}, ${n})» from t",
    "variable in a name": "select * from «no${short}» x",
    "nested variable": "select * from «${nested}»",
    "behind an escaped semicolon": r"select 'a\;b', «nosuch» from t",
    "sourced file": "source «nosuch.hql»",
    "sourced file in quotes": "select 1; source '«nosuch.hql»'",
}  # fmt: skip


STRICT = Settings(values={"hive.exec.drop.ignorenonexistent": "false"})


def error_of(script: str) -> HiveSqlError:
    with pytest.raises(HiveSqlError) as caught:
        for statement in split(script, None, VARIABLES):
            bind(parse(statement), warehouse(), settings=STRICT)
    return caught.value


@pytest.mark.parametrize("marked", CASES.values(), ids=CASES)
def test_errors_point_at_the_whole_offending_text(marked: str) -> None:
    script = marked.replace("«", "").replace("»", "")
    error = error_of(script)
    assert error.line is not None and error.column is not None
    lines = script.splitlines(keepends=True)
    assert error.end is not None

    def offset(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + column - 1

    start, end = offset(error.line, error.column), offset(*error.end)
    found = f"{script[:start]}«{script[start:end]}»{script[end:]}".removesuffix("«»")
    assert found == marked, error


def test_errors_of_a_sourced_file_name_it(tmp_path: Path) -> None:
    inner = tmp_path / "inner.hql"
    inner.write_text("select 1;\nselect\n  t.nosuch from t;\n", encoding="utf-8")
    error = error_of(f"select 1; source {inner};")
    assert (error.file, error.line, error.column, error.end) == (str(inner), 3, 3, (3, 11))


@pytest.mark.parametrize(
    ("script", "place", "end", "expected"),
    [
        ("select a", (1, 8), (1, 9), ["  select a", "         ^"]),
        ("select abc from", (1, 8), (1, 11), ["  select abc from", "         ^^^"]),
        ("select a", (1, 9), None, ["  select a", "          ^"]),
        ("x f(\n  a,\n\n  b) y", (1, 3), (4, 5),
         ["  x f(", "    ^^", "    a,", "    ^^", "", "    b) y", "    ^^"]),
        ("\tselect 1", (1, 2), (1, 8), ["   select 1", "   ^^^^^^"]),
        ("select '表', b", (1, 13), (1, 14), ["  select '表', b", "               ^"]),
        ("a\n" * 9, (1, 1), (9, 2), ["  a", "  ^"] * 6 + ["  … and 3 more lines"]),
        ("select a", (7, 1), None, []),
        ("x" * 5_000 + "yy" + "z" * 5_000, (1, 5_001), (1, 5_003),
         [f"  … {'x' * 40}yy{'z' * 198} …", f"  {' ' * 42}^^"]),
        ("yy" + "z" * 5_000, (1, 1), (1, 5_003), [f"  yy{'z' * 238} …", f"  {'^' * 240}"]),
        ("x" * 5_000 + "yy", (1, 5_001), (1, 5_003),
         [f"  … {'x' * 238}yy", f"  {' ' * 240}^^"]),
    ],
)  # fmt: skip
def test_underlined(
    script: str, place: tuple[int, int], end: tuple[int, int] | None, expected: list[str]
) -> None:
    assert underlined(script, place, end) == expected
