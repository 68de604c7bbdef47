"""Tickets by a keytab, in a cache of this process' own, for programs that take no keytab."""

from __future__ import annotations

import atexit
import fcntl
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from hivesql_planner.errors import ExecutionError

_PROGRAM_SECONDS = 30
_PAUSE = 120.0
"""Seconds after which there are new ones: shorter than any site's tickets live."""
_PREFIX = "hivesql-tickets-"
_LOCK = "lock"
_YOUNG = 60.0
"""Seconds in which a process has made its cache and its lock."""
_locks: list[IO[str]] = []


@cache
def tickets_of(keytab: str, principal: str | None) -> str:
    """Return the name of a cache that always has a valid ticket while this process lives.

    ExecutionError where the keytab gives none.
    """
    remove_caches_of_dead()
    place = Path(tempfile.mkdtemp(prefix=_PREFIX))
    # The system lets go of it with the process, however that ends.
    _locks.append((place / _LOCK).open("w"))
    fcntl.flock(_locks[-1], fcntl.LOCK_EX)
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    name = f"FILE:{place / 'cache'}"
    _log_in(keytab, principal, name)
    threading.Thread(
        target=_renew, args=(keytab, principal, name), name="hivesql-tickets", daemon=True
    ).start()
    return name


def remove_caches_of_dead() -> None:
    """Remove what processes left that were killed: their tickets may be valid for hours."""
    for place in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # Those of other users, or removed at this moment by somebody else.
        with suppress(OSError):
            if time.time() - place.stat().st_mtime < _YOUNG:
                continue
            with (place / _LOCK).open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place)


def _renew(keytab: str, principal: str | None, name: str) -> None:
    pause = threading.Event()
    while not pause.wait(_PAUSE):
        try:
            _log_in(keytab, principal, name)
        except ExecutionError:
            continue  # The KDC may be back before the ticket ends, and else the ticket says so.


def _log_in(keytab: str, principal: str | None, name: str) -> None:
    """Get a ticket; a cache is replaced as a whole, as others read it."""
    program = shutil.which("kinit")
    if program is None:
        raise ExecutionError(
            "to work in another user's name by a keytab needs kinit, and it is not on the PATH. "
            "Install krb5-user (krb5-workstation), or log in by a ticket cache"
        )
    options = [principal] if principal else ["-i"]
    new = f"{name}.new"
    try:
        done = subprocess.run(
            [program, "-k", "-t", keytab, "-c", new, *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=_PROGRAM_SECONDS,
        )  # fmt: skip
        reason = (done.stderr or done.stdout).strip() if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    if reason:
        raise ExecutionError(
            f"no ticket for {principal or 'the first principal'} by {keytab}: {reason}. "
            "`klist -kt` lists its principals; krb5.conf (KRB5_CONFIG) names the KDC"
        )
    Path(new.removeprefix("FILE:")).replace(name.removeprefix("FILE:"))
