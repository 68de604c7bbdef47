"""Other processes of tests: ports for servers, and Python programs that print what came of them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer_of(
    *arguments: str | Path, timeout: float = 500, environment: Mapping[str, str] | None = None,
    place: Sequence[str] = (),
) -> Any:  # fmt: skip
    """What Python prints in its last line, in JSON; it must end well, within so many seconds.

    ``place`` is what runs a program elsewhere.
    """
    done = subprocess.run(
        [*place, sys.executable, *arguments], capture_output=True, text=True, check=False,
        timeout=timeout, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
