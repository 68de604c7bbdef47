"""A compaction that takes too long is stopped, together with its Spark jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from hivesql_executor.metastore.api import Compaction
from hivesql_executor.runtime import Runtime
from hivesql_executor.statement_log import carried
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.errors import ExecutionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEY = "hive.compactor.worker.timeout"
_AGAIN = 1.0


def job_name(compaction: Compaction) -> str:
    """Name a compaction's jobs as Hive does: ``host-12-compactor-db.table.partition``."""
    parts = [str(compaction.table), *([compaction.partition] if compaction.partition else [])]
    return f"{compaction.worker_id or 'inline'}-compactor-{'.'.join(parts)}"


@contextmanager
def limited(compaction: Compaction, txn_id: int, runtime: Runtime) -> Iterator[Runtime]:
    """Provide a runtime for one compaction, which ends after ``hive.compactor.worker.timeout``.

    When the time is over the compaction is recorded as failed and its transaction aborted at once,
    even if its worker hangs where nothing can interrupt it; ExecutionError when it does end. Once
    the runtime is given up, its jobs are stopped, and no more.
    """
    watch = _Watch(compaction, txn_id, runtime)
    watch.start()
    try:
        yield replace(runtime, spark=watch.spark)
    except Exception as error:
        if watch.overdue.is_set():
            raise ExecutionError(watch.message) from error
        raise
    finally:
        watch.stop()
    if watch.overdue.is_set():
        raise ExecutionError(watch.message)


@dataclass
class _Watch:
    compaction: Compaction
    txn_id: int
    runtime: Runtime
    overdue: threading.Event = field(default_factory=threading.Event)
    _done: threading.Event = field(default_factory=threading.Event)
    _started: list[SparkSession] = field(default_factory=list)
    _thread: threading.Thread | None = None
    _properties: ExitStack = field(default_factory=ExitStack)

    @property
    def message(self) -> str:
        """Tell what became of the compaction."""
        limit = self.runtime.settings.text(_KEY)
        return f"compaction {self.compaction.id} was stopped: it took longer than {_KEY}={limit}"

    @property
    def _tag(self) -> str:
        return f"hivesql-compaction-{self.txn_id}"

    def start(self) -> None:
        """Begin to count; a limit of zero is none."""
        seconds = self.runtime.settings.seconds(_KEY) or inf
        self._thread = threading.Thread(target=carried(self._wait), args=(seconds,), daemon=True)
        self._thread.start()

    def spark(self) -> SparkSession:
        """Spark, whose jobs of this thread are the compaction's from now on."""
        session = self.runtime.spark()
        if not self._started:
            from hivesql_executor.spark.session import called_jobs

            jobs = called_jobs(session, self._tag, job_name(self.compaction))
            self._properties.enter_context(jobs)
            self._started.append(session)
        return session

    def stop(self) -> None:
        """Forget the compaction, which has ended."""
        self._done.set()
        if self._thread:
            self._thread.join()
        self._properties.close()

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.runtime.must_end.is_set():
            if self._done.wait(min(left, _AGAIN)):
                return
        if not self.runtime.must_end.is_set():
            self._record()
        # Imported late: a worker that never starts Spark does without its modules.
        from hivesql_executor.spark.session import stop_jobs

        # Another job may begin after the first was stopped.
        while not self._done.is_set():
            for session in self._started:
                stop_jobs(session, self._tag)
            self._done.wait(_AGAIN)

    def _record(self) -> None:
        self.overdue.set()
        self.runtime.notify(self.message)
        try:
            self.runtime.metastore.mark_failed(self.compaction.id, self.message)
            self.runtime.metastore.abort_txns([self.txn_id], "compaction took too long")
        except Exception as error:  # noqa: BLE001 - its jobs have to be stopped all the same
            self.runtime.notify(f"this could not be recorded: {translate_error(error)}")
