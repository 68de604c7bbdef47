"""An HDFS of two name nodes: who changes over while statements run loses and doubles nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import failing_over
from interop.files.test_hdfs import LEFT, SCRIPT
from minidfs import NameService, name_service
from programs import answer_of

pytestmark = [pytest.mark.spark, pytest.mark.hive]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NameService]:
    with name_service(tmp_path_factory.mktemp("nodes")) as service:
        yield service


def test_statements_go_on_with_the_other_name_node(both: NameService, tmp_path: Path) -> None:
    """It comes in the middle of each of them, and the one before stands by."""
    seed = str(random.randrange(1 << 30))
    told = answer_of(
        Path(failing_over.__file__), tmp_path, both.uri, str(both.control), seed, SCRIPT,
        environment={"HADOOP_CONF_DIR": str(both.conf)},
    )  # fmt: skip
    assert told["errors"] == [], seed
    assert sorted(map(tuple, told["rows"])) == LEFT, seed
    assert told["problems"] == [], seed
    assert told["compactions"] == ["succeeded"], seed
