"""Servers of PostgreSQL that are killed, and a standby that takes over from one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from postgres import find_program, owner_words
from programs import free_port
from scratch import in_memory

# What was committed outlives a killed server, if not a power loss.
_SETTINGS = "fsync = off\nfull_page_writes = off\nmax_wal_senders = 4\n"
_SETTINGS += "wal_retrieve_retry_interval = 100ms\n"


@dataclass
class Postgres:
    """One server, which runs or not, in a directory of its own."""

    home: Path
    port: int
    owner: list[str]
    """What runs a program as the user to whom the directory belongs."""

    @property
    def url(self) -> str:
        """Its address without a database."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}"

    def run(self, name: str, *arguments: str) -> str:
        """Run a program of the server's; what it prints."""
        program = find_program(name)
        assert program is not None
        # What it starts keeps its streams: a file, unlike a pipe, is not waited for.
        with (self.home.parent / "printed").open("w+") as printed:
            subprocess.run(
                [*self.owner, program, *arguments], check=True, cwd=self.home.parent,
                stdout=printed,
            )  # fmt: skip
            printed.seek(0)
            return printed.read()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.home / "postgresql.auto.conf").open("a") as settings:
            settings.write(
                f"{_SETTINGS}port = {self.port}\nlisten_addresses = '127.0.0.1'\n"
                f"unix_socket_directories = '{self.home.parent}'\n"
            )
        log = f"{self.home.parent}/log-{self.port}"
        self.run("pg_ctl", "-D", str(self.home), "-w", "-l", log, "start")

    def control(self, *words: str) -> None:
        """Tell it to do something, by pg_ctl."""
        self.run("pg_ctl", "-D", str(self.home), "-w", *words)

    def kill(self) -> None:
        """End it and all its processes by SIGKILL: nobody who was connected is told."""
        number = int((self.home / "postmaster.pid").read_text().split()[0])
        children = self.backends()
        for one in (number, *children):
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        # Only when all have ended may it start again.
        while any(Path(f"/proc/{one}/cmdline").exists() for one in (number, *children)):
            time.sleep(0.02)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Stop all its processes for a while: the system goes on to acknowledge what it is sent."""
        number = int((self.home / "postmaster.pid").read_text().split()[0])
        stopped = [number, *self.backends()]
        # Whose client has just gone ends meanwhile.
        for process in stopped:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def kill_backend(self, chance: random.Random) -> None:
        """End the process of one client by SIGKILL, upon which the server begins all anew."""
        query = "SELECT pid FROM pg_stat_activity WHERE datname = 'm'"
        if numbers := self.do(query).split():
            with suppress(ProcessLookupError):
                os.kill(int(chance.choice(numbers)), signal.SIGKILL)

    def backends(self) -> list[int]:
        """List the processes that serve clients, and the others below the server."""
        number = (self.home / "postmaster.pid").read_text().split()[0]
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if stat.read_text().rpartition(")")[2].split()[1] == number:
                    found.append(int(stat.parent.name))
        return found

    def stop_following(self) -> None:
        """Let it, a standby, hear of no further commit."""
        self.do("ALTER SYSTEM SET primary_conninfo = ''")
        self.do("SELECT pg_reload_conf()")
        while self.do("SELECT count(*) FROM pg_stat_wal_receiver").strip() != "0":
            time.sleep(0.02)

    def do(self, text: str, database: str = "postgres") -> str:
        """Run one statement; its answer, without names."""
        return self.run("psql", "-qAt", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres",
                        "-c", text, database)  # fmt: skip


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Run a server that does not forget what it has committed when it is killed."""
    with tempfile.TemporaryDirectory(prefix="hivesql-pg-", dir=in_memory()) as directory:
        server = Postgres(Path(directory, "data"), free_port(), owner_words(directory))
        server.run("initdb", "-D", str(server.home), "-A", "trust", "-U", "postgres", "--no-sync")
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):
                server.control("-m", "immediate", "stop")


@contextmanager
def running_standby(primary: Postgres) -> Iterator[Postgres]:
    """Run a standby that follows a server, without letting it wait."""
    home = primary.home.with_name("standby")
    standby = Postgres(home, free_port(), primary.owner)
    source = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres")
    standby.run("pg_basebackup", *source, "-D", str(home), "-R", "-X", "stream", "-c", "fast")
    standby.start()
    try:
        yield standby
    finally:
        with suppress(subprocess.CalledProcessError):
            standby.control("-m", "immediate", "stop")


def either_url(primary: Postgres, standby: Postgres, database: str) -> str:
    """Name both of them, whichever may be written: as the guide has it."""
    hosts = "&".join(f"host=127.0.0.1:{server.port}" for server in (primary, standby))
    driver = "postgresql+psycopg://postgres@"
    return f"{driver}/{database}?{hosts}&target_session_attrs=read-write"
