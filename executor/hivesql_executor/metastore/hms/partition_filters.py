"""Tests of partition values as a filter of a Hive Metastore."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql_planner.model.table import Table
from hivesql_planner.predicates.partitions import PartitionTest


def partition_filter(table: Table, tests: Sequence[PartitionTest]) -> str:
    """The text of the tests that the metastore can make; empty when there is none."""
    texts = (_text(table.partition_names[test.position], test) for test in tests)
    return " and ".join(text for text in texts if text)


def _text(name: str, test: PartitionTest) -> str:
    if not name.isidentifier() or any(char in value for value in test.values for char in '"\\'):
        return ""
    if test.kind == "text" and test.operator != "=":
        # The metastore's database may order texts as a language does.
        return ""
    values = test.values if test.kind == "integer" else [f'"{value}"' for value in test.values]
    if test.operator == "=" and test.kind != "text":
        # Equality would compare texts, and 05 is 5.
        either = [f"({name} >= {value} and {name} <= {value})" for value in values]
    else:
        either = [f"{name} {test.operator} {value}" for value in values]
    return f"({' or '.join(either)})"
