"""A catalog and streams of ours in a session of Spark, and the way of their requests to Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pyspark import java_gateway
from pyspark.sql import DataFrame, SparkSession

from hivesql_executor.jvm import call_static, new_object
from hivesql_executor.spark.lines import ClassicFrame
from hivesql_planner.errors import SemanticError

_start_callbacks: Any = java_gateway.ensure_callback_server_started
_CLASS = "hivesql.AcidCatalog"


class Requests(Protocol):
    """Who answers the catalog."""

    def answer(self, request: str, frame: Any) -> Any:
        """Return a text in JSON, or a frame of the JVM."""


class _Answers:
    """What the JVM calls: a function of a request and a frame."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    def apply(self, request: str, frame: Any) -> Any:
        """Answer a request."""
        return self._requests.answer(request, frame)

    class Java:
        """Names the interface to Py4J."""

        implements = ("java.util.function.BiFunction",)


def add_catalog(spark: SparkSession, name: str, requests: Requests) -> None:
    """Let a session of Spark know a catalog of ours; SemanticError where the name is another's."""
    key = f"spark.sql.catalog.{name}"
    class_name = spark.conf.get(key, None)
    if class_name not in (None, _CLASS):
        raise SemanticError(f"{name} is another catalog of this Spark: {key} is {class_name}")
    own: Any = spark
    _start_callbacks(own.sparkContext._gateway)
    spark.conf.set(key, _CLASS)
    catalog = call_static(spark, "AcidCatalog", "add", own._jsparkSession, name)
    catalog.connect(own._jsparkSession, _Answers(requests))


def load_changes(
    spark: SparkSession, columns: str, requests: Requests
) -> tuple[DataFrame, Callable[[], object]]:
    """Return a stream of changes, whose columns are Spark's DDL, and what lets no query start it.

    See ``ChangeSource.java``.
    """
    own: Any = spark
    _start_callbacks(own.sparkContext._gateway)
    stream = new_object(spark, "ChangeStream", own._jsparkSession, columns)
    return ClassicFrame(stream.load(_Answers(requests)), spark), stream.close
