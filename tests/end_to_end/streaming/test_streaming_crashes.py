"""A streaming writer killed in the middle: what it had committed is read, the rest is cleared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import hivesql
from hivesql.services import run_services
from hivesql_executor.failpoints import VARIABLE, FailPoint

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WRITER = """
import sys
import hivesql
from hivesql import streaming

home, table = sys.argv[1:]
with hivesql.connect(f"sqlite:///{home}/metastore.db", f"{home}/warehouse") as session:
    builder = streaming.HiveStreamingConnection.builder().with_session(session)
    builder = builder.with_table(table).with_transaction_batch_size(4)
    writer = streaming.StrictDelimitedInputWriter(field_delimiter=",")
    with builder.with_record_writer(writer).connect() as connection:
        for number in range(4):
            connection.begin_transaction()
            for i in range(2):
                connection.write(f"{2 * number + i},{'even odd'.split()[i]}")
            connection.commit_transaction()
"""
# Where the writer is killed, and how many of its transactions have committed.
PLACES = {
    f"{FailPoint.STREAM_DATA_WRITTEN}:1": 0,
    f"{FailPoint.STREAM_DATA_WRITTEN}:3": 2,
    f"{FailPoint.STREAM_FLUSHED}:3": 2,
}


def write(home: Path, table: str, place: str) -> int:
    command = [sys.executable, "-c", WRITER, str(home), table]
    environment = {**os.environ, VARIABLE: place, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, check=False, timeout=120).returncode


def test_a_killed_writer_takes_nothing_with_it(session: hivesql.Session, tmp_path: Path) -> None:
    stopped = threading.Event()
    for number, (place, commits) in enumerate(PLACES.items()):
        table = f"t{number}"
        session.sql(
            f"CREATE TRANSACTIONAL TABLE {table} (i int, s string) STORED AS ORC; "
            "SET hivesql.compactor.inline=false"
        )
        assert write(tmp_path, table, place) == -signal.SIGKILL
        query = f"SELECT i FROM {table} ORDER BY i"
        expected = [(i,) for i in range(2 * commits)]
        assert session.sql(query).rows == expected, place
        (delta,) = (tmp_path / "warehouse" / table).iterdir()
        file = delta / "bucket_00000"
        if commits and place.startswith(FailPoint.STREAM_DATA_WRITTEN):
            # A machine that stopped may have written the last piece in part.
            os.truncate(file, file.stat().st_size - 10)
            assert session.sql(query).rows == expected, place
        session.runtime.metastore.reap(0)
        assert session.sql(query).rows == expected, place
        assert session.check(table) == (), place
        # With the next writes, what is left can be cleared.
        assert write(tmp_path, table, "") == 0
        expected = sorted([*expected, *((i,) for i in range(8))])
        session.sql(f"ALTER TABLE {table} COMPACT 'major'")
        assert run_services(session, stopped, once=True), place
        assert session.sql(query).rows == expected, place
        (base,) = (tmp_path / "warehouse" / table).iterdir()
        assert base.name.startswith("base_0000008"), place
