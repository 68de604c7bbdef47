"""Compile the Java classes that run inside Spark into the jar that the package carries.

The jars that javac needs are those of an installed PySpark. Nothing but Python's own library is
used, since the build hook runs this before any dependency is there.

Usage:
    python executor/java/build_jar.py             compile, where the jar is not of these sources
    python executor/java/build_jar.py --requires  print the PySpark that the project asks for
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from importlib.metadata import Distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "executor/java/main"
JARS = ROOT / "executor/hivesql_executor/spark"
# PySpark's own Java, the lowest that runs the classes.
RELEASE = "17"
_MANIFEST = "META-INF/MANIFEST.MF"
# The same sources give the same jar, byte by byte.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def required_pyspark() -> str:
    """Return the requirement of PySpark that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return next(item for item in project["dependencies"] if item.startswith("pyspark"))


def installed_pyspark() -> Distribution | None:
    """Find the PySpark of this interpreter's environment; None if there is none with jars.

    An isolated build hides the environment that it builds for, but runs its interpreter.
    """
    paths = [*sys.path, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    for found in Distribution.discover(name="pyspark", path=paths):
        if Path(str(found.locate_file("pyspark/jars"))).is_dir():
            return found
    return None


def current_jars() -> list[Path]:
    """List the jars that were made of the sources as they are now."""
    digest = _digest()
    return [jar for jar in sorted(JARS.glob("hivesql-spark-*.jar")) if _digest_of(jar) == digest]


def build_jar() -> Path:
    """Make the jar for the line of the installed PySpark, unless it is there.

    Raises RuntimeError where PySpark or a JDK is missing, or the sources do not compile.
    """
    pyspark = installed_pyspark()
    if pyspark is None:
        raise RuntimeError(
            f"HiveSQL is compiled against PySpark: pip install '{required_pyspark()}'"
        )
    line = ".".join(pyspark.version.split(".")[:2])
    jar = JARS / f"hivesql-spark-{line}.jar"
    if jar not in current_jars():
        with tempfile.TemporaryDirectory(dir=JARS, prefix=".jar-") as place:
            classes = Path(place) / "classes"
            _compile(Path(str(pyspark.locate_file("pyspark/jars"))), classes)
            made = Path(place) / jar.name
            _pack(classes, made)
            # Others may be starting Spark with the one that was there.
            made.replace(jar)
    return jar


def _compile(jars: Path, classes: Path) -> None:
    options = ["--release", RELEASE, "-nowarn", "-proc:none", "-encoding", "UTF-8"]
    done = subprocess.run(
        [_javac(), *options, "-cp", f"{jars}/*", "-d", str(classes), *map(str, _sources())],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(
            f"the Java classes of HiveSQL do not compile:\n{done.stdout}{done.stderr}"
        )


def _javac() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("javac", path=f"{home}/bin") if home else shutil.which("javac")
    if found is None:
        where = f"JAVA_HOME={home} has no javac" if home else "there is no javac"
        raise RuntimeError(
            f"{where}: building HiveSQL needs a JDK {RELEASE} (Debian: apt-get install "
            f"openjdk-{RELEASE}-jdk-headless); using a built wheel needs a JRE only"
        )
    return found


def _sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def _digest() -> str:
    digest = hashlib.sha256(RELEASE.encode())
    for source in _sources():
        digest.update(f"\n{source.relative_to(SOURCES)}\n".encode() + source.read_bytes())
    return digest.hexdigest()


def _digest_of(jar: Path) -> str | None:
    try:
        with zipfile.ZipFile(jar) as archive:
            lines = archive.read(_MANIFEST).decode().splitlines()
    except (OSError, KeyError, zipfile.BadZipFile):
        return None
    return "".join(line.partition("Sources-Digest: ")[2] for line in lines)


def _pack(classes: Path, jar: Path) -> None:
    manifest = f"Manifest-Version: 1.0\nSources-Digest: {_digest()}\n\n"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), manifest)
        for path in sorted(classes.rglob("*.class")):
            name = zipfile.ZipInfo(path.relative_to(classes).as_posix(), _EPOCH)
            archive.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    if sys.argv[1:] == ["--requires"]:
        sys.stdout.write(required_pyspark() + "\n")
    else:
        try:
            build_jar()
        except RuntimeError as error:
            sys.exit(str(error))
