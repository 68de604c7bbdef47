"""`hivesql doctor`: is everything here that HiveSQL needs, and if not, what helps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hivesql import HiveSqlError, Session, connect
from hivesql.connections import missing_metastore
from hivesql.sessions.hive_site import METASTORE_ADDRESSES, site_settings
from hivesql_executor.checks.executors import observe_executors
from hivesql_executor.checks.finding import Observation
from hivesql_executor.checks.warehouse import observe_activity, observe_tables
from hivesql_executor.files.locations import complete_location
from hivesql_executor.hadoop_user import problem_of_user
from hivesql_executor.jvm import java_program
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_executor.metastore.opening import THRIFT
from hivesql_executor.spark.class_archive import find_archive, make_archive
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.errors import ExecutionError
from hivesql_planner.settings.settings import Settings
from hivesql_repl.arguments import add_connection, command_parser, with_flags
from hivesql_repl.configuration import Profile, default_path, read_profile

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files
    from hivesql_executor.runtime import Runtime

_OLDEST_JAVA = 17
_ELSEWHERE = re.compile(r"[A-Za-z][\w+.-]*:")
"""How places begin that are not on this machine's disks."""
_SPARK_FAILED = (
    "what Java has printed above says why: look at --master, spark.jars and other settings of Spark"
)
_LITTLE_SPACE = 1 << 30


def examine(
    options: Profile,
    place: str | None = None,
    *,
    profile_problem: str | None,
    spark: bool,
    every_table: bool = False,
) -> Iterator[Observation]:
    """Look at one thing after the other; ``spark`` also starts Spark, which takes seconds.

    ``place`` is looked at instead of the warehouse. ``every_table`` looks for files without an
    owner in all tables, not in some alone.
    """
    yield _python()
    java = _java()
    yield java
    nameless = problem_of_user()
    if spark and nameless:
        yield Observation("failed", "user", nameless, "Spark starts for no user without a name")
    if profile_problem:
        yield Observation("failed", "configuration", profile_problem, "correct the file")
    else:
        file = default_path()
        answer = str(file) if file.exists() else f"none ({file} does not exist)"
        yield Observation("ok", "configuration", answer)
    yield from _all_guarded("login", lambda: _login(options))
    starts = spark and java.state != "failed" and not nameless
    notices: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        try:
            missing = _metastore_to_make(options)
            session = connect(
                f"sqlite:///{scratch}/metastore.db" if missing else options.metastore,
                options.warehouse, settings=options.settings, notify=notices.append,
            )  # fmt: skip
        except HiveSqlError as error:
            # Drivers write of several addresses in several lines.
            yield Observation("failed", "metastore", " ".join(str(error).split()), _help(error))
            return
        with session:
            if missing:
                yield _not_made(missing)
            # That one was made is true of the stand-in alone.
            heard = [notice for notice in notices if scratch not in notice]
            yield from (Observation("warning", "metastore", notice) for notice in heard)
            yield from _look_into(
                session, place, missing=missing is not None, starts=starts, every_table=every_table
            )


def _look_into(
    session: Session, place: str | None, *, missing: bool, starts: bool, every_table: bool
) -> Iterator[Observation]:
    """Look at the metastore, unless it is ``missing``, at the warehouse, and what Spark does."""
    if not missing:
        yield _guarded("metastore", lambda: _metastore(session))
        yield from _all_guarded("metastore", lambda: observe_activity(session.runtime))
    yield from _warehouse(session, place, reachable=starts)
    if not (missing or place) and (starts or _is_local(session)):
        runtime = session.runtime if starts else _without_spark(session.runtime)
        yield from _all_guarded("tables", lambda: observe_tables(runtime, every_table=every_table))
    if starts:
        started = _guarded("Spark", lambda: _spark(session))
        if started.state == "failed":
            # An error of a session sends its user here.
            why = started.message.partition(". Run `hivesql doctor`")[0]
            yield replace(started, message=why, help=_SPARK_FAILED)
            return
        yield started
        yield from _all_guarded("executors", lambda: observe_executors(session.runtime.spark()))


def _metastore_to_make(options: Profile) -> Path | None:
    """Return the file that the first session makes; None where there is one, or none can be."""
    file = missing_metastore(options.metastore, options.settings)
    return file if file is not None and os.access(file.parent, os.W_OK | os.X_OK) else None


def _not_made(file: Path) -> Observation:
    return Observation(
        "warning", "metastore", f"{file} (not there yet: the first session makes it)",
        "one that is elsewhere is named by --metastore, or for good in the configuration file",
    )  # fmt: skip


def _help(error: HiveSqlError) -> str:
    """Most errors say themselves what helps."""
    is_gone = error.code == UNREACHABLE
    return "check --metastore, and that it runs" if is_gone else "see the message"


def _guarded(subject: str, look: Callable[[], Observation]) -> Observation:
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        return _failure(subject, error)


def _all_guarded(subject: str, look: Callable[[], Iterator[Observation]]) -> Iterator[Observation]:
    try:
        yield from look()
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        yield _failure(subject, error)


def _failure(subject: str, error: Exception) -> Observation:
    known = translate_error(error) if isinstance(error, OSError) else error
    return Observation("failed", subject, str(known).splitlines()[0], "see the message")


def _without_spark(runtime: Runtime) -> Runtime:
    """Return the runtime without the file systems that Spark reaches: it would start."""

    def files(place: str) -> Files:
        if _ELSEWHERE.match(place.removeprefix("file:")):
            raise ExecutionError(f"{place} is not on this machine: doctor with Spark looks there")
        return runtime.files(place)

    return replace(runtime, files=files)


def _is_local(session: Session) -> bool:
    """Tell whether the warehouse can be looked into without Spark."""
    return "://" not in session.runtime.metastore.database("default").location.removeprefix(
        "file://"
    )


def _python() -> Observation:
    version = ".".join(map(str, sys.version_info[:3]))
    return Observation("ok", "Python", f"{version} at {sys.executable}")


def _java() -> Observation:
    program = java_program()
    advice = f"install a JDK {_OLDEST_JAVA} and set JAVA_HOME, or put java on the PATH"
    if shutil.which(program) is None:
        return Observation("failed", "Java", f"{program} is not there", advice)
    completed = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)(?:\.(\d+))?[^"]*"', completed.stderr)
    if match is None:
        return Observation("failed", "Java", f"{program} does not tell its version", advice)
    major = int(match[2] or 0) if match[1] == "1" else int(match[1])
    if major < _OLDEST_JAVA:
        return Observation("failed", "Java", f"{program} is Java {major}", advice)
    return Observation("ok", "Java", f"{major} at {shutil.which(program)}")


def _login(options: Profile) -> Iterator[Observation]:
    settings = site_settings() | dict(options.settings)
    url = options.metastore or settings.get(METASTORE_ADDRESSES, "")
    if url.startswith(THRIFT):
        from hivesql_executor.checks.login import observe_login

        yield from observe_login(url, Settings.of(settings))


def _metastore(session: Session) -> Observation:
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
    return Observation("ok", "metastore", answer)


def _warehouse(session: Session, place: str | None, *, reachable: bool) -> Iterator[Observation]:
    try:
        location = place or session.runtime.metastore.database("default").location
        path = location.removeprefix("file://").removeprefix("file:")
        if not _ELSEWHERE.match(path):
            yield _local_warehouse(Path(path))
        elif not reachable:
            answer = f"{location} (not on this machine: not looked into)"
            yield Observation(
                "warning", "warehouse", answer, "run doctor with Spark, which reaches it"
            )
        else:
            from hivesql_executor.checks.place import probe_place

            yield from probe_place(session.runtime.spark(), location)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        yield Observation("failed", "warehouse", str(error).splitlines()[0], "see the message")


def _local_warehouse(path: Path) -> Observation:
    # What is not there yet is made by the first table.
    there = next(place for place in (path, *path.parents) if place.exists())
    step = "written" if there == path else "made"
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"hivesql")
        step = "listed"
        with os.scandir(there) as entries:
            next(entries, None)
    except OSError as error:
        return Observation(
            "failed", "warehouse", f"{path} cannot be {step}: {error.strerror}",
            "give yourself the right to it, or choose another --warehouse",
        )  # fmt: skip
    free = shutil.disk_usage(there).free
    answer = f"{path}, {free / (1 << 30):.1f} GiB free"
    if there != path:
        answer += " (not there yet: the first table makes it)"
    if free < _LITTLE_SPACE:
        return Observation(
            "warning", "warehouse", answer, "make room: Spark's jobs spill to disk too"
        )
    return Observation("ok", "warehouse", answer)


def _spark(session: Session) -> Observation:
    spark = session.runtime.spark()
    count = spark.range(10).count()
    assert count == 10
    answer = f"{spark.version} at {spark.sparkContext.master}"
    if find_archive() is None:
        return Observation("ok", "Spark", answer, "hivesql doctor --speed-up makes it start faster")
    return Observation("ok", "Spark", answer)


def _speed_up() -> Observation:
    with tempfile.TemporaryDirectory() as scratch:
        archive = make_archive(Path(scratch))
    answer = f"{archive}, {archive.stat().st_size >> 20} MiB; delete it to undo"
    return Observation("ok", "speed-up", answer)


def run_doctor(argv: Sequence[str]) -> int:
    """Print the findings; 1 when something is missing."""
    from hivesql_repl.output.console import Screen

    parser = command_parser(
        "hivesql doctor",
        "Look at Python, Java, configuration, metastore, warehouse and Spark, and say what helps.",
        "1 when something is missing",
    )
    parser.add_argument(
        "place", nargs="?", help="a directory or URI to look at, as a warehouse would be there"
    )
    add_connection(parser)
    parser.add_argument("--no-spark", action="store_true", help="do not start Spark")
    parser.add_argument(
        "--every-table",
        action="store_true",
        help="look for files without an owner in all tables, not in the first ones alone",
    )
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
    options = with_flags(profile, arguments)
    console = Screen(highlight=False, soft_wrap=True)
    failed = False
    if arguments.speed_up:
        findings = iter([_guarded("speed-up", _speed_up)])
    else:
        place = arguments.place and complete_location(arguments.place)
        findings = examine(
            options, place, profile_problem=problem, spark=not arguments.no_spark,
            every_table=arguments.every_table,
        )  # fmt: skip
    for finding in findings:
        color = {"ok": "green", "warning": "yellow", "failed": "red"}[finding.state]
        console.print(f"[{color}]{finding.state:<8}[/] {finding.subject:<14}", end="")
        console.print(finding.message, markup=False)
        if finding.help:
            console.print(f"{'':<24}{finding.help}", markup=False)
        failed = failed or finding.state == "failed"
    return 1 if failed else 0
