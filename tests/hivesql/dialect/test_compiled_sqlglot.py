"""Beside sqlglot's compiled build, which another program of the environment may have installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
STATEMENTS = """
import sqlglot, sqlglot.parser
assert not sqlglot.parser.__file__.endswith(".py"), sqlglot.parser.__file__
import hivesql
with hivesql.connect(f"sqlite:///m.db", "w") as session:
    session.sql('''
        CREATE TABLE t (a INT, b STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (1, 'x'), (2, 'y');
        UPDATE t SET b = 'X' WHERE a = 1;
        DELETE FROM t WHERE a IN (2, 3)
    ''')
    print(session.sql("SELECT a, b FROM t WHERE a IN (1, 2)").rows)
# The other program keeps the classes that it had.
tree = sqlglot.parse_one("SELECT 1 FROM t", read="hive")
assert type(tree) is sqlglot.exp.Select and tree.sql("spark") == "SELECT 1 FROM t"
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables with which Python finds sqlglot and its compiled build first."""
    place = tmp_path_factory.mktemp("compiled")
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert uv, "uv is missing: pip install uv"
    wanted = [f"{name}=={version('sqlglot')}" for name in ("sqlglot", "sqlglotc")]
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--python", sys.executable]
    subprocess.run([*command, "--target", str(place), *wanted], check=True, timeout=200)
    return {**os.environ, "PYTHONPATH": str(place)}


def test_statements_of_one_row_run(compiled: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STATEMENTS], cwd=tmp_path, env=compiled, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[Row(a=1, b='X')]"


def test_every_statement_of_the_corpus_has_the_same_outcome(
    compiled: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp"]
    chosen = [str(HERE / "test_corpus.py"), str(HERE / "test_refused.py")]
    done = subprocess.run(
        [*command, str(tmp_path / "inner"), *chosen], cwd=HERE.parents[2], env=compiled,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
