"""DROP, RENAME and EXCHANGE killed between the files and the catalog: all of it, or nothing."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import forks
import hivesql
from acid_files import tree
from hivesql_executor.failpoints import VARIABLE, FailPoint
from hivesql_planner.errors import HiveSqlError

pytestmark = pytest.mark.slow

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
# What each statement leaves of a table's two partitions and of a table in another database.
STATEMENTS = {
    "DROP TABLE t{n}": ["d{n}.db/t"],
    "DROP DATABASE d{n} CASCADE": ["t{n}/p=1", "t{n}/p=2"],
    "ALTER TABLE t{n} DROP PARTITION (p = 1), PARTITION (p = 2)": ["d{n}.db/t"],
    "ALTER TABLE t{n} RENAME TO n{n}": ["d{n}.db/t", "n{n}/p=1", "n{n}/p=2"],
    "ALTER TABLE t{n} PARTITION (p = 2) RENAME TO PARTITION (p = 3)": [
        "d{n}.db/t", "t{n}/p=1", "t{n}/p=3"
    ],
    "ALTER TABLE e{n} EXCHANGE PARTITION (p = 1) WITH TABLE t{n}": [
        "d{n}.db/t", "e{n}/p=1", "t{n}/p=2"
    ],
}  # fmt: skip
WHOLE = ["d{n}.db/t", "t{n}/p=1", "t{n}/p=2"]
CASES = [
    (number, statement.format(n=number), point, [path.format(n=number) for path in left])
    for number, (statement, point, left) in enumerate(
        case
        for statement, after in STATEMENTS.items()
        for case in (
            (statement, FailPoint.DIRECTORIES_MOVED, WHOLE),
            (statement, FailPoint.CATALOG_CHANGED, after),
        )
    )
]


def directories(home: Path, number: int) -> list[str]:
    """Where this case's data lies, hidden places included."""
    found = {path.rpartition("/")[0] for path in tree(home) if path.endswith("/data")}
    roots = (f"d{number}.db/", f"e{number}/", f"n{number}/", f"t{number}/")
    return sorted(path for path in found if path.startswith(roots))


def test_killed_between_files_and_catalog(url: str, tmp_path: Path) -> None:
    home = tmp_path / "warehouse"
    with hivesql.connect(url, str(home)) as session:
        for number, statement, _, _ in CASES:
            kind = "STORED AS ORC" if "EXCHANGE" in statement else ACID
            session.sql(f"""
                CREATE TABLE t{number} (a int) PARTITIONED BY (p int) {kind};
                ALTER TABLE t{number} ADD PARTITION (p = 1) PARTITION (p = 2);
                CREATE DATABASE d{number}; CREATE TABLE d{number}.t (a int) {kind};
            """)
            if "EXCHANGE" in statement:
                session.sql(f"CREATE TABLE e{number} LIKE t{number}")
            for name in (f"t{number}/p=1", f"t{number}/p=2", f"d{number}.db/t"):
                (home / name).mkdir(parents=True, exist_ok=True)
                (home / name / "data").write_text("rows")
    for number, statement, point, _ in CASES:
        before = directories(home, number)
        words = ("--metastore", url, "--warehouse", str(home), "-e", statement)
        environment = {VARIABLE: point}
        program = forks.start("hivesql_repl", *words, cwd=tmp_path, environment=environment)
        code, told = program.wait()
        assert code == -signal.SIGKILL, f"{statement}: {told}"
        assert directories(home, number) != before, statement
    settings = {"hive.txn.timeout": "10ms"}
    with hivesql.connect(url, str(home), settings=settings) as session:
        for number, statement, point, left in CASES:
            assert directories(home, number) == left, f"{statement} at {point}"
            # The catalog says the same.
            placed = []
            for name in (f"e{number}", f"n{number}", f"t{number}"):
                try:
                    rows = session.sql(f"SHOW PARTITIONS {name}").rows
                except HiveSqlError:
                    continue
                placed += [f"{name}/{row[0]}" for row in rows]
            assert placed == [path for path in left if not path.startswith("d")], statement
        assert session.sql("SHOW LOCKS").rows == []
        assert session.runtime.metastore.lost_moves(-1) == ()
    assert not list(home.rglob(".hivesql-*"))
