"""A warehouse whose directories are made by hand, and services that work on it without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import update

from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.worker import run_next
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.api import LockOwner, TxnType
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import compaction_queue, txns
from hivesql_executor.runtime import Runtime
from hivesql_planner.locks.lock import Lock, LockType, Operation
from hivesql_planner.model.table import Column, Partition, Table, TableName
from hivesql_planner.settings.settings import Settings

T = TableName("default", "t")


def no_spark() -> Any:
    raise AssertionError("this needs no Spark")


class Warehouse:
    """One table ``t``, writes to it, and compactions of it."""

    def __init__(self, place: Path, *, url: str | None = None, **properties: str) -> None:
        url = url or f"sqlite:///{place}/metastore.db"
        self.store = DatabaseMetastore.open(url, str(place / "wh"))
        self.rdbms = Rdbms(url)
        self.told: list[str] = []
        self.runtime = Runtime(
            metastore=self.store,
            spark=no_spark,
            files=lambda place: LocalFiles(),
            user="ann",
            host="here",
            notify=self.told.append,
        )
        self.make(properties)

    def make(self, properties: Mapping[str, str], *, partitioned: bool = False) -> Table:
        self.table = self.store.create_table(
            Table(
                name=T,
                columns=(Column.of("a", "int"),),
                location="",
                partition_columns=(Column.of("p", "int"),) if partitioned else (),
                properties={"transactional": "true", **properties},
            ),
            if_not_exists=True,
        )
        self.home = Path(self.table.location)
        self.home.mkdir(parents=True, exist_ok=True)
        return self.table

    def close(self) -> None:
        self.rdbms.close()
        self.store.close()

    def using(self, **settings: str) -> Runtime:
        """The runtime with settings; dots are written as two underscores."""
        named = {key.replace("__", "."): value for key, value in settings.items()}
        return replace(self.runtime, settings=Settings.of(named))

    def directory(self, name: str, size: int = 1, under: str = "") -> None:
        path = self.home / under / name
        path.mkdir(parents=True)
        (path / "bucket_00000").write_bytes(b"x" * size)

    def begin(self, partition: str | None = None) -> tuple[int, int]:
        """A writer that holds its lock: ids of transaction and write."""
        (txn_id,) = self.store.open_txns(1, "ann", "here")
        write_id = self.store.allocate_write_id(txn_id, T)
        lock = Lock(LockType.SHARED_READ, "default", "t", partition, Operation.INSERT)
        self.store.enqueue_locks(txn_id, [lock], LockOwner("ann", "here"))
        return txn_id, write_id

    def write(self, *, commit: bool = True, partition: str | None = None, size: int = 1) -> int:
        """One delta; its write id."""
        txn_id, write_id = self.begin(partition)
        self.directory(f"delta_{write_id:07d}_{write_id:07d}_0000", size, partition or "")
        if commit:
            self.store.commit_txn(txn_id)
        else:
            self.store.abort_txns([txn_id], "x")
        return write_id

    def compact(self, kind: Any = "major", *, commit: bool = True) -> int:
        """All that a worker does to a whole table, with a made-up result; the compaction's id."""
        id_ = self.store.enqueue_compaction(T, None, kind, initiator_id="here-manual").id
        self.finish(id_, commit=commit)
        return id_

    def finish(self, id_: int, *, commit: bool = True) -> None:
        """A worker's part of a request, with a made-up result."""
        claimed = self.store.next_compaction("here-1.0", id=id_)
        assert claimed
        (txn_id,) = self.store.open_txns(1, "ann", "here", type=TxnType.COMPACTION)
        highest = self.store.compactor_write_ids(T).high_watermark
        self.store.set_compaction_txn(id_, txn_id, highest)
        major = claimed.kind == "major"
        span = f"base_{highest:07d}" if major else f"delta_0000001_{highest:07d}"
        self.directory(f"{span}_v{txn_id:07d}", under=claimed.partition or "")
        self.store.mark_compacted(id_)
        if commit:
            self.store.commit_txn(txn_id)
        else:
            self.store.abort_txns([txn_id], "x")

    def work(self, kind: Any) -> str:
        """A worker's answer to a request that needs no Spark."""
        id_ = self.store.enqueue_compaction(T, None, kind, initiator_id="here-manual").id
        return f"{run_next(self.runtime, id=id_)}"

    def clean(self, runtime: Runtime | None = None) -> int:
        """A round of the cleaner, later than the moment in which new ids are not yet certain."""
        self.older(2)
        return clean(runtime or self.runtime)

    def reader(self) -> int:
        """A transaction that begins later than the moment in which ids are not yet certain."""
        self.older(2)
        (txn_id,) = self.store.open_txns(1, "ann", "here")
        return txn_id

    def names(self, under: str = "") -> list[str]:
        return sorted(path.name for path in (self.home / under).iterdir())

    def state(self, id_: int) -> str:
        return next(row.state for row in self.store.compactions() if row.id == id_)

    def add_partition(self, value: str) -> None:
        place = f"{self.home}/p={value}"
        self.store.add_partitions(T, [Partition(values=(value,), location=place)])
        Path(place).mkdir(exist_ok=True)

    def older(self, seconds: float) -> None:
        """As if that time had passed since everything."""
        past = int(seconds * 1000)

        def shift(db: Any) -> None:
            db.execute(update(txns).values(started=txns.c.started - past))
            queue = compaction_queue.c
            db.execute(
                update(compaction_queue).values(
                    enqueued=queue.enqueued - past,
                    started=queue.started - past,
                    committed=queue.committed - past,
                )
            )

        self.rdbms.write(shift)
