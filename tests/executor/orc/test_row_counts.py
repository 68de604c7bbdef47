"""Row counts of files by format."""

from __future__ import annotations

from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pyorc
import pytest

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.orc import row_counts as rows
from hivesql_executor.orc.row_counts import row_count
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import FileFormat


def fill(path: Path, file_format: FileFormat, count: int) -> None:
    if file_format == "orc":
        with path.open("wb") as file, pyorc.Writer(file, "struct<a:int>") as writer:
            writer.writerows([(i,) for i in range(count)])
    elif file_format == "parquet":
        pq.write_table(pa.table({"a": list(range(count))}), path)
    elif file_format == "avro":
        schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}
        with path.open("wb") as file:
            fastavro.writer(file, schema, ({"a": i} for i in range(count)), sync_interval=50)
    else:
        path.write_text("".join(f"{i}\n" for i in range(count)), encoding="utf-8")


@pytest.mark.parametrize("count", [0, 1, 1000])
@pytest.mark.parametrize("file_format", ["orc", "parquet", "avro", "textfile", "json"])
def test_row_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: FileFormat, count: int
) -> None:
    monkeypatch.setattr(rows, "_CHUNK", 100)
    path = tmp_path / "f"
    fill(path, file_format, count)
    assert row_count(LocalFiles(), str(path), path.stat().st_size, file_format) == count


@pytest.mark.parametrize("kept", [0, 2, 40, 200])
def test_damaged_parquet(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "f"
    fill(path, "parquet", 100)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match="Parquet"):
        row_count(LocalFiles(), str(path), path.stat().st_size, "parquet")


@pytest.mark.parametrize("kept", [2, 40, 130, 200])
def test_damaged_avro(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "f"
    fill(path, "avro", 100)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match="Avro"):
        row_count(LocalFiles(), str(path), path.stat().st_size, "avro")
