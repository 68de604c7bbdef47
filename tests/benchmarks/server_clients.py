"""What clients of ``hivesql serve`` wait for statements that need no Spark, and its memory.

Usage: python tests/benchmarks/server_clients.py [clients[@seconds] ...]

Starts a server with an empty warehouse; then so many clients at once (1, 4, 50 and 50@1 unless
told), which pause for so many seconds on average before each statement, of five users and each with
a connection of its own, ask SHOW TABLES, a SELECT of one row and, each third time, an INSERT of one
into another table. Prints failures, the server's resident memory without its JVM, how long the
fastest and the slowest client took, and milliseconds of the server's processor and as a client sees
them. Clients are threads of this process, so its interpreter's time is in what they wait.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
from impala.dbapi import connect
from impala.error import Error
from thrift.transport.TTransport import TTransportException

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from programs import free_port

ROUNDS = 9
TABLES = (
    "CREATE TABLE t (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "INSERT INTO t VALUES (0, 'a')",
    "CREATE TABLE w (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
)


def connection(port: int, user: str) -> Any:
    """Connect as a user; waits for a server that starts."""
    for _ in range(120):
        try:
            return connect("127.0.0.1", port, auth_mechanism="PLAIN", user=user, password="-")
        except TTransportException:
            time.sleep(0.5)
    raise SystemExit("the server does not start")


def ask(
    port: int, number: int, pause: float, taken: dict[str, list[float]], failed: list[str]
) -> None:
    """Ask a client's statements, and add what each took, in seconds, or why one failed.

    Under ``ALL`` stands what they took together.
    """
    try:
        opened = connection(port, f"user{number % 5}")
        first = time.perf_counter()
        cursor = opened.cursor()
        for round_ in range(ROUNDS):
            statements = {"SHOW": "SHOW TABLES", "SELECT": "SELECT * FROM t WHERE id = 0"}
            if round_ % 3 == 0:
                statements["INSERT"] = f"INSERT INTO w VALUES ({number}, 'x')"
            for kind, statement in statements.items():
                time.sleep(random.uniform(0, 2 * pause))
                began = time.perf_counter()
                cursor.execute(statement)
                if kind != "INSERT":
                    cursor.fetchall()
                taken[kind].append(time.perf_counter() - began)
        taken["ALL"].append(time.perf_counter() - first)
        cursor.close()
        opened.close()
    except (Error, OSError) as error:
        failed.append(str(error))


def measure(port: int, clients: int, pause: float, server: psutil.Process) -> None:
    """Let so many clients ask at once, and print what they waited."""
    taken: dict[str, list[float]] = defaultdict(list)
    failed: list[str] = []
    threads = [Thread(target=ask, args=(port, one, pause, taken, failed)) for one in range(clients)]
    before, began = sum(server.cpu_times()[:2]), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory = server.memory_info().rss >> 20
    whole = sorted(taken.pop("ALL"))
    count = sum(map(len, taken.values()))
    cost = 1000 * (sum(server.cpu_times()[:2]) - before) / max(count, 1)
    speed = count / (time.perf_counter() - began)
    print(f"{clients} clients, {pause} s of pause: {len(failed)} failed {failed[:1]}, {memory} MiB")
    print(f"  {speed:.0f} statements a second, {cost:.1f} ms of the processor each", flush=True)
    print(f"  the first client had all after {whole[0]:.1f} s, the last after {whole[-1]:.1f} s")
    for kind, times in taken.items():
        ordered = [round(1000 * one) for one in sorted(times)]
        middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
        print(f"  {kind:6} {len(ordered):4} statements: p50 {middle:4} ms, p99 {late:5} ms")


def main(counts: list[str]) -> None:
    """Start the server, measure with each number of clients, and stop it."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home, (Path(home) / "log").open("w") as log:
        places = ["--metastore", f"sqlite:///{home}/m.db", "--warehouse", f"{home}/w"]
        command = [sys.executable, "-m", "hivesql_repl", "serve", "--port", str(port), *places]
        with subprocess.Popen(command, stdout=log, stderr=log) as server:
            try:
                opened = connection(port, "user0")
                for statement in TABLES:
                    opened.cursor().execute(statement)
                for count in counts:
                    clients, _, pause = count.partition("@")
                    measure(port, int(clients), float(pause or 0), psutil.Process(server.pid))
                opened.close()
            finally:
                server.terminate()


if __name__ == "__main__":
    main(sys.argv[1:] or ["1", "4", "50", "50@1"])
