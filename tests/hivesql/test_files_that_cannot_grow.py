"""A disk without room, as the system tells of it: behind an open file, without its path."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import hivesql
from faults import files_limited_to
from hivesql.server.transports.passwords import set_password
from hivesql_executor.files.local import LocalFiles
from hivesql_planner.errors import ExecutionError

MOST = 2**20
TABLE = "CREATE TRANSACTIONAL TABLE t (i INT, s STRING) STORED AS ORC"


def large_rows() -> list[tuple[int, str]]:
    source = random.Random(1)
    return [(i, source.randbytes(8000).hex()) for i in range(200)]


WRITES: dict[str, Callable[[Path], None]] = {
    "write": lambda home: LocalFiles().write(str(home / "new"), bytes(2 * MOST)),
    "replace_tail": lambda home: LocalFiles().replace_tail(str(home / "new"), 1, bytes(2 * MOST)),
    "copy": lambda home: LocalFiles().copy(str(home / "old"), str(home / "new")),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_refusal_names_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "old").write_bytes(bytes(2 * MOST))
    if name == "replace_tail":
        (tmp_path / "new").write_bytes(b"abc")
    with files_limited_to(MOST), pytest.raises(OSError, match="File too large") as refused:
        WRITES[name](tmp_path)
    assert refused.value.filename == str(tmp_path / "new")


def test_a_statement_names_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    place = (f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    with hivesql.connect(*place) as session:
        session.sql(TABLE)
        values = ", ".join(f"({i}, '{s}')" for i, s in large_rows())
        with (
            files_limited_to(MOST),
            pytest.raises(ExecutionError, match="cannot be used: File") as refused,
        ):
            session.sql(f"INSERT INTO t VALUES {values}")
        assert f"{tmp_path}/warehouse/t/" in refused.value.message
        session.sql("INSERT INTO t VALUES (1, 'a')")
        assert session.sql("SELECT i FROM t").rows == [(1,)]


def test_a_password_that_does_not_fit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    users = tmp_path / "users"
    set_password(users, "ann", "secret")
    before = users.read_bytes()
    with files_limited_to(len(before)), pytest.raises(OSError, match="File too large") as refused:
        set_password(users, "bob", "secret")
    assert refused.value.filename == str(users)
    assert users.read_bytes() == before
    assert [*tmp_path.iterdir()] == [users]
