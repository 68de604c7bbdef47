"""Writers of one row, in processes of their own: how many commits a minute, and who waits how long.

python tests/benchmarks/waiting.py [writers] [seconds] [metastore URL]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hivesql

UPDATE = "UPDATE t SET n = n + 1 WHERE id = 1"


def write(url: str, home: str, seconds: float) -> None:
    """Add one again and again; the seconds that each statement took go to stdout."""
    with hivesql.connect(url, home) as session:
        session.sql("UPDATE t SET n = n + 1 WHERE id = 2")
        print("ready", flush=True)
        sys.stdin.readline()
        until = time.monotonic() + seconds
        while (began := time.monotonic()) < until:
            session.sql(UPDATE)
            print(time.monotonic() - began)


def measure(writers: int, seconds: float, url: str, home: str) -> str:
    """Let processes write one row; what came of it, as a line."""
    with hivesql.connect(url, home) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (id INT, n INT) STORED AS ORC")
        session.sql("INSERT INTO t VALUES (1, 0), (2, 0)")
        command = [sys.executable, __file__, "writer", url, home, str(seconds)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        running = [subprocess.Popen(command, **pipes) for _ in range(writers)]
        for one in running:
            one.stdout.readline()
        for one in running:
            one.stdin.write("go\n")
            one.stdin.flush()
        took = [[float(line) for line in one.communicate()[0].splitlines()] for one in running]
        (total,) = (n for id_, n in session.sql("SELECT id, n FROM t").rows if id_ == 1)
    done = [len(one) for one in took]
    assert total == sum(done), "an update was lost"
    longest = max(max(one, default=0.0) for one in took)
    rate = sum(done) * 60 / seconds
    return f"{rate:.0f} commits a minute, {min(done)} to {max(done)} each, longest {longest:.1f} s"


if __name__ == "__main__":
    if sys.argv[1:2] == ["writer"]:
        write(*sys.argv[2:4], float(sys.argv[4]))
    else:
        with tempfile.TemporaryDirectory() as directory:
            given = [*sys.argv[1:], *["6", "30", ""][len(sys.argv) - 1 :]]
            place = given[2] or f"sqlite:///{directory}/m.db"
            print(measure(int(given[0]), float(given[1]), place, str(Path(directory) / "w")))
