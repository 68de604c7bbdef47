"""The way into the command: as fast as its imports allow."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import warnings
from contextlib import suppress

_ALLOCATIONS = 50_000
"""How many objects are made before the collector looks at them."""


_codes: list[int] = []
"""The exit code, once all is done."""


def main() -> int:
    """Run the command line; the exit code."""
    # The first to be registered is the last to be called.
    atexit.register(_leave)
    # Modules make objects by the hundred thousand and throw none away: nothing to collect.
    gc.disable()
    _open_what_is_closed()
    from hivesql_repl.cli import main as run
    from hivesql_repl.shell.java_noise import leave_out_noise

    leave_out_noise()

    gc.freeze()
    # Nor do the imports that a statement brings about later.
    gc.set_threshold(_ALLOCATIONS, 10, 10)
    gc.enable()
    # PySpark's own, of each new release of pandas: nobody who runs a script can do anything.
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    _codes.append(run())
    return _codes[-1]


def _leave() -> None:
    """End the process as it is.

    Python would take every module apart before, which takes a second where Spark is starting.
    """
    if not _codes:
        return
    _send_spans()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_codes[-1])


def _send_spans() -> None:
    """Let go of the spans that wait for company: `opentelemetry-instrument` would after us."""
    tracing = sys.modules.get("opentelemetry.trace")
    if tracing is not None:
        shutdown = getattr(tracing.get_tracer_provider(), "shutdown", None)
        if shutdown is not None:
            with suppress(Exception):  # whoever collects them may be gone
                shutdown()


def _open_what_is_closed() -> None:
    """Give who starts us with a closed stream one that is empty, or that nobody reads."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - for as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
