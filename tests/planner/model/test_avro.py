"""Avro schemas as real Hive writes and reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.avro_schema import columns_of, parsed_schema, schema_of
from hivesql_planner.model.hive_type import BIGINT, BINARY, STRING
from tables import make_table

CASES: dict[str, Any] = {
    "int": "int",
    "bigint": "long",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "timestamp": {"type": "long", "logicalType": "timestamp-millis"},
    "decimal(10,2)": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
    "char(4)": {"type": "string", "logicalType": "char", "maxLength": 4},
    "array<int>": {"type": "array", "items": ["null", "int"]},
    "map<string,array<int>>": {
        "type": "map", "values": ["null", {"type": "array", "items": ["null", "int"]}],
    },
    "struct<x:int,y:decimal(5,3)>": {
        "type": "record", "name": "record_0", "doc": "struct<x:int,y:decimal(5,3)>",
        "fields": [
            {"name": "x", "type": ["null", "int"], "default": None, "doc": "int"},
            {
                "name": "y", "default": None, "doc": "decimal(5,3)",
                "type": ["null", {
                    "type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 3,
                }],
            },
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize(("hive", "avro"), CASES.items(), ids=CASES)
def test_schemas_of_types_and_back(tmp_path: Path, hive: str, avro: Any) -> None:
    schema = schema_of(make_table(tmp_path, f"a {hive}", format="avro"))
    assert (schema["name"], schema["namespace"]) == ("t", "default")
    assert schema["fields"] == [{"name": "a", "type": ["null", avro], "default": None}]
    assert [str(column.type) for column in columns_of(schema)] == [hive]


def test_types_that_only_avro_has() -> None:
    fields = [
        {"name": "E", "type": {"type": "enum", "name": "e", "symbols": ["X"]}},
        {"name": "f", "type": {"type": "fixed", "name": "f4", "size": 4}},
        {"name": "u", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    ]
    schema = parsed_schema(json.dumps({"type": "record", "name": "r", "fields": fields}))
    assert [(one.name, one.type) for one in columns_of(schema)] == [
        ("e", STRING), ("f", BINARY), ("u", BIGINT),
    ]  # fmt: skip


@pytest.mark.parametrize("hive", ["map<int,int>", "timestamp with local time zone"])
def test_types_that_avro_lacks(tmp_path: Path, hive: str) -> None:
    with pytest.raises(NotSupported, match="in Avro"):
        schema_of(make_table(tmp_path, f"a {hive}", format="avro"))


@pytest.mark.parametrize("text", ["{", '"int"', '{"type": "enum"}'])
def test_schemas_that_are_none(text: str) -> None:
    with pytest.raises(SemanticError, match="Avro schema"):
        parsed_schema(text)


def test_unions_are_refused() -> None:
    union = {"name": "a", "type": ["int", "string"]}
    with pytest.raises(NotSupported, match="union of 2"):
        columns_of({"type": "record", "fields": [union]})
