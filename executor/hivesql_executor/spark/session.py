"""The Spark session that ACID tables need: UTC, non-ANSI, Hive-compatible ORC."""

from __future__ import annotations

import logging
import os
import re
import shlex
import socket
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark
from py4j.clientserver import FinalizerWorker
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.hadoop_user import problem_of_user
from hivesql_executor.impersonation.launch import is_of_another, launched_for, without_login
from hivesql_executor.jvm import gateway, problem_of_java
from hivesql_executor.outcome import Outcome
from hivesql_executor.spark.class_archive import archive_options
from hivesql_executor.spark.lines import settings_of
from hivesql_planner.errors import ExecutionError, NoSuchObject
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.settings.file_system_keys import OF_HADOOP, is_secret

# Pushed-down filters of nested ACID columns would reach ORC under names it resolves against the
# row struct, so Spark's own push-down stays off and scans carry a search argument of their own.
SQL_SETTINGS: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    # Hive's meaning of date patterns, keys given twice, positions and aliases in GROUP BY.
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.groupByAliases": "false",
    "spark.sql.orc.filterPushdown": "false",
    # Hive keeps the hybrid calendar in Parquet too.
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInRead": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
    "spark.sql.orc.impl": "native",
    "spark.sql.orc.enableVectorizedReader": "true",
    "spark.sql.orc.enableNestedColumnVectorizedReader": "true",
    "spark.sql.hive.convertMetastoreOrc": "false",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.legacy.charVarcharAsString": "true",
    # Of rows in memory: ACID scans estimate them by number and length, other files by length. A
    # million rows and more are sooner shuffled: one thread alone makes what is broadcast of them.
    "spark.sql.autoBroadcastJoinThreshold": "20m",
    "spark.sql.sources.fileCompressionFactor": "4.0",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.sources.default": "orc",
    # Deltas are small and many: a task shall read hundreds of them.
    "spark.sql.files.openCostInBytes": "256k",
    # Tables have no columns but their own; Spark's _metadata of files would be found first.
    "spark.sql.analyzer.subqueryAliasAlwaysPropagateMetadataColumns": "false",
    # A common table expression over another takes Spark's analyzer one round, or more.
    "spark.sql.analyzer.maxIterations": "10000",
    # ${…} in a text is the user's own; our scripts put variables in before Spark sees anything.
    "spark.sql.variable.substitute": "false",
    # Plain tables are read file by file: Spark starts a task for each one that it looks at.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "200",
}
# What a user's own settings may say of our work: where things are, and how fast it is. All others
# of Spark's may change what rows are, or the files, and are Spark's defaults for us.
_WORK = tuple(
    f"spark.sql.{name}"
    for name in (
        "adaptive.", "artifact.", "broadcast", "cartesianProductExec.", "catalog.",
        "cbo.", "codegen.", "columnVector.", "debug.", "event.", "exchange.", "execution.",
        "files.maxPartition", "files.minPartition", "files.openCost", "inMemoryColumnarStorage.",
        "join.", "leafNodeDefaultParallelism", "limit.", "maxBroadcast", "maxPlan",
        "metadataCache", "objectHashAggregate.", "optimizer.", "parquet.compression.codec",
        "planChangeLog.", "python.", "redaction.", "scheduler.", "shuffle", "sort.",
        "sortMergeJoin", "sources.parallelPartitionDiscovery.", "statistics.", "stringRedaction",
        "thriftserver.", "ui.", "warehouse.", "window",
    )
)  # fmt: skip
# ORC turns timestamps into wall clock by the JVM's zone: writer and reader must both be UTC.
_JVM_OPTIONS = "-Duser.timezone=UTC"
# Spark's parser and optimizer call themselves for each operator of a long row. Only what is used
# of a thread's stack takes memory.
STACK_OPTION = "-Xss64m"
# Each task serializes into a megabyte, and each stage into a broadcast block: arrays of half a
# region and more are not young to G1, which then marks its whole heap after few statements.
_COLLECTOR = "-XX:G1HeapRegionSize=4m"
# Spark's own chatter would drown what a statement has to say.
_LOGGING = Path(__file__).with_name("log4j2.properties").as_uri()
_LOCAL = re.compile(r"local(\[[^\]]*\])?")
_HOME: Mapping[str, str] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Other users of this machine reach its ports too. Spark makes the secret itself.
    "spark.authenticate": "true",
}
_PYTHON = "PYSPARK_PYTHON"
_ADDRESS = "SPARK_LOCAL_IP"
_POOL = "spark.scheduler.pool"
_ENDED = (Py4JError, PySparkException, OSError)
"""What is raised where a Spark that has ended is spoken to."""
_OF_JOBS = ("spark.job.tags", "spark.job.description", "spark.job.interruptOnCancel", _POOL)
_PYTHON_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
CORE_SETTINGS: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": (
        f"{_JVM_OPTIONS} {STACK_OPTION} {_COLLECTOR} -Dlog4j2.configurationFile={_LOGGING}"
    ),
    "spark.executor.extraJavaOptions": f"{_JVM_OPTIONS} {STACK_OPTION} {_COLLECTOR}",
    "spark.broadcast.blockSize": "1m",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.shuffle.sort.bypassMergeThreshold": "8",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    # Spark's own, and Azure's keys: what its log and pages do not show.
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|account[.]key|[.]sas[.]",
    # Our readers tell S3A how long a file is; the other kind of stream asks the store all the same.
    "spark.hadoop.fs.s3a.input.stream.type": "classic",
    # Where in our code a column was made tells nobody anything, and takes as long as making it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def start_spark(
    *,
    master: str | None = None,
    app_name: str = "hivesql",
    conf: Mapping[str, str] | None = None,
    proxy_user: str | None = None,
) -> SparkSession:
    """Start Spark with the settings above; ``conf`` wins over them.

    With a ``proxy_user`` it works in that user's name in Hadoop's file systems.
    """
    builder = SparkSession.builder.appName(app_name)
    settings = {**archive_options(), **CORE_SETTINGS, **SQL_SETTINGS, **(conf or {})}
    if master:
        settings["spark.master"] = master
    for name in _PYTHON_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_no_lost_farewell)
    settings |= _at_home(settings)
    if is_of_another(proxy_user):
        _forget_jvm()
    if proxy_user is not None:
        settings = without_login(settings)
    for key, value in settings.items():
        builder = builder.config(key, value)
    with launched_for(proxy_user, conf or {}):
        session = _started(builder, settings)
    session.sparkContext.setLogLevel("ERROR")
    return session


def _launch(settings: Mapping[str, str]) -> None:
    """Start the JVM without secrets of file systems: whoever lists processes sees its command.

    Its Spark is given them afterwards.
    """
    shown = {key: value for key, value in settings.items() if not _is_withheld(key)}
    if len(shown) < len(settings) and SparkContext._gateway is None:
        own: Any = SparkContext  # no public way to start the JVM alone
        own._ensure_initialized(conf=SparkConf().setAll([*shown.items()]))


def _is_withheld(key: str) -> bool:
    return key.startswith(OF_HADOOP) and is_secret(key)


def _started(builder: SparkSession.Builder, settings: Mapping[str, str]) -> SparkSession:
    """Start it, a second time where its JVM did not answer the first."""
    for again in (True, False):
        try:
            with _environment(settings), silence_failed_calls():
                _launch(settings)
                return builder.getOrCreate()
        except Py4JJavaError:
            raise
        except (ConnectionError, Py4JError, PySparkException) as error:
            # Where the connection breaks within a call, Py4J says that the class is not there.
            _forget_jvm()
            unanswered = not isinstance(error, PySparkException)
            if unanswered and again:
                continue
            why = str(error).splitlines()[0].rstrip(".") + _without_address()
            if problem := problem_of_user() or problem_of_java():
                why = f"{problem} ({why})"
            failure = ExecutionError(
                f"Spark cannot be started: {why}. Run `hivesql doctor`: it "
                "says what is missing" + (", or wait until this machine is less busy"
                                          if unanswered else "")
            )  # fmt: skip
            failure.retryable = unanswered
            raise failure from error
    raise AssertionError("unreachable")


@contextmanager
def silence_failed_calls() -> Iterator[None]:
    """Keep Py4J from logging calls that fail in the block: they are raised, or begun again."""

    def passes(record: logging.LogRecord) -> bool:
        return not _is_failed_call(record)

    root = logging.getLogger()
    root.addFilter(passes)
    try:
        yield
    finally:
        root.removeFilter(passes)


def _is_failed_call(record: logging.LogRecord) -> bool:
    """Tell whether Py4J says that a call failed; it logs that by the root logger itself."""
    return record.module == "java_gateway" and record.msg == "Exception while sending command."


def _is_no_lost_farewell(record: logging.LogRecord) -> bool:
    """Keep quiet that a JVM died while Py4J's own thread told it what objects it may forget."""
    in_worker = isinstance(threading.current_thread(), FinalizerWorker)
    return not (in_worker and _is_failed_call(record))


def stop_spark(session: SparkSession) -> None:
    """Stop it; one whose JVM has ended already, by a signal to all of us say, is only forgotten."""
    try:
        with silence_failed_calls():
            session.stop()
    except (Py4JError, OSError):
        SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None
        _forget_jvm()


def _forget_jvm() -> None:
    """Let the next start begin with a JVM of its own, unless this one has a Spark."""
    gateway: Any = SparkContext._gateway
    if gateway is None or SparkContext._active_spark_context is not None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    with suppress(Exception):
        gateway.shutdown()
    with suppress(Exception):
        # Its JVM ends with its standard input.
        gateway.proc.stdin.close()


def _at_home(settings: Mapping[str, str]) -> Mapping[str, str]:
    """Tell what keeps a Spark on this machine from listening to others.

    Nothing where its master is elsewhere, or the user has said where it listens.
    """
    settings_now = {**_defaults(), **settings}
    elsewhere = {"MASTER", "PYSPARK_SUBMIT_ARGS", _ADDRESS} & os.environ.keys()
    if elsewhere or not _LOCAL.fullmatch(settings_now.get("spark.master", "local[*]")):
        return {}
    return {key: value for key, value in _HOME.items() if key not in settings_now}


def _defaults() -> dict[str, str]:
    """Read the settings of Spark's own configuration file; {} without one."""
    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    place = Path(os.environ.get("SPARK_CONF_DIR") or Path(home) / "conf") / "spark-defaults.conf"
    if not place.is_file():
        return {}
    lines = (line.strip() for line in place.read_text(errors="replace").splitlines())
    pairs = (re.split(r"[\s=:]+", line, maxsplit=1) for line in lines if line and line[0] != "#")
    return {pair[0]: pair[-1] for pair in pairs}


def running_spark() -> SparkSession | None:
    """Return the Spark that runs in this process already, as it is; None when none does."""
    context = SparkContext._active_spark_context
    if context is None:
        return None
    session = SparkSession._instantiatedSession
    if session is not None and session.sparkContext is context:
        # The builder would start another one where somebody stops it just now.
        return session
    # Settings here would change those of whoever started it.
    return SparkSession.builder.getOrCreate()


def temporary_view(session: SparkSession, name: str) -> DataFrame | None:
    """Return the rows of a session's temporary view; None when it has none of that name."""
    own: Any = session  # no public way to ask for temporary views alone
    catalog = own._jsparkSession.sessionState().catalog()
    if not catalog.getRawTempView(name).isDefined():
        return None
    return session.table(quote_name(name))


def catalog_table(session: SparkSession, catalog: str, database: str, name: str) -> DataFrame:
    """Return the rows of a table of one of Spark's catalogs; NoSuchObject 10001 for none."""
    quoted = ".".join(map(quote_name, (catalog, database, name)))
    try:
        return session.table(quoted)
    except PySparkException as error:
        reason = str(error).partition("\n")[0]
        raise NoSuchObject(
            f"Table not found: {catalog}.{database}.{name}, by Spark: {reason}", code=10001
        ) from error


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Give a JVM that is started here what it takes from the environment alone.

    Spark's workers run this Python, unless the user chose one; other programs need not. A Spark of
    this machine alone asks nobody for the address of the machine's name, which may have none.
    """
    wanted = {_PYTHON: sys.executable}
    if settings.get("spark.driver.host") == _HOME["spark.driver.host"]:
        wanted[_ADDRESS] = _HOME["spark.driver.host"]
    added = wanted.keys() - os.environ.keys()
    os.environ.update({key: wanted[key] for key in added})
    try:
        yield
    finally:
        for key in added:
            os.environ.pop(key, None)


def _without_address() -> str:
    """Say what to do where this host's name has no address, which Spark wants; "" if it has."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return f" (this host's name {name} has no address: add it to /etc/hosts, or set {_ADDRESS})"
    return ""


@contextmanager
def _keep_local_properties(session: SparkSession, keys: Iterable[str]) -> Iterator[None]:
    """Give a thread's properties of Spark back what they were before: they may be the user's."""
    context = session.sparkContext
    before = {key: context.getLocalProperty(key) for key in keys}
    try:
        yield
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)  # type: ignore[arg-type]


@contextmanager
def called_jobs(
    session: SparkSession, tag: str, description: str, pool: str | None = None
) -> Iterator[None]:
    """Let the jobs of this thread have a tag, by which they are stopped, and a description.

    Those of a ``pool`` have its share of Spark where pools are fair; None leaves the thread's.

    Not a group: by theirs, users stop all that their thread runs.
    """
    context = session.sparkContext
    with _keep_local_properties(session, _OF_JOBS):
        context.addJobTag(tag)
        context.setInterruptOnCancel(True)
        context.setJobDescription(description)
        if pool is not None:
            context.setLocalProperty(_POOL, pool)
        yield


def stop_jobs(session: SparkSession, tag: str) -> None:
    """Stop the jobs that have a tag; those of a Spark that has ended have ended with it."""
    with suppress(*_ENDED):
        session.sparkContext.cancelJobsWithTag(tag)


def running_tasks(session: SparkSession, tag: str) -> tuple[int, int, int] | None:
    """Count the tasks of stages that run for a tag: ended, all, active; None where none run.

    None too where Spark has ended: who waits for the jobs is told of that, and nobody else.
    """
    with suppress(*_ENDED):
        return _count_tasks(session.sparkContext, tag)
    return None


def _count_tasks(context: Any, tag: str) -> tuple[int, int, int] | None:
    if context._jsc is None:
        return None  # It was stopped just now.
    tracker = context.statusTracker()
    # PySpark's tracker knows no tags.
    job_ids = context._jsc.sc().statusTracker().getJobIdsForTag(tag)
    completed = total = active = 0
    for job in map(tracker.getJobInfo, job_ids):
        if job is None or job.status != "RUNNING":
            continue
        for stage in filter(None, map(tracker.getStageInfo, job.stageIds)):
            total += stage.numTasks
            completed += stage.numCompletedTasks
            active += stage.numActiveTasks
    return (completed, total, active) if total else None


def give_file(session: SparkSession, kind: str, path: str) -> None:
    """Add a jar, file or archive; ExecutionError when Spark cannot read it."""
    try:
        if kind == "jar":
            _check_jar(session, path)
            quoted = path.replace("\\", "\\\\").replace('"', '\\"')
            session.sql(f'ADD JAR "{quoted}"')
        elif kind == "archive":
            session.sparkContext.addArchive(path)
        else:
            session.sparkContext.addFile(path, recursive=Path(path).is_dir())
    except (PySparkException, Py4JJavaError) as error:
        lines = str(error).splitlines()
        raise ExecutionError(f"cannot add the {kind} {path}: {lines[0]}") from error


def _check_jar(session: SparkSession, path: str) -> None:
    """Spark itself would only log that a JAR of another file system cannot be read."""
    if not path.startswith("ivy:"):
        context: Any = session.sparkContext  # Hadoop's classes have no other door
        place = context._jvm.org.apache.hadoop.fs.Path(path)
        place.getFileSystem(context._jsc.hadoopConfiguration()).getFileStatus(place)


def isolate(session: SparkSession) -> SparkSession:
    """Return a session of our own on a user's Spark: its views and settings are left alone."""
    own = session.newSession()
    for key in settings_of(own):
        if _changes_rows(own, key):
            own.conf.unset(key)
    for key, value in SQL_SETTINGS.items():
        own.conf.set(key, value)
    gateway(own)  # mends groups of maps in all queries: see MapSorts.java
    return own


def set_all(
    session: SparkSession, conf: Mapping[str, str], started_with: Mapping[str, str]
) -> None:
    """Set what a user wants of Spark SQL; ExecutionError for what only its start can set.

    A Spark that has the same value of such a setting, or was started with it, is as wanted.
    """
    for key, value in conf.items():
        if not key.startswith("spark.sql."):
            continue
        if not _is_known(session, key) or session.conf.isModifiable(key):
            session.conf.set(key, value)
        elif value not in (started_with.get(key), session.conf.get(key, None)):
            raise ExecutionError(
                f"{key} is set where Spark starts, and the one of this process was started "
                f"with {session.conf.get(key, None) or 'none'}. Close the sessions that use it "
                "first, or set it for the first of them"
            )


def _changes_rows(session: SparkSession, key: str) -> bool:
    """Tell whether a setting that its Spark was started with may change what our statements do."""
    if not key.startswith("spark.sql.") or key.startswith(_WORK) or key in SQL_SETTINGS:
        return False
    return _is_known(session, key) and session.conf.isModifiable(key)


def _is_known(session: SparkSession, key: str) -> bool:
    """Tell whether it is Spark's own: extensions have settings that it does not know."""
    jvm: Any = session._jvm  # no public list of them
    known = getattr(getattr(jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    return known.getConfigEntry(key) is not None


# The shell prints to the JVM's own output, which there is one of.
_output = threading.Lock()


def run_file_shell(command: Sequence[str], spark: SparkSession) -> Outcome:
    """Run one command, such as ``-ls /warehouse``; its lines are the rows.

    ExecutionError with what the shell complained of when its exit code is not 0.
    """
    context: Any = spark.sparkContext
    jvm = context._jvm  # Hadoop's shell has no other door
    arguments = context._gateway.new_array(jvm.java.lang.String, len(command))
    for i, word in enumerate(command):
        arguments[i] = word
    system = jvm.java.lang.System
    out, err = (jvm.java.io.ByteArrayOutputStream() for _ in range(2))
    with _output:
        before = system.out, system.err
        system.setOut(jvm.java.io.PrintStream(out, True, "UTF-8"))
        system.setErr(jvm.java.io.PrintStream(err, True, "UTF-8"))
        try:
            shell = jvm.org.apache.hadoop.fs.FsShell(context._jsc.hadoopConfiguration())
            code = shell.run(arguments)
        finally:
            system.setOut(before[0])
            system.setErr(before[1])
    if code:
        problem = str(err.toString("UTF-8")).strip() or "no reason given"
        raise ExecutionError(
            f"Command {shlex.join(command)} failed with exit code = {code}: {problem}"
        )
    lines = str(out.toString("UTF-8")).splitlines()
    return Outcome.of_table(["DFS Output"], [(line,) for line in lines])
