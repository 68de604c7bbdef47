"""Ticket caches of processes that were killed: removed by the next one, and only those."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hivesql_executor.impersonation.tickets import remove_caches_of_dead

# As `tickets_of` makes a cache, but for the ticket.
HOLDER = """
import fcntl, sys, time
lock = open(sys.argv[1] + "/lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("ready", flush=True)
time.sleep(60)
"""


def test_caches_of_killed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    places = {name: tmp_path / f"hivesql-tickets-{name}" for name in ("old", "new", "used")}
    for place in places.values():
        place.mkdir()
        (place / "cache").write_text("a ticket")
    command = [sys.executable, "-c", HOLDER, str(places["used"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        hour_ago = time.time() - 3600
        for name in ("old", "used"):
            os.utime(places[name], (hour_ago, hour_ago))
        remove_caches_of_dead()
        assert [name for name, place in places.items() if place.exists()] == ["new", "used"]
        holder.send_signal(signal.SIGKILL)
    remove_caches_of_dead()
    assert [name for name, place in places.items() if place.exists()] == ["new"]
