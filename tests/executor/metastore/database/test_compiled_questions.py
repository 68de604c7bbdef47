"""The texts that a cold start asks are those of the constructs that all others ask.

When they differ: ``python -m hivesql_executor.metastore.sqlite_fast_start.compile_questions``.
"""

from __future__ import annotations

from hivesql_executor.metastore.sqlite_fast_start.compile_questions import PLACE, compiled_questions


def test_the_texts_are_compiled_from_the_constructs() -> None:
    assert PLACE.read_text(encoding="utf-8") == compiled_questions()
