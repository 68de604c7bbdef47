"""Nodes of what is done with views."""

from __future__ import annotations

from typing import ClassVar

from hivesql.dialect.nodes.own import Own
from hivesql.python_sqlglot import exp


class PartitionedOn(exp.Property):
    """PARTITIONED ON (…) of a view: its last columns."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class AlterView(Own):
    """ALTER VIEW … AS."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}
    written = "ALTER VIEW @this AS @expression"


class Rebuild(Own):
    """ALTER MATERIALIZED VIEW … REBUILD."""

    written = "ALTER MATERIALIZED VIEW @this REBUILD"
