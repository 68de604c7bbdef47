"""Avro schemas of Hive's columns, and columns of Avro schemas, as Hive's AvroSerDe has them."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.table import Column, Table
from hivesql_planner.model.types import parts_of

LITERAL, URL = "avro.schema.literal", "avro.schema.url"
Schema = Any
"""Parsed JSON: a name, a list (a union) or an object."""

_TO_AVRO: dict[str, Schema] = {
    "boolean": "boolean",
    "tinyint": "int",
    "smallint": "int",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "timestamp": {"type": "long", "logicalType": "timestamp-millis"},
}
_TO_HIVE = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
    "bytes": "binary",
    "fixed": "binary",
    "enum": "string",
}
_SIZED = re.compile(r"(char|varchar)\s*\(\s*(\d+)\s*\)")
_DECIMAL = re.compile(r"decimal(?:\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?")


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
    """Hive's columns of a record's schema."""
    return tuple(
        Column(field["name"].lower(), _hive_type(field["type"]), field.get("doc"))
        for field in schema["fields"]
    )


def _field(name: str, hive_type: str, numbers: Iterator[int], **more: str) -> Schema:
    return {"name": name, "type": _nullable(hive_type, numbers), "default": None, **more}


def _nullable(hive_type: str, numbers: Iterator[int]) -> Schema:
    return ["null", _avro_type(hive_type, numbers)]


def _avro_type(hive_type: str, numbers: Iterator[int]) -> Schema:
    text = hive_type.strip().lower()
    kind, parts = text.partition("<")[0], parts_of(text)
    if kind == "array":
        return {"type": "array", "items": _nullable(parts[0][1], numbers)}
    if kind == "map":
        (_, key), (_, value) = parts
        if key != "string":
            raise NotSupported(f"a map in Avro whose keys are {key}, not string")
        return {"type": "map", "values": _nullable(value, numbers)}
    if kind == "struct":
        record: dict[str, Schema] = {"type": "record", "name": f"record_{next(numbers)}"}
        fields = [_field(name, inner, numbers, doc=inner) for name, inner in parts]
        return {**record, "doc": text, "fields": fields}
    if sized := _SIZED.fullmatch(text):
        return {"type": "string", "logicalType": sized[1], "maxLength": int(sized[2])}
    if decimal := _DECIMAL.fullmatch(text):
        digits = {"precision": int(decimal[1] or 10), "scale": int(decimal[2] or 0)}
        return {"type": "bytes", "logicalType": "decimal", **digits}
    if text not in _TO_AVRO:
        raise NotSupported(f"the type {hive_type} in Avro")
    return _TO_AVRO[text]


def _hive_type(schema: Schema) -> str:
    if isinstance(schema, list):
        return _of_union(schema)
    if isinstance(schema, str):
        if schema not in _TO_HIVE:
            raise NotSupported(f"the Avro type {schema}")
        return _TO_HIVE[schema]
    return _logical_type(schema) or _nested_type(schema)


def _logical_type(schema: Schema) -> str | None:
    match schema.get("logicalType"):
        case "char" | "varchar" as kind:
            return f"{kind}({schema['maxLength']})"
        case "decimal":
            return f"decimal({schema['precision']},{schema.get('scale', 0)})"
        case "date":
            return "date"
        case "timestamp-millis":
            return "timestamp"
    return None


def _nested_type(schema: Schema) -> str:
    match schema["type"]:
        case "array":
            return f"array<{_hive_type(schema['items'])}>"
        case "map":
            return f"map<string,{_hive_type(schema['values'])}>"
        case "record":
            fields = (
                f"{one['name'].lower()}:{_hive_type(one['type'])}" for one in schema["fields"]
            )
            return f"struct<{','.join(fields)}>"
        case inner:
            return _hive_type(inner)


def _of_union(schemas: Sequence[Schema]) -> str:
    kinds = [one for one in schemas if one != "null"]
    if len(kinds) != 1:
        raise NotSupported(f"an Avro union of {len(kinds)} types")
    return _hive_type(kinds[0])
