"""Keys by SURROGATE_KEY: the write id, the task and the row of the task, joined in 64 bits.

What a statement's text asks for is written before its write id is known: marks stand for it.
"""

from __future__ import annotations

import re

from hivesql_planner.errors import SemanticError

WRITE_ID = "hivesql_write_id()"
"""Stands for the write id."""
FIRST_TASK, END_OF_TASKS = "hivesql_first_task", "hivesql_end_of_tasks"
"""Called with a number of bits, stand for the numbers that tasks of the statement may have."""
_BITS_OF_STATEMENTS = 4
_TASKS = re.compile(rf"({FIRST_TASK}|{END_OF_TASKS})\((\d+)\)")


def with_write_id(sql: str, write_id: int, statement_id: int) -> str:
    """Put numbers in the place of the marks.

    Later writes of a transaction have the same write id: each has a part of the last tasks.
    SemanticError 40000 where there are more of them than parts.
    """
    if WRITE_ID not in sql:
        return sql

    def numbers(match: re.Match[str]) -> str:
        first, end = _tasks(int(match[2]), statement_id)
        return f"{first if match[1] == FIRST_TASK else end}L"

    return _TASKS.sub(numbers, sql.replace(WRITE_ID, f"{write_id}L"))


def _tasks(bits: int, statement_id: int) -> tuple[int, int]:
    parts = 1 << _BITS_OF_STATEMENTS
    if statement_id <= 0:
        return 0, 1 << bits
    if statement_id >= parts or bits < 2 * _BITS_OF_STATEMENTS:
        raise SemanticError(
            f"the write {statement_id + 1} of one transaction has no numbers left for "
            f"surrogate_key with {bits} bits for tasks: commit before it, or give tasks more bits",
            code=40000,
        )
    width = 1 << (bits - _BITS_OF_STATEMENTS)
    return (1 << bits) - statement_id * width, (1 << bits) - (statement_id - 1) * width
