"""Avro schemas of Hive's columns, and columns of Avro schemas, as Hive's AvroSerDe has them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    HiveType,
    Kind,
)
from hivesql_planner.model.table import AVRO_SCHEMA, Column, Table

LITERAL, URL = AVRO_SCHEMA
_NO_LITERAL = "none"
Schema = Any
"""Parsed JSON: a name, a list (a union) or an object."""

_TO_AVRO: dict[Kind, Schema] = {
    Kind.BOOLEAN: "boolean",
    Kind.TINYINT: "int",
    Kind.SMALLINT: "int",
    Kind.INT: "int",
    Kind.BIGINT: "long",
    Kind.FLOAT: "float",
    Kind.DOUBLE: "double",
    Kind.STRING: "string",
    Kind.BINARY: "bytes",
    Kind.DATE: {"type": "int", "logicalType": "date"},
    Kind.TIMESTAMP: {"type": "long", "logicalType": "timestamp-millis"},
}
_TO_HIVE = {
    "boolean": BOOLEAN,
    "int": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BINARY,
    "fixed": BINARY,
    "enum": STRING,
}


def declared_literal(table: Table) -> str | None:
    """Return the text of the schema in an Avro table's properties; None where there is none."""
    literal = {**table.properties, **table.serde_properties}.get(LITERAL)
    return literal if table.format == "avro" and literal != _NO_LITERAL else None


def declared_url(table: Table) -> str | None:
    """Return the place of an Avro table's schema; None where its properties tell none or a text."""
    if table.format != "avro" or declared_literal(table) is not None:
        return None
    return {**table.properties, **table.serde_properties}.get(URL)


def names_schema(table: Table) -> bool:
    """Tell whether a schema tells the columns of an Avro table."""
    return declared_literal(table) is not None or declared_url(table) is not None


def with_schema_columns(table: Table) -> Table:
    """Give an Avro table the columns of the schema in its properties, if there is one.

    A schema that lies in a file is not read.
    """
    literal = declared_literal(table)
    if literal is None:
        return table
    columns = columns_of(parsed_schema(literal))
    if [(c.name, c.type) for c in columns] == [(c.name, c.type) for c in table.columns]:
        return table
    return replace(table, columns=columns)


def schema_of(table: Table, literal: str | None = None) -> Schema:
    """Give the schema of the table's written rows: ``literal``, or that of its columns."""
    if literal is not None:
        return parsed_schema(literal)
    numbers = itertools.count()
    fields = [_field(column.name, column.type, numbers) for column in table.columns]
    name = {"name": table.name.name, "namespace": table.name.database}
    return {"type": "record", **name, "fields": fields}


def parsed_schema(text: str) -> Schema:
    """Return a record's schema from its text; SemanticError for anything else."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise SemanticError(f"the Avro schema is no JSON: {error}") from error
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise SemanticError("the Avro schema is no record")
    return schema


def columns_of(schema: Schema) -> tuple[Column, ...]:
    """Hive's columns of a record's schema; SemanticError where it is none that Avro knows."""
    try:
        return tuple(
            Column(field["name"].lower(), _hive_type(field["type"]), field.get("doc"))
            for field in schema["fields"]
        )
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise SemanticError(f"the Avro schema is not understood: {error!r}") from error


def _field(name: str, hive_type: HiveType, numbers: Iterator[int], **more: str) -> Schema:
    return {"name": name, "type": _nullable(hive_type, numbers), "default": None, **more}


def _nullable(hive_type: HiveType, numbers: Iterator[int]) -> Schema:
    return ["null", _avro_type(hive_type, numbers)]


def _avro_type(hive_type: HiveType, numbers: Iterator[int]) -> Schema:
    match hive_type.kind:
        case Kind.ARRAY:
            return {"type": "array", "items": _nullable(hive_type.children[0], numbers)}
        case Kind.MAP:
            key, value = hive_type.children
            if key.kind is not Kind.STRING:
                raise NotSupported(f"a map in Avro whose keys are {key}, not string")
            return {"type": "map", "values": _nullable(value, numbers)}
        case Kind.STRUCT:
            record: dict[str, Schema] = {"type": "record", "name": f"record_{next(numbers)}"}
            pairs = hive_type.fields
            fields = [_field(name, inner, numbers, doc=str(inner)) for name, inner in pairs]
            return {**record, "doc": str(hive_type).lower(), "fields": fields}
        case Kind.CHAR | Kind.VARCHAR as kind:
            return {
                "type": "string", "logicalType": kind.value, "maxLength": hive_type.length,
            }  # fmt: skip
        case Kind.DECIMAL:
            precision, scale = hive_type.arguments
            digits = {"precision": precision, "scale": scale}
            return {"type": "bytes", "logicalType": "decimal", **digits}
        case kind if kind in _TO_AVRO:
            return _TO_AVRO[kind]
    raise NotSupported(f"the type {hive_type} in Avro")


def _hive_type(schema: Schema) -> HiveType:
    if isinstance(schema, list):
        return _of_union(schema)
    if isinstance(schema, str):
        if schema not in _TO_HIVE:
            raise NotSupported(f"the Avro type {schema}")
        return _TO_HIVE[schema]
    return _logical_type(schema) or _nested_type(schema)


def _logical_type(schema: Schema) -> HiveType | None:
    match schema.get("logicalType"):
        case "char" | "varchar" as kind:
            return HiveType(Kind(kind), (schema["maxLength"],))
        case "decimal":
            return HiveType.decimal(schema["precision"], schema.get("scale", 0))
        case "date":
            return DATE
        case "timestamp-millis":
            return TIMESTAMP
    return None


def _nested_type(schema: Schema) -> HiveType:
    match schema["type"]:
        case "array":
            return HiveType.array(_hive_type(schema["items"]))
        case "map":
            return HiveType.map(STRING, _hive_type(schema["values"]))
        case "record":
            fields = (
                (field["name"].lower(), _hive_type(field["type"])) for field in schema["fields"]
            )
            return HiveType.struct(*fields)
        case inner:
            return _hive_type(inner)


def _of_union(schemas: Sequence[Schema]) -> HiveType:
    kinds = [schema for schema in schemas if schema != "null"]
    if len(kinds) != 1:
        raise NotSupported(f"an Avro union of {len(kinds)} types")
    return _hive_type(kinds[0])
