"""A server that has answered many clients has no more objects, threads and files than before."""

from __future__ import annotations

import functools
import gc
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from hivesql.server.server import Server
from hivesql_executor.snapshot.known_listings import forget_listings
from thrift_servers import Client, serving

ROUNDS = 25
STATEMENTS = 6


def ask(server: Server, number: int) -> None:
    """One client's session: rows, changes, errors, and what it leaves open."""
    with Client(server).open(f"user{number}") as client:
        for turn in range(STATEMENTS):
            key = number * STATEMENTS + turn
            client.checked(client.execute(f"INSERT INTO w VALUES ({key}, 'x')"))
            assert client.rows(f"SELECT i, s FROM t WHERE i = {-key - 1}") == []
            assert "nosuch" in client.execute(f"SELECT nosuch{key} FROM t").status.errorMessage
            client.checked(client.execute(f"SET hivevar:v{key}={key}"))
            assert len(client.rows("SHOW TABLES")) == 2
            assert client.ask("GetTables", schemaName="default", tableName="t")
        client.checked(client.execute("START TRANSACTION"))
        client.checked(client.execute("UPDATE t SET s = 'b' WHERE i = 0"))
        if number % 2:
            request = client.thrift.TCloseSessionReq(sessionHandle=client.session)
            client.checked(client.calls.CloseSession(request))


def caches(*, bounded: bool) -> list[Any]:
    """All functions of ours that remember what they have given; so much of it, or all."""
    kind: Any = functools._lru_cache_wrapper
    found = (each for each in gc.get_objects() if type(each) is kind)
    return [
        each for each in found
        if (each.__module__ or "").startswith("hivesql")
        and (each.cache_parameters()["maxsize"] is not None) == bounded
    ]  # fmt: skip


def remembered() -> dict[str, int]:
    """How much there is in caches without a bound, which are for what a program is made of."""
    return {
        f"{each.__module__}.{each.__name__}": each.cache_info().currsize
        for each in caches(bounded=False)
    }


def objects(server: Server) -> Counter[str]:
    """How many objects there are of each type, once all clients have gone."""
    end = time.monotonic() + 60
    while server.registry.session_count() or any(map(is_of_client, threading.enumerate())):
        assert time.monotonic() < end, threading.enumerate()
        time.sleep(0.02)
    for cache in caches(bounded=True):
        cache.cache_clear()
    forget_listings()
    gc.collect()
    return Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())


def is_of_client(thread: threading.Thread) -> bool:
    return thread.name.startswith(("hivesql-127.0.0.1", "hivesql-session"))


def test_clients_leave_nothing_behind(tmp_path: Path) -> None:
    acid = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    tables = (
        f"CREATE TABLE t (i INT, s STRING) {acid}",
        f"CREATE TABLE w (i INT, s STRING) {acid}",
        "INSERT INTO t VALUES (0, 'a')",
    )
    with serving(tmp_path, authentication="nosasl") as server:
        with Client(server).open() as client:
            for text in tables:
                client.checked(client.execute(text))
        for number in range(3):
            ask(server, number)
        before, known, files = objects(server), remembered(), psutil.Process().num_fds()
        for number in range(3, 3 + ROUNDS):
            ask(server, number)
        after = objects(server)
        # Each round has more than one of whatever a statement makes.
        more = {kind: count - before[kind] for kind, count in after.items()}
        assert {kind: count for kind, count in more.items() if count > 2 * ROUNDS} == {}
        assert remembered() == known
        assert psutil.Process().num_fds() <= files + 2
