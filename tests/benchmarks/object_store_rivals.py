"""HiveSQL beside Delta and Iceberg on one S3 server: requests, seconds by how long each takes, CPU.

    python tests/benchmarks/object_store_rivals.py [--rows 1000000] [--wide] [--home .bench]
                                                   [--only a,b] [--reps 3] [milliseconds …]

The server is that of the tests, on this machine, which makes each request wait so long (20 and
100 ms). Contenders take turns; a round on a new table runs first where nothing waits, then come
``--reps`` of them at each latency, of which the table at the end tells the median, with that of
the CPU of the contender's processes in brackets: on a busy machine seconds tell nothing. Ours and
Delta reach the store by S3A, Iceberg by its own client and with a catalog in a database; changes
are merge-on-read everywhere. ``--wide`` makes rows of sixty bytes and more that no codec makes
smaller, and so files of many megabytes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"
sys.path.insert(0, str(SUPPORT))

from rivals import Process, _command, set_up  # noqa: E402

from s3_server import BUCKET, S3Server, count_rounds, s3_server, s3a_jars  # noqa: E402

OPERATIONS = ("insert", "scan", "update", "delete", "merge", "scan after", "major")
JARS = ("org.apache.iceberg:iceberg-aws-bundle:1.12.0", "org.xerial:sqlite-jdbc:3.50.3.0")
CONTENDERS = ("hivesql", "delta", "iceberg")


def jars_of(name: str, home: Path) -> list[Path]:
    """What a contender needs beside its own jars to reach the store."""
    if name == "hivesql":
        return s3a_jars(home)
    if name == "delta":
        python = home / name / "bin" / "python"
        where = "import pyspark; print(*pyspark.__path__)"
        place = subprocess.check_output([python, "-c", where], text=True).strip()
        hadoop = next(Path(place).glob("jars/hadoop-client-api-*.jar"))
        return s3a_jars(home, hadoop.stem.rpartition("-")[2])
    place_of_jars = home / "store-jars"
    if len(list(place_of_jars.glob("*.jar"))) < len(JARS):
        for jar in JARS:
            copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={jar}"]
            subprocess.run([*copy, f"-DoutputDirectory={place_of_jars}"], check=True)
    return sorted(place_of_jars.glob("*.jar"))


def start(
    name: str, options: argparse.Namespace, home: Path, work: Path, server: S3Server
) -> Process:
    """Start a contender, whose tables shall lie in the store."""
    os.environ["HIVESQL_BENCH_STORE"] = json.dumps({
        "warehouse": f"s3a://{BUCKET}/{name}",
        "jars": ",".join(map(str, jars_of(name, home))),
        "wide": "wide" if options.wide else "",
        **server.settings(),
    })  # fmt: skip
    return Process(name, _command(name, options.rows, home, work), work)


class Tally:
    """Requests of each operation of a contender, and its seconds by latency."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.requests: dict[str, Counter[str]] = {}
        self.seconds: dict[tuple[str, int], list[float]] = defaultdict(list)
        self.cpu: dict[tuple[str, int], list[float]] = defaultdict(list)

    def take(self, contender: Process, operation: str, latency: int, server: S3Server) -> None:
        """Let a contender do an operation once."""
        server.requests.clear()
        server.times.clear()
        answer = contender.ask(operation.split()[0])
        requests, times = [*server.requests], sorted(server.times, key=lambda one: one[1])
        if operation == "fresh" or not answer:
            return
        kinds = Counter(request.split()[0] for request in requests)
        line = f"{latency} ms {operation:10} {contender.name:8} {answer['seconds']:7.2f} s"
        line += f" cpu {answer['cpu']:6.2f} s"
        print(line, len(requests), dict(kinds), count_rounds(times), "rounds", flush=True)
        since = times[0][1] if times else 0.0
        lines = [f"{a - since:7.3f} {b - since:7.3f} {text}" for text, a, b in times]
        log = f"{contender.name}-{latency}-{operation}.txt"
        (self.work / log).write_text("\n".join(lines))
        if latency:
            self.requests.setdefault(operation, kinds)
        self.seconds[operation, latency].append(answer["seconds"])
        self.cpu[operation, latency].append(answer["cpu"])

    def median(self, operation: str, latency: int) -> str:
        """The median of an operation's seconds, and that of its CPU."""
        seconds = statistics.median(self.seconds[operation, latency])
        return f"{seconds:.2f} ({statistics.median(self.cpu[operation, latency]):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--wide", action="store_true", help="texts that no codec makes small")
    parser.add_argument("--reps", type=int, default=3, help="rounds at each latency")
    parser.add_argument("--only", default=",".join(CONTENDERS))
    parser.add_argument("latencies", nargs="*", type=int, default=[20, 100])
    options = parser.parse_args()
    home, names = options.home.resolve(), options.only.split(",")
    set_up(home)
    work = Path(tempfile.mkdtemp(prefix="hivesql-bench-", dir=home))
    tallies = {name: Tally(work) for name in names}
    contenders: list[Process] = []
    with s3_server() as server:
        try:
            contenders += [start(name, options, home, work, server) for name in names]
            for latency in [0, *[one for one in options.latencies for _ in range(options.reps)]]:
                server.latency = latency / 1000
                for operation in ("fresh", *OPERATIONS):
                    for contender in contenders:
                        tallies[contender.name].take(contender, operation, latency, server)
        finally:
            server.latency = 0.0
            for contender in contenders:
                contender.stop()
    heads = [f"requests of {name}" for name in names]
    heads += [f"{name}, s at {one} ms" for one in options.latencies for name in names]
    print("|", " | ".join(["operation", *heads]), "|")
    print("|---" * (1 + len(heads)) + "|")
    for operation in OPERATIONS:
        cells = [str(tallies[name].requests[operation].total()) for name in names]
        for latency in options.latencies:
            cells += [tallies[name].median(operation, latency) for name in names]
        print("|", " | ".join([operation, *cells]), "|")


if __name__ == "__main__":
    main()
