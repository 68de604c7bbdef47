"""Directories follow their catalog entries, or stay when those stay."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from acid_files import tree
from hivesql_executor.metastore.api import Move
from hivesql_executor.metastore.database import DatabaseMetastore
from hivesql_executor.reaping import reap
from hivesql_executor.removal import hiding, moving, placing, removing
from hivesql_executor.runtime import Runtime
from hivesql_executor.storage.local import LocalFiles
from hivesql_planner.errors import ExecutionError
from hivesql_planner.settings import Settings
from hivesql_planner.table import Column, Table, TableName

T = TableName("default", "t")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a/x", "b/y"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(name, encoding="utf-8")
    return tmp_path


def test_what_is_removed_is_hidden_first_and_gone_after(root: Path) -> None:
    with removing(LocalFiles(), [f"{root}/a", f"{root}/nosuch"]):
        assert not (root / "a").exists()
        (hidden,) = [path for path in root.iterdir() if path.name.startswith(".")]
        assert tree(hidden) == ["x"]
    assert tree(root) == ["b/y"]
    assert [path.name for path in root.iterdir()] == ["b"]


def test_what_could_not_be_removed_comes_back(root: Path) -> None:
    with pytest.raises(KeyboardInterrupt), removing(LocalFiles(), [f"{root}/a", f"{root}/b"]):
        raise KeyboardInterrupt
    assert tree(root) == ["a/x", "b/y"]


def test_what_is_moved_stays_moved_or_comes_back(root: Path) -> None:
    pairs = [(f"{root}/a", f"{root}/c/a"), (f"{root}/nosuch", f"{root}/d")]
    with pytest.raises(ValueError, match="no"), moving(LocalFiles(), pairs):
        assert tree(root) == ["b/y", "c/a/x"]
        raise ValueError("no")
    assert tree(root) == ["a/x", "b/y"]
    with moving(LocalFiles(), pairs):
        pass
    assert tree(root) == ["b/y", "c/a/x"]


def test_a_move_that_fails_takes_the_others_back(root: Path) -> None:
    pairs = [(f"{root}/a", f"{root}/c"), (f"{root}/b", f"{root}/c")]
    with pytest.raises(ExecutionError, match="exists already"), moving(LocalFiles(), pairs):
        pytest.fail("the second move must fail")
    assert tree(root) == ["a/x", "b/y"]


@pytest.fixture
def runtime(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A metastore with a table in the directory ``a``."""
    store = DatabaseMetastore.open(f"sqlite:///{tmp_path_factory.mktemp('store')}/m.db", str(root))
    store.create_table(Table(name=T, columns=(Column("x", "int"),), location=f"{root}/a"))
    yield Runtime(
        metastore=store,
        spark=lambda: pytest.fail("needs no Spark"),
        files=lambda location: LocalFiles(),
    )
    store.close()


def test_directories_go_where_the_catalog_says(root: Path, runtime: Runtime) -> None:
    """A block may fail before its change of the catalog, and after it: a lost answer, Ctrl-C."""
    store = runtime.metastore
    table = store.table(T)
    renamed = replace(table, name=TableName("default", "u"), location=f"{root}/c")
    hidden, moved = [hiding(f"{root}/a", table.id)], [Move(source=f"{root}/a", target=f"{root}/c")]
    for moves in (hidden, moved):
        with pytest.raises(KeyboardInterrupt), placing(moves, runtime, 0):
            assert not (root / "a").exists()
            raise KeyboardInterrupt
        assert tree(root) == ["a/x", "b/y"]
    with pytest.raises(KeyboardInterrupt), placing(moved, runtime, 0):
        store.alter_table(T, renamed)
        raise KeyboardInterrupt
    assert tree(root) == ["b/y", "c/x"]
    with pytest.raises(KeyboardInterrupt), placing([hiding(f"{root}/c", table.id)], runtime, 0):
        store.drop_table(renamed.name)
        raise KeyboardInterrupt
    assert tree(root) == ["b/y"]
    assert store.lost_moves(-1) == ()
    assert not list(root.glob(".hivesql*"))


def test_what_cannot_be_mended_is_left_for_the_next(root: Path, runtime: Runtime) -> None:
    told: list[str] = []
    impatient = Settings.of({"hive.txn.timeout": "0s"})
    runtime = replace(runtime, settings=impatient, notify=told.append)
    move = hiding(f"{root}/a", runtime.metastore.table(T).id)
    runtime.metastore.note_moves(runtime.metastore.open_txns(1, "ann", "here")[0], [move])
    runtime.files("").rename(move.source, move.target)
    (root / "a").mkdir()
    time.sleep(0.01)
    reap(runtime)
    assert "not mended yet" in told[0]
    (root / "a").rmdir()
    reap(runtime)
    assert tree(root) == ["a/x", "b/y"]
    assert len(told) == 1
