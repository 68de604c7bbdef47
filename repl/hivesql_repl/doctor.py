"""`hivesql doctor`: is everything here that HiveSQL needs, and if not, what helps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hivesql import HiveSqlError, Session, connect
from hivesql_executor.spark.class_archive import find_archive, make_archive
from hivesql_repl.arguments import add_places, pairs
from hivesql_repl.configuration import Profile, default_path, read_profile

_OLDEST_JAVA = 17
_LITTLE_SPACE = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; ``help`` says what to do unless it is fine."""

    state: Literal["ok", "warning", "failed"]
    subject: str
    message: str
    help: str = ""


def examine(options: Profile, *, profile_problem: str | None, spark: bool) -> Iterator[Finding]:
    """Look at one thing after the other; ``spark`` also starts Spark, which takes seconds."""
    yield _python()
    java = _java()
    yield java
    if profile_problem:
        yield Finding("failed", "configuration", profile_problem, "correct the file")
    else:
        place = default_path()
        answer = str(place) if place.exists() else f"none ({place} does not exist)"
        yield Finding("ok", "configuration", answer)
    try:
        session = connect(options.metastore, options.warehouse, settings=options.settings)
    except HiveSqlError as error:
        yield Finding("failed", "metastore", str(error), "check --metastore, and that it runs")
        return
    except Exception as error:  # noqa: BLE001 - whatever the driver raises is the finding
        answer = str(error).splitlines()[0]
        yield Finding("failed", "metastore", answer, "check --metastore, and that it runs")
        return
    starts = spark and java.state != "failed"
    with session:
        yield _guarded("metastore", lambda: _metastore(session))
        yield _guarded("warehouse", lambda: _warehouse(session, reachable=starts))
        if starts:
            yield _guarded("Spark", lambda: _spark(session))


def _guarded(subject: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        return Finding("failed", subject, str(error).splitlines()[0], "see the message")


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("ok", "Python", f"{version} at {sys.executable}")


def _java() -> Finding:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    advice = f"install a JDK {_OLDEST_JAVA} and set JAVA_HOME, or put java on the PATH"
    if shutil.which(program) is None:
        return Finding("failed", "Java", f"{program} is not there", advice)
    completed = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)(?:\.(\d+))?[^"]*"', completed.stderr)
    if match is None:
        return Finding("failed", "Java", f"{program} does not tell its version", advice)
    major = int(match[2] or 0) if match[1] == "1" else int(match[1])
    if major < _OLDEST_JAVA:
        return Finding("failed", "Java", f"{program} is Java {major}", advice)
    return Finding("ok", "Java", f"{major} at {shutil.which(program)}")


def _metastore(session: Session) -> Finding:
    store = session.runtime.metastore
    databases = store.databases()
    tables = sum(len(store.tables(name)) for name in databases)
    open_txns = sum(row.state == "open" for row in store.transactions())
    answer = (
        f"{len(databases)} databases, {tables} tables, {open_txns} open transactions, "
        f"{store.version()}"
    )
    if session.cache_counters is not None:
        answer += f", cache on (notification log at event {store.keep_log()})"
    return Finding("ok", "metastore", answer)


def _warehouse(session: Session, *, reachable: bool) -> Finding:
    location = session.runtime.metastore.database("default").location
    place = location.removeprefix("file://").removeprefix("file:")
    if "://" in place:
        if not reachable:
            answer = f"{location} (not on this machine: not looked into)"
            return Finding(
                "warning", "warehouse", answer, "run doctor with Spark, which reaches it"
            )
        there = session.runtime.files(location).exists(location)
        return Finding("ok", "warehouse", location if there else f"{location}, not made yet")
    path = Path(place)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path):
            pass
    except OSError as error:
        return Finding(
            "failed", "warehouse", f"{path} cannot be written: {error.strerror}",
            "give yourself the right to write there, or choose another --warehouse",
        )  # fmt: skip
    free = shutil.disk_usage(path).free
    answer = f"{path}, {free / (1 << 30):.1f} GiB free"
    if free < _LITTLE_SPACE:
        return Finding("warning", "warehouse", answer, "make room: Spark's jobs spill to disk too")
    return Finding("ok", "warehouse", answer)


def _spark(session: Session) -> Finding:
    spark = session.runtime.spark()
    count = spark.range(10).count()
    assert count == 10
    answer = f"{spark.version} at {spark.sparkContext.master}"
    if find_archive() is None:
        return Finding("ok", "Spark", answer, "hivesql doctor --speed-up makes it start faster")
    return Finding("ok", "Spark", answer)


def _speed_up() -> Finding:
    with tempfile.TemporaryDirectory() as scratch:
        archive = make_archive(Path(scratch))
    answer = f"{archive}, {archive.stat().st_size >> 20} MiB; delete it to undo"
    return Finding("ok", "speed-up", answer)


def run_doctor(argv: Sequence[str]) -> int:
    """Print the findings; 1 when something is missing."""
    import argparse

    from hivesql_repl.output.console import Screen

    parser = argparse.ArgumentParser(prog="hivesql doctor", description=examine.__doc__)
    add_places(parser)
    parser.add_argument("--hiveconf", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--no-spark", action="store_true", help="do not start Spark")
    parser.add_argument(
        "--speed-up",
        action="store_true",
        help="keep Spark's classes in the user's cache (150 MB), so that it starts faster",
    )
    arguments = parser.parse_args(argv)
    problem, profile = None, Profile()
    try:
        profile = read_profile(arguments.config, arguments.profile)
    except ValueError as error:
        problem = str(error)
    settings = {**profile.settings, **pairs(arguments.hiveconf)}
    if master := arguments.master or profile.master:
        settings["spark.master"] = master
    options = Profile(
        metastore=arguments.metastore or profile.metastore,
        warehouse=arguments.warehouse or profile.warehouse,
        settings=settings,
    )
    console = Screen(highlight=False, soft_wrap=True)
    failed = False
    if arguments.speed_up:
        findings = iter([_guarded("speed-up", _speed_up)])
    else:
        findings = examine(options, profile_problem=problem, spark=not arguments.no_spark)
    for finding in findings:
        color = {"ok": "green", "warning": "yellow", "failed": "red"}[finding.state]
        console.print(f"[{color}]{finding.state:<8}[/] {finding.subject:<14}", end="")
        console.print(finding.message, markup=False)
        if finding.help:
            console.print(f"{'':<24}{finding.help}", markup=False)
        failed = failed or finding.state == "failed"
    return 1 if failed else 0
