"""Which directories a scan lists: those that pruning left, and no others."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.files.top import Top
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import scan_files
from hivesql_planner.acid.write_ids import ALL_TXNS, ValidWriteIdList
from hivesql_planner.model.table import Column, Partition
from hivesql_planner.relations import Scan
from tables import make_table


@dataclass(frozen=True)
class RecordedFiles(LocalFiles):
    """Local files, and what was listed of them."""

    listed: list[str] = field(default_factory=list, hash=False, compare=False)

    def top(self, location: str, before: Top | None = None) -> Top | None:
        self.listed.append(location)
        return super().top(location, before)


def no_spark() -> None:
    raise AssertionError("choosing files starts no Spark")


def test_only_what_pruning_left_is_listed(tmp_path: Path) -> None:
    home = tmp_path / "t"
    table = make_table(home, partition_columns=(Column.of("p", "int"),))
    every = [Partition(values=(str(i),), location=f"{home}/p={i}") for i in range(100_000)]
    kept = tuple(every[one] for one in (7, 70_000))
    delta = home / "p=70000" / "delta_0000001_0000001_0000"
    delta.mkdir(parents=True)
    (delta / "bucket_00000").write_bytes(b"x")
    files = RecordedFiles()
    store = DatabaseMetastore.open(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path))
    runtime = Runtime(metastore=store, spark=no_spark, files=lambda _: files)  # type: ignore[arg-type, return-value]
    scan = Scan(table=table, partitions=kept, partition_count=len(every))
    parts = scan_files(scan, ValidWriteIdList(9), ALL_TXNS, runtime)
    store.close()
    assert sorted(files.listed) == [f"{home}/p=7", f"{home}/p=70000"]
    assert [[file.path for file in part.files.data] for part in parts] == [
        [], ["delta_0000001_0000001_0000/bucket_00000"],
    ]  # fmt: skip
