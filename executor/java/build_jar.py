"""Compile the Java classes that run inside Spark into the jar that the package carries.

The jars that javac needs are those of an installed PySpark. Nothing but Python's own library is
used, since the build hook runs this before any dependency is there.

Usage:
    python executor/java/build_jar.py                   compile, unless the jar is of these sources
    python executor/java/build_jar.py --line 3.5        also for a line that is not installed
    python executor/java/build_jar.py --requires [3.5]  print the PySpark that is asked for
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from importlib.metadata import Distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "executor/java/main"
# What differs between lines of Spark, in folders that are named by the line from which on it is so.
SHIMS = ROOT / "executor/java/shims"
JARS = ROOT / "executor/hivesql_executor/spark"
# PySpark's own Java, the lowest that runs the classes.
RELEASE = "17"
# Spark 3.5 has one kind of session, and PySpark 3.5 the collections of Scala 2.12.
_OTHERWISE_BEFORE_4 = (
    (r"^import scala\.collection\.immutable\.(Seq|IndexedSeq);", r"import scala.collection.\1;"),
    (r"\borg\.apache\.spark\.sql\.classic\.", "org.apache.spark.sql."),
)
_MANIFEST = "META-INF/MANIFEST.MF"
# The same sources give the same jar, byte by byte.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def required_pyspark() -> str:
    """Return the requirement of PySpark that pyproject.toml names."""
    # Python 3.10 reads no TOML by itself.
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    requirement = re.search(r'^  "(pyspark[^"]*)",$', text, re.MULTILINE)
    if requirement is None:
        raise RuntimeError("pyproject.toml names no PySpark among its dependencies")
    return requirement[1]


def fetched_pyspark(line: str) -> Distribution:
    """Find the PySpark of a line, which is fetched from the package index where it is missing."""
    installed = installed_pyspark()
    if installed is not None and _line(installed) == line:
        return installed
    place = ROOT / "build" / f"pyspark-{line}"
    if not place.is_dir():
        place.parent.mkdir(exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        with tempfile.TemporaryDirectory(dir=place.parent) as aside:
            # Half of a PySpark must not look like a whole one.
            subprocess.run([*fetch, f"{aside}/new", f"pyspark=={line}.*"], check=True)
            Path(aside, "new").rename(place)
    return next(iter(Distribution.discover(name="pyspark", path=[str(place)])))


def _line(pyspark: Distribution) -> str:
    return ".".join(pyspark.version.split(".")[:2])


def installed_pyspark() -> Distribution | None:
    """Find the PySpark of this interpreter's environment; None if there is none with jars.

    An isolated build hides the environment that it builds for, but runs its interpreter.
    """
    paths = [*sys.path, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    for distribution in Distribution.discover(name="pyspark", path=paths):
        if Path(str(distribution.locate_file("pyspark/jars"))).is_dir():
            return distribution
    return None


def current_jars() -> list[Path]:
    """List the jars that were made of the sources as they are now."""
    jars = sorted(JARS.glob("hivesql-spark-*.jar"))
    return [jar for jar in jars if _digest_of(jar) == _digest(jar.stem.rpartition("-")[2])]


def build_jar(line: str | None = None) -> Path:
    """Make the jar for a line of PySpark, else for that of the installed one, unless it is there.

    Raises RuntimeError where PySpark or a JDK is missing, or the sources do not compile.
    """
    pyspark = fetched_pyspark(line) if line else installed_pyspark()
    if pyspark is None:
        raise RuntimeError(
            f"HiveSQL is compiled against PySpark: pip install '{required_pyspark()}'"
        )
    line = _line(pyspark)
    jar = JARS / f"hivesql-spark-{line}.jar"
    if jar not in current_jars():
        with tempfile.TemporaryDirectory(dir=JARS, prefix=".jar-") as place:
            classes = Path(place) / "classes"
            _compile(line, Path(str(pyspark.locate_file("pyspark/jars"))), classes)
            new_jar = Path(place) / jar.name
            _pack(line, classes, new_jar)
            # Others may be starting Spark with the one that was there.
            new_jar.replace(jar)
    return jar


def _compile(line: str, jars: Path, classes: Path) -> None:
    sources = _sources(line)
    if _number(line) < (4,):
        sources = {
            name: _rewritten(source, classes.parent / name) for name, source in sources.items()
        }
    options = ["--release", RELEASE, "-nowarn", "-proc:none", "-encoding", "UTF-8"]
    compilation = subprocess.run(
        [find_javac(), *options, "-cp", f"{jars}/*", "-d", str(classes),
         *map(str, sources.values())],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if compilation.returncode:
        raise RuntimeError(
            f"the Java classes of HiveSQL do not compile:\n{compilation.stdout}{compilation.stderr}"
        )


def find_javac() -> str:
    """Return the compiler of a JDK; RuntimeError, with the command that installs one, without."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("javac", path=f"{home}/bin") if home else shutil.which("javac")
    if program is None:
        where = f"JAVA_HOME={home} has no javac" if home else "there is no javac"
        raise RuntimeError(
            f"{where}: building HiveSQL needs a JDK {RELEASE} ({_installation()}); using a built "
            "wheel needs a JRE only"
        )
    return program


def _installation() -> str:
    """Return the command that installs a JDK on this system."""
    rights = "" if os.geteuid() == 0 else "sudo "
    commands = {
        "apt-get": f"{rights}apt-get install openjdk-{RELEASE}-jdk-headless",
        "dnf": f"{rights}dnf install java-{RELEASE}-openjdk-devel",
        "brew": f"brew install openjdk@{RELEASE}",
    }
    known = (command for program, command in commands.items() if shutil.which(program))
    return next(known, f"https://adoptium.net/temurin/releases?version={RELEASE}")


def _sources(line: str) -> dict[str, Path]:
    """Return the files of the classes for a line of Spark, by the names of the files.

    Of those that differ between lines it has the ones of its own line, or of the nearest before.
    """
    sources: dict[str, Path] = {}
    shims = [shim for shim in SHIMS.iterdir() if _number(shim.name) <= _number(line)]
    for folder in (SOURCES, *sorted(shims, key=lambda shim: _number(shim.name))):
        for source in sorted(folder.rglob("*.java")):
            sources[source.relative_to(folder).as_posix()] = source
    return sources


def _rewritten(source: Path, target: Path) -> Path:
    text = source.read_text(encoding="utf-8")
    for pattern, name in _OTHERWISE_BEFORE_4:
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


def _number(line: str) -> tuple[int, ...]:
    return tuple(map(int, line.split(".")))


def _digest(line: str) -> str:
    digest = hashlib.sha256(f"{RELEASE} {_OTHERWISE_BEFORE_4}".encode())
    for name, source in _sources(line).items():
        digest.update(f"\n{name}\n".encode() + source.read_bytes())
    return digest.hexdigest()


def _digest_of(jar: Path) -> str | None:
    try:
        with zipfile.ZipFile(jar) as archive:
            lines = archive.read(_MANIFEST).decode().splitlines()
    except (OSError, KeyError, zipfile.BadZipFile):
        return None
    return "".join(line.partition("Sources-Digest: ")[2] for line in lines)


def _pack(line: str, classes: Path, jar: Path) -> None:
    manifest = f"Manifest-Version: 1.0\nSources-Digest: {_digest(line)}\n\n"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), manifest)
        for path in sorted(classes.rglob("*.class")):
            name = zipfile.ZipInfo(path.relative_to(classes).as_posix(), _EPOCH)
            archive.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--requires"]:
        requirements = [f"pyspark=={line}.*" for line in sys.argv[2:]] or [required_pyspark()]
        sys.stdout.write(requirements[0] + "\n")
    else:
        try:
            if sys.argv[1:] == ["--find-javac"]:
                find_javac()
            else:
                build_jar(sys.argv[2] if sys.argv[1:2] == ["--line"] else None)
        except RuntimeError as error:
            sys.exit(str(error))
