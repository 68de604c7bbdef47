"""The name by which this process is known: to Hadoop's servers, where nobody logs in, and here."""

from __future__ import annotations

import getpass
import os
import pwd

from hivesql_planner.errors import ExecutionError


def hadoop_user() -> str:
    """Return HADOOP_USER_NAME, as Hadoop's own clients, else the system's name of the user."""
    return os.environ.get("HADOOP_USER_NAME") or system_user()


def system_user() -> str:
    """Return what LOGNAME or USER says, else the system's name; ExecutionError without any."""
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:  # of Python before 3.13, and since
        _check_files_open()
        raise ExecutionError(f"{_nameless()}. Where no Spark is needed, USER=name is enough") from (
            error
        )


def problem_of_user() -> str | None:
    """Say why Spark cannot start for this user: Java asks the system alone for its name.

    None where it can.
    """
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        _check_files_open()
        return _nameless()
    return None


def _check_files_open() -> None:
    """Raise OSError where no file can be opened: then nobody's name is found."""
    os.close(os.open(os.sep, os.O_RDONLY))


def _nameless() -> str:
    number = os.getuid()
    return (
        f"the user {number}, whom this process belongs to, has no name: containers that run as a "
        f"number need a line of it in /etc/passwd, name:x:{number}:{os.getgid()}::/home/name:"
    )
