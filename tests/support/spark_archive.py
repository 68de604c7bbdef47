"""Options with which the tests' many short Sparks start in a third of the time.

The JVM's quick compiler alone takes half of it; an archive of classes, made once for an environment
by calling this module, half of what is left.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

_HOME = Path(sys.prefix) / ".spark-archive"
QUICK = "-XX:TieredStopAtLevel=1"


def submit_options() -> str:
    """What SPARK_SUBMIT_OPTS gives to every JVM of a driver."""
    archives = [f"-XX:SharedArchiveFile={path}" for path in _HOME.glob("hivesql/spark-*.jsa")]
    # A JVM whose jars are others goes on without it.
    quiet = ["-Xshare:auto", "-Xlog:cds=off", "-Xlog:class+path=off"]
    return " ".join((QUICK, *archives[:1], *(quiet if archives else ())))


def _main() -> None:
    os.environ["SPARK_SUBMIT_OPTS"] = QUICK
    os.environ["XDG_CACHE_HOME"] = str(_HOME)
    from hivesql_executor.spark.class_archive import make_archive

    with tempfile.TemporaryDirectory() as scratch:
        make_archive(Path(scratch))


if __name__ == "__main__":
    _main()
