"""A program on DB-API that runs twice under one idempotency key writes once."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql import dbapi

TABLE = "CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC"


@pytest.mark.parametrize("autocommit", [True, False], ids=["statements", "transactions"])
def test_a_second_run_changes_nothing(tmp_path: Path, autocommit: bool) -> None:
    def program(key: str | None, last: int) -> list[int]:
        connection = dbapi.connect(
            f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w"), autocommit=autocommit,
            idempotency_key=key,
        )  # fmt: skip
        counts = []
        with connection, connection.cursor() as cursor:
            for value in (1, 2, last):
                cursor.execute("INSERT INTO t VALUES (%s)", [value])
                connection.commit()
                counts.append(cursor.rowcount)
        return counts

    with dbapi.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as connection:
        connection.cursor().execute(TABLE)
    assert program("k", 3) == [1, 1, 1]
    again = program("k", 3)
    assert all(count <= 0 for count in again), again
    assert program(None, 3) == [1, 1, 1]
    with dbapi.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as connection:
        cursor = connection.cursor().execute("DELETE FROM t WHERE a > 0")
        assert cursor.rowcount == 6
