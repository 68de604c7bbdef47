"""Lines of JSON as Hive's JsonSerDe reads and writes them.

Spark parses one level at a time into texts, since Hive compares names without their case and has
conversions of its own.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.spark.formats.text_values import (
    lazy_binary,
    lazy_date,
    lazy_value,
    sized_text,
)
from hivesql_executor.spark.values import stored_value, value_text
from hivesql_planner.model.hive_type import HiveType, Kind, quote_name
from hivesql_planner.model.table import Table

_OPTIONS = {"allowSingleQuotes": "false"}
_OBJECT, _LIST = "map<string,string>", "array<string>"


def split_json(table: Table, line: str) -> list[Column]:
    """Return the table's data columns from a column of lines; missing keys are NULL.

    Lines that are no JSON objects fail the job, as in Hive.
    """
    names = {f"_col{i}": name for i, name in enumerate(table.column_names)}
    members = _object(f.col(line), f"{table.name}: a line that is no JSON object: ")
    return [
        _value(f.coalesce(members[column.name], members[alias]), column.type, table).alias(
            column.name
        )
        for column, alias in zip(table.columns, names, strict=True)
    ]


def _object(text: Column, problem: str) -> Column:
    """Values by names in lower case; of a name given twice the last one."""
    parsed = _entries(text, _OBJECT, problem)
    lowered = f.transform(
        f.map_entries(parsed),
        lambda member: f.struct(
            f.lower(member["key"]).alias("key"), member["value"].alias("value")
        ),
    )
    return f.map_from_entries(lowered)


def _entries(text: Column, kind: str, problem: str) -> Column:
    failure = f.raise_error(f.concat(f.lit(problem), f.substring(text, 1, 80))).cast(kind)
    return f.when(text.isNotNull(), f.coalesce(f.from_json(text, kind, _OPTIONS), failure))


def _value(text: Column, hive_type: HiveType, table: Table) -> Column:
    inside = hive_type.children
    problem = f"{table.name}: no JSON of {hive_type}: "
    match hive_type.kind:
        case Kind.ARRAY:
            items = _entries(text, _LIST, problem)
            return f.transform(items, lambda item: _value(item, inside[0], table))
        case Kind.MAP:

            def entry(member: Column) -> Column:
                key, value = member["key"], member["value"]
                return f.struct(
                    _value(key, inside[0], table).alias("key"),
                    _value(value, inside[1], table).alias("value"),
                )

            entries = f.transform(f.map_entries(_entries(text, _OBJECT, problem)), entry)
            return f.map_from_entries(entries)
        case Kind.STRUCT:
            members = _object(text, problem)
            fields = (
                _value(members[name], inner, table).alias(name) for name, inner in hive_type.fields
            )
            return f.when(text.isNotNull(), f.struct(*fields))
    if not hive_type.is_text:
        failure = f.raise_error(f.concat(f.lit(problem), f.substring(text, 1, 80)))
        text = f.when(text.rlike(r"^[\[{]"), failure.cast("string")).otherwise(text)
    return _primitive(text, hive_type, problem)


def _primitive(text: Column, hive_type: HiveType, problem: str) -> Column:
    kind = hive_type.spark
    match hive_type.kind:
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR:
            return sized_text(text, hive_type)
        case Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            # Jackson's numbers of texts: what is none is 0, and what is too long loses bits.
            integer = f.when(text.rlike(r"^\s*[+-]?\d+\s*$"), text.cast("bigint"))
            number = f.coalesce(integer, text.cast("double").cast("bigint"), _truth(text), f.lit(0))
            return f.when(text.isNotNull(), number.cast(kind))
        case Kind.FLOAT | Kind.DOUBLE:
            number = f.coalesce(text.cast("double"), _truth(text), f.lit(0))
            return f.when(text.isNotNull(), number.cast(kind))
        case Kind.BOOLEAN:
            return f.when(text.isNotNull(), ~f.trim(text).isin("false", "0"))
        case Kind.DATE:
            failure = f.raise_error(f.concat(f.lit(problem), text)).cast("date")
            return f.when(text.isNotNull(), f.coalesce(lazy_date(text), failure))
        case Kind.BINARY:
            return lazy_binary(text)
    return lazy_value(text, hive_type)


def _truth(text: Column) -> Column:
    return f.when(text == "true", f.lit(1))


def joined_json(table: Table) -> Column:
    """Give one JSON object with all of the table's data columns, NULL ones too."""
    values = (_written(f.col(quote_name(c.name)), c.type).alias(c.name) for c in table.columns)
    return f.to_json(f.struct(*values), {"ignoreNullFields": "false"})


def _written(value: Column, hive_type: HiveType) -> Column:
    """Return a value that Spark writes as Hive does: times as text, bytes as Base64."""
    inside = hive_type.children
    match hive_type.kind:
        case Kind.ARRAY:
            return f.transform(value, lambda item: _written(item, inside[0]))
        case Kind.MAP:

            def entry(pair: Column) -> Column:
                key = value_text(pair["key"], inside[0])
                return f.struct(key.alias("key"), _written(pair["value"], inside[1]).alias("v"))

            return f.map_from_entries(f.transform(f.map_entries(value), entry))
        case Kind.STRUCT:
            pairs = hive_type.fields
            fields = (_written(value[name], inner).alias(name) for name, inner in pairs)
            return f.when(value.isNotNull(), f.struct(*fields))
        case Kind.STRING | Kind.VARCHAR | Kind.CHAR:
            return stored_value(value, hive_type)
        case Kind.DATE | Kind.TIMESTAMP | Kind.INSTANT:
            return value_text(value, hive_type)
        case Kind.BINARY:
            return f.base64(value)
    return value
