"""A process that works on a ledger and writes down, line by line, all that it read and wrote.

    python actor.py URL HOME HISTORY ROLE SEED COUNT [key=value…]

Roles: ``counter`` adds one to a counter, ``transfer`` moves money between two tables in a
transaction of many statements, ``reader`` reads both tables twice in one transaction, ``once``
makes a single transfer and says so on stdout.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from executor.transactions.ledger import Ledger, Row, Rows
from hivesql_planner.errors import HiveSqlError

TABLES = ("a", "b")
ACCOUNTS = 4


def noted(tables: dict[str, Rows]) -> list[list[Any]]:
    """Table, row id, key and value of each row."""
    return [
        [table, list(row_id), row["k"], row["v"]]
        for table, rows in tables.items()
        for row_id, row in sorted(rows.items())
    ]


class Actor:
    """One client; its history has one line per transaction that ended."""

    def __init__(self, ledger: Ledger, history: IO[str], seed: int) -> None:
        self.ledger, self.history = ledger, history
        self.random = random.Random(seed)

    def insist(self, work: Callable[[], dict[str, Any]]) -> None:
        """Run a transaction until it is committed; only retryable errors are expected."""
        while True:
            try:
                done = work()
            except HiveSqlError as error:
                if not error.retryable:
                    raise
                self.note({"failed": type(error).__name__})
                continue
            self.note(done)
            return

    def note(self, line: dict[str, Any]) -> None:
        self.history.write(json.dumps(line) + "\n")
        self.history.flush()

    def counter(self) -> dict[str, Any]:
        """One statement; the snapshot is checked again once its locks are held."""
        old = noted({"c": self.ledger.update("c", lambda row: row["v"] + 1)})
        return self._committed([old], old)

    def transfer(self) -> dict[str, Any]:
        """Statements on two tables: each sum alone changes, together they never do."""
        amount, key = self.random.randint(1, 9), 1 + self.random.randrange(ACCOUNTS)
        from_, to = self.random.sample(TABLES, 2)

        def moved(by: int) -> Callable[[Row], int | None]:
            return lambda row: row["v"] + by if row["k"] == key else None

        self.ledger.begin()
        seen = noted(self.ledger.select(*TABLES))
        taken = self.ledger.update(from_, moved(-amount))
        given = self.ledger.update(to, moved(amount))
        self.ledger.commit()
        return self._committed([seen], noted({from_: taken, to: given}))

    def reader(self) -> dict[str, Any]:
        """The same tables twice, with time in between."""
        txn_id = self.ledger.begin(read_only=bool(self.random.getrandbits(1)))
        reads = [noted(self.ledger.select(*TABLES, "c")) for _ in range(2)]
        self.ledger.commit()
        return {"txn": txn_id, "reads": reads, "replaced": [], "write_ids": {}}

    def _committed(self, reads: list[Any], replaced: list[Any]) -> dict[str, Any]:
        return {
            "txn": self.ledger.last_id,
            "reads": reads,
            "replaced": replaced,
            "write_ids": self.ledger.write_ids,
        }


def main(arguments: list[str]) -> None:
    url, home, history, role, seed, count, *settings = arguments
    ledger = Ledger(url, Path(home), **dict(one.split("=") for one in settings))
    with Path(history).open("a", encoding="utf-8") as file:
        actor = Actor(ledger, file, int(seed))
        if role == "once":
            actor.note(actor.transfer())
            sys.stdout.write("committed\n")
        else:
            for _ in range(int(count)):
                actor.insist(getattr(actor, role))
    ledger.close()


if __name__ == "__main__":
    main(sys.argv[1:])
