"""Who may log in: a file with a line ``name:hash`` for each user, hashed by Argon2."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, ip_address, ip_network
from pathlib import Path
from typing import Any, Protocol

from hivesql.server.protocol import LoginError, check_name
from hivesql_executor.files.local import NO_FILE, name_path, read_file_state
from hivesql_executor.metastore.extras import to_install
from hivesql_planner.errors import SemanticError

_AT_ONCE = 2
"""Each check of a password takes 64 MiB, and for some 0.1 s all cores."""
_PATIENCE = 30.0
"""Seconds that a login waits for others to be checked."""
_DELAY = 1.0
"""Seconds that a wrong password takes longer."""
_MOST_FAILURES = 10
_FORGIVEN_AFTER = 300.0
_MOST_ADDRESSES = 10_000
_IPV6_PREFIX = 64
"""Whoever has one address of IPv6 has all with the same beginning."""


def require_hashing() -> None:
    """SemanticError without the package that hashes passwords."""
    _hasher()


def _hasher() -> Any:
    try:
        from argon2 import PasswordHasher
    except ModuleNotFoundError as error:
        raise SemanticError(
            f"passwords need the package argon2-cffi: {to_install('serve')}"
        ) from error
    return PasswordHasher()


class PasswordFile:
    """The users of a file, read again when it has changed."""

    at_once_of_address = 1

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hasher = _hasher()
        self._nobody = self._hasher.hash(os.urandom(16))
        """What a password is compared with whose user is not there: it takes as long."""
        self._state = NO_FILE
        self._hashes: dict[str, str] = {}
        self._guard = threading.Lock()
        self._slots = threading.BoundedSemaphore(_AT_ONCE)
        self._read()

    def accepts(self, user: str, password: str) -> bool:
        """Tell whether the password is the user's."""
        from argon2.exceptions import InvalidHashError, VerificationError

        with self._guard:
            self._read()
            known = self._hashes.get(user)
        if not self._slots.acquire(timeout=_PATIENCE):
            raise LoginError("too many logins at once")
        try:
            self._hasher.verify(known or self._nobody, password)
        except (VerificationError, InvalidHashError):
            return False
        finally:
            self._slots.release()
        return known is not None

    def _read(self) -> None:
        try:
            state = read_file_state(self._path)
            if state == self._state != NO_FILE:
                return
            mode = self._path.stat().st_mode
            text = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            if self._state != NO_FILE:
                return  # Those who could log in still can.
            raise SemanticError(f"the password file {self._path} cannot be read: {error}") from None
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise SemanticError(
                f"others than its owner may write {self._path}, and so let anybody in: "
                f"chmod go-w {self._path}"
            )
        lines = (line.strip() for line in text.splitlines())
        pairs = (line.partition(":") for line in lines if line and not line.startswith("#"))
        self._hashes = {name: text for name, _, text in pairs}
        self._state = state


def set_password(path: Path, user: str, password: str) -> None:
    """Write a user's password into a file of them, which is replaced at once."""
    try:
        check_name(user)
    except LoginError as error:
        raise SemanticError(f"no user can be called so: {error}") from None
    if ":" in user:
        raise SemanticError(f"a user's name has no colon: {user!r}")
    if not password:
        raise SemanticError("the password is empty")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    others = [line for line in lines if line.partition(":")[0] != user]
    text = "\n".join([*others, f"{user}:{_hasher().hash(password)}"]) + "\n"
    with name_path(str(path)), tempfile.TemporaryDirectory(dir=path.parent) as beside:
        # Goes with what is in it where the disk is full.
        new = Path(beside) / path.name
        new.touch(mode=0o600)
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)


class LoginLimits:
    """Slows down whoever guesses passwords."""

    def __init__(self, *, delay: float = _DELAY) -> None:
        self._delay = delay
        self._failures: dict[str, tuple[dict[str, int], float]] = {}
        """By address: how many for each user, and when the last one was."""
        self._turns: dict[str, tuple[threading.BoundedSemaphore, int]] = {}
        """By address: who may be checked now, and how many are or wait for it."""
        self._guard = threading.Lock()

    def is_barred(self, address: str) -> bool:
        """Tell whether too many logins from an address have failed of late."""
        with self._guard:
            counts, last = self._failures.get(_network(address), ({}, 0.0))
            count = sum(counts.values())
        return count >= _MOST_FAILURES and time.monotonic() - last < _FORGIVEN_AFTER

    @contextmanager
    def turn(self, address: str, at_once: int) -> Iterator[None]:
        """Let a login be checked, as so many of an address at once; LoginError where it is barred.

        Those who wait learn of the failures before them: guesses that are sent at once are no
        more than others, and one address does not keep all others out.
        """
        network = _network(address)
        with self._guard:
            fresh = threading.BoundedSemaphore(at_once), 0
            slots, count = self._turns.get(network, fresh)
            self._turns[network] = slots, count + 1
        try:
            if not slots.acquire(timeout=_PATIENCE):
                raise LoginError("too many logins of one address at once")
            try:
                if self.is_barred(address):
                    raise LoginError("too many failed logins")
                yield
            finally:
                slots.release()
        finally:
            with self._guard:
                slots, count = self._turns.pop(network)
                if count > 1:
                    self._turns[network] = slots, count - 1

    def note_failure(self, address: str, user: str = "") -> None:
        """Count a failed login."""
        now, network = time.monotonic(), _network(address)
        with self._guard:
            counts, last = self._failures.pop(network, ({}, now))
            if now - last >= _FORGIVEN_AFTER:
                counts = {}
            # Those whose last failure is the oldest are forgotten, nobody else.
            while len(self._failures) >= _MOST_ADDRESSES:
                del self._failures[next(iter(self._failures))]
            self._failures[network] = counts | {user: counts.get(user, 0) + 1}, now

    def delay(self) -> None:
        """Let whoever has failed wait."""
        time.sleep(self._delay)

    def note_success(self, address: str, user: str = "") -> None:
        """Forget a user's failures at an address, and not those of others."""
        network = _network(address)
        with self._guard:
            counts, last = self._failures.pop(network, ({}, 0.0))
            if others := {name: count for name, count in counts.items() if name != user}:
                self._failures[network] = others, last


def _network(address: str) -> str:
    """Return what addresses of one client have in common."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, _IPV6_PREFIX), strict=False))


class PasswordCheck(Protocol):
    """What knows whose a password is."""

    at_once_of_address: int
    """How many logins of one address are checked at the same time."""

    def accepts(self, user: str, password: str) -> bool:
        """Tell whether the password is the user's; LoginError where nobody can be asked."""


class Logins:
    """Lets users in whose passwords are right; without a check everybody, by any name."""

    def __init__(self, check: PasswordCheck | None, limits: LoginLimits | None = None) -> None:
        self._check = check
        self.limits: LoginLimits = limits or LoginLimits()

    def accepts(self, user: str, password: str, address: str) -> bool:
        """Tell whether the password is the user's; LoginError after too many wrong ones."""
        if self._check is None:
            return True
        limits = self.limits
        if limits.is_barred(address):
            raise LoginError("too many failed logins")
        with limits.turn(address, self._check.at_once_of_address):
            if self._check.accepts(user, password):
                limits.note_success(address, user)
                return True
            limits.note_failure(address, user)
        limits.delay()
        return False
