"""What all answers to Spark's JVM share: errors in JSON, and types as Spark has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from hivesql_executor.translate_errors import translate_error
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.hive_type import HiveType, Kind, quote_name
from hivesql_planner.model.table import Column

_NO_ZONE = HiveType(Kind.OTHER, other="timestamp_ntz")


def answer_or_refusal(answer: Callable[[], Any]) -> Any:
    """Return an answer, or the error instead, which Spark raises."""
    try:
        return answer()
    except Exception as error:  # noqa: BLE001 - it goes on in the JVM
        translation = translate_error(error)
        kind, message = type(translation).__name__, str(translation)
        if isinstance(translation, HiveSqlError) and translation.retryable:
            message += " (running it again may succeed)"
        return json.dumps({"refused": {"kind": kind, "message": message}})


def spark_schema(columns: Iterable[Column]) -> str:
    """Return columns in Spark's DDL; Hive's TIMESTAMP has no zone."""
    return ", ".join(
        f"{quote_name(column.name)} {column.type.exchange((Kind.TIMESTAMP,), _NO_ZONE).spark}"
        for column in columns
    )
