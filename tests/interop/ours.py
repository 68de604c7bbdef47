"""HiveSQL's side of a comparison: a session on a warehouse of its own, and what is on its disk."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hivesql
from hivesql_planner.model.table import Table, TableName
from interop.compare import partition_text, plain
from interop.hive import Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NUMBERS = re.compile(r"(?:base|delta)_(\d+)(?:_(\d{7}))?(?:_\d{4})?(?:_v(\d+))?$")


@dataclass(slots=True)
class Warehouse:
    """A session, and the directory of its managed tables of database default."""

    session: hivesql.Session
    root: Path

    def run(self, script: str) -> hivesql.Result:
        """Run statements; the last one's result."""
        return self.session.execute(script)

    def directory(self, table: str) -> Path:
        """Where the table's files are."""
        return self.root / table

    def schema(self, table: str) -> str:
        """The table's data columns as ``hive.read`` takes them."""
        columns = self._table(table).columns
        return f"struct<{','.join(f'{column.name}:{column.type}' for column in columns)}>"

    def rows(self, table: str) -> list[Row]:
        """``SELECT row__id, *`` in the form of ``hive.read``, sorted by partition and row id."""
        split = len(self._table(table).columns)
        found = self.run(f"SELECT row__id, t.* FROM {table} t").rows
        rows = (_row(row[0], row[1 : split + 1], row[split + 1 :]) for row in found)
        return sorted(rows, key=lambda row: (row.partition, row.row_id))

    def adopt(self, table: str, directory: Path) -> None:
        """Replace the table's files by another writer's and use up the ids in their names."""
        shutil.rmtree(self.directory(table), ignore_errors=True)
        shutil.copytree(directory, self.directory(table), ignore=shutil.ignore_patterns("*.crc"))
        # A compacted directory is seen once the compactor's transaction is committed, so both kinds
        # of id must pass the highest of either.
        for _ in range(max(highest_ids(directory))):
            self.burn_write_id(table)

    def burn_write_id(self, table: str) -> None:
        """Use up the table's next write id in a transaction that writes nothing."""
        store = self.session.runtime.metastore
        (txn_id,) = store.open_txns(1, "interop", "localhost")
        store.allocate_write_id(txn_id, self._table(table).name)
        store.commit_txn(txn_id)

    def _table(self, table: str) -> Table:
        database, _, name = table.rpartition(".")
        return self.session.runtime.metastore.table(TableName(database or "default", name))


def _row(row_id: Any, values: Sequence[Any], partition: Sequence[Any]) -> Row:
    write_id, bucket_property, number = row_id
    return Row(
        (write_id, bucket_property, number),
        tuple(map(plain, values)),
        tuple(map(partition_text, partition)),
    )


OpenOurs = Callable[[str], Warehouse]
"""The fixture ``open_ours``."""


def open_warehouse(root: Path, spark: SparkSession) -> Warehouse:
    """An empty warehouse with an SQLite metastore beside it."""
    root.mkdir(parents=True)
    session = hivesql.connect(
        metastore=f"sqlite:///{root}/metastore.db", warehouse=f"{root}/warehouse", spark=spark
    )
    return Warehouse(session, root / "warehouse")


def highest_ids(directory: Path) -> tuple[int, int]:
    """The highest write id and the highest visibility transaction in the names below."""
    write_ids, visibilities = [0], [0]
    for path in directory.rglob("*"):
        if path.is_dir() and (match := _NUMBERS.search(path.name)):
            write_ids.append(int(match[2] or match[1]))
            visibilities.append(int(match[3] or 0))
    return max(write_ids), max(visibilities)


def listing(directory: Path) -> list[str]:
    """ACID directories and bucket files below, without side files."""
    return sorted(
        without_attempt(str(path.relative_to(directory)))
        for path in directory.rglob("*")
        if re.match(r"base_|delta_|delete_delta_|bucket_", path.name)
    )


def without_attempt(path: str) -> str:
    """Hive 4 ends a bucket file's name with its task attempt; we write the name of Hive 3."""
    return re.sub(r"/(bucket_\d+)_\d+$", r"/\1", path)
