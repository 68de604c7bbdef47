"""How long parsing, binding and planning take.

``PYTHONPATH=tests/support python tests/benchmarks/front_end.py`` prints milliseconds per statement.
"""

from __future__ import annotations

import sys
import time

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.planning import plan
from hivesql_planner.settings.settings import Settings
from memory_catalog import warehouse

TYPICAL = {
    "select": "SELECT id, upper(name) AS n FROM t WHERE id > 5 AND name LIKE 'a%' ORDER BY id",
    "join": "SELECT t.id, s.name, count(*) FROM t JOIN s ON t.id = s.id GROUP BY t.id, s.name",
    "insert": "INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', 2.5)",
    "update": "UPDATE t SET name = concat(name, '!') WHERE id IN (1, 2, 3)",
    "delete": "DELETE FROM t WHERE id BETWEEN 5 AND 10",
    "merge": "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name "
    "WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name, 1)",
}
ROWS = 100_000


def seconds(sql: str, rounds: int) -> float:
    """The mean time of one statement."""
    catalog, settings = warehouse(), Settings()
    began = time.perf_counter()
    for _ in range(rounds):
        plan(bind(parse(StatementText(sql)), catalog), settings)
    return (time.perf_counter() - began) / rounds


def main() -> None:
    """Print milliseconds for each statement."""
    for name, sql in TYPICAL.items():
        seconds(sql, 5)
        sys.stdout.write(f"{name:8} {seconds(sql, 50) * 1000:8.2f} ms\n")
    values = ", ".join(f"({i}, 'name {i}', {i}.25)" for i in range(ROWS))
    taken = seconds(f"INSERT INTO t VALUES {values}", 1)
    sys.stdout.write(f"{ROWS:,} rows of VALUES {taken:.2f} s\n")


if __name__ == "__main__":
    main()
