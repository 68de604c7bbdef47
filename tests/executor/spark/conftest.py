"""Inserts and changes without a plan: rows in, files out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.orc.publish import Publication
from hivesql_executor.runtime import Runtime
from hivesql_executor.spark.write.partition_clustering import NEVER
from hivesql_executor.spark.write.write import stage_insert, write_change
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Write, WriteKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hivesql_executor.orc.publish import WrittenFile

EVENTS = (
    "branch int, row__id struct<writeid:bigint,bucketid:int,rowid:bigint>, "
    "row struct<a:int,b:string>"
)


@pytest.fixture(scope="session")
def noting(
    tmp_path_factory: pytest.TempPathFactory, prepared_sqlite: Path, spark: SparkSession
) -> Iterator[Runtime]:
    """Where changes of files that are not transactional are noted."""
    file = tmp_path_factory.mktemp("noting") / "metastore.db"
    shutil.copy(prepared_sqlite, file)
    store = DatabaseMetastore.open(f"sqlite:///{file}", "/wh")
    yield Runtime(metastore=store, spark=lambda: spark, files=lambda location: LocalFiles())
    store.close()


@pytest.fixture
def insert(spark: SparkSession, noting: Runtime) -> Callable[..., tuple[WrittenFile, ...]]:
    def run(
        table: Table,
        rows: str | Any,
        *,
        kind: WriteKind = WriteKind.DELTA,
        statement_id: int = 0,
        write_id: int = 1,
        overwrite: bool = False,
        static: Mapping[str, str | None] | None = None,
        dynamic: Sequence[str] = (),
        locations: Mapping[str, str] | None = None,
        gathering: int = NEVER,
    ) -> tuple[WrittenFile, ...]:
        write = Write(kind=kind, table=table, statement_id=statement_id, overwrite=overwrite)
        changes = FileChanges(noting, 0)
        publication = Publication(
            writes=(write,),
            write_id=write_id,
            staging=f"{table.location}/.hive-staging_test",
            static_partition=static or {},
            dynamic_partition=tuple(dynamic),
            locations=locations or {},
            changes=changes,
        )
        with changes.deciding():
            frame = spark.sql(rows) if isinstance(rows, str) else rows
            staged = stage_insert(frame, publication, LocalFiles(), gathering=gathering)
            try:
                return staged.publish()
            finally:
                staged.discard()

    return run


@pytest.fixture(params=[1, 2, 16])
def partitions(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[int]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", request.param)
    yield request.param
    spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.fixture
def change(spark: SparkSession, noting: Runtime) -> Callable[..., tuple[WrittenFile, ...]]:
    def run(
        table: Table,
        rows: Any,
        writes: Sequence[tuple[WriteKind, int]],
        *,
        write_id: int = 9,
        branches: Sequence[Sequence[int]] = (),
    ) -> tuple[WrittenFile, ...]:
        schema = EVENTS + "".join(f", p{i} string" for i in range(len(table.partition_columns)))
        frame = spark.createDataFrame(rows, schema) if isinstance(rows, list) else rows
        publication = Publication(
            writes=tuple(Write(kind=kind, table=table, statement_id=s) for kind, s in writes),
            write_id=write_id,
            staging=f"{table.location}/.hive-staging_test",
            static_partition={},
            dynamic_partition=table.partition_names,
            locations={},
            changes=FileChanges(noting, 0),
        )
        return write_change(frame, publication, LocalFiles(), branches=branches)

    return run
