"""Our Java classes: loaded from the package's jar into Spark's JVM, and given to its executors."""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import pyspark
from py4j.java_collections import ListConverter
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from hivesql_planner.errors import ExecutionError

# Nothing here outlives what it was made for: a JVM, an application of Spark, or a session.
_jvms: WeakKeyDictionary[Any, _Classes] = WeakKeyDictionary()
_gateways: WeakKeyDictionary[SparkSession, Any] = WeakKeyDictionary()
_with_jar: WeakSet[SparkContext] = WeakSet()
_flushed: WeakSet[SparkContext] = WeakSet()
_loading = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Classes:
    """Our classes in one JVM, which may run several applications of Spark one after the other.

    Py4J remembers methods by the name of their class, and calls those of the first class of that
    name for ever: so no name may come a second time from another loader.
    """

    jar: Path
    loader: Any
    constructors: dict[str, Any] = field(default_factory=dict)
    """That of each class that was asked for: to look for one takes two calls of the JVM."""


def new_object(spark: SparkSession, name: str, *arguments: Any) -> Any:
    """Make an object of one of our classes in Spark's JVM; it may travel to executors in a task."""
    classes = _classes(spark)
    constructor = classes.constructors.get(name)
    if constructor is None:
        constructor = classes.loader.loadClass(f"hivesql.{name}").getConstructors()[0]
        classes.constructors[name] = constructor
    gateway: Any = spark.sparkContext._gateway
    array = gateway.new_array(java_class(spark, "java.lang.Object"), len(arguments))
    for i, argument in enumerate(arguments):
        array[i] = argument
    return constructor.newInstance(array)


def call_static(spark: SparkSession, name: str, method: str, *arguments: Any) -> Any:
    """Call a static method of one of our classes, the only one of its name."""
    static_method = next(
        candidate for candidate in _classes(spark).loader.loadClass(f"hivesql.{name}").getMethods()
        if candidate.getName() == method
    )  # fmt: skip
    gateway: Any = spark.sparkContext._gateway
    array = gateway.new_array(java_class(spark, "java.lang.Object"), len(arguments))
    for i, argument in enumerate(arguments):
        array[i] = argument
    return static_method.invoke(None, array)


def spark_line() -> tuple[int, int]:
    """Tell the line of the installed Spark, such as (4, 3)."""
    major, minor = pyspark.__version__.split(".")[:2]
    return int(major), int(minor)


def java_class(spark: SparkSession, name: str) -> Any:
    """Return a class of Spark's JVM by its whole name.

    Written as attributes one after the other, each package on the way would be looked for as a
    class in all jars, which takes milliseconds.
    """
    return getattr(spark._jvm, name)


def java_list(spark: SparkSession, items: Sequence[Any]) -> Any:
    """Return a list of Java's."""
    gateway: Any = spark.sparkContext._gateway
    return ListConverter().convert(items, gateway._gateway_client)


def java_strings(spark: SparkSession, texts: Sequence[str]) -> Any:
    """Return an array of Java's Strings, by two calls however many there are; none has a NUL."""
    if not texts:
        gateway: Any = spark.sparkContext._gateway
        return gateway.new_array(java_class(spark, "java.lang.String"), 0)
    pattern = java_class(spark, "java.util.regex.Pattern").compile("\0")
    return pattern.split("\0".join(texts), -1)


def problem_of_pattern(pattern: str, spark: SparkSession) -> str | None:
    """Tell in Java's words why it cannot read a regular expression; None where it can."""
    try:
        java_class(spark, "java.util.regex.Pattern").compile(pattern)
    except PySparkException as error:
        return str(error).partition("\n")[0]
    except Py4JJavaError as error:
        return str(error.java_exception.getMessage()).partition("\n")[0]
    return None


def know_our_file_systems(spark: SparkSession) -> None:
    """Let Spark read the paths of files that may still grow, and write those of uploads."""
    context = spark.sparkContext
    if context in _flushed:
        return
    jar = _classes(spark).jar
    configuration: Any = context._jsc.hadoopConfiguration()
    # Beside the file systems that the user has brought, whose loader this was.
    configuration.setClassLoader(_jar_loader(spark, jar, configuration.getClassLoader()))
    configuration.set("fs.hivesqlflushed.impl", "hivesql.FlushedFiles")
    configuration.set("fs.hivesqlupload.impl", "hivesql.UploadedFiles")
    _flushed.add(context)


@contextmanager
def finding_our_classes(spark: SparkSession) -> Iterator[None]:
    """Let Spark find our data sources by their names, in what this thread asks of it."""
    thread = java_class(spark, "java.lang.Thread").currentThread()
    before = thread.getContextClassLoader()
    thread.setContextClassLoader(_classes(spark).loader)
    try:
        yield
    finally:
        thread.setContextClassLoader(before)


def gateway(spark: SparkSession) -> Any:
    """Return the session's object of ``Gateway.java``.

    From then on its groups of maps are right, and its statements about event files share generated
    code: see MapSorts and LiteralParameterizer.
    """
    session_gateway = _gateways.get(spark)
    if session_gateway is None:
        session_gateway = _gateways[spark] = new_object(spark, "Gateway", spark._jsparkSession)
    return session_gateway


def _classes(spark: SparkSession) -> _Classes:
    """Find our classes in the driver's JVM, and give the jar to the application's executors."""
    context: Any = spark.sparkContext
    with _loading:
        classes = _jvms.get(context._gateway)
        if classes is None:
            jar = _jar()
            # A thread's loader may be that of an application's jars, which ends with it.
            session: Any = spark._jsparkSession
            loader = _jar_loader(spark, jar, session.getClass().getClassLoader())
            classes = _jvms[context._gateway] = _Classes(jar, loader)
        if context not in _with_jar:
            context._jsc.addJar(classes.jar.as_uri())
            _with_jar.add(context)
        return classes


def _jar_loader(spark: SparkSession, jar: Path, parent: Any) -> Any:
    gateway: Any = spark.sparkContext._gateway
    urls = gateway.new_array(java_class(spark, "java.net.URL"), 1)
    urls[0] = java_class(spark, "java.net.URL")(jar.as_uri())
    return java_class(spark, "java.net.URLClassLoader")(urls, parent)


def _jar() -> Path:
    """Find the jar for this line of Spark; a package inside an archive has it unpacked."""
    line = ".".join(map(str, spark_line()))
    name = f"hivesql-spark-{line}.jar"
    place = resources.files("hivesql_executor.spark").joinpath(name)
    if not place.is_file():
        raise ExecutionError(
            f"{name} is not among the files of HiveSQL: its Java classes were not compiled for "
            f"Spark {line}. In a checkout run: python executor/java/build_jar.py; else install "
            "HiveSQL again"
        )
    unpacked = ExitStack()
    atexit.register(unpacked.close)
    return unpacked.enter_context(resources.as_file(place))


def java_program() -> str:
    """Return the program that Spark's own scripts start: below JAVA_HOME, else of the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def problem_of_java() -> str | None:
    """Say that Java is not where Spark's own scripts look for it; None where it is."""
    if shutil.which(java_program()):
        return None
    home = os.environ.get("JAVA_HOME")
    where = f"JAVA_HOME={home} has no bin/java" if home else "there is no java on the PATH"
    return f"Java is missing: {where}. Install a JDK 17 and set JAVA_HOME"
