"""Several hosts on this machine: network namespaces with names of their own, on one switch.

What runs there are processes as of any host, with one disk for all, another host name and address
each, and a clock of their own where wanted. Cables can be pulled.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

_FAKE_TIME = next(iter(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")), None)
_NET = "10.213.77"


def no_clock() -> str | None:
    """Tell why no program can have another clock; None where it can."""
    return None if _FAKE_TIME else "needs libfaketime (apt-get install libfaketime)"


def clock_ahead(seconds: int) -> list[str]:
    """Return what starts a program whose clock is so many seconds ahead of this machine's."""
    # What measures durations goes on as it is, and so do the disk's times.
    return [
        "env", f"LD_PRELOAD={_FAKE_TIME}", f"FAKETIME={seconds:+d}",
        "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1",
    ]  # fmt: skip


def obstacle() -> str | None:
    """Tell why there can be no hosts here; None where there can."""
    if missing := [name for name in ("ip", "nsenter", "unshare") if shutil.which(name) is None]:
        return f"needs {', '.join(missing)}"
    if reason := no_clock():
        return reason
    name = f"hivesql-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False, text=True)
    if made.returncode:
        return f"network namespaces cannot be made: {made.stderr.strip()}"
    _ip("netns", "del", name)
    return None


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@dataclass
class Host:
    """One host: a name, an address, and how far its clock is ahead, in seconds."""

    name: str
    address: str
    namespace: str
    port: str
    """Its end of the cable at the switch."""
    switch: str
    names: Path
    """Says the hosts' addresses, as /etc/hosts."""
    ahead: int = 0
    """Not less than 0: libfaketime lets nobody sleep whose clock is behind."""
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def clock(self) -> list[str]:
        """Return what starts a program with the host's clock, by the user who it belongs to."""
        return clock_ahead(self.ahead) if self.ahead else []

    def command(self, *arguments: str) -> list[str]:
        """Return what runs a program there."""
        script = 'hostname "$0" && mount --bind "$1" /etc/hosts && shift && exec "$@"'
        return [
            "nsenter", f"--net=/run/netns/{self.namespace}",
            "unshare", "--uts", "--mount", "sh", "-c", script,
            self.name, str(self.names), *arguments,
        ]  # fmt: skip

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start a Python program there, with pipes for what it reads and prints."""
        process = subprocess.Popen(
            self.command(*self.clock, sys.executable, *map(str, arguments)), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def pull_cable(self) -> None:
        """Let nothing come or go any more, of which nobody is told."""
        _ip("-n", self.switch, "link", "set", self.port, "nomaster")

    def plug_cable(self) -> None:
        """Let everything through again."""
        _ip("-n", self.switch, "link", "set", self.port, "master", "switch")

    def kill(self) -> None:
        """End every process of the host at once."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    with suppress(OSError):
                        stream.close()
        self.processes.clear()


_NUMBERS = count()
"""Of the networks of this process: some tests share one while others have their own."""


@contextmanager
def hosts(**ahead: int) -> Iterator[dict[str, Host]]:
    """Provide hosts by their names, with how many seconds each clock is ahead of this machine's."""
    network = f"hivesql-{os.getpid()}-{next(_NUMBERS)}"
    switch = f"{network}-switch"
    with ExitStack() as stack:
        _ip("netns", "add", switch)
        stack.callback(_ip, "netns", "del", switch)
        _ip("-n", switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", switch, "link", "set", "switch", "up")
        names = Path(stack.enter_context(tempfile.NamedTemporaryFile("w")).name)
        made = {}
        for number, (name, seconds) in enumerate(ahead.items(), start=1):
            namespace, port = f"{network}-{name}", f"port{number}"
            _ip("netns", "add", namespace)
            stack.callback(_ip, "netns", "del", namespace)
            _ip("-n", switch, "link", "add", port, "type", "veth", "peer", "name", "eth0",
                "netns", namespace)  # fmt: skip
            host = Host(name, f"{_NET}.{number}", namespace, port, switch, names, seconds)
            host.plug_cable()
            _ip("-n", switch, "link", "set", port, "up")
            _ip("-n", namespace, "addr", "add", f"{host.address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", namespace, "link", "set", device, "up")
            stack.callback(host.kill)
            made[name] = host
        lines = [f"{host.address} {host.name}" for host in made.values()]
        names.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        yield made
