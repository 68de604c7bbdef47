"""Our Java classes, compiled by the compiler that Spark brings and given to its executors."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

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
_gateways: WeakKeyDictionary[SparkSession, Any] = WeakKeyDictionary()
_loaders: dict[str, Any] = {}
_driver_classes: dict[tuple[str, str], Any] = {}
_loading = threading.Lock()


def new_object(spark: SparkSession, name: str, *arguments: Any) -> Any:
    """An object of one of our classes in Spark's JVM; it may travel to executors in a task.

    The classes are compiled once for each Spark application, in about half a second.
    """
    return _made(spark, _loader(spark).loadClass(f"hivesql.{name}"), arguments)


def new_driver_object(spark: SparkSession, name: str, *arguments: Any) -> Any:
    """An object of a class that executors do not need: it is compiled alone, which is soon done."""
    key = (str(spark.sparkContext.applicationId), name)
    with _loading:
        if key not in _driver_classes:
            compiled = _compiled(spark, name, _context_loader(spark))
            _driver_classes[key] = compiled.getClassLoader().loadClass(f"hivesql.{name}")
    return _made(spark, _driver_classes[key], arguments)


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
    configuration: Any = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.setClassLoader(_loader(spark))
    configuration.set("fs.hivesqlflushed.impl", "hivesql.FlushedFiles")


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


def _loader(spark: SparkSession) -> Any:
    application = str(spark.sparkContext.applicationId)
    with _loading:
        if application not in _loaders:
            _loaders.clear()
            _loaders[application] = _load(spark)
        return _loaders[application]


def _load(spark: SparkSession) -> Any:
    """Compile, add the classes to the application as a jar, and load them into the driver."""
    jvm: Any = spark._jvm
    spark_loader = loader = _context_loader(spark)
    # Executors fetch the jar from there at any time; Spark removes the directory when it stops.
    directory = Path(jvm.org.apache.spark.SparkFiles.getRootDirectory()) / "hivesql-classes"
    directory.mkdir(exist_ok=True)
    jar = directory / "hivesql.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for name in _SOURCES:
            compiler = _compiled(spark, name, loader)
            loader = compiler.getClassLoader()
            for class_name, code in compiler.getBytecodes().items():
                archive.writestr(f"{class_name.replace('.', '/')}.class", bytes(code))
    spark.sparkContext._jsc.addJar(jar.as_uri())
    gateway: Any = spark.sparkContext._gateway
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.net.URI(jar.as_uri()).toURL()
    # The compiler has a loader for each source: classes of one package need one for all.
    return jvm.java.net.URLClassLoader(urls, spark_loader)


def _context_loader(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    return jvm.java.lang.Thread.currentThread().getContextClassLoader()


def _compiled(spark: SparkSession, name: str, loader: Any) -> Any:
    """The compiler that has compiled one of our classes; ``loader`` knows all that it uses."""
    jvm: Any = spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(loader)
    source = resources.files(__package__).joinpath(f"{name}.java")
    compiler.cook(source.read_text(encoding="utf-8"))
    return compiler
