"""Checks a recorded history: row ids name the versions, so their order needs no clock.

A version of a row is the row id under which it was read. An update reads one version and writes
the next; a version that two committed transactions replaced is a lost update.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Version = tuple[int, ...]


@dataclass(frozen=True)
class Read:
    """A row as it was seen: which table and key, which version, which value."""

    table: str
    key: int
    version: Version
    value: int


@dataclass(frozen=True)
class Done:
    """A committed transaction: its snapshots, what it replaced, its write id in each table."""

    txn: int
    reads: tuple[tuple[Read, ...], ...]
    replaced: tuple[Read, ...]
    write_ids: dict[str, int]


def parse(lines: Iterable[dict[str, Any]]) -> list[Done]:
    """Lines of actors; those of transactions that failed are left out."""
    return [
        Done(
            line["txn"],
            tuple(tuple(map(_read, snapshot)) for snapshot in line["reads"]),
            tuple(map(_read, line["replaced"])),
            line["write_ids"],
        )
        for line in lines
        if "txn" in line
    ]


def _read(row: list[Any]) -> Read:
    table, version, key, value = row
    return Read(table, key, tuple(version), value)


def problems(history: list[Done], committed: dict[tuple[str, int], int], total: int) -> list[str]:
    """What is wrong with a history; nothing in a good one.

    ``committed`` maps a table's write id to its committed transaction, as the metastore has it.
    ``total`` is the sum that every snapshot of all accounts must show.
    """
    return [
        *_lost_updates(history),
        *_dirty_reads(history, committed),
        *_unrepeatable(history),
        *_half_visible(history, committed),
        *_broken_sums(history, total),
    ]


def _lost_updates(history: list[Done]) -> list[str]:
    times = Counter((one.table, one.key, one.version) for d in history for one in d.replaced)
    return [f"replaced {n} times: {version}" for version, n in times.items() if n > 1]


def _dirty_reads(history: list[Done], committed: dict[tuple[str, int], int]) -> list[str]:
    return [
        f"txn {done.txn} read {read} of a transaction that never committed"
        for done in history
        for snapshot in done.reads
        for read in snapshot
        if (read.table, read.version[0]) not in committed
    ]


def _unrepeatable(history: list[Done]) -> list[str]:
    return [
        f"txn {done.txn} read two states"
        for done in history
        if len({frozenset(snapshot) for snapshot in done.reads}) > 1
    ]


def _half_visible(history: list[Done], committed: dict[tuple[str, int], int]) -> list[str]:
    """Whoever sees one write of a transaction sees all of them, or what came after."""
    wrote: dict[int, list[tuple[str, int, int]]] = {}
    for done in history:
        for read in done.replaced:
            wrote.setdefault(done.txn, []).append(
                (read.table, read.key, done.write_ids[read.table])
            )
    wrong = []
    for done in history:
        for snapshot in done.reads:
            at = {(read.table, read.key): read.version[0] for read in snapshot}
            seen = {committed.get((read.table, read.version[0]), 0) for read in snapshot}
            wrong += [
                f"txn {done.txn} saw a part of txn {other}: {table} {key} at {at[table, key]}"
                for other in seen
                for table, key, write_id in wrote.get(other, [])
                if (table, key) in at and at[table, key] < write_id
            ]
    return wrong


def _broken_sums(history: list[Done], total: int) -> list[str]:
    sums = [
        (done.txn, [read.value for read in snapshot if read.table != "c"])
        for done in history
        for snapshot in done.reads
    ]
    return [f"txn {txn} saw a sum of {sum(v)}" for txn, v in sums if v and sum(v) != total]
