"""What PySpark's Python has otherwise from line to line, as the shims are for Java."""

from __future__ import annotations

import importlib
import inspect
import struct
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, cast

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.conversion import SparkConversionMixin
from pyspark.sql.pandas.serializers import ArrowStreamSerializer
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StructType

from hivesql_executor.jvm import call_static, new_object, spark_line
from hivesql_planner.errors import ExecutorsLost

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
else:
    # Before Spark 4.0 there is one class of frames alone.
    _module = "pyspark.sql.classic.dataframe" if spark_line() >= (4, 0) else "pyspark.sql.dataframe"
    ClassicFrame = importlib.import_module(_module).DataFrame

__all__ = [
    "ClassicFrame",
    "active",
    "arrow_batches",
    "arrow_schema",
    "collect_arrow",
    "collect_rows",
    "empty_frame",
    "fragment_of",
    "frame_of",
    "message_of",
    "read_served",
    "settings_of",
    "struct_of",
    "try_cast",
]  # fmt: skip


_LARGE_TYPES = "spark.sql.execution.arrow.useLargeVarTypes"
"""Whether texts and bytes are of Arrow's large types, which Spark tells by no schema."""
_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_VALUES_OF_BATCH = 200_000
_TICKET = struct.Struct("!qi")
"""What WaitingRows.java gives in the place of a large partition; messages of Arrow are longer."""


def collect_arrow(frame: DataFrame) -> pa.Table:
    """Return all rows of a frame as an Arrow table."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    # Spark 3.5 has it for its own use alone.
    import pyarrow as pa

    own: Any = frame
    return pa.Table.from_batches(own._collect_as_arrow(), to_arrow_schema(frame.schema))


def arrow_batches(frame: DataFrame) -> Iterator[pa.RecordBatch] | None:
    """Yield a frame's rows as Arrow batches, some megabytes at a time: partitions may be large.

    None where they have no types of Arrow, large ones, or the frame's rows are not Spark's own.
    """
    from pyspark.errors import PySparkTypeError, UnsupportedOperationException
    from pyspark.serializers import NoOpSerializer

    has_large_types = frame.sparkSession.conf.get(_LARGE_TYPES, "false") == "true"
    if type(frame) is not ClassicFrame or has_large_types:
        return None
    try:
        schema = arrow_schema(frame.schema)
    except (PySparkTypeError, UnsupportedOperationException):
        return None
    own: Any = frame
    spark: Any = own.sparkSession
    with _batches_of(spark, rows=_VALUES_OF_BATCH // max(len(schema), 1)):
        batches = own._jdf.toArrowBatchRdd(own._jdf.queryExecution().executedPlan())
    waiting = new_object(spark, "WaitingRows", batches)
    served = spark._jvm.PythonRDD.toLocalIteratorAndServe(waiting.messages(), True)
    # A module that Spark 4 makes when it starts.
    messages = importlib.import_module("pyspark.rdd")._local_iterator_from_socket
    return _read_batches(messages(served, NoOpSerializer()), schema, waiting)


def read_served(served: Any) -> list[bytes]:
    """Read all items that ``PythonRDD.serveIterator`` gives; less where the JVM ends meanwhile."""
    from pyspark.serializers import NoOpSerializer

    items = importlib.import_module("pyspark.rdd")._load_from_socket(served, NoOpSerializer())
    # From Spark 4.2 on it closes what it has opened.
    with items if hasattr(items, "__enter__") else nullcontext(items) as each:
        return list(each)


@contextmanager
def _batches_of(spark: SparkSession, *, rows: int) -> Iterator[None]:
    """Let batches have no more rows than that: a row may have thousands of columns."""
    configured = int(str(spark.conf.get(_BATCH_ROWS, "10000")))
    if 0 < configured <= rows:
        yield
        return
    spark.conf.set(_BATCH_ROWS, max(rows, 1))
    try:
        yield
    finally:
        spark.conf.set(_BATCH_ROWS, configured)


def _read_batches(
    messages: Iterator[bytes], schema: pa.Schema, waiting: Any
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of messages, and of blocks in whose place there is a ticket."""
    import pyarrow as pa

    try:
        for message in messages:
            if len(message) > _TICKET.size:
                yield pa.ipc.read_record_batch(pa.py_buffer(message), schema)
                continue
            attempt, count = _TICKET.unpack(message)
            for number in range(count):
                yield from _batches_in(waiting.block(attempt, number), schema)
    finally:
        with suppress(Py4JError):  # Spark has ended, and its disks are empty.
            waiting.close()


def _batches_in(block: bytes | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    if block is None:
        raise ExecutorsLost(
            "an executor was lost before its rows were taken: run the statement again"
        )
    reader = pa.BufferReader(block)
    while reader.tell() < len(block):
        yield pa.ipc.read_record_batch(pa.ipc.read_message(reader), schema)


def collect_rows(frame: DataFrame) -> list[Row]:
    """Return all rows of a frame; binary values are bytes, and maps keep their order."""
    kind = frame.schema
    # Other classes of frames have rows of their own.
    has_maps = type(frame) is ClassicFrame and any(
        _holds_map(field.dataType) for field in kind.fields
    )
    rows = _with_lists(frame).collect() if has_maps else frame.collect()
    # Before Spark 4.1 binary values are arrays that may be changed.
    if has_maps or (spark_line() < (4, 1) and _holds(kind, BinaryType)):
        return [_as_python(row, kind) for row in rows]
    return rows


def _with_lists(frame: DataFrame) -> DataFrame:
    """Put a list of its entries in the place of each map, in the order in which Spark has them.

    A map comes to Python through a HashMap of Java, which has an order of its own.
    """
    fields = frame.schema.fields
    names = [f"c{i}" for i in range(len(fields))]
    values = (
        _with_entries(f.col(name), field.dataType).alias(name)
        for name, field in zip(names, fields, strict=True)
    )
    return frame.toDF(*names).select(*values)


def _holds_map(kind: DataType) -> bool:
    if isinstance(kind, StructType):
        # Of fields of one name none can be named.
        are_apart = len({name.lower() for name in kind.names}) == len(kind.names)
        return are_apart and any(_holds_map(field.dataType) for field in kind.fields)
    if isinstance(kind, ArrayType):
        return _holds_map(kind.elementType)
    return isinstance(kind, MapType)


def _with_entries(value: Column, kind: DataType) -> Column:
    """Put a list of its entries in the place of each map."""
    if not _holds_map(kind):
        return value
    if isinstance(kind, MapType):
        item, entries = kind.valueType, f.map_entries(value)
        if not _holds_map(item):
            return entries
        return f.transform(
            entries,
            lambda entry: f.struct(
                entry.getField("key").alias("key"),
                _with_entries(entry.getField("value"), item).alias("value"),
            ),
        )
    if isinstance(kind, ArrayType):
        element = kind.elementType
        return f.transform(value, lambda item: _with_entries(item, element))
    assert isinstance(kind, StructType)
    inside = (
        _with_entries(value.getField(field.name), field.dataType).alias(field.name)
        for field in kind.fields
    )
    return f.when(value.isNotNull(), f.struct(*inside))


def _holds(kind: DataType, wanted: type[DataType] | tuple[type[DataType], ...]) -> bool:
    if isinstance(kind, wanted):
        return True
    if isinstance(kind, StructType):
        return any(_holds(field.dataType, wanted) for field in kind.fields)
    if isinstance(kind, MapType):
        return _holds(kind.valueType, wanted)
    return isinstance(kind, ArrayType) and _holds(kind.elementType, wanted)


def _as_python(value: Any, kind: DataType) -> Any:
    """Make maps of the lists that stand in their places, and bytes of arrays."""
    if value is None or not _holds(kind, (BinaryType, MapType)):
        return value
    if isinstance(kind, StructType):
        # Two columns may have one name.
        fields = zip(value, kind.fields, strict=True)
        return Row(*kind.names)(*(_as_python(item, field.dataType) for item, field in fields))
    if isinstance(kind, MapType):
        entries = value.items() if isinstance(value, dict) else value
        return {key: _as_python(item, kind.valueType) for key, item in entries}
    if isinstance(kind, ArrayType):
        return [_as_python(item, kind.elementType) for item in value]
    return bytes(value)


def frame_of(table: pa.Table, spark: SparkSession) -> DataFrame:
    """Return the rows of an Arrow table as a frame; times without a zone are in UTC."""
    if spark_line() >= (4, 0):
        with active(spark):
            # The class's own method makes its session the active one of all threads first.
            rows: DataFrame = SparkConversionMixin.createDataFrame(cast("Any", spark), table)
        return rows
    # Spark 3.5 does it for tables of pandas alone: these are the same steps.
    own: Any = spark
    schema = from_arrow_schema(table.schema)
    batches = table.cast(to_arrow_schema(schema)).to_batches()
    batches_in_jvm = own._sc._serialize_to_jvm(
        batches, ArrowStreamSerializer(), own._jvm.PythonSQLUtils.readArrowStreamFromFile,
        own._jvm.ArrowIteratorServer,
    )  # fmt: skip
    frame = own._jvm.PythonSQLUtils.toDataFrame(batches_in_jvm, schema.json(), own._jsparkSession)
    return DataFrame(frame, spark)


def empty_frame(spark: SparkSession, schema: str) -> DataFrame:
    """Return a frame without rows, of columns as Spark's DDL has them.

    PySpark's ``createDataFrame`` makes its session the active one of all threads.
    """
    own: Any = spark
    kind = own._jvm.org.apache.spark.sql.types.StructType.fromDDL(schema)
    rows = own._jsparkSession.createDataFrame(own._jvm.java.util.ArrayList(), kind)
    return ClassicFrame(rows, spark)


def message_of(error: PySparkException) -> tuple[str, str]:
    """Return what Spark says of an error, and the name of its condition, empty where it has none.

    Spark 3.5 calls the latter a class, and gives the former as a text alone.
    """
    untyped: Any = error
    if hasattr(error, "getCondition"):
        return error.getMessage() or str(error), error.getCondition() or ""
    return str(error).strip(), untyped.getErrorClass() or ""


def fragment_of(error: PySparkException) -> str | None:
    """Return the part of a query that an error of analysis is about; None where Spark has none."""
    untyped: Any = error
    origin = getattr(untyped, "_origin", None)
    try:
        contexts = origin.getQueryContext() if origin is not None else ()
        return next((str(context.fragment()) for context in contexts if context.fragment()), None)
    except Py4JError:
        # What was made without SQL has no text.
        return None


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow types of Spark's; instants are in UTC."""
    if "timezone" in inspect.signature(to_arrow_schema).parameters:
        return to_arrow_schema(schema, timezone="UTC")
    # Before Spark 4.2 it knows no other zone.
    return to_arrow_schema(schema)


def struct_of(text: str) -> StructType:
    """Read columns that are written as in CREATE TABLE."""
    if hasattr(StructType, "fromDDL"):
        schema: Any = StructType.fromDDL(text)
    else:
        # Before Spark 4.0 it has no public name.
        own: Any = importlib.import_module("pyspark.sql.types")
        schema = own._parse_datatype_string(text)
    return cast(StructType, schema)


def settings_of(session: SparkSession) -> dict[str, str]:
    """Return all settings of a session that somebody has set."""
    settings: Any = getattr(session.conf, "getAll", None)
    if settings is None:
        # Of Spark 3.5 only the JVM knows.
        own: Any = session
        converters = own._jvm.scala.collection.JavaConverters
        settings = converters.mapAsJavaMap(own._jsparkSession.conf().getAll())
    return dict(settings)


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Make a session the thread's active one inside the block, and then that which was it before.

    Types and columns are made by the settings of the active session. That which PySpark notes for
    all threads at once stays the user's.
    """
    place: Any = type(session)
    own: Any = session
    class_of = getattr(place, "_get_j_spark_session_class", lambda jvm: jvm.SparkSession)
    sessions: Any = class_of(own._jvm)
    in_java = sessions.getActiveSession()
    sessions.setActiveSession(own._jsparkSession)
    try:
        yield
    finally:
        if in_java.isDefined():
            sessions.setActiveSession(in_java.get())
        else:
            sessions.clearActiveSession()


def try_cast(value: Column, kind: str) -> Column:
    """Return a value as one of another type, NULL where it is none."""
    if hasattr(Column, "try_cast"):
        return value.try_cast(kind)
    # Before Spark 4.0 only its SQL has it.
    untyped: Any = value
    return Column(
        call_static(SparkSession.active(), "ColumnExpressions", "tryCast", untyped._jc, kind)
    )
