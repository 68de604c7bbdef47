"""A Spark standalone cluster: a master and two workers, on this machine or on hosts of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from hosts import Host
from programs import free_port
from spark_archive import submit_options

_DEPLOY = "org.apache.spark.deploy"


@contextmanager
def standalone_cluster(
    place: Path, *, memory: str, hosts: tuple[str, str] = ("127.0.0.1", "127.0.0.1"),
    cores: int = 1, on: tuple[Host, Host, Host] | None = None,
) -> Iterator[str]:  # fmt: skip
    """The master's URL; memory and cores are each worker's. Logs and work go into ``place``.

    ``on`` are hosts of their own, of the master and of the workers, in the place of ``hosts``.
    """
    port = str(free_port())
    head, *others = on or (None, None, None)
    home = head.address if head else "127.0.0.1"
    master = f"spark://{home}:{port}"
    with ExitStack() as cluster:
        log = place / "master.log"
        at = ("--host", home, "--port", port, "--webui-port", "0")
        cluster.enter_context(_started(f"{_DEPLOY}.master.Master", *at, log=log, on=head))
        _wait_for("New state: ALIVE", log)
        logs = []
        for number, (address, other) in enumerate(zip(hosts, others, strict=True)):
            size = ("--cores", str(cores), "--memory", memory, "--webui-port", "0")
            name = other.name if other else address
            work = ("--host", name, "--work-dir", str(place / f"work{number}"))
            logs.append(place / f"worker{number}.log")
            cluster.enter_context(
                _started(f"{_DEPLOY}.worker.Worker", *size, *work, master, log=logs[-1], on=other)
            )
        # Both start at once: that takes half the time of one after the other.
        for worker_log in logs:
            _wait_for("Successfully registered", worker_log)
        yield master


@contextmanager
def _started(*arguments: str, log: Path, on: Host | None) -> Iterator[None]:
    """One process of the cluster, on a host of its own or here; it ends with the block."""
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), *arguments]
    environment = {**os.environ, "SPARK_DAEMON_MEMORY": "256m",
                   "SPARK_LOCAL_IP": on.address if on else "127.0.0.1",
                   "SPARK_DAEMON_JAVA_OPTS": submit_options(),
                   "PYSPARK_PYTHON": sys.executable}  # fmt: skip
    with log.open("w") as out:
        process = subprocess.Popen(
            on.command(*command) if on else command,
            stdout=out, stderr=subprocess.STDOUT, env=environment,
        )  # fmt: skip
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait_for(pattern: str, log: Path) -> None:
    for _ in range(300):
        if re.search(pattern, log.read_text(errors="replace")):
            return
        time.sleep(0.2)
    raise AssertionError(f"{pattern!r} does not appear in {log}:\n{log.read_text()[-2000:]}")
