"""Fixtures of the interop suite. Real Hive needs none: it builds itself when it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interop.ours import Warehouse, open_warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def open_ours(tmp_path: Path, spark: SparkSession) -> Iterator[Callable[[str], Warehouse]]:
    """Opens an empty warehouse of HiveSQL under a name; closed after the test."""
    opened: list[Warehouse] = []

    def open_named(name: str) -> Warehouse:
        opened.append(open_warehouse(tmp_path / name, spark))
        return opened[-1]

    yield open_named
    for warehouse in opened:
        warehouse.session.close()
