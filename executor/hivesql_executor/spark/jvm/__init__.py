"""Our Java classes, compiled by the compiler that Spark brings and given to its executors."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources as sources
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from pyspark import SparkContext
from pyspark.sql import SparkSession

# Each may use those before it.
_SOURCES = (
    "ColumnSetter",
    "KeyIndex",
    "Output",
    "SortedDictionary",
    "Settings",
    "Input",
    "AcidWriter",
    "EventJob",
    "MergeFiles",
    "FlushedFiles",
    "Deleted",
    "LongDecimals",
    "Kept",
    "DecimalReader",
    "Part",
    "LooseValues",
    "Condition",
    "VectorRow",
    "RowFilter",
    "AcidReader",
    "KnownColumn",
    "Skipping",
    "AcidTable",
    "LooseLiterals",
    "SourceKeys",
    "Settled",
    "Gateway",
)
# Nothing here outlives what it was made for: a JVM, an application of Spark, or a session.
_jvms: WeakKeyDictionary[Any, _Classes] = WeakKeyDictionary()
_gateways: WeakKeyDictionary[SparkSession, Any] = WeakKeyDictionary()
_given: WeakSet[SparkContext] = WeakSet()
_flushed: WeakSet[SparkContext] = WeakSet()
_loading = threading.Lock()


@dataclass(slots=True)
class _Classes:
    """Our classes in one JVM, which may run several applications of Spark one after the other.

    Py4J remembers methods by the name of their class, and calls those of the first class of that
    name for ever: so no name may come a second time from another loader.
    """

    codes: dict[str, bytes] = field(default_factory=dict)
    """The contents of class files by their paths."""
    loader: Any = None
    alone: dict[str, Any] = field(default_factory=dict)
    """Classes that were compiled alone."""


def new_object(spark: SparkSession, name: str, *arguments: Any) -> Any:
    """An object of one of our classes in Spark's JVM; it may travel to executors in a task.

    The classes are compiled once for each JVM, in a second or more.
    """
    return _made(spark, _loader(spark).loadClass(f"hivesql.{name}"), arguments)


def new_driver_object(spark: SparkSession, name: str, *arguments: Any) -> Any:
    """An object of a class that executors do not need: it is compiled alone, which is soon done."""
    with _loading:
        classes = _classes(spark)
        if name not in classes.alone:
            compiled = _compiled(spark, name, _spark_loader(spark))
            classes.alone[name] = compiled.getClassLoader().loadClass(f"hivesql.{name}")
        found = classes.alone[name]
    return _made(spark, found, arguments)


def java_class(spark: SparkSession, name: str) -> Any:
    """A class of Spark's JVM by its whole name.

    Written as attributes one after the other, each package on the way would be looked for as a
    class in all jars, which takes milliseconds.
    """
    return getattr(spark._jvm, name)


def _made(spark: SparkSession, found: Any, arguments: Sequence[Any]) -> Any:
    gateway: Any = spark.sparkContext._gateway
    constructor = found.getConstructors()[0]
    given = gateway.new_array(java_class(spark, "java.lang.Object"), len(arguments))
    for i, argument in enumerate(arguments):
        given[i] = argument
    return constructor.newInstance(given)


def know_flushed_files(spark: SparkSession) -> None:
    """Let Spark read the paths of files that may still grow."""
    context = spark.sparkContext
    if context in _flushed:
        return
    _loader(spark)
    codes = _classes(spark).codes
    path = "hivesql/FlushedFiles.class"
    configuration: Any = context._jsc.hadoopConfiguration()
    # Beside the file systems that the user has brought, whose loader this was.
    loader = _memory_loader(spark, {path: codes[path]}, configuration.getClassLoader())
    configuration.setClassLoader(loader)
    configuration.set("fs.hivesqlflushed.impl", "hivesql.FlushedFiles")
    _flushed.add(context)


def gateway(spark: SparkSession) -> Any:
    """The session's object of ``Gateway.java``.

    From then on its statements about event files share generated code: see LooseLiterals.
    """
    found = _gateways.get(spark)
    if found is None:
        rule = new_object(spark, "LooseLiterals")
        methods = spark._jsparkSession.experimental()
        getattr(methods, "extraOptimizations_$eq")(methods.extraOptimizations().appended(rule))
        found = _gateways[spark] = new_object(spark, "Gateway", spark._jsparkSession)
    return found


def _classes(spark: SparkSession) -> _Classes:
    return _jvms.setdefault(spark.sparkContext._gateway, _Classes())


def _loader(spark: SparkSession) -> Any:
    """Who has loaded our classes into the driver; executors are given them as a jar."""
    with _loading:
        classes = _classes(spark)
        if classes.loader is None:
            classes.codes = _compile_all(spark)
            # The compiler has a loader for each source: classes of one package need one for all.
            classes.loader = _memory_loader(spark, classes.codes, _spark_loader(spark))
        context = spark.sparkContext
        if context not in _given:
            _give_jar(context, classes.codes)
            _given.add(context)
        return classes.loader


def _compile_all(spark: SparkSession) -> dict[str, bytes]:
    codes: dict[str, bytes] = {}
    loader = _spark_loader(spark)
    for name in _SOURCES:
        compiler = _compiled(spark, name, loader)
        loader = compiler.getClassLoader()
        for class_name, code in compiler.getBytecodes().items():
            codes[f"{class_name.replace('.', '/')}.class"] = bytes(code)
    return codes


def _give_jar(context: SparkContext, codes: Mapping[str, bytes]) -> None:
    """Let executors of this application fetch our classes, at any time until it stops.

    Spark removes the directory then.
    """
    jvm: Any = context._jvm
    directory = Path(jvm.org.apache.spark.SparkFiles.getRootDirectory()) / "hivesql-classes"
    directory.mkdir(exist_ok=True)
    jar = directory / "hivesql.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for path, code in codes.items():
            archive.writestr(path, code)
    within: Any = context
    within._jsc.addJar(jar.as_uri())


def _memory_loader(spark: SparkSession, codes: Mapping[str, bytes], parent: Any) -> Any:
    """A loader that needs no file: it goes on when the application has ended."""
    jvm: Any = spark._jvm
    resources = jvm.java.util.HashMap()
    for path, code in codes.items():
        resources.put(path, code)
    made = java_class(spark, "org.codehaus.commons.compiler.util.reflect.ByteArrayClassLoader")
    return made(resources, parent)


def _spark_loader(spark: SparkSession) -> Any:
    """Spark's own loader; a thread's may be that of an application's jars."""
    session: Any = spark._jsparkSession
    return session.getClass().getClassLoader()


def _compiled(spark: SparkSession, name: str, loader: Any) -> Any:
    """The compiler that has compiled one of our classes; ``loader`` knows all that it uses."""
    jvm: Any = spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(loader)
    source = sources.files(__package__).joinpath(f"{name}.java")
    compiler.cook(source.read_text(encoding="utf-8"))
    return compiler
