"""An HDFS on this machine: a name node and a data node in one process."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from programs import free_port

POM = Path(__file__).parents[1] / "interop" / "hdfs" / "pom.xml"
JARS = Path(pyspark.__file__).parent / "jars"


def hadoop_jars(place: Path) -> str:
    """The class path of Hadoop's servers; needs Maven. Their clients' classes are Spark's own."""
    version = next(JARS.glob("hadoop-client-api-*.jar")).stem.rpartition("-")[2]
    subprocess.run(
        ["mvn", "-q", "-B", "-f", POM, "dependency:copy-dependencies",
         f"-Dhadoop.version={version}", f"-DoutputDirectory={place}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return os.pathsep.join([*map(str, sorted(place.glob("*.jar"))), f"{JARS}/*"])


@contextmanager
def hdfs_cluster(place: Path) -> Iterator[str]:
    """Its URI. Jars, logs and blocks go into ``place``."""
    port = free_port()
    path = hadoop_jars(place / "jars")
    details = place / "details.json"
    with (place / "hdfs.log").open("w") as log:
        process = subprocess.Popen(
            ["java", "-Xmx512m", "-cp", path, "org.apache.hadoop.test.MiniDFSClusterManager",
             "-format", "-datanodes", "1", "-nnport", str(port), "-writeDetails", str(details)],
            stdout=log, stderr=log, cwd=place,
        )  # fmt: skip
        try:
            for _ in range(600):
                if details.exists() and details.stat().st_size:
                    break
                assert process.poll() is None, (place / "hdfs.log").read_text()[-2000:]
                time.sleep(0.2)
            yield f"hdfs://localhost:{port}"
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(60)
