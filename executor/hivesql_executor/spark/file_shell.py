"""Hadoop's file system shell, as DFS of Hive's scripts runs it."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from hivesql_executor.outcome import Outcome
from hivesql_planner.errors import ExecutionError

# The shell prints to the JVM's own output, which there is one of.
_output = threading.Lock()


def run_file_shell(words: Sequence[str], spark: SparkSession) -> Outcome:
    """Run one command, such as ``-ls /warehouse``; its lines are the rows.

    ExecutionError with what the shell complained of when its exit code is not 0.
    """
    context = spark.sparkContext
    jvm: Any = context._jvm  # Hadoop's shell has no other door
    gateway: Any = context._gateway
    arguments = gateway.new_array(jvm.java.lang.String, len(words))
    for i, word in enumerate(words):
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
            f"Command {shlex.join(words)} failed with exit code = {code}: {problem}"
        )
    lines = str(out.toString("UTF-8")).splitlines()
    return Outcome.of_table(["DFS Output"], [(line,) for line in lines])
