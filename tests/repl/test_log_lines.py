"""`--log-format json`: each line that a statement or a compaction causes has its id."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hivesql

CREATE = "CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true');"
SCRIPT = f"""
{CREATE}
INSERT INTO t VALUES (1);
SET fs.s3a.secret.key=hidden;
INSERT INTO t SELECT nosuch FROM t;
"""


def logged(*words: str, home: Path, code: int = 0) -> list[dict[str, Any]]:
    """What a command writes to standard error, each line of which is JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "hivesql_repl", *words], cwd=home, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    # Those of the JVM are Log4j's own.
    return [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]


def test_a_script_tells_of_each_statement_by_its_id(tmp_path: Path) -> None:
    (tmp_path / "s.hql").write_text(SCRIPT)
    lines = logged("--log-format", "json", "-f", "s.hql", home=tmp_path, code=2)
    assert [line["message"] for line in lines if "statement_id" not in line] == [
        line["message"] for line in lines if line["message"].startswith("made a new metastore")
    ]
    ids = list(dict.fromkeys(line["statement_id"] for line in lines if "statement_id" in line))
    told = [[line for line in lines if line.get("statement_id") == one] for one in ids]
    assert [[line["message"] for line in each] for each in told[:2]] == [
        [f"statement {one} begins", f"statement {one} has ended"] for one in ids[:2]
    ]
    assert [each[-1]["outcome"] for each in told] == ["ok", "ok", "ok", "failed"]
    inserted, failed = told[1][-1], told[3][-1]
    assert (inserted["affected"], inserted["transaction_id"]) == (1, 2)
    assert (failed["level"], failed["error"], failed["code"]) == ("ERROR", "NoSuchObject", 10004)
    assert "hidden" not in json.dumps(lines)
    quiet = logged("--log-format", "json", "-S", "-f", "s.hql", home=tmp_path, code=2)
    assert [line["level"] for line in quiet] == ["ERROR"]


def test_what_is_no_statement_is_a_line_too(tmp_path: Path) -> None:
    lines = logged("--log-format", "json", "-e", "SELECT 'open", home=tmp_path, code=2)
    assert [line["level"] for line in lines] == ["INFO", "ERROR"]


@pytest.mark.spark
def test_the_services_tell_of_a_compaction_by_its_id_and_transaction(tmp_path: Path) -> None:
    script = f"SET hivesql.compactor.inline=false; {CREATE}" + "INSERT INTO t VALUES (1);" * 3
    logged("--log-format", "json", "-e", f"{script} ALTER TABLE t COMPACT 'major'", home=tmp_path)
    lines = logged("services", "--once", "--log-format", "json", home=tmp_path)
    told = [line for line in lines if line.get("compaction_id") == 1]
    assert [line["message"] for line in told] == [
        "major compaction 1 of default.t begins", "major compaction 1 of default.t has ended",
    ]  # fmt: skip
    ended = told[-1]
    assert (ended["outcome"], "statement_id" in ended) == ("ready for cleaning", False)
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", tmp_path / "warehouse") as session:
        (compaction,) = session.runtime.metastore.compactions()
    assert ended["transaction_id"] == compaction.txn_id > 0
