"""Ledgers on one metastore, SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from executor.transactions.ledger import Ledger


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
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
