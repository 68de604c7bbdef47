"""Real Apache Hive as a Python function: read a directory, or run a script.

Both start the JVM of ``hive/hive-local``: Hive's own OrcInputFormat without a metastore for
``read``, a whole embedded Hive (Derby metastore, Tez in local mode) for ``run``.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from programs import free_port

PROJECT = Path(__file__).parent / "hive"
HIVE3 = PROJECT / "hms3"
HIVESERVER2 = PROJECT / "hs2"
LAUNCHER = PROJECT / "hive-local"
RUN_SECONDS = 1200
READ_SECONDS = 600


class HiveMissing(RuntimeError):
    """Real Hive cannot be built or started here."""


class Row(NamedTuple):
    """A live row: (write id, bucket property, row number), the file's columns, partition texts."""

    row_id: tuple[int, int, int]
    values: tuple[Any, ...]
    partition: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """A file system that Hive reaches by more jars, and Hadoop's settings."""

    jars: Sequence[Path]
    settings: Mapping[str, str]

    def options(self) -> list[str]:
        """The launcher's arguments."""
        return [word for key, value in self.settings.items() for word in ("-c", f"{key}={value}")]


@dataclass(slots=True)
class Block:
    """One statement of a script: the lines it printed, or why it failed."""

    statement: str
    columns: tuple[str, ...] = ()
    lines: list[str] = field(default_factory=list)
    error: str | None = None

    @property
    def rows(self) -> list[tuple[tuple[int, int, int], tuple[str, ...]]]:
        """Of a ``SELECT row__id, …``: row ids and the other columns as Hive's text."""
        split = (line.split("\t") for line in self.lines)
        return [(row_id(first), tuple(rest)) for first, *rest in split]


def row_id(text: str) -> tuple[int, int, int]:
    """The triple that sorts, of Hive's JSON text."""
    parts = json.loads(text)
    return parts["writeid"], parts["bucketid"], parts["rowid"]


@functools.cache
def build(project: Path = PROJECT) -> Path:
    """Build Hive, or a project beside it, once per run if sources are newer; the path to call."""
    for program, package in (("java", "a JDK 17"), ("mvn", "Maven 3.8 or later")):
        if shutil.which(program) is None:
            raise HiveMissing(
                f"`{program}` is not on the PATH, so real Hive cannot run. "
                f"Install {package}, or leave the interop suite out (`make fast`)."
            )
    words = ["build"] if project == PROJECT else [project.name, "build"]
    name = "hive-local" if project == PROJECT else project.name
    jar = project / "target" / f"{name}.jar"
    sources = [project / "pom.xml", *(project / "src").rglob("*.*")]
    newest = max(source.stat().st_mtime for source in sources)
    if not jar.exists() or jar.stat().st_mtime < newest:
        done = subprocess.run([LAUNCHER, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise HiveMissing(
                f"Maven could not build {project} (exit {done.returncode}). The first build "
                f"downloads Hive and needs the network:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            )
    return LAUNCHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What to read: a table or partition directory, with a snapshot.

    Write ids above ``high_watermark`` and those in ``aborted`` or ``open`` are unseen. ``schema``
    is ``struct<name:type,…>``; without it the first file's columns are read.
    """

    directory: Path | str
    high_watermark: int | None = None
    aborted: Collection[int] = ()
    open: Collection[int] = ()
    schema: str | None = None

    def options(self) -> list[str]:
        """The launcher's arguments."""
        options: list[str] = []
        if self.high_watermark is not None:
            options += ["-w", str(self.high_watermark)]
        if self.aborted:
            options += ["-x", ",".join(map(str, self.aborted))]
        if self.open:
            options += ["-o", ",".join(map(str, self.open))]
        if self.schema:
            options += ["-s", self.schema]
        return [*options, str(self.directory)]


@contextmanager
def metastore(
    work: Path,
    *,
    hive3: bool = False,
    keystore: Path | None = None,
    log: bool = False,
    settings: Mapping[str, str] | None = None,
    krb5: Path | None = None,
    conf: Path | None = None,
) -> Iterator[str]:
    """A Hive Metastore that works in the directory, for as long as it is used; its address.

    With a ``keystore`` (PKCS12, password hivelocal) it takes connections with TLS only. That of
    Hive 3 always keeps a notification log, the other one with ``log``. ``settings`` are more of
    Hive's own, ``krb5`` is the krb5.conf that it reads, ``conf`` has Hadoop's core-site.xml.
    """
    launcher, kind = build(HIVE3 if hive3 else PROJECT), "hms3" if hive3 else "hms"
    port = free_port()
    keys = {"HIVE_LOCAL_HMS_KEYSTORE": str(keystore)} if keystore else {}
    keys |= {"HIVE_LOCAL_HMS_LOG": "on"} if log else {}
    lines = [f"{key}={value}" for key, value in (settings or {}).items()]
    keys |= {"HIVE_LOCAL_HMS_SETTINGS": "\n".join(lines)} if lines else {}
    keys |= {"HIVE_LOCAL_KRB5": str(krb5)} if krb5 else {}
    keys |= {"HIVE_LOCAL_CLASSPATH": str(conf)} if conf else {}
    arguments = [launcher, kind, "start", str(port), str(work)]
    try:
        # Whatever ends this while it starts ends its JVM too.
        subprocess.run(arguments, check=True, timeout=120, env={**os.environ, **keys})
        yield f"thrift://127.0.0.1:{port}"
    finally:
        subprocess.run([launcher, kind, "stop", str(work)], check=True)


@contextmanager
def hiveserver2(work: Path) -> Iterator[int]:
    """HiveServer2 of Hive 4.1 without SASL, in a directory, for as long as it is used; its port."""
    build()
    launcher, port = build(HIVESERVER2), free_port()
    work.mkdir(parents=True, exist_ok=True)
    try:
        start = [launcher, "hs2", "start", str(port), str(work)]
        subprocess.run(start, check=True, timeout=120, cwd=work)
        yield port
    finally:
        subprocess.run([launcher, "hs2", "stop", str(work)], check=True)


def read(
    directory: Path | str, *, aborted: Collection[int] = (), storage: Storage | None = None
) -> list[Row]:
    """The live rows below a table or partition directory, sorted by partition and row id."""
    return read_all([Reading(directory=directory, aborted=aborted)], storage)[0]


def read_all(readings: Sequence[Reading], storage: Storage | None = None) -> list[list[Row]]:
    """The live rows of each, sorted by partition and row id; starts Hive once."""
    words = [word for reading in readings for word in reading.options()]
    options = storage.options() if storage else []
    done = _launch(["read", *options, *words], READ_SECONDS, jars=storage.jars if storage else ())
    found: list[list[Row]] = []
    partition: tuple[str, ...] = ()
    for line in _lines(done.stdout):
        if line.startswith("### "):
            found.append([])
        elif line.startswith("# "):
            parts = (part.partition("=")[2] for part in line[2:].split("/") if part)
            partition = tuple(map(unquote, parts))
        elif not line.startswith("## "):
            first, *rest = line.split("\t")
            found[-1].append(Row(row_id(first), _values(rest), partition))
    if done.returncode:
        broken = readings[len(found) - 1].directory
        raise AssertionError(f"Hive cannot read {broken}:\n{done.stderr[-4000:]}")
    return [sorted(rows, key=lambda row: (row.partition, row.row_id)) for rows in found]


def _values(texts: Sequence[str]) -> tuple[Any, ...]:
    """The columns of one of the reader's lines, all at once where each is JSON."""
    try:
        return tuple(json.loads(f"[{','.join(texts)}]"))
    except json.JSONDecodeError:
        return tuple(map(_value, texts))


def _value(text: str) -> Any:
    """A column of the reader's lines: JSON, but for Hive's map keys that are no texts."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(re.sub(r"([{,])([^{},\[\]\":]+):", r'\1"\2":', text))


def run(
    script: str, workdir: Path, *, settings: Sequence[str] = (), storage: Storage | None = None
) -> list[Block]:
    """Run statements and directives in the embedded Hive of ``workdir``; one block for each.

    The warehouse is ``workdir/warehouse``. A failing statement raises AssertionError unless the
    script marks it with ``!error``; its block then carries the message.
    """
    done = _run(script, workdir, settings, storage)
    blocks = parse_output(done.stdout)
    if done.returncode:
        failed = [f"{block.statement}\n  {block.error}" for block in blocks if block.error]
        told = "\n".join(failed) or done.stderr[-4000:]
        raise AssertionError(f"Hive failed (exit {done.returncode}) in {workdir}:\n{told}")
    return blocks


def output(script: str, workdir: Path, *, settings: Sequence[str] = ()) -> str:
    """What Hive prints for a script in which statements may fail."""
    return _run(script, workdir, settings).stdout


def _run(
    script: str, workdir: Path, settings: Sequence[str], storage: Storage | None = None
) -> subprocess.CompletedProcess[str]:
    workdir.mkdir(parents=True, exist_ok=True)
    path = workdir / "script.sql"
    path.write_text(script, encoding="utf-8")
    options = [word for setting in settings for word in ("-c", setting)]
    options += storage.options() if storage else []
    arguments = ["run", *options, str(workdir.absolute()), str(path.absolute())]
    return _launch(arguments, RUN_SECONDS, workdir, jars=storage.jars if storage else ())


def parse_output(text: str) -> list[Block]:
    """The blocks that ``hive-local run`` printed; golden ``output.txt`` files have this form."""
    blocks: list[Block] = []
    for line in _lines(text):
        if line.startswith(">> "):
            blocks.append(Block(line[3:]))
        elif line.startswith("## "):
            blocks[-1].columns = tuple(line[3:].split("\t"))
        elif line.startswith("-- ERROR "):
            blocks[-1].error = line[9:]
        elif not re.match(r"-- ok [\d.]+s$", line):
            blocks[-1].lines.append(line)
    return blocks


def _lines(text: str) -> list[str]:
    # Values may hold U+0085 and the like, which splitlines() would break at.
    return text.split("\n")[:-1]


def _launch(
    arguments: list[str], seconds: int, workdir: Path | None = None, *, jars: Sequence[Path] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [build(), *arguments],
        cwd=workdir,  # Tez leaves its cache where it was started
        env={**os.environ, "HIVE_LOCAL_CLASSPATH": ":".join(map(str, jars))},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )
