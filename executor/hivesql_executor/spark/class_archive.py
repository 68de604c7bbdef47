"""An archive of the classes that Spark loads when it starts: the next JVM maps it into memory.

Java calls it application class data sharing (AppCDS). The JVM checks by itself that the archive
fits its build and the jars, and else goes on without; the archive's name keeps those of several
Javas and Sparks apart.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import platformdirs
import pyspark

from hivesql_executor.jvm import java_program
from hivesql_planner.errors import ExecutionError

# A JVM that cannot use the archive, as its class path is another, would say so on its output, amid
# a script's rows: by the tag "cds" alone, or with others.
_QUIET = "-Xshare:auto -Xlog:cds*=off -Xlog:class+path=off -XX:+IgnoreUnrecognizedVMOptions"
_WORK = """
import sys
from pathlib import Path
import hivesql

home, option = sys.argv[1:]
settings = {"spark.master": "local[2]", "spark.driver.defaultJavaOptions": option}
with hivesql.connect(f"sqlite:///{home}/m.db", f"{home}/w", settings=settings) as session:
    session.sql('''
        CREATE TRANSACTIONAL TABLE t (a INT, b STRING, c DECIMAL(8,2), d TIMESTAMP)
        STORED AS ORC;
        INSERT INTO t SELECT *, 1.5, '2024-01-01 00:00:00'
            FROM (SELECT posexplode(split('a b c d', ' '))) x;
        UPDATE t SET b = upper(b) WHERE a IN (SELECT max(a) FROM t);
        MERGE INTO t USING (SELECT 1 AS a) s ON t.a = s.a WHEN MATCHED THEN DELETE;
        SELECT x.b, sum(x.c) FROM t x JOIN t y ON x.a = y.a GROUP BY x.b ORDER BY x.b;
        ALTER TABLE t COMPACT 'major'
    ''')
    context = session.runtime.spark().sparkContext
gateway = context._gateway
gateway.shutdown()
gateway.proc.stdin.close()
# The archive is written while the JVM ends.
gateway.proc.wait()
"""


def archive_options() -> dict[str, str]:
    """Tell what lets Spark's driver use this machine's archive; empty where there is none."""
    place = find_archive()
    if place is None:
        return {}
    return {"spark.driver.defaultJavaOptions": f"-XX:SharedArchiveFile={place} {_QUIET}"}


def find_archive() -> Path | None:
    """Return the archive for this Java and this Spark, unless it is missing or damaged."""
    for archive in _directory().glob(f"spark-{_key()}-*.jsa"):
        # The JVM checks what the archive is for, but would die of one that was cut off.
        if archive.stat().st_size == int(archive.stem.rpartition("-")[2]):
            return archive
    return None


def make_archive(scratch: Path) -> Path:
    """Run Spark once and keep the classes that it has loaded; takes half a minute.

    ExecutionError when Java writes no archive. ``scratch`` is an empty directory.
    """
    home = _directory()
    home.mkdir(parents=True, exist_ok=True)
    fresh = home / f"fresh-{os.getpid()}.jsa"
    command = [sys.executable, "-c", _WORK, str(scratch), f"-XX:ArchiveClassesAtExit={fresh}"]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
        if completed.returncode or not fresh.exists():
            # A traceback ends with the error.
            problem = (completed.stderr.strip() or completed.stdout.strip()).rpartition("\n")[2]
            raise ExecutionError(f"Java wrote no archive of classes: {problem}")
        place = home / f"spark-{_key()}-{fresh.stat().st_size}.jsa"
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(place)
    finally:
        fresh.unlink(missing_ok=True)
    for other in home.glob("spark-*.jsa"):
        if other != place:
            # Each takes 150 MB, and those of former Javas and Sparks are of no use.
            other.unlink(missing_ok=True)
    return place


def _directory() -> Path:
    return Path(platformdirs.user_cache_dir("hivesql"))


def _key() -> str:
    """Tells apart builds of Java and of Spark."""
    java = _java()
    release = java.parent.parent / "release" if java else None
    build = release.read_bytes() if release and release.exists() else b""
    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    jars = Path(home) / "jars"
    changed = jars.stat().st_mtime_ns if jars.exists() else 0
    text = f"{java} {jars} {changed} {pyspark.__version__}".encode()
    return hashlib.sha256(text + build).hexdigest()[:16]


def _java() -> Path | None:
    path = shutil.which(java_program())
    return Path(path).resolve() if path else None
