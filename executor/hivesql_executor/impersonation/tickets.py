"""Tickets by a keytab, in a cache of this process' own, for programs that take no keytab."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path

from hivesql_planner.errors import ExecutionError

_PROGRAM_SECONDS = 30
_PAUSE = 120.0
"""Seconds after which there are new ones: shorter than any site's tickets live."""


@cache
def tickets_of(keytab: str, principal: str | None) -> str:
    """Return the name of a cache that always has a valid ticket while this process lives.

    ExecutionError where the keytab gives none.
    """
    place = Path(tempfile.mkdtemp(prefix="hivesql-tickets-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    name = f"FILE:{place / 'cache'}"
    _log_in(keytab, principal, name)
    threading.Thread(
        target=_renew, args=(keytab, principal, name), name="hivesql-tickets", daemon=True
    ).start()
    return name


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
