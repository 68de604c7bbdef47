"""Options with which the tests' many short Sparks start in a third of the time.

The JVM's quick compiler alone takes half of it; an archive of classes, made once for an environment
by calling this module, half of what is left.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOME = Path(sys.prefix) / ".spark-archive"
# With the quick compiler alone Java keeps 48 MB of compiled code, which the Spark of a suite has
# filled after two minutes: from then on it would throw code away, and compile it again.
QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"


def submit_options() -> str:
    """What SPARK_SUBMIT_OPTS gives to every JVM of a driver."""
    archives = [f"-XX:SharedArchiveFile={path}" for path in HOME.glob("hivesql/spark-*.jsa")]
    # A JVM whose jars are others goes on without it.
    quiet = ["-Xshare:auto", "-Xlog:cds*=off", "-Xlog:class+path=off"]
    return " ".join((QUICK, *archives[:1], *(quiet if archives else ())))


def make_archive() -> None:
    """Make it as a user does; a test looks at what came of that."""
    environment = {**os.environ, "SPARK_SUBMIT_OPTS": QUICK, "XDG_CACHE_HOME": str(HOME)}
    command = [sys.executable, "-m", "hivesql_repl", "doctor", "--speed-up"]
    subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    make_archive()
