"""A session on a fresh warehouse, beside the suite's one Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[hivesql.Session]:
    """An embedded metastore and a local warehouse of the test's own."""
    with hivesql.connect(
        f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"), spark=spark
    ) as session:
        yield session


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[hivesql.Session]:
    """A session of a test whose statements start no Spark."""
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "wh")) as session:
        yield session
