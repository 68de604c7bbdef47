"""Hosts of one warehouse: some die, cables are pulled, and no two clocks agree.

Each host is processes with a name, an address and a clock of their own; the metastore is a
PostgreSQL on one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import executor_kills
import host_program
from fuzz.seeds import AGAIN, FIRST
from hosts import Host, hosts, obstacle
from postgres import postgres_server
from programs import answer_of
from spark_archive import submit_options
from standalone import standalone_cluster

TIMEOUT = 4
SETTINGS = {
    "hive.txn.timeout": f"{TIMEOUT}s",
    "hive.lock.numretries": "1000",
    "hive.lock.sleep.between.retries": "200ms",
    "hive.compactor.initiator.on": "false",
    "hivesql.compactor.inline": "false",
}
# What is rolled back goes at once.
AT_ONCE = {"hive.compactor.initiator.on": "false", "hive.compactor.abortedtxn.threshold": "0"}
UNFINISHED = ("initiated", "working", "ready for cleaning")
WALK_SECONDS = "10"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
pytestmark = [pytest.mark.slow, pytest.mark.postgres]


class RemoteSession:
    """A session in a process of its own on a host."""

    def __init__(
        self, host: Host, url: str, warehouse: Path, settings: Mapping[str, str] = SETTINGS
    ) -> None:
        self.process = host.start(host_program.__file__, url, warehouse, json.dumps(settings))
        self.is_ready = False

    def send(self, **asked: Any) -> None:
        # Programs that are started one after the other get ready at the same time.
        self.is_ready = self.is_ready or bool(self.answer()["ready"])
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, **asked: Any) -> dict[str, Any]:
        self.send(**asked)
        return self.answer()

    def sql(self, *statements: str) -> list[list[Any]]:
        """The rows of the last statement; all must succeed."""
        answer: dict[str, Any] = {}
        for statement in statements:
            answer = self.ask(sql=statement)
            assert "rows" in answer, (statement, answer)
        rows: list[list[Any]] = answer["rows"]
        return rows

    def keep_house(self) -> None:
        """One round of the services."""
        assert self.ask(call="services")["ok"]


@pytest.fixture(scope="module")
def network() -> Iterator[tuple[dict[str, Host], str]]:
    """Hosts, of whose clocks one is behind the server's, and one ahead; the server's address."""
    if reason := obstacle():
        pytest.skip(reason)
    with (
        hosts(server=600, one=600, behind=0, ahead=1200) as made,
        postgres_server(
            made["server"].address, made["server"].command(), made["server"].clock
        ) as url,
    ):
        yield made, f"{url}/postgres?tcp_user_timeout=2000"


def keep_house_until(keeper: RemoteSession, done: Callable[[], bool]) -> None:
    """Run the services again and again; what never happens meets the suite's time limit."""
    while not done():
        keeper.keep_house()


def open_seconds(keeper: RemoteSession, host: str) -> float | None:
    """How long the host's transaction has beaten, by the server's clock; None without one."""
    for _, state, started, last_beat, _, name in keeper.sql("SHOW TRANSACTIONS"):
        if (name, state) == (host, "OPEN"):
            return (int(last_beat) - int(started)) / 1000
    return None


def has_locks(keeper: RemoteSession, host: str) -> bool:
    return any(host in row for row in keeper.sql("SHOW LOCKS"))


def test_hosts_that_die_or_hang_lose_and_double_nothing(
    network: tuple[dict[str, Host], str], tmp_path: Path
) -> None:
    named, url = network
    one, two, keeper = (
        RemoteSession(named[name], url, tmp_path) for name in ("one", "behind", "ahead")
    )
    one.sql(
        f"CREATE TABLE t (host STRING, n INT) {ACID}",
        f"CREATE TABLE c (k INT, v INT) {ACID}",
        "INSERT INTO c VALUES (1, 0)",
    )
    # All write at once, what others change too; who reads meanwhile sees a state that there was.
    one.send(repeat="INSERT INTO t VALUES ('one', {n})", times=8)
    two.send(repeat="UPDATE c SET v = v + 1 WHERE k = 1", times=8)
    for _ in range(3):
        keeper.keep_house()
        numbers = sorted(n for _, n in keeper.sql("SELECT host, n FROM t"))
        assert numbers == [*range(len(numbers))]
    assert one.answer()["done"] == two.answer()["done"] == [*range(8)]
    # Who beats lives on, whatever another's clock says.
    one.sql("START TRANSACTION", "INSERT INTO t VALUES ('long', 0)")
    keep_house_until(keeper, lambda: (open_seconds(keeper, "one") or 0) > TIMEOUT)
    one.sql("COMMIT")
    # Who was killed leaves locks, for no longer than it may be silent.
    two.sql("START TRANSACTION", "UPDATE c SET v = 99 WHERE k = 1", "INSERT INTO t VALUES ('x', 0)")
    named["behind"].kill()
    assert has_locks(keeper, "behind")
    one.send(sql="UPDATE c SET v = v + 1 WHERE k = 1")
    keep_house_until(keeper, lambda: not has_locks(keeper, "behind"))
    assert one.answer()["rows"] == []
    # Whose cable was pulled for so long has lost what it had begun, and learns it.
    two = RemoteSession(named["behind"], url, tmp_path)
    two.sql("START TRANSACTION", "UPDATE c SET v = 99 WHERE k = 1", "INSERT INTO t VALUES ('x', 1)")
    named["behind"].pull_cable()
    keep_house_until(keeper, lambda: not has_locks(keeper, "behind"))
    one.sql("UPDATE c SET v = v + 1 WHERE k = 1")
    named["behind"].plug_cable()
    lost = two.ask(sql="COMMIT")
    assert lost["error"] == "TransactionLost", lost
    # Whose cable stays pulled is told so, soon, and goes on when it is plugged in again.
    named["behind"].pull_cable()
    silent = two.ask(sql="INSERT INTO t VALUES ('x', 2)")
    assert silent["error"] == "ExecutionError" and "database failed" in silent["message"], silent
    named["behind"].plug_cable()
    two.sql("INSERT INTO t VALUES ('two', 0)")
    keeper.keep_house()
    expected = [["long", 0], *(["one", n] for n in range(8)), ["two", 0]]
    for session in (one, two, keeper):
        assert session.sql("SELECT host, n FROM t ORDER BY host, n") == expected
        assert session.sql("SELECT v FROM c") == [[10]]
        assert session.sql("SHOW LOCKS") == []


@pytest.mark.spark
def test_executors_on_two_hosts_die_and_no_row_is_lost_or_doubled(tmp_path: Path) -> None:
    """Statements, compactions and streams by executors on two hosts, and who counts without."""
    if reason := obstacle():
        pytest.skip(reason)
    with hosts(head=0, left=0, right=0) as named, postgres_server(
        named["head"].address, named["head"].command()
    ) as server:  # fmt: skip
        head, left, right = named.values()
        url, warehouse = f"{server}/postgres", tmp_path / "warehouse"
        keeper, counter = (
            RemoteSession(host, url, warehouse, AT_ONCE) for host in (left, right)
        )  # fmt: skip
        keeper.sql(f"CREATE TABLE c (v INT) {ACID}", "INSERT INTO c VALUES (0)")
        counter.send(repeat="UPDATE c SET v = v + 1", times=30)
        settings = {"spark.driver.host": head.address, "spark.executor.memory": "1g"}
        with standalone_cluster(tmp_path, memory="1200m", cores=2, on=(head, left, right)) as spark:
            options = submit_options()
            walk = (executor_kills.__file__, spark, tmp_path, options, WALK_SECONDS, FIRST)
            told = answer_of(*walk, url, json.dumps(settings), place=head.command())
        assert told["wrong"] == [], f"{AGAIN} takes the same statements: {told}"
        assert told["killed"] > 0 and told["done"]["stream"] > 0
        counted = len(counter.answer()["done"]) + told["done"]["count"]
        assert keeper.sql("SELECT v FROM c") == [[counted]]
        keep_house_until(keeper, lambda: not unfinished(keeper))
        assert keeper.sql("SHOW LOCKS") == []
    left_over = [path for path in warehouse.rglob("*") if path.name.startswith((".", "_temp"))]
    assert [path for path in left_over if path.suffix != ".crc"] == []


def unfinished(keeper: RemoteSession) -> list[str]:
    """What transactions and compactions have not ended, or have left something behind."""
    return [
        *(row[1] for row in keeper.sql("SHOW TRANSACTIONS")),
        *(row[5] for row in keeper.sql("SHOW COMPACTIONS") if row[5] in UNFINISHED),
    ]
