"""Compactions in the name of a directory's owner: each in a process of its own.

Spark works in one user's name in a process, so what a compaction does with files is done by
another one, which asks no metastore: its transaction and its locks stay here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.compaction.rewriting import Rewriting, Rewritten, rewrite
from hivesql_executor.files.api import files_for
from hivesql_executor.runtime import Runtime
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.errors import Cancelled, ExecutionError, HiveSqlError
from hivesql_planner.settings.settings import Settings

_LOOK_EVERY = 0.2
_OUTPUT, _ERRORS = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    user: str
    work: Rewriting
    settings: Settings
    spark: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    message: str
    code: int | None


@dataclass(frozen=True, slots=True)
class OwnersProcesses:
    """Starts a process for each compaction in another user's name, with those settings of Spark."""

    spark: Mapping[str, str]

    def __call__(self, user: str, work: Rewriting, runtime: Runtime) -> Rewritten:
        """Do it; ExecutionError where it failed, or the process has died."""
        request = _Request(user=user, work=work, settings=runtime.settings, spark=self.spark)
        with subprocess.Popen(
            # Not -m: what is pickled would be of another module than ours.
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            answer: list[bytes] = []
            reader = threading.Thread(target=_talk, args=(process, request, answer), daemon=True)
            reader.start()
            try:
                while reader.is_alive():
                    reader.join(_LOOK_EVERY)
                    if runtime.cancelled.is_set():
                        raise Cancelled("the compaction was stopped; nothing of it is visible")
            finally:
                process.kill()
        result = pickle.loads(answer[0]) if answer and answer[0] else None
        if isinstance(result, Rewritten):
            return result
        place = work.place.location
        if isinstance(result, _Failure):
            raise ExecutionError(f"{place}, as {user}: {result.message}", code=result.code)
        raise ExecutionError(
            f"{place}, as {user}: the process that compacts in that name has died (status "
            f"{process.returncode}); its standard error says why. Ask for the compaction again"
        )


def _talk(process: subprocess.Popen[bytes], request: _Request, answer: list[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    try:
        pickle.dump(request, process.stdin)
        process.stdin.flush()
    except OSError:
        return  # It has died, as who waits for its answer is told.
    answer.append(process.stdout.read())


def main() -> None:
    """Do what one request on standard input says, and write the answer to standard output."""
    answers = os.fdopen(os.dup(_OUTPUT), "wb")
    os.dup2(_ERRORS, _OUTPUT)  # Whatever else is printed.
    request: _Request = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pickle.dump(_answer(request), answers)
    answers.close()


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _answer(request: _Request) -> Rewritten | _Failure:
    spark = LazySpark(None, request.spark, proxy_user=request.user)
    runtime = Runtime(
        metastore=cast(Any, None),
        spark=spark,
        files=lambda place: files_for(place, spark, spark.file_systems),
        settings=request.settings,
        user=request.user,
    )
    try:
        return rewrite(request.work, runtime)
    except Exception as error:  # noqa: BLE001 - told by whoever asked
        failure = translate_error(error)
        code = failure.code if isinstance(failure, HiveSqlError) else None
        return _Failure(message=str(failure), code=code)
    finally:
        spark.stop()
