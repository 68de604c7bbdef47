"""`hivesql top`: what runs, told once to scripts, and again and again to a terminal."""

from __future__ import annotations

import csv
import io
import os
import sys
from pathlib import Path

import pexpect
import pytest

from hand_made import Warehouse
from hivesql_executor.metastore.api import LockOwner
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import TableName
from hivesql_repl.cli import main

pytestmark = pytest.mark.usefixtures("empty_home")


def places(house: Warehouse, tmp_path: Path) -> list[str]:
    return ["--metastore", f"sqlite:///{tmp_path}/metastore.db", "--warehouse", f"{tmp_path}/wh"]


def wait_for_lock(house: Warehouse) -> int:
    (waiter,) = house.store.open_txns(1, "bob", "there")
    lock = Lock(LockType.EXCLUSIVE, "default", "t", None, Operation.NO_TXN)
    house.store.enqueue_locks(waiter, [lock], LockOwner("bob", "there"))
    return waiter


def test_who_waits_for_whom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house = Warehouse(tmp_path)
    house.write()
    owner, _ = house.begin()
    waiter = wait_for_lock(house)
    house.older(100)
    house.store.enqueue_compaction(TableName("default", "t"), None, "major", initiator_id="x")
    asked = ["top", "--once", "--outputformat", "csv2", *places(house, tmp_path)]
    assert main(asked) == 0
    first, second, third = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (first["what"], first["id"], first["state"]) == ("transaction", str(waiter), "waiting")
    assert first["waits for"] == f"transaction {owner} (ann@here)"
    assert (first["user"], first["host"]) == ("bob", "there")
    assert (second["id"], second["state"], second["object"]) == (
        str(owner), "open", "default.t SHARED_READ",
    )  # fmt: skip
    assert 100 <= int(second["age"]) < 160 and int(second["heartbeat"]) < 60
    assert (third["what"], third["state"], third["object"]) == (
        "major compaction", "initiated", "default.t",
    )  # fmt: skip
    house.store.abort_txns([owner, waiter], "x")
    house.store.abort_compactions([1])
    assert main([*places(house, tmp_path), "top", "--once", "--outputformat", "csv2"]) == 0
    nothing = capsys.readouterr()
    assert nothing.out.splitlines() == ["what,id,state,user,host,age,heartbeat,object,waits for"]
    # Where a terminal is too narrow for a table, no row is drawn at all.
    assert "nothing runs" in nothing.err
    # Only a terminal is drawn on, and words that mean nothing are refused.
    assert main(["top", *places(house, tmp_path)]) == 2
    assert "to see it once: hivesql top --once\n" in capsys.readouterr().err
    assert main(["top", "--every", "0"]) == 1
    assert main(["top", "--every", "x"]) == 1
    house.close()


def test_a_terminal_is_drawn_anew_until_ctrl_c(tmp_path: Path) -> None:
    house = Warehouse(tmp_path)
    command = ["-m", "hivesql_repl", "top", "--every", "0.2", *places(house, tmp_path)]
    terminal = pexpect.spawn(
        sys.executable, command, cwd=str(tmp_path), dimensions=(40, 160), encoding="utf-8",
        timeout=60, env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "160"},
    )  # fmt: skip
    try:
        terminal.expect("no rows")
        owner, _ = house.begin()
        terminal.expect(rf"transaction .* {owner} .* ann .* default.t SHARED_READ")
        wait_for_lock(house)
        terminal.expect(rf"waiting .* bob .* transaction {owner}")
        terminal.sendintr()
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == 0
    finally:
        terminal.close(force=True)
        house.close()
