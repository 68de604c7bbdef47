"""Python programs as processes of their own, which need not import what they run anew.

A start of Python with our modules takes a second; a fork of a process that has imported them takes
a hundredth of one. That process has one thread, no connection and no file open.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
# Without those that start threads: pyarrow, numpy.
_IMPORTED = [
    "hivesql_repl.cli", "hivesql.services", "hivesql_executor.metastore.database.metastore",
]  # fmt: skip


@dataclass(frozen=True)
class Program:
    """One that was started; what it prints goes to a file."""

    _process: BaseProcess
    _told: Path

    def terminate(self) -> None:
        """Send it SIGTERM."""
        self._process.terminate()

    def told(self) -> str:
        """What it has printed so far."""
        return self._told.read_text()

    def wait(self, timeout: float = 300) -> tuple[int, str]:
        """Its exit code, less than 0 after a signal, and what it has printed."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join()
            raise AssertionError(f"no end in {timeout} seconds; it said:\n{self._told.read_text()}")
        self._process.close()
        return code, self._told.read_text()


def start(
    program: str | Path, *arguments: str, cwd: Path, environment: Mapping[str, str] | None = None
) -> Program:
    """Start a file, or a module by its name as ``python -m`` does."""
    _CONTEXT.set_forkserver_preload(_IMPORTED)
    number = len(list(cwd.glob("told-*")))
    told = cwd / f"told-{number}"
    told.touch()
    process = _CONTEXT.Process(
        target=_run, args=(program, arguments, cwd, {**os.environ, **(environment or {})}, told)
    )
    process.start()
    return Program(process, told)


def _run(
    program: str | Path, arguments: Sequence[str], cwd: Path, environment: dict[str, str],
    told: Path,
) -> None:  # fmt: skip
    with told.open("a") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [str(program), *arguments]
    if isinstance(program, Path):
        runpy.run_path(str(program), run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
