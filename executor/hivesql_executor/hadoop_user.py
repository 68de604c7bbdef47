"""The name by which Hadoop's servers know this process where nobody logs in."""

from __future__ import annotations

import getpass
import os


def hadoop_user() -> str:
    """Return HADOOP_USER_NAME, as Hadoop's own clients, else the system's name of the user."""
    return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
