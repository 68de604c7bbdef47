"""What must be in the tables: of each transaction, what it saw when it began and what it did.

It knows no file and no write id list: only in which order transactions began and committed, which
the truth of the database tells, and the statements that clients meant. What a TRUNCATE hides is
decided by write ids, as in Hive: an INSERT that got its id before is hidden by it even if it
commits later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Row = tuple[int, int, int]
"""id, key, value."""
Intent = tuple[Any, ...]
"""``("insert", table, rows)``, ``("overwrite", table, key, rows)``,
``("update", table, key, value)``, ``("delete", table, key)``, ``("truncate", table, key)``; a key
of None means all."""
PLAIN = ("x", "y")
"""Tables that are not transactional."""


class Wrong(AssertionError):
    """A finding: what is there is not what must be there."""


@dataclass(eq=False)
class Txn:
    """A transaction as the model knows it; ``saw`` is the moment of its snapshot."""

    id: int
    client: str
    intents: list[Intent]
    saw: int
    kind: int = 0
    committed: int | None = None
    is_aborted: bool = False
    write_ids: dict[str, int] = field(default_factory=dict)
    expected: dict[str, Counter[Row]] = field(default_factory=dict)
    """Of the tables that it read, at the moment of its commit."""
    counts: list[int] = field(default_factory=list)
    """Rows that each of its statements has changed."""


@dataclass(eq=False)
class Version:
    """A row as one transaction wrote it."""

    table: str
    row: Row
    txn: Txn
    write_id: int
    gone_by: Txn | None = None
    is_dropped: bool = False
    key: int = 0


@dataclass(eq=False)
class Emptied:
    """A TRUNCATE of one partition, or of all."""

    table: str
    key: int | None
    txn: Txn
    write_id: int


class Model:
    """All transactions that were seen so far, and the versions of rows that they left."""

    def __init__(self) -> None:
        self.moment = 0
        self.txns: dict[int, Txn] = {}
        self.versions: list[Version] = []
        self.emptied: list[Emptied] = []
        self._is_final = True
        """False in a copy, where conflicts are still to be found by the commit."""

    # -- what happens
    def opened(self, txn_id: int, client: str, intents: list[Intent], kind: int) -> None:
        """A transaction began, and its snapshot is of now."""
        self.txns[txn_id] = Txn(txn_id, client, intents, self.moment, kind)

    def looked(self, txn_id: int) -> None:
        """A transaction took a new snapshot."""
        if txn_id in self.txns:
            self.txns[txn_id].saw = self.moment

    def aborted(self, txn_id: int) -> None:
        """A transaction is no more."""
        if txn_id in self.txns:
            self.txns[txn_id].is_aborted = True

    def committed(self, txn_id: int, write_ids: dict[str, int]) -> Txn:
        """A transaction committed: what it meant has happened."""
        txn = self.txns[txn_id]
        if txn.is_aborted:
            raise Wrong(f"transaction {txn_id} was aborted, and committed afterwards")
        txn.write_ids = write_ids
        for intent in txn.intents:
            self._apply(txn, intent)
        self.moment += 1
        txn.committed = self.moment
        return txn

    def dropped(self, table: str, key: int | None = None) -> None:
        """A partition, or the table, went with all its rows, for everybody."""
        for version in self._of(table):
            if key in (None, version.key):
                version.is_dropped = True
        # With its directory goes what hid the rows there; write ids of a table begin anew.
        self.emptied = [
            one for one in self.emptied if one.table != table or key not in (None, one.key)
        ]

    def renamed(self, table: str, to: str, key: int | None = None) -> None:
        """A table has another name, or a partition belongs to another table."""
        for version in self._of(table):
            if key in (None, version.key):
                version.table = to
        for mark in self.emptied:
            if key is None and mark.table == table:
                mark.table = to

    def moved(self, table: str, key: int, to: int) -> None:
        """A partition has another name."""
        for version in self._of(table):
            if version.key == key:
                version.key = to
        for mark in self.emptied:
            if (mark.table, mark.key) == (table, key):
                mark.key = to

    # -- what must be there
    def rows(self, table: str, txn: Txn | None = None, intents: int | None = None) -> Counter[Row]:
        """What a reader sees; without a transaction, one that begins now.

        An open transaction sees the first ``intents`` of its own statements as well.
        """
        if txn is not None and txn.committed is None:
            return self._with_own(table, txn, txn.intents[:intents])
        return Counter(self._shown(one) for one in self._seen(table, txn))

    def _with_own(self, table: str, txn: Txn, intents: list[Intent]) -> Counter[Row]:
        """The statements of an open transaction can be taken back: applied to a copy."""
        copy = Model()
        copy.moment, copy.txns, copy._is_final = self.moment, self.txns, False
        copy.versions = [Version(**vars(one)) for one in self.versions]
        copy.emptied = list(self.emptied)
        own = Txn(txn.id, txn.client, intents, txn.saw)
        for intent in intents:
            copy._apply(own, intent)
        return Counter(self._shown(one) for one in copy._seen(table, own))

    def _apply(self, txn: Txn, intent: Intent) -> None:
        word, table, *rest = intent
        write_id = txn.write_ids.get(table, 2**62)
        match word:
            case "insert":
                self._insert(txn, table, rest[0], write_id)
                txn.counts.append(len(rest[0]))
            case "update" | "delete":
                gone = [one for one in self._seen(table, txn) if rest[0] in (None, one.key)]
                for one in gone:
                    self._end(one, txn)
                if word == "update":
                    rows = [(one.row[0], one.key, rest[1]) for one in gone]
                    self._insert(txn, table, rows, write_id)
                txn.counts.append(len(gone))
            case "overwrite":
                self._empty(txn, table, rest[0], write_id)
                self._insert(txn, table, rest[1], write_id)
            case "truncate":
                self._empty(txn, table, rest[0], write_id)
            case "select":
                txn.expected[table] = Counter(self._shown(one) for one in self._seen(table, txn))

    def _insert(self, txn: Txn, table: str, rows: list[Row], write_id: int) -> None:
        self.versions += [Version(table, row, txn, write_id, key=row[1]) for row in rows]

    def _empty(self, txn: Txn, table: str, key: int | None, write_id: int) -> None:
        if table in PLAIN:
            self.dropped(table, key)
        else:
            self.emptied.append(Emptied(table, key, txn, write_id))

    def _end(self, version: Version, txn: Txn) -> None:
        if version.gone_by is not None and self._is_final:
            raise Wrong(
                f"lost update: transactions {version.gone_by.id} and {txn.id} have both replaced "
                f"{version.row} of {version.table}"
            )
        version.gone_by = txn

    def _seen(self, table: str, txn: Txn | None) -> list[Version]:
        emptied = [
            one for one in self.emptied if one.table == table and _sees(txn, one.txn)
        ]  # fmt: skip
        return [
            one
            for one in self._of(table)
            if _sees(txn, one.txn)
            and not (one.gone_by is not None and _sees(txn, one.gone_by))
            and not any(
                mark.key in (None, one.key) and mark.write_id > one.write_id for mark in emptied
            )
        ]

    def _of(self, table: str) -> Iterator[Version]:
        return (one for one in self.versions if one.table == table and not one.is_dropped)

    @staticmethod
    def _shown(version: Version) -> Row:
        return version.row[0], version.key, version.row[2]


def _sees(reader: Txn | None, writer: Txn) -> bool:
    if reader is None:
        return writer.committed is not None
    if writer.id == reader.id:
        return True
    return (
        writer.committed is not None
        and writer.committed <= reader.saw
        and writer.id < reader.id
    )  # fmt: skip
