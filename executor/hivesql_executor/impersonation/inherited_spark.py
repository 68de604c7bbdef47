"""The Spark of the process from which this one was forked: a copy of its connections is here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from hivesql_planner.errors import OfAnotherProcess

_parents: object | None = None
"""Py4J's door to it; None where the parent had none."""


def call_after_fork(begin_anew: Callable[[], object]) -> None:
    """Call something in each process that is forked from this one from now on."""

    def begin() -> None:
        global _parents
        _parents = _door()
        begin_anew()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin)


def is_used() -> bool:
    """Tell whether PySpark would speak to the parent's Spark."""
    return _parents is not None and _door() is _parents


def check() -> None:
    """Refuse it: two processes on one connection would read each other's answers."""
    if is_used():
        raise OfAnotherProcess(
            "Spark is that of the process from which this one was forked, and cannot be used "
            "here. Fork before the first statement that needs Spark, or start processes anew "
            "(multiprocessing's 'spawn')"
        )


def _door() -> object | None:
    pyspark = sys.modules.get("pyspark")
    return getattr(getattr(pyspark, "SparkContext", None), "_gateway", None)
