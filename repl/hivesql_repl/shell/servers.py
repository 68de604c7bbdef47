"""`!connect`: to a HiveServer2 from the shell, which itself works on a warehouse and no server."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

EXAMPLE = "!connect jdbc:hive2://host:10000/default ann"


def server_of(url: str) -> str | None:
    """Return host and port that a URL of Hive's driver names; None where it names no server."""
    parts = urlsplit(url.removeprefix("jdbc:"))
    return parts.netloc.partition(";")[0] or None if parts.scheme == "hive2" else None


def tells_password(command: str) -> bool:
    """Tell whether one of our commands, without its ``!``, has a password in it."""
    name, *words = command.split()
    return name.lower() == "connect" and (len(words) > 2 or "password" in command.lower())


def talk_to_server(argument: str, user: str) -> str | None:
    """Run PySpark's beeline on a server until its user leaves it; what was wrong, or None.

    ``argument``: URL, user and password, as beeline's ``!connect`` has them; the password is asked
    for where a user is named and it is missing.
    """
    import shlex
    import subprocess
    import tempfile
    from getpass import getpass
    from importlib.util import find_spec

    try:
        url, *words = shlex.split(argument)
    except ValueError as error:
        return f"{error}, in: !connect {argument}"
    spark = find_spec("pyspark")
    beeline = Path(spark.origin or "").parent / "bin" / "beeline" if spark else None
    if beeline is None or not beeline.is_file():
        return "beeline is missing, which PySpark has in its folder bin"
    command = [str(beeline), "-u", url]
    if words or "principal=" not in url:
        command += ["-n", words[0] if words else user]
    password = "".join(words[1:2])
    if len(words) == 1 and "principal=" not in url and sys.stdin.isatty():
        password = getpass(f"password of {words[0]} (nothing where none is wanted): ")
    with tempfile.TemporaryDirectory() as folder, _left_alone():
        if password:
            # A list of processes would show it to everybody.
            secret = Path(folder, "password")
            secret.touch(mode=0o600)
            secret.write_text(password, encoding="utf-8")
            command += ["-w", str(secret)]
        place = {**os.environ, "SPARK_HOME": str(beeline.parents[1])}
        ended = subprocess.run(command, check=False, env=place, stderr=screen()).returncode
    return f"beeline ended with exit code {ended}" if ended else None


def screen() -> TextIO | None:
    """Return what a program's errors are to be written to: the shell sends its own 2 to a file."""
    try:
        sys.stderr.fileno()
    except (OSError, AttributeError):
        return None
    return sys.stderr


@contextmanager
def _left_alone() -> Iterator[None]:
    # Ctrl-C is beeline's, which stops a statement by it; ignored by us, it would be by beeline too.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
