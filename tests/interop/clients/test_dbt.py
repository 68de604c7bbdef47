"""The example project of dbt, run by dbt-hive against our server.

Its driver is an older one than ours, so dbt lies in an environment of its own: ``HIVESQL_TEST_DBT``
names its program.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivesql.server.server import Server
from thrift_servers import Client, serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DBT = os.environ.get("HIVESQL_TEST_DBT") or shutil.which("dbt")
EXAMPLE = Path(__file__).parents[3] / "examples" / "dbt"
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(DBT is None, reason="no dbt (pip install 'dbt-core~=1.11.0' dbt-hive)"),
]
HISTORY = (
    "SELECT order_id, amount, dbt_valid_to IS NULL FROM shop.orders_history WHERE order_id < 3 "
    "ORDER BY order_id, amount"
)


@pytest.fixture(scope="module")
def server(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    connection = {"spark": spark.newSession()}
    with serving(tmp_path_factory.mktemp("server"), connection=connection) as server:
        yield server


def run_dbt(project: Path, server: Server, *command: str) -> str:
    """Have dbt do something, such as ``build``: seeds, models, tests, snapshots; what it prints."""
    places = {"HIVESQL_PORT": str(server.port), "DBT_PROFILES_DIR": str(project)}
    result = subprocess.run(
        [str(DBT), "--no-use-colors", *command], cwd=project, capture_output=True, text=True,
        env=os.environ | places, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_the_example_is_built_twice(server: Server, tmp_path: Path) -> None:
    project = shutil.copytree(EXAMPLE, tmp_path / "shop")
    assert "All checks passed!" in run_dbt(project, server, "debug")
    # Each command by itself, as people type them; after these build does all of it at once.
    for command, passed in (("seed", 1), ("run", 5), ("snapshot", 1), ("test", 5)):
        assert f"PASS={passed} WARN=0 ERROR=0 SKIP=0" in run_dbt(project, server, command)
    orders = project / "seeds" / "orders.csv"
    text = orders.read_text().replace("1,Ann,10.5,", "1,Ann,12.5,")
    orders.write_text(text + "5,Ben,5,2024-01-04,true\n")
    assert "PASS=12 WARN=0 ERROR=0 SKIP=0" in run_dbt(project, server, "build")
    run_dbt(project, server, "docs", "generate")
    catalog = json.loads((project / "target" / "catalog.json").read_text())
    assert catalog["errors"] is None
    columns = catalog["nodes"]["model.shop.customers"]["columns"]
    assert {name: of["type"] for name, of in columns.items()}["customer"] == "string"
    connection = server.options.connection
    with (
        serving(tmp_path, authentication="nosasl", connection=connection) as plain,
        Client(plain).open(use__database="shop") as client,
    ):
        assert client.rows(HISTORY) == [(1, 10.5, False), (1, 12.5, True), (2, 20.0, True)]
        assert client.rows("SELECT total FROM customers WHERE customer = 'Ann'") == [(19.75,)]
        merged = "SELECT amount FROM order_state WHERE order_id IN (1, 5) ORDER BY amount"
        assert client.rows(merged) == [(5.0,), (12.5,)]
        assert client.rows("SELECT count(*), count(DISTINCT order_id) FROM order_log") == [(5, 5)]
        assert client.rows("SELECT count(*) FROM orders_by_day") == [(5,)]
