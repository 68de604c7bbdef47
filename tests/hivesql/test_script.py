"""Scripts split into statements with their places."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hivesql.script import is_complete, split
from hivesql.script_file import decode_script
from hivesql_planner.errors import ParseError


def texts(script: str, variables: dict[str, str] | None = None) -> list[str]:
    return [one.text for one in split(script, None, variables or {})]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" ;; ; ", []),
        ("select 1", ["select 1"]),
        ("select 1; select 2;", ["select 1", "select 2"]),
        ("select ';'; select \";\"", ["select ';'", 'select ";"']),
        ("select `a;b` from t; x", ["select `a;b` from t", "x"]),
        (r"select 'it\'s;'; x", [r"select 'it\'s;'", "x"]),
        ("select 1 -- one; two\n, 2; x", ["select 1 -- one; two\n, 2", "x"]),
        ("select /* ; */ 1; x", ["select /* ; */ 1", "x"]),
        ("-- only a comment\n", []),
        ("/* a */ -- b\n select 1", ["select 1"]),
        ("select '-- no comment'; x", ["select '-- no comment'", "x"]),
        (r"select 'a\;b', 1 \; 2; x", ["select 'a\\;b', 1 ; 2", "x"]),
        (r"select 'a\\;b'; x", [r"select 'a\\;b'", "x"]),
        ("set x=it's; select 1", ["set x=it's", "select 1"]),
        ("set x='a;b'; select 1", ["set x='a;b'", "select 1"]),
        ("set x=jdbc:y--z; select 1", ["set x=jdbc:y--z", "select 1"]),
        ("!sh ls; ls\nselect 1", ["!sh ls; ls", "select 1"]),
        ("delete from t where a = ';'; x", ["delete from t where a = ';'", "x"]),
        ("\ufeffselect 1; x", ["select 1", "x"]),
        ("select 1 -- one\r, 2; x", ["select 1 -- one\r, 2", "x"]),
        ("-- no line end; x", []),
        ("select 1; -- no line end; x", ["select 1"]),
        ("# as; beeline\nselect 1;\n  # b\n!ls\n#c", ["select 1", "!ls"]),
    ],
)
def test_split(script: str, expected: list[str]) -> None:
    assert texts(script) == expected


def test_places_are_those_of_the_first_token() -> None:
    script = "-- c\nselect 1;  select\n 2;\n/* x\n y */ select 3"
    found = [(one.file, one.line, one.column) for one in split(script, "a.hql", {})]
    assert found == [("a.hql", 2, 1), ("a.hql", 2, 12), ("a.hql", 5, 7)]


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        ("select ${hivevar:x}", {"hivevar:x": "7"}, "select 7"),
        ("select ${hiveconf:a.b}", {"hiveconf:a.b": "7"}, "select 7"),
        ("select ${x}", {"hivevar:x": "1", "hiveconf:x": "2"}, "select 1"),
        ("select ${x}", {"hiveconf:x": "2"}, "select 2"),
        ("select '${x}'", {"hivevar:x": "2"}, "select '2'"),
        ("select ${x}", {}, "select ${x}"),
        ("!echo it's ${x}", {"hivevar:x": "7"}, "!echo it's 7"),
        ("select ${a}", {"hivevar:a": "${b}", "hivevar:b": "3"}, "select 3"),
        ("select ${hivevar:x${y}}", {"hivevar:y": "1", "hivevar:x1": "9"}, "select 9"),
        ("select ${env:HIVESQL_TEST_X}", {}, "select of the environment"),
    ],
)
def test_variables(
    text: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIVESQL_TEST_X", "of the environment")
    assert texts(text, variables) == [expected]


def test_a_variable_set_by_an_earlier_statement_counts() -> None:
    variables: dict[str, str] = {}
    script = split("set hivevar:x=5; select ${x}", None, variables)
    assert next(script).text == "set hivevar:x=5"
    variables["hivevar:x"] = "5"
    assert next(script).text == "select 5"


def test_variables_in_a_circle_are_an_error_with_its_place() -> None:
    with pytest.raises(ParseError, match="refer to each other") as caught:
        texts("\n select ${a}", {"hivevar:a": "${b}", "hivevar:b": "${a}"})
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_a_place_behind_the_end_is_the_end() -> None:
    """Parsers point there where something is missing."""
    (one,) = split("from t where = '${x}'", None, {"hivevar:x": "y"})
    end = len("from t where = '${x}'") + 1
    assert one.place(len(one.text) + 1) == one.end_place(len(one.text) + 1) == (1, end)


def test_places_behind_a_variable_are_those_of_the_script() -> None:
    (one,) = split("\n  select ${x},\n y from ${x} z", None, {"hivevar:x": "longer\nthan it was"})
    assert one.text == "select longer\nthan it was,\n y from longer\nthan it was z"
    assert one.place(0) == (2, 3)
    assert one.place(one.text.index(",")) == (2, 14)
    assert one.place(one.text.index(" y") + 1) == (3, 2)
    assert one.place(one.text.index("longer", 20)) == (3, 9)
    assert one.place(one.text.rindex("z")) == (3, 14)
    assert one.place(len(one.text)) == (3, 15)


def test_places_behind_an_escaped_semicolon() -> None:
    (one,) = split(r"select 1 \; 2", None, {})
    assert one.place(one.text.index("2")) == (1, 13)


def test_source_reads_another_file_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner.hql").write_text("-- first\nSELECT ${x};\nSOURCE 'deep er.hql';\n")
    (tmp_path / "deep er.hql").write_text("  SELECT 3")
    text = "SELECT 1; source inner.hql;\nSELECT 4;"
    found = list(split(text, "outer.hql", {"hivevar:x": "2"}))
    assert [(one.text, one.file, one.line, one.column) for one in found] == [
        ("SELECT 1", "outer.hql", 1, 1),
        ("SELECT 2", "inner.hql", 2, 1),
        ("SELECT 3", "deep er.hql", 1, 3),
        ("SELECT 4", "outer.hql", 2, 1),
    ]


def test_source_of_nothing_and_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParseError, match=r"a\.hql:2:8: cannot source nosuch\.hql: no such file"):
        list(split("SELECT 1;\nSOURCE nosuch.hql;", "a.hql", {}))
    (tmp_path / "ring.hql").write_text("SOURCE ring.hql;")
    with pytest.raises(ParseError, match="it is being read already"):
        list(split("SOURCE ring.hql", None, {}))


def test_variables_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIVESQL_TEST", "here")
    text = "SELECT '${env:HIVESQL_TEST}', '${system:user.dir}', '${system:nosuch}'"
    (one,) = split(text, None, {})
    assert one.text == f"SELECT 'here', '{Path.cwd()}', '${{system:nosuch}}'"


@pytest.mark.parametrize(
    ("script", "what", "line", "column"),
    [
        ("select 'never closed; x", "quote '", 1, 8),
        ('select 1;\n select "never closed; x', 'quote "', 2, 9),
        ("select `a", "quote `", 1, 8),
        ("select 1 /* never closed; x", "comment /*", 1, 10),
        ("select 1;\n\n  /* never closed; x", "comment /*", 3, 3),
        ("/*", "comment /*", 1, 1),
        ("select '/*'; select 1 -- /*\n; /* it's", "comment /*", 2, 3),
    ],
)
def test_what_is_never_closed_is_an_error_where_it_begins(
    script: str, what: str, line: int, column: int
) -> None:
    with pytest.raises(ParseError, match="is never closed") as caught:
        list(split(script, "a.hql", {}))
    assert f"the {what} is never closed" in str(caught.value)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("a.hql", line, column)
    assert not is_complete(script)


_PIECES = st.sampled_from(
    ["select 1", "x", " ", "\n", "\t", ";", "'", '"', "`", "--", "/*", "*/", "-", "/", "*", "\\;",
     "\\'", "\\", "set a=", "!sh ", "é", "漢", "''"]
)  # fmt: skip
_GAP = re.compile(r"(?:[\s;]|--[^\r\n]*|/\*.*?\*/)*", re.DOTALL)


def offset_of(script: str, line: int, column: int) -> int:
    return sum(len(one) + 1 for one in script.split("\n")[: line - 1]) + column - 1


@given(st.lists(_PIECES, max_size=30).map("".join))
@example("set a='/* x;\n -- '; y")
@example("!sh '\\;")
def test_a_script_is_its_statements_and_what_lies_between_them(script: str) -> None:
    done = 0
    try:
        for one in split(script, None, {}):
            written = one.text if one.source is None else one.source
            start = offset_of(script, one.line, one.column)
            assert script.startswith(written, start)
            assert _GAP.fullmatch(script, done, start)
            done = start + len(written)
    except ParseError as error:
        assert script.startswith(("'", '"', "`", "/*"), offset_of(script, error.line, error.column))
    else:
        assert _GAP.fullmatch(script, done)


_LINES = st.lists(st.sampled_from(["select 1", "é漢", "\n", "\r\n", "\r", " ", ";"])).map("".join)


@given(_LINES, st.booleans())
def test_bytes_of_a_script_are_its_text(text: str, has_mark: bool) -> None:
    data = (codecs.BOM_UTF8 if has_mark else b"") + text.encode()
    assert decode_script(data, "a.hql") == text.replace("\r\n", "\n").replace("\r", "\n")


@given(_LINES, st.sampled_from([b"\xff", b"\xc3", b"\0", b"\xed\xa0\x80"]))
def test_bytes_that_are_no_text_are_an_error_where_they_stand(text: str, wrong: bytes) -> None:
    before = text.replace("\r\n", "\n").replace("\r", "\n")
    with pytest.raises(ParseError) as caught:
        decode_script(text.encode() + wrong, "a.hql")
    assert (caught.value.line, caught.value.column) == (
        before.count("\n") + 1, len(before.split("\n")[-1]) + 1,
    )  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_other_encodings_are_told_by_name(encoding: str) -> None:
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    with pytest.raises(ParseError, match=f"this is {encoding[:6].upper()} text: save it as UTF-8"):
        decode_script(mark + "select 1".encode(encoding), "a.hql")
