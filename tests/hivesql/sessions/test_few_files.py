"""Processes that may open hardly any more files: statements fail in our words, or succeed."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hivesql
from interrupted_world import damaged

TABLE = "CREATE TRANSACTIONAL TABLE t (a INT, b STRING) PARTITIONED BY (p INT) STORED AS ORC"
STATEMENTS = (
    "SELECT a, b FROM t",
    "INSERT INTO t PARTITION (p) VALUES (3, 'c', 3)",
    "UPDATE t SET b = 'd' WHERE a = 1",
    "ALTER TABLE t DROP PARTITION (p=1)",
)


@contextmanager
def _few_files(more: int) -> Iterator[None]:
    """Let the process open so many files more in the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
    unused = [number for number in range(max(used) + more + 2) if number not in used]
    resource.setrlimit(resource.RLIMIT_NOFILE, (unused[more], hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_say_so_where_no_file_can_be_opened(
    tmp_path: Path, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    failures = 0
    for more in range(1, 13):
        home = tmp_path / str(more)
        url, place = f"sqlite:///{home}/metastore.db", str(home / "warehouse")
        home.mkdir()
        with hivesql.connect(url, place) as session:
            session.sql(TABLE)
            session.sql("INSERT INTO t PARTITION (p) VALUES (1, 'a', 1), (2, 'b', 2)")
            before = sorted(session.sql("SELECT a, b FROM t").rows)
        with _few_files(more):
            try:
                with hivesql.connect(url, place) as session:
                    session.sql(statement)
            except hivesql.HiveSqlError as error:
                failure = error
            else:
                continue
        failures += 1
        text = str(failure)
        assert "Too many open files" in text or "unable to open database file" in text, more
        with hivesql.connect(url, place) as session:
            if not isinstance(failure, hivesql.CommitUnknown):
                assert sorted(session.sql("SELECT a, b FROM t").rows) == before
                assert "open" not in {one.state for one in session.runtime.metastore.transactions()}
            assert damaged(session) == []
    assert failures
