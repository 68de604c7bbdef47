"""Hive's JDBC drivers, of Maven's repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

from interop.hive import PROJECT

_DRIVER = "org.apache.hive:hive-jdbc:{version}:jar:standalone"


def fetch_driver(version: str) -> Path:
    """The driver and all that it needs in one jar of 48 or 73 MB, fetched once."""
    place = PROJECT / "target" / "jdbc"
    jar = place / f"hive-jdbc-{version}-standalone.jar"
    if not jar.exists():
        copy = ["mvn", "-B", "-q", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
                f"-Dartifact={_DRIVER.format(version=version)}",
                f"-DoutputDirectory={place}"]  # fmt: skip
        subprocess.run(copy, check=True, capture_output=True)
    return jar
