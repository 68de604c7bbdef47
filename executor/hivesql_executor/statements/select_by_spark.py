"""The rows of a query by Spark, to whoever wants them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql.functions import col
from pyspark.sql.types import DataType, DateType, StringType, StructField, TimestampNTZType

from hivesql_executor.outcome import (
    HIVE_TYPE,
    Outcome,
    OutsideTime,
    is_outside_years,
    naming_times,
    with_text,
)
from hivesql_executor.spark.lines import collect_rows
from hivesql_executor.spark.nanoseconds.columns import as_text
from hivesql_executor.spark.scan.nanoseconds import NanosecondFrame, nanosecond_rows_of
from hivesql_executor.spark.values import as_shown, as_wall_clock, with_instants_marked
from hivesql_executor.statements.context import OrRows, Work
from hivesql_executor.tracing import span
from hivesql_planner.model.table import Column
from hivesql_planner.relations import Query
from hivesql_planner.settings.session_zone import session_zone


def query_rows(query: Query, work: Work) -> Outcome:
    """Consume the rows while the snapshot is held."""
    nanosecond_rows = nanosecond_rows_of(query, work.txn, work.runtime)
    columns = query.columns
    clocks = as_wall_clock(as_shown(nanosecond_rows.rows, columns))
    frame = with_instants_marked(clocks, columns, session_zone(work.runtime.settings))
    nanoseconds = nanosecond_rows.nanoseconds
    if nanoseconds:
        # Two columns may have one name.
        width = len(frame.columns)
        names = [f"c{i}" for i in range(len(nanosecond_rows.whole.columns))]
        with_texts = nanosecond_rows.whole.toDF(*names)
        more = (
            [
                Column(f"c{place}", as_text(columns[i].type))
                for place, i in enumerate(nanoseconds, width)
            ]
            if columns
            else []
        )
        frame = NanosecondFrame(
            frame, as_wall_clock(as_shown(with_texts, [*columns, *more])), nanoseconds
        )
    if work.consume and not isinstance(work.consume, OrRows):
        # Errors of the user's own function are his.
        with span("jobs"):
            return Outcome.of_query(frame, work.consume(frame))
    with naming_times(frame.dtypes), span("jobs"):
        value = work.consume(frame) if work.consume else _collect(frame)
    return Outcome.of_query(frame, value)


def _collect(frame: DataFrame) -> list[Row]:
    """Return all rows; times whose years Python does not have are texts."""
    try:
        return collect_rows(frame)
    except (ValueError, OverflowError) as error:
        places = [i for i, field in enumerate(frame.schema.fields) if _is_time(field)]
        if not places or not is_outside_years(error):
            raise
    whole = frame.whole if isinstance(frame, NanosecondFrame) else frame
    names = [f"c{i}" for i in range(len(whole.columns))]
    types: list[DataType] = [field.dataType for field in whole.schema.fields]
    for i in places:
        types[i] = StringType()
    values = [col(name).cast(kind) for name, kind in zip(names, types, strict=True)]
    width, finer = len(frame.columns), getattr(frame, "nanoseconds", ())
    rows = []
    for row in collect_rows(whole.toDF(*names).select(values)):
        items: list[Any] = list(row)
        for i in places:
            items[i] = _time_of(items[i], frame.schema.fields[i].dataType)
        for i, text in zip(finer, items[width:], strict=True):
            is_outside = text is not None and isinstance(items[i], OutsideTime)
            items[i] = OutsideTime(text) if is_outside else with_text(items[i], text)
        rows.append(Row(*frame.columns)(*items[:width]))
    return rows


def _is_time(field: StructField) -> bool:
    return (
        isinstance(field.dataType, (DateType, TimestampNTZType)) and HIVE_TYPE not in field.metadata
    )


def _time_of(text: str | None, kind: DataType) -> date | str | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text) if isinstance(kind, DateType) else _clock(text)
    except ValueError:
        return OutsideTime(text)


def _clock(text: str) -> datetime:
    # Python 3.10 reads fractions of three or six digits alone.
    time, _, fraction = text.partition(".")
    return datetime.fromisoformat(f"{time}.{fraction.ljust(6, '0')}")
