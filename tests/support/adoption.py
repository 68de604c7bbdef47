"""Warehouses of another writer under a session of ours: files copied, ids used up."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hivesql_executor.metastore.api import LockOwner
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Partition, Table, parse_partition_name

if TYPE_CHECKING:
    import hivesql

_NUMBERS = re.compile(r"(?:base|delta)_(\d+)(?:_(\d{7,}))?(?:_\d{4})?(?:_v(\d+))?$")


def adopt(session: hivesql.Session, table: Table, name: str) -> Table:
    """Copy a table's directory into the session's warehouse and its definition into the catalog.

    Every id in the names of its directories counts as committed.
    """
    store = session.runtime.metastore
    home = Path(store.database("default").location)
    source, target = Path(table.location), home / name
    created = store.create_table(
        replace(table, name=replace(table.name, name=name), location=str(target))
    )
    shutil.copytree(source, target)
    highest = max(ids_below(target), default=0)
    if highest >= 10_000_000:
        store.seed_write_id(created.name, 10_000_001)
        highest -= 10_000_000
    for _ in range(highest):
        (txn_id,) = store.open_txns(1, "adopter", "localhost")
        store.allocate_write_id(txn_id, created.name)
        # It wrote something, which nobody has counted.
        lock = Lock(LockType.SHARED_READ, "default", name, None, Operation.INSERT)
        store.enqueue_locks(txn_id, [lock], LockOwner("adopter", "localhost"))
        store.commit_txn(txn_id)
    if table.partition_columns:
        found = sorted(target.glob("/".join("*=*" for _ in table.partition_columns)))
        names = [str(one.relative_to(target)) for one in found]
        store.add_partitions(
            created.name,
            [
                Partition(values=parse_partition_name(one), location=f"{target}/{one}")
                for one in names
            ],
        )
    return created


def ids_below(directory: Path) -> list[int]:
    """Every write id and visibility transaction in the names of directories below."""
    found = (_NUMBERS.search(path.name) for path in directory.rglob("*") if path.is_dir())
    return [int(number) for match in found if match for number in match.groups() if number]
