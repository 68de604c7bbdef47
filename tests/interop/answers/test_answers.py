"""Hive still answers what is kept under ``tests/hive_results``."""

from __future__ import annotations

from pathlib import Path

import pytest

from hive_results import answers, blocks
from interop import hive
from interop.record import ask_expressions, ask_queries

pytestmark = [pytest.mark.hive, pytest.mark.slow, pytest.mark.timeout(1800)]


def test_expressions(tmp_path: Path) -> None:
    assert ask_expressions(tmp_path) == answers()


def test_queries(tmp_path: Path) -> None:
    again = hive.parse_output(ask_queries(tmp_path))
    assert [(one.statement, one.columns, one.lines) for one in again] == [
        (one.statement, one.columns, one.lines) for one in blocks()
    ]
