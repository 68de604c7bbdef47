"""Asks real Hive for the answers of ``tests/hive_results`` and writes them down.

``PYTHONPATH=tests:tests/support python -m interop.record`` from the root of the project.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hive_results import HERE, Answer, expressions, statements
from interop import hive


def ask_expressions(workdir: Path, asked: Sequence[str]) -> list[Answer]:
    """Hive's type and value of each expression."""
    script = "".join(f"SELECT typeof({one}), {one};\n" for one in asked)
    found = []
    for expression, block in zip(
        asked, hive.parse_output(hive.output(script, workdir)), strict=True
    ):
        if block.error:
            found.append(Answer(expression, None, block.error))
        else:
            kind, _, value = "\n".join(block.lines).partition("\t")
            found.append(Answer(expression, kind, value))
    return found


def ask_queries(workdir: Path, asked: Sequence[str]) -> str:
    """What Hive prints for the tables and for queries of them."""
    script = ";\n".join([*statements("tables.sql"), *asked, ""])
    return hive.output(script, workdir)


def ask_locks(workdir: Path) -> str:
    """What Hive prints for ``locks.sql``, whose managed tables without ACID stay managed."""
    script = (HERE / "locks.sql").read_text(encoding="utf-8")
    return hive.output(script, workdir, settings=["metastore.metadata.transformer.class= "])


def main() -> None:
    """Write the answers of expressions, queries and locks."""
    with tempfile.TemporaryDirectory() as name:
        lines = (
            json.dumps([one.expression, one.type, one.value], ensure_ascii=False)
            for one in ask_expressions(Path(name) / "expressions", expressions())
        )
        (HERE / "expressions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        text = ask_queries(Path(name) / "queries", statements("queries.sql"))
        (HERE / "queries.txt").write_text(text, encoding="utf-8")
        (HERE / "locks.txt").write_text(ask_locks(Path(name) / "locks"), encoding="utf-8")


if __name__ == "__main__":
    main()
