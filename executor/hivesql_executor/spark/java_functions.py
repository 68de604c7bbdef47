"""Functions of our own in the JVMs of Spark's executors.

Their Java source is part of this package. Janino, the compiler that Spark brings along for its own
generated code, translates it when it is first needed, and Spark hands the classes to its executors.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_SOURCES = Path(__file__).with_name("java")
# Each sees the classes of those before it.
_ORDER = ("Input.java", "MergeFiles.java")
_MERGE = "hivesql.MergeFiles"


def register_merge(spark: SparkSession) -> str:
    """Make the merging of files callable in this session; the name to call it by."""
    jvm: Any = spark._jvm  # PySpark has no public way to the JVM
    context: Any = spark.sparkContext
    loader = _load(context)
    function = loader.loadClass(_MERGE).newInstance()
    function.use(context._jsc.hadoopConfiguration())
    name = "hivesql_merge_files"
    java: Any = spark
    java._jsparkSession.udf().register(
        name, function, jvm.org.apache.spark.sql.types.DataTypes.StringType
    )
    return name


@functools.lru_cache(maxsize=2)
def _load(context: Any) -> Any:
    """A class loader with our classes, which every executor of this Spark has then, too."""
    jvm = context._jvm
    classes: dict[str, bytes] = {}
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for name in _ORDER:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        compiler.cook((_SOURCES / name).read_text(encoding="utf-8"))
        loader = compiler.getClassLoader()
        classes |= {str(key): bytes(code) for key, code in compiler.getBytecodes().items()}
    # Executors that join later fetch it, too.
    place = Path(tempfile.mkdtemp(prefix="hivesql-classes-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    jar = place / "hivesql.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for key, code in sorted(classes.items()):
            archive.writestr(f"{key.replace('.', '/')}.class", code)
    context._jsc.addJar(str(jar))
    return loader
