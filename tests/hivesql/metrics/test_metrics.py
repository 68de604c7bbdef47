"""Metrics as a scrape finds them: over HTTP, by prometheus-client's own parser."""

from __future__ import annotations

import json
import re
import sys
import threading
import urllib.error
import urllib.request
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import prometheus_client
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import update

import hivesql
from hand_made import T, Warehouse
from hivesql.metrics.register import new_registry, register_metrics
from hivesql.metrics.server import parse_address, serve_metrics
from hivesql.metrics.statements import kind_of
from hivesql.server.options import ServerOptions
from hivesql.server.server import Server
from hivesql.services import run_services
from hivesql_executor.metastore.api import LockOwner
from hivesql_executor.metastore.database.schema import txns
from hivesql_executor.service_health import ServiceHealth
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.write_history import RowCounts, TableWrite

ROOT = Path(__file__).parents[3]
Samples = dict[tuple[str, tuple[str, ...]], float]


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def samples(text: str) -> Samples:
    """Values by name and the values of their labels, which are sorted by their names."""
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def registered(text: str) -> set[str]:
    return {family.name for family in text_string_to_metric_families(text)}


def write(house: Warehouse, **counts: int) -> None:
    """One write with its line in the history, as a statement leaves it."""
    from hivesql_executor.metastore.api import CommitEntries

    txn_id, write_id = house.begin()
    house.directory(f"delta_{write_id:07d}_{write_id:07d}_0000")
    done = TableWrite(table=T, write_id=write_id, operation="INSERT", counts=RowCounts(**counts))
    house.store.commit_txn(txn_id, entries=CommitEntries(writes=[done]))


def silence(house: Warehouse, seconds: int) -> None:
    """As if no heart had beaten for so long."""
    past = txns.c.last_heartbeat - seconds * 1000
    house.rdbms.write(lambda db: db.execute(update(txns).values(last_heartbeat=past)))


def test_a_scrape_tells_what_goes_on(house: Warehouse) -> None:
    url = house.rdbms._engine.url.render_as_string(hide_password=False)
    write(house, inserted=8)
    house.compact()
    write(house, inserted=1)
    write(house, deleted=2)
    house.store.alter_table(
        T, replace(house.table, properties={"transactional": "true", "numRows": "6"})
    )
    house.store.enqueue_compaction(T, None, "minor", initiator_id="x")
    house.write(commit=False)
    first, _ = house.begin()
    house.older(290)
    silence(house, 290)
    waiter, _ = house.begin()
    exclusive = Lock(LockType.EXCLUSIVE, "default", "t", None, Operation.NO_TXN)
    house.store.enqueue_locks(waiter, [exclusive], LockOwner("bob", "there"))
    registry = new_registry()
    with hivesql.connect(url, house.home.parent, settings={"hive.txn.timeout": "300"}) as session:
        register_metrics(session, registry, warehouse=True)
        with pytest.raises(hivesql.SemanticError, match="already"):
            register_metrics(session, registry, warehouse=True)
        session.sql("SHOW TABLES; EXPLAIN SELECT 1")
        with pytest.raises(hivesql.ParseError):
            session.sql("DROP nonsense")
        with serve_metrics(("127.0.0.1", 0), registry, lambda: ()) as port:
            status, text = get(port, "/metrics")
            assert status == 200 and get(port, "/healthz") == (200, "ok")
            assert get(port, "/")[0] == 404
            got = samples(text)
            assert {key: got[key, ()] for key in ("hivesql_metastore_up",)} == {
                "hivesql_metastore_up": 1
            }
            assert got["hivesql_transactions", ("open",)] == 2
            assert got["hivesql_transactions", ("aborted",)] == 1
            assert 290 <= got["hivesql_oldest_open_transaction_seconds", ()] < 350
            assert got["hivesql_late_heartbeats", ()] == 1
            assert got["hivesql_locks", ("waiting",)] == 1
            assert got["hivesql_locks", ("acquired",)] >= 1
            assert got["hivesql_compactions", ("initiated",)] == 1
            assert got["hivesql_compactions", ("ready for cleaning",)] == 1
            assert got["hivesql_oldest_compaction_seconds", ("initiated",)] >= 289
            assert got["hivesql_table_uncompacted_writes", ("default", "t")] == 2
            assert got["hivesql_table_deleted_share", ("default", "t")] == 2 / 8
            assert abs(got["hivesql_clock_skew_seconds", ()]) < 30
            assert got["hivesql_statements_total", ("show", "ok")] == 1
            assert got["hivesql_statements_total", ("drop", "ParseError")] == 1
            assert got["hivesql_statement_seconds_count", ("explain",)] == 1
            # What has changed since is told some seconds later.
            house.store.abort_txns([first], "x")
            assert samples(get(port, "/metrics")[1])["hivesql_transactions", ("open",)] == 2
    assert "hivesql_transactions" not in registered(
        prometheus_client.generate_latest(registry).decode()
    )


def test_caches_are_added_up_beyond_their_sessions(house: Warehouse) -> None:
    url = house.rdbms._engine.url.render_as_string(hide_password=False)
    registry = prometheus_client.CollectorRegistry()
    for _ in range(2):
        settings = {"hivesql.metastore.cache": True}
        with hivesql.connect(url, house.home.parent, settings=settings) as session:
            register_metrics(session, registry)
            session.sql("DESCRIBE t; DESCRIBE t; DESCRIBE t")
    got = samples(prometheus_client.generate_latest(registry).decode())
    assert got["hivesql_cache_calls_total", ("hit",)] >= 2
    assert got["hivesql_statements_total", ("describe", "ok")] == 6
    assert got["hivesql_cache_tables", ()] == 0


def test_services_answer_a_probe_and_count_their_work(house: Warehouse) -> None:
    url = house.rdbms._engine.url.render_as_string(hide_password=False)
    house.write()
    house.write()
    house.compact()
    house.reader()
    house.older(400)
    silence(house, 400)
    stop, health, registry = threading.Event(), ServiceHealth(), new_registry()
    settings = {"metastore.compactor.worker.threads": "1", "hive.txn.timeout": "300"}
    with hivesql.connect(url, house.home.parent, settings={"hive.txn.timeout": "500"}) as session:
        for key, value in settings.items():
            session.set(key, value)
        register_metrics(session, registry, warehouse=True, health=health)
        running = threading.Thread(
            target=run_services, args=(session, stop), kwargs={"health": health}
        )
        running.start()
        try:
            with serve_metrics(("127.0.0.1", 0), registry, health.problems) as port:
                done = threading.Event()
                for _ in range(200):
                    got = samples(get(port, "/metrics")[1])
                    if got["hivesql_cleaned_directories_total", ()] and got.get(
                        ("hivesql_service_rounds_total", ("ok", "housekeeper"))
                    ):
                        break
                    done.wait(0.05)
                assert got["hivesql_cleaned_directories_total", ()] == 2
                assert got["hivesql_reaped_transactions_total", ()] == 1
                assert got["hivesql_service_rounds_total", ("ok", "housekeeper")] == 1
                assert get(port, "/healthz") == (200, "ok")
                stop.set()
                running.join()
                status, reasons = get(port, "/healthz")
                assert status == 503 and "cleaner has ended" in reasons.splitlines()
        finally:
            stop.set()
            running.join()


def test_what_a_probe_is_told() -> None:
    now = [0.0]
    health, ended = ServiceHealth(clock=lambda: now[0]), threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    health.watch("housekeeper", thread, longest=10, is_long=False)
    health.watch("worker-0", thread, longest=10, is_long=True)
    for name in ("housekeeper", "worker-0"):
        health.begin_round(name)
    now[0] = 3000
    assert health.problems() == ()
    now[0] = 3700
    assert health.problems() == ("housekeeper is in one round for 3700 s",)
    health.end_round("housekeeper", good=False)
    health.end_round("worker-0", good=False)
    assert health.problems() == ("housekeeper: the last 1 rounds failed, see the log",)
    health.begin_round("housekeeper")
    health.end_round("housekeeper", good=True)
    assert health.problems() == ()
    now[0] += 100
    assert health.problems() == ("housekeeper begins no round", "worker-0 begins no round")
    ended.set()
    thread.join()
    assert health.problems() == ("housekeeper has ended", "worker-0 has ended")


def test_a_metastore_that_does_not_answer_is_told_of(house: Warehouse) -> None:
    url = house.rdbms._engine.url.render_as_string(hide_password=False)
    registry = prometheus_client.CollectorRegistry()
    with hivesql.connect(url, house.home.parent) as session:
        register_metrics(session, registry, warehouse=True)
        session.runtime.metastore.close()
        got = samples(prometheus_client.generate_latest(registry).decode())
    assert got["hivesql_metastore_up", ()] == 0
    assert ("hivesql_transactions", ("open",)) not in got


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT 1", "select"), ("with x as (select 1) select * from x", "select"),
        ("(select 1)", "select"), ("-- why\n  Insert INTO t", "insert"), ("desc t", "describe"),
        ("frobnicate", "other"), ("", "other"), ("dfs -ls", "other"),
    ],
)  # fmt: skip
def test_kinds_are_few(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def exported() -> set[str]:
    """The names of all metrics, with the ends that a query may use."""
    of_services, of_server = (prometheus_client.CollectorRegistry() for _ in range(2))
    health = ServiceHealth()
    health.rounds["cleaner", True] = 1
    places = {"metastore": "sqlite:///m.db", "warehouse": "wh"}
    server = Server(ServerOptions(starts_spark=False, metrics=of_server, connection=places))
    with closing(server), hivesql.connect(**places) as session:
        register_metrics(session, of_services, warehouse=True, health=health)
        return {
            family.name + ("_total" if family.type == "counter" else "")
            for registry in (of_services, of_server)
            for family in registry.collect()
        }


def test_the_dashboard_and_the_documents_name_metrics_that_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = exported()
    dashboard = json.loads((ROOT / "examples/operation/grafana-dashboard.json").read_text())
    queries = [of["expr"] for panel in dashboard["panels"] for of in panel["targets"]]
    rules = yaml.safe_load((ROOT / "examples/operation/prometheus-alerts.yml").read_text())
    queries += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    asked = {name for query in queries for name in re.findall(r"hivesql_\w+", query)}
    assert {name.removesuffix("_bucket") for name in asked} <= names
    document = (ROOT / "docs/OPERATION.md").read_text()
    rows = re.findall(r"^\| `(hivesql_\w+)` \| ([\w, ]*) \|", document, re.MULTILINE)
    labels = {metric: {*filter(None, text.split(", ")), "instance", "job"} for metric, text in rows}
    for query in queries:
        named = re.findall(r"(hivesql_\w+)\{([^}]*)\}", query)
        for metric, conditions in named:
            chosen = set(re.findall(r"(\w+)\s*[=!]~?", re.sub(r'"[^"]*"', '""', conditions)))
            assert chosen <= labels[metric.removesuffix("_bucket")], query
        for grouped in re.findall(r"by ?\(([\w, ]+)\)", query):
            known = set().union(
                *(
                    labels[name.removesuffix("_bucket")]
                    for name in re.findall(r"hivesql_\w+", query)
                )
            )
            assert {*grouped.replace(" ", "").split(",")} <= known | {"le"}, query
    assert set(re.findall(r"^\| `(hivesql_\w+)", document, re.MULTILINE)) == names


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(
        hivesql.ExecutionError, match=r"pip install 'prometheus-client.*\(the extra metr"
    ):
        new_registry()


def test_addresses() -> None:
    assert parse_address("9464") == ("127.0.0.1", 9464)
    assert parse_address("0.0.0.0:0") == ("0.0.0.0", 0)
    assert parse_address("[::1]:9464") == ("::1", 9464)
    for wrong in ("", "host", "host:", "1:70000"):
        with pytest.raises(hivesql.SemanticError, match="an address is"):
            parse_address(wrong)
    with (
        serve_metrics(("127.0.0.1", 0), new_registry(), tuple) as port,
        pytest.raises(hivesql.ExecutionError, match=f"cannot be served at 127.0.0.1:{port}"),
        serve_metrics(("127.0.0.1", port), new_registry(), tuple),
    ):
        raise AssertionError("unreachable")
