"""Classes that Hive runs as functions, in Spark's queries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from pyspark.sql import SparkSession

from hivesql_executor.jvm import call_static
from hivesql_executor.spark.buckets import register_hashes
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.statements.functions import BY_CLASS, CLASS_PREFIX, FunctionKind

_FUNCTIONS_OF_OURS = {"hive_zoned_": "DatePatterns"}
_CALLED = re.compile(rf"\b{CLASS_PREFIX}(\w+)\(")


def register_called(session: SparkSession, texts: Iterable[str]) -> None:
    """Make a session know the functions of ours, and Hive's own classes, that texts call."""
    texts = list(texts)
    register_hashes(session, texts)
    own: Any = session  # no public way to register functions of the JVM
    for begins, java_class in _FUNCTIONS_OF_OURS.items():
        if any(begins in text for text in texts):
            call_static(session, java_class, "register", own._jsparkSession)
    for name in {name for text in texts for name in _CALLED.findall(text)}:
        register_function(session, CLASS_PREFIX + name, name, BY_CLASS[name])


def register_function(
    session: SparkSession, called: str, name: str, java_class: str
) -> FunctionKind:
    """Let a session's queries call a class; SemanticError where it is no function of Hive's."""
    own: Any = session  # no public way to register Hive's functions
    kind = call_static(session, "HiveFunction", "register", own._jsparkSession, called, name,
                       java_class)  # fmt: skip
    if kind is None:
        raise SemanticError(
            f"Class {java_class} not found. Please ensure that the JAR file containing this class "
            "was added with ADD JAR or USING JAR"
        )
    if kind == "resolver":
        feature = f"{java_class}, an aggregate that does not extend AbstractGenericUDAFResolver"
        raise NotSupported(feature)
    if not kind:
        message = f"Class {java_class} does not implement UDF, GenericUDF, UDAF or GenericUDTF"
        raise SemanticError(message)
    return cast(FunctionKind, kind)


def describe_class(session: SparkSession, java_class: str) -> tuple[str, str]:
    """Tell what a class says of its usage, and in detail; empty texts where it says nothing."""
    own: Any = session  # as above
    texts = call_static(session, "HiveFunction", "description", own._jsparkSession, java_class)
    return (texts[0] or "", texts[1] or "") if texts is not None else ("", "")
