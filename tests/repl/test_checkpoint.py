"""Scripts that are killed anywhere and go on: each statement commits once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import forks
import hivesql
from hivesql_executor.failpoints import VARIABLE
from hivesql_repl.cli import main

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
SCRIPT = f"""
CREATE TABLE t (id INT, n INT) {ACID};
SET hivevar:one = 1;
INSERT INTO t VALUES (${{one}}, 10);
UPDATE t SET n = n + 1 WHERE id = 1;
START TRANSACTION;
INSERT INTO t VALUES (2, 20);
UPDATE t SET n = n + 1 WHERE id = 2;
UPDATE t SET n = n + 100 WHERE id = 1;
COMMIT;
INSERT INTO t VALUES (3, 30);
UPDATE t SET n = n + 1 WHERE id > 0;
"""
ROWS = [(1, 112), (2, 22), (3, 31)]
# The first transaction is CREATE TABLE's, the fourth that of START TRANSACTION.
PLACES = [
    "txn-opened:5",
    "rows-published:4",
    "before-commit:4",
    *(f"after-commit:{n}" for n in (1, 2, 3, 4, 6)),
]
pytestmark = pytest.mark.usefixtures("empty_home")


def run_script(place: str = "") -> tuple[int, str]:
    words = ("--checkpoint", "done.json", "--hiveconf", "hive.txn.timeout=1s", "-f", "s.hql")
    killed = {VARIABLE: place}
    return forks.start("hivesql_repl", *words, cwd=Path.cwd(), environment=killed).wait()


def run_mended(
    home: Path, capfd: pytest.CaptureFixture[str], broken: str, mended: str, *options: str
) -> str:
    """Run a script that fails, then go on with it as it was mended; what that run told."""
    for text, code in ((broken, 2), (mended, 0)):
        (home / "s.hql").write_text(text)
        capfd.readouterr()
        assert main([*options, "--checkpoint", "done.json", "-f", "s.hql"]) == code
    return capfd.readouterr().err


def printed(query: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Rows of a query, as they are printed."""
    capfd.readouterr()
    assert main(["-S", "--showHeader=false", "-e", query]) == 0
    return capfd.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_killed_script_goes_on_and_does_everything_once(place: str, tmp_path: Path) -> None:
    (tmp_path / "s.hql").write_text(SCRIPT)
    code, told = run_script(place)
    assert code == -signal.SIGKILL, told
    code, told = run_script()
    assert code == 0, told
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", f"{tmp_path}/warehouse") as session:
        assert session.sql("SELECT * FROM t ORDER BY id").rows == ROWS
    assert not (tmp_path / "done.json").exists()
    # Another run is a run from the beginning: no key is left.
    code, told = run_script()
    assert code == 2
    assert "s.hql:2:1" in told


def test_statements_of_a_transaction_that_was_not_committed_run_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    begin = f"CREATE TABLE t (id INT) {ACID};\nSTART TRANSACTION;\nINSERT INTO t VALUES (1);\n"
    told = run_mended(
        tmp_path, capfd,
        f"{begin}INSERT INTO nosuch VALUES (2);\nCOMMIT;\n",
        f"{begin}INSERT INTO t VALUES (2);\nCOMMIT;\n",
    )  # fmt: skip
    assert "s.hql:1: ran before, left out" in told
    assert "s.hql:2" not in told
    assert printed("SELECT * FROM t ORDER BY id", capfd) == "1\n2\n"


def test_what_failed_under_force_runs_again_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_mended(
        tmp_path, capfd,
        "CREATE DATABASE a;\nCREATE DATABASE a;\nCREATE DATABASE b;\n",
        "CREATE DATABASE a;\nCREATE DATABASE c;\nCREATE DATABASE b;\n",
        "--force",
    )  # fmt: skip
    assert printed("SHOW DATABASES", capfd) == "a\nb\nc\ndefault\n"


def test_the_session_is_as_it_was(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    begin = "CREATE DATABASE a;\n-- a comment\nUSE\n  a;\n"
    run_mended(
        tmp_path, capfd,
        f"{begin}CREATE TABLE t (id NOSUCH);\n", f"{begin}CREATE TABLE t (id INT) {ACID};\n",
    )  # fmt: skip
    assert printed("SHOW TABLES IN a", capfd) == "t\n"


def test_temporary_tables_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.hql").write_text("CREATE DATABASE a;\nCREATE TEMPORARY TABLE t (id INT);\n")
    assert main(["--checkpoint", "done.json", "-f", "s.hql"]) == 2
    assert "s.hql:2:1: not supported: a temporary table with --checkpoint" in capfd.readouterr().err


def test_a_dry_run_makes_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "s.hql").write_text("CREATE DATABASE a;\n")
    assert main(["--dry-run", "--checkpoint", "done.json", "-f", "s.hql"]) == 0
    assert not (tmp_path / "done.json").exists()


LOST = {
    "a statement fails": "START TRANSACTION; INSERT INTO t VALUES (1); INSERT INTO no VALUES (2);",
    "its beginning fails": "START TRANSACTION ISOLATION LEVEL SERIALIZABLE;",
    "one begins within it": "BEGIN; INSERT INTO t VALUES (1); START TRANSACTION;",
    "it names what is not there": "BEGIN; USE nosuch;",
}


@pytest.mark.parametrize("begin", LOST.values(), ids=list(LOST))
def test_no_rest_of_a_transaction_is_committed_by_itself(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], begin: str
) -> None:
    script = tmp_path / "s.hql"
    table = f"CREATE TABLE t (id INT) {ACID}; CREATE DATABASE d;"
    rest = "INSERT INTO t VALUES (3); USE d;\nCOMMIT;"
    behind = "INSERT INTO default.t VALUES (4); BEGIN; DELETE FROM default.t; ROLLBACK;"
    script.write_text(f"{table}{begin}{rest}{behind} CREATE TABLE u (id INT); SHOW TABLES;")
    assert main(["--force", "-f", "s.hql"]) == 2
    told = capfd.readouterr()
    assert told.err.count("ERROR:") == 1
    assert "s.hql:2: its transaction was rolled back, left out" in told.err
    # What the rest says to the session counts, for what is behind it.
    assert told.out == "tab_name\nu\n"
    assert printed("SELECT id FROM t", capfd) == "4\n"


def test_what_a_lost_transaction_left_out_runs_with_it_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    begin = f"CREATE TABLE t (id INT) {ACID};\nBEGIN;\nINSERT INTO t VALUES (1);\n"
    end = "INSERT INTO t VALUES (3);\nCOMMIT;\nINSERT INTO t VALUES (4);\n"
    run_mended(
        tmp_path, capfd,
        f"{begin}INSERT INTO nosuch VALUES (2);\n{end}", f"{begin}INSERT INTO t VALUES (2);\n{end}",
        "--force",
    )  # fmt: skip
    assert printed("SELECT id FROM t ORDER BY id", capfd) == "1\n2\n3\n4\n"
