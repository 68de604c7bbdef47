"""What real Hive 4.1 answered to expressions and queries, kept under ``hive_results/``.

``expressions.jsonl`` has a line ``[expression, type, value]`` for each line of
``expressions.sql``; for an error the type is null and the value is its message. ``queries.txt`` is
what Hive printed for ``tables.sql`` and ``queries.sql``. ``differences.tsv`` names what is known
to be otherwise here, and why. ``interop/record.py`` asks Hive anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from interop.hive import Block, parse_output

HERE = Path(__file__).parents[1] / "hive_results"
REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Answer:
    """Hive's answer to one expression; ``type`` is None when it is an error."""

    expression: str
    type: str | None
    value: str


def expressions() -> list[str]:
    """The expressions that Hive was asked for."""
    lines = (HERE / "expressions.sql").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("-- ")]


def answers() -> list[Answer]:
    """Its answers, in the same order."""
    text = (HERE / "expressions.jsonl").read_text(encoding="utf-8")
    return [Answer(*json.loads(line)) for line in text.splitlines()]


def statements(name: str) -> list[str]:
    """The statements of one of the .sql files of queries."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [part.strip() for part in text.split(";\n") if part.strip()]


def blocks() -> list[Block]:
    """What Hive printed for the statements that make the tables, and then for the queries."""
    return parse_output((HERE / "queries.txt").read_text(encoding="utf-8"))


def lock_blocks() -> list[Block]:
    """What Hive printed for the statements of ``locks.sql``, most of them EXPLAIN LOCKS."""
    return parse_output((HERE / "locks.txt").read_text(encoding="utf-8"))


def differences() -> dict[str, str]:
    """Statements that are not answered as Hive does, with the reason."""
    return _reasons("differences.tsv")


def lock_differences() -> dict[str, str]:
    """Statements that lock otherwise than in Hive, with the reason."""
    return _reasons("lock_differences.tsv")


def _reasons(name: str) -> dict[str, str]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("-- "))
    return {one[0]: one[1] for one in pairs}
