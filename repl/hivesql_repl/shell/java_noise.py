"""Standard error without what Java says whenever Spark starts, and nobody needs."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress

_NOISE = (
    b"WARNING: Using incubator modules:",
    b"Warning: Java versions > Java 11 can only operate in restricted mode",  # of percentile_approx
)
_PATIENCE = 1.0


def leave_out_noise() -> None:
    """Pass on, line by line, what this process and its children write to standard error.

    ``sys.stderr`` keeps its way to the screen, so what Python prints does not wait for a line.
    """
    screen = os.dup(2)
    source, sink = os.pipe()
    os.dup2(sink, 2)
    os.close(sink)
    sys.stderr = os.fdopen(screen, "w", buffering=1)
    reader = threading.Thread(target=_pass_on, args=[source, screen], daemon=True)
    reader.start()

    def finish() -> None:
        sys.stderr.flush()
        # Without a writer the pipe ends, once Spark's JVM has gone too.
        os.dup2(screen, 2)
        with suppress(KeyboardInterrupt):  # whoever wants the process to end at once gets that
            reader.join(_PATIENCE)

    atexit.register(finish)


def _pass_on(source: int, screen: int) -> None:
    with os.fdopen(source, "rb") as lines:
        for line in iter(lines.readline, b""):
            if not line.startswith(_NOISE):
                os.write(screen, line)
