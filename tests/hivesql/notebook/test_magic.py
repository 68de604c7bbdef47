"""The magics in a shell of IPython, and results handed to libraries that know Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars
import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A shell of IPython with our magics, in an empty directory."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path)
    # As of a notebook: what is displayed goes to the one shell of the process.
    shell = InteractiveShell.instance()
    with capture_output():
        shell.run_line_magic("load_ext", "hivesql")
        yield shell
    if isinstance(session := shell.user_ns.get("session"), hivesql.Session):
        session.close()
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> Any:
    result = shell.run_cell(cell)
    assert result.success, result.error_in_exec
    return result.result


def test_a_cell_opens_a_session_and_keeps_it(shell: InteractiveShell) -> None:
    run(
        shell,
        f"%%hivesql\nCREATE TABLE t (id int, v string) {ACID};\nINSERT INTO t VALUES (1, 'a  b')",
    )
    assert [tuple(row) for row in run(shell, "%hivesql SELECT v FROM t WHERE v = 'a  b'").rows] == [
        ("a  b",)
    ]
    session = shell.user_ns["session"]
    assert session.sql("SELECT id FROM t").scalar() == 1
    run(shell, "%%hivesql --session other\nSET hivevar:n = 2")
    assert shell.user_ns["other"] is not session
    shell.user_ns["other"].close()


@pytest.mark.parametrize(("form", "kind"), [
    ("result", hivesql.Result), ("arrow", pa.Table), ("polars", polars.DataFrame),
])  # fmt: skip
def test_rows_go_into_a_variable(shell: InteractiveShell, form: str, kind: type) -> None:
    run(shell, f"%%hivesql\nCREATE TABLE t (id int) {ACID};\nINSERT INTO t VALUES (7)")
    assert run(shell, f"%%hivesql --into rows --as {form}\nSELECT * FROM t") is None
    assert isinstance(shell.user_ns["rows"], kind)


@pytest.mark.parametrize(("cell", "told"), [
    ("%%hivesql\nSHOW TABLES;\nSELEKT 2", "ParseError: cell:2:1: "),
    ("%hivesql SELECT * FROM nosuch", "NoSuchObject: cell:1:15: "),
    ("%%hivesql --as nonsense\nSHOW TABLES", "invalid choice"),
    ("%%hivesql --session shown\nSHOW TABLES", "shown is no session"),
])  # fmt: skip
def test_errors_say_where_and_stop_the_cell(shell: InteractiveShell, cell: str, told: str) -> None:
    shell.user_ns["shown"] = "a text"
    result = shell.run_cell(cell)
    assert not result.success
    assert told in str(result.error_in_exec)


def test_libraries_read_results_by_arrows_interface(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
        session.sql("INSERT INTO t VALUES (1, 'a'), (2, NULL)")
        result = session.sql("SELECT * FROM t")
        assert pa.table(result).to_pydict() == {"id": [1, 2], "v": ["a", None]}
        assert result.to_polars().rows() == [(1, "a"), (2, None)]
        assert "<tr><td>2</td><td>NULL</td></tr>" in result._repr_html_()


def test_a_page_is_all_that_a_notebook_shows(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        columns = ", ".join(f"c{i} string" for i in range(60))
        session.sql(f"CREATE TABLE t ({columns}) {ACID}")
        values = ", ".join(["'" + "x" * 300 + "'"] * 60)
        session.sql(f"INSERT INTO t VALUES ({values})")
        page = session.sql("SELECT * FROM t")._repr_html_()
        assert page.count("<td>") == 50
        assert page.count("x" * 200 + "…</td>") == 50
        assert page.endswith("<p>and 10 columns more</p>")


@pytest.mark.spark
def test_a_notebook_shows_how_far_spark_is(
    shell: InteractiveShell, spark: SparkSession, tmp_path: Path
) -> None:
    home = f"sqlite:///{tmp_path}/m.db"
    shell.user_ns["session"] = hivesql.connect(home, str(tmp_path / "wh"), spark=spark)
    # As of a shell whose front end shows pages.
    shell.kernel = object()
    slow = "SELECT java_method('java.lang.Thread', 'sleep', 50L) FROM"
    numbers = "(SELECT posexplode(split(space(20), ' ')) AS (i, v)) n"
    with capture_output() as shown:
        run(shell, f"%hivesql {slow} {numbers}")
    assert any("progress" in str(output.data.get("text/html", "")) for output in shown.outputs)
