"""Directories follow their catalog entries, or stay when those stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from acid_files import tree
from hivesql_executor.removal import moving, removing
from hivesql_executor.storage.local import LocalFiles
from hivesql_planner.errors import ExecutionError


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
