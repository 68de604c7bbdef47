"""A Spark standalone cluster on this machine: a master and two workers."""

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

from programs import free_port
from spark_archive import submit_options

_DEPLOY = "org.apache.spark.deploy"


@contextmanager
def standalone_cluster(
    place: Path, *, memory: str, hosts: tuple[str, str] = ("127.0.0.1", "127.0.0.1"), cores: int = 1
) -> Iterator[str]:
    """The master's URL; memory and cores are each worker's. Logs and work go into ``place``."""
    port = str(free_port())
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as cluster:
        log = place / "master.log"
        at = ("--host", "127.0.0.1", "--port", port, "--webui-port", "0")
        cluster.enter_context(_started(f"{_DEPLOY}.master.Master", *at, log=log))
        _wait_for("New state: ALIVE", log)
        for number, host in enumerate(hosts):
            size = ("--cores", str(cores), "--memory", memory, "--webui-port", "0")
            work = ("--host", host, "--work-dir", str(place / f"work{number}"))
            worker_log = place / f"worker{number}.log"
            worker = _started(f"{_DEPLOY}.worker.Worker", *size, *work, master, log=worker_log)
            cluster.enter_context(worker)
            _wait_for("Successfully registered", worker_log)
        yield master


@contextmanager
def _started(*arguments: str, log: Path) -> Iterator[None]:
    """One process of the cluster; it ends with the block."""
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1",
                   "SPARK_DAEMON_JAVA_OPTS": submit_options(),
                   "PYSPARK_PYTHON": sys.executable}  # fmt: skip
    with log.open("w") as out:
        process = subprocess.Popen(
            [program, *arguments], stdout=out, stderr=subprocess.STDOUT, env=environment
        )
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
