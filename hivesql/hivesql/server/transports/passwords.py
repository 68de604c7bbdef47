"""Who may log in: a file with a line ``name:hash`` for each user, hashed by Argon2."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Protocol

from hivesql.server.protocol import LoginError, check_name
from hivesql_planner.errors import SemanticError

_AT_ONCE = 2
"""Each check of a password takes 64 MiB."""
_DELAY = 1.0
"""Seconds that a wrong password takes longer."""
_MOST_FAILURES = 10
_FORGIVEN_AFTER = 300.0
_MOST_ADDRESSES = 10_000


def _hasher() -> Any:
    try:
        from argon2 import PasswordHasher
    except ImportError as error:
        raise SemanticError(
            "passwords need the package argon2-cffi: pip install 'hivesql[serve]'"
        ) from error
    return PasswordHasher()


class PasswordFile:
    """The users of a file, read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hasher = _hasher()
        self._nobody = self._hasher.hash(os.urandom(16))
        """What a password is compared with whose user is not there: it takes as long."""
        self._changed = 0.0
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
        with self._slots:
            try:
                self._hasher.verify(known or self._nobody, password)
            except (VerificationError, InvalidHashError):
                return False
        return known is not None

    def _read(self) -> None:
        try:
            state = self._path.stat()
            if state.st_mtime == self._changed:
                return
            text = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            if self._changed:
                return  # Those who could log in still can.
            raise SemanticError(f"the password file {self._path} cannot be read: {error}") from None
        if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise SemanticError(
                f"others than its owner may write {self._path}, and so let anybody in: "
                f"chmod go-w {self._path}"
            )
        lines = (line.strip() for line in text.splitlines())
        pairs = (line.partition(":") for line in lines if line and not line.startswith("#"))
        self._hashes = {name: text for name, _, text in pairs}
        self._changed = state.st_mtime


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
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)


class LoginLimits:
    """Slows down whoever guesses passwords."""

    def __init__(self, *, delay: float = _DELAY) -> None:
        self._delay = delay
        self._failures: dict[str, tuple[int, float]] = {}
        self._guard = threading.Lock()

    def is_barred(self, address: str) -> bool:
        """Tell whether too many logins from an address have failed of late."""
        with self._guard:
            count, last = self._failures.get(address, (0, 0.0))
        return count >= _MOST_FAILURES and time.monotonic() - last < _FORGIVEN_AFTER

    def note_failure(self, address: str) -> None:
        """Count a failed login, and wait."""
        now = time.monotonic()
        with self._guard:
            count, last = self._failures.get(address, (0, now))
            if now - last >= _FORGIVEN_AFTER:
                count = 0
            if len(self._failures) >= _MOST_ADDRESSES:
                self._failures.clear()
            self._failures[address] = (count + 1, now)
        time.sleep(self._delay)

    def note_success(self, address: str) -> None:
        """Forget the failures of an address."""
        with self._guard:
            self._failures.pop(address, None)


class PasswordCheck(Protocol):
    """What knows whose a password is."""

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
        if self.limits.is_barred(address):
            raise LoginError("too many failed logins")
        if self._check.accepts(user, password):
            self.limits.note_success(address)
            return True
        self.limits.note_failure(address)
        return False
