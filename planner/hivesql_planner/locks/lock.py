"""Locks as values: on what, of which type, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


from hivesql_planner.model.table import Partition, Table, partition_name
from hivesql_planner.older_python import StrEnum


class LockType(StrEnum):
    """Hive's lock types, as HIVE_LOCKS and SHOW LOCKS name them."""

    SHARED_READ = "SHARED_READ"
    SHARED_WRITE = "SHARED_WRITE"
    EXCL_WRITE = "EXCL_WRITE"
    EXCLUSIVE = "EXCLUSIVE"


class Operation(StrEnum):
    """What a transaction does to a table: TXN_COMPONENTS.TC_OPERATION_TYPE."""

    SELECT = "s"
    INSERT = "i"
    UPDATE = "u"
    DELETE = "d"
    COMPACT = "c"
    NO_TXN = "n"


@dataclass(frozen=True, slots=True)
class Lock:
    """One component of a lock request."""

    type: LockType
    database: str
    table: str | None = None
    partition: str | None = None
    operation: Operation = Operation.SELECT
    dynamic_partition: bool = False

    def __str__(self) -> str:
        parts = [part for part in (self.database, self.table, self.partition) if part]
        return f"{'.'.join(parts)} -> {self.type}"


@dataclass(frozen=True, slots=True)
class ObjectLock:
    """A lock of DummyTxnManager; ``path`` is database, table, then ``k=v`` of a partition."""

    path: tuple[str, ...]
    exclusive: bool

    @property
    def name(self) -> str:
        """The object as SHOW LOCKS prints it."""
        return "@".join(self.path)

    def __str__(self) -> str:
        return f"{self.name} -> {'EXCLUSIVE' if self.exclusive else 'SHARED'}"


def on_table(
    table: Table,
    kind: LockType,
    partition: str | None = None,
    operation: Operation = Operation.NO_TXN,
    *,
    dynamic: bool = False,
) -> Lock:
    """Return a lock on a table or on one of its partitions."""
    return Lock(kind, table.name.database, table.name.name, partition, operation, dynamic)


def name_of(table: Table, partition: Partition) -> str:
    """Return the partition's name, as locks have it."""
    return partition_name(table.partition_names, partition.values)
