"""Ledgers on one metastore, in each database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from executor.transactions.ledger import Ledger

POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)
MARIADB = pytest.param("mariadb", marks=pytest.mark.mariadb)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Real processes meet on every database, sessions on those two that need no third.

    With locks that exclude writers, little is left in which databases differ.
    """
    names = set(metafunc.fixturenames)
    of_processes = metafunc.module.__name__.endswith("test_processes")
    if of_processes and "exclusive" in names:
        pairs = [
            (url, exclusive) for url in ("sqlite", POSTGRES) for exclusive in ("true", "false")
        ]
        cases = [_with(*pair) for pair in (*pairs, (MARIADB, "false"))]
        metafunc.parametrize(("url", "exclusive"), cases, indirect=["url"])
    elif "url" in names:
        also = [MARIADB] if of_processes else []
        metafunc.parametrize("url", ["sqlite", POSTGRES, *also], indirect=True)


def _with(url: Any, exclusive: str) -> Any:
    if isinstance(url, str):
        return pytest.param(url, exclusive)
    return pytest.param(*url.values, exclusive, marks=url.marks)


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path, prepared: Callable[..., str]) -> str:
    return prepared(request.param, tmp_path / "warehouse")


@pytest.fixture
def open_ledger(url: str, tmp_path: Path) -> Iterator[Callable[..., Ledger]]:
    """Opens sessions on one warehouse; closes them in the end."""
    opened: list[Ledger] = []

    def open_one(**options: Any) -> Ledger:
        opened.append(Ledger(url, tmp_path / "warehouse", **options))
        return opened[-1]

    yield open_one
    for ledger in opened:
        ledger.close()
