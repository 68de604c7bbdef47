"""DESCRIBE FUNCTION tells of every function, and of names that are none, what real Hive tells."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from hivesql_executor.statements.show.hive_descriptions import described_functions
from interop import describe_functions

pytestmark = [pytest.mark.hive, pytest.mark.slow]
UNKNOWN = ["any", "case", "cast", "exists", "extract", "integer", "no_function", "Abs", "PI"]


def test_every_description(tmp_path: Path) -> None:
    names = [*sorted(described_functions()), *UNKNOWN]
    hives = describe_functions.ask(names, tmp_path / "hive")
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path)) as session:
        ours = {
            name: session.sql(f"DESCRIBE FUNCTION EXTENDED {describe_functions.quoted(name)}").rows
            for name in names
        }
    assert {name: [row[0] for row in rows] for name, rows in ours.items()} == hives
