"""Every public error pickles, and says whether to run the statement again."""

from __future__ import annotations

import pickle
import threading
from importlib.resources import files
from pathlib import Path

import pytest

import hivesql
from hivesql import dbapi
from hivesql import dbapi_errors as errors_of_dbapi
from hivesql_planner.older_python import add_note

RETRYABLE = {
    "Deadlock", "ExecutorsLost", "LockTimeout", "MetastoreReplaced", "SparkEnded", "StaleSnapshot",
    "TransactionLost", "WriteConflict",
}  # fmt: skip
ERRORS = [
    one
    for name in hivesql.__all__
    if isinstance(one := getattr(hivesql, name), type) and issubclass(one, hivesql.HiveSqlError)
]


@pytest.mark.parametrize("kind", ERRORS)
def test_public_error(kind: type[hivesql.HiveSqlError]) -> None:
    error = kind("what went wrong")
    error.code = 10001
    error.at("x.hql", 3, 4)
    add_note(error, "more")
    for level in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(error, level))
        assert type(back) is kind
        assert (str(back), back.line, back.code) == (str(error), 3, 10001)
        assert back.__notes__ == error.__notes__ and back.__notes__[-1] == "more"
        assert back.retryable == (kind.__name__ in RETRYABLE)
    told = errors_of_dbapi.translated(error)
    back_told = pickle.loads(pickle.dumps(told))
    assert isinstance(back_told, dbapi.DatabaseError)
    assert (back_told.retryable, back_told.code) == (error.retryable, 10001)


def test_every_package_says_that_it_is_typed() -> None:
    for package in ("hivesql", "hivesql_planner", "hivesql_executor", "hivesql_repl"):
        assert files(package).joinpath("py.typed").is_file()


def test_a_table_that_several_make_at_once_if_there_is_none(tmp_path: Path) -> None:
    place = (f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w"))
    hivesql.connect(*place).close()
    together, failures = threading.Barrier(3), []

    def make() -> None:
        with hivesql.connect(*place) as session:
            together.wait()
            for number in range(8):
                try:
                    session.sql(f"CREATE TABLE IF NOT EXISTS t{number} (a INT) STORED AS ORC")
                except hivesql.HiveSqlError as error:
                    failures.append(str(error))

    threads = [threading.Thread(target=make) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
