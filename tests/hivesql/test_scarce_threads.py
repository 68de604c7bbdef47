"""A system that has no thread left, and then has some: nothing waits for what was never begun."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from thriftpy2.transport import TTransportException

import hivesql
import scarce_threads
from hivesql.server.server import Server
from hivesql.sessions.spark_start import LazySpark, Progress
from hivesql.sessions.statement_thread import StatementThread
from hivesql_executor.beats import repeat_beside
from hivesql_executor.metastore.database.dialects.turns import FileTurn
from hivesql_planner.errors import ExecutionError
from scarce_threads import without_threads
from thrift_servers import Client, serving
from waiting import wait_until

NO_THREAD = "can't start new thread"
SUPPORT = str(Path(scarce_threads.__file__).parent)
TABLE = "CREATE TRANSACTIONAL TABLE t (i INT) STORED AS ORC"


class Quiet:
    """A session without a statement, and who watches it."""

    starts_spark = False

    def progress(self) -> Progress | None:
        return None

    def cancel(self) -> bool:
        return False

    def tell_progress(self, progress: Progress) -> None: ...

    def tell_start(self) -> None: ...

    def tell_stop(self) -> None: ...


def test_a_call_that_was_refused_is_not_made_later() -> None:
    made: list[str] = []
    thread = StatementThread(Quiet(), Quiet())
    with without_threads(), pytest.raises(ExecutionError, match="starts no more threads"):
        thread.wait_for(lambda: made.append("refused"))  # type: ignore[arg-type, func-returns-value]
    # A call may give nothing, too.
    thread.wait_for(lambda: made.append("made"))  # type: ignore[arg-type, func-returns-value]
    assert made == ["made"]

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        thread.wait_for(interrupt)  # type: ignore[arg-type]
    thread.close()


def test_what_is_due_while_there_is_no_thread_is_begun_later() -> None:
    beats = threading.Semaphore(0)
    first = repeat_beside(3600, lambda: True, "the thread that waits for what is due")
    with without_threads():
        end = repeat_beside(0.01, lambda: not beats.release(), "beats")
        assert not beats.acquire(timeout=0.3)
    assert beats.acquire(timeout=30) and beats.acquire(timeout=30)
    end()
    first()


def test_a_process_whose_first_beat_had_no_thread_has_later_ones() -> None:
    program = (
        "from hivesql_executor.beats import repeat_beside\n"
        "from scarce_threads import without_threads\n"
        "import threading\n"
        "beats = threading.Semaphore(0)\n"
        "with without_threads():\n"
        "    try:\n"
        "        repeat_beside(0.01, lambda: not beats.release(), 'refused')\n"
        "    except RuntimeError as error:\n"
        "        print(error)\n"
        "end = repeat_beside(0.01, lambda: not beats.release(), 'beats')\n"
        "assert beats.acquire(timeout=30)\n"
        "end()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": SUPPORT},
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, NO_THREAD), done.stderr


def test_a_start_of_spark_without_a_thread_is_not_waited_for() -> None:
    spark = LazySpark(None, {})
    with without_threads(), pytest.raises(RuntimeError, match=NO_THREAD):
        spark.begin()
    assert not spark.starting


def test_who_writes_without_a_thread_to_wait_in_asks_sqlite(tmp_path: Path) -> None:
    mine, other = (FileTurn(str(tmp_path / "metastore.db")) for _ in range(2))
    begins, has_written = threading.Event(), threading.Event()

    def write() -> None:
        begins.wait()
        with other:
            has_written.set()

    writing = threading.Thread(target=write)
    writing.start()
    with mine, without_threads():
        begins.set()
        assert has_written.wait(30)
    writing.join()
    mine.close()
    other.close()


def test_a_statement_is_cancelled_without_a_thread(tmp_path: Path) -> None:
    place = (f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    told: list[str] = []
    with hivesql.connect(*place) as first, hivesql.connect(*place, notify=told.append) as second:
        first.sql(TABLE)
        first.sql("INSERT INTO t VALUES (1)")
        first.sql("START TRANSACTION")
        first.sql("DELETE FROM t")
        failures: list[BaseException] = []

        def wait() -> None:
            try:
                second.sql("TRUNCATE TABLE t")
            except hivesql.HiveSqlError as error:
                failures.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        wait_until(lambda: any("waiting for locks" in line for line in told))
        with without_threads():
            assert second.cancel()
            waiting.join(30)
        assert [type(failure) for failure in failures] == [hivesql.Cancelled]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, authentication="nosasl") as server:
        yield server


def test_a_server_refuses_clients_for_as_long_as_it_has_no_thread(server: Server) -> None:
    refusals = pytest.raises((OSError, EOFError, TTransportException))
    with without_threads(), closing(Client(server)) as refused, refusals:
        refused.open()
    with Client(server).open() as client:
        client.checked(client.execute(TABLE))
    assert server.problems() == []


def test_a_statement_that_a_server_refused_is_not_run_later(server: Server) -> None:
    with Client(server).open() as client:
        with without_threads():
            status = client.execute(TABLE).status
        assert NO_THREAD in status.errorMessage or "thread" in status.errorMessage
        # It would be there by now.
        client.checked(client.execute(TABLE))
        client.checked(client.execute("DROP TABLE t"))
    wait_until(lambda: server.registry.session_count() == 0)
