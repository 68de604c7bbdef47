"""Row counts of files by format."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyorc
import pytest

from hivesql_executor.storage import rows
from hivesql_executor.storage.local import LocalFiles
from hivesql_executor.storage.rows import row_count
from hivesql_planner.table import FileFormat


def fill(path: Path, file_format: FileFormat, count: int) -> None:
    if file_format == "orc":
        with path.open("wb") as file, pyorc.Writer(file, "struct<a:int>") as writer:
            writer.writerows([(i,) for i in range(count)])
    elif file_format == "parquet":
        pq.write_table(pa.table({"a": list(range(count))}), path)
    else:
        path.write_text("".join(f"{i}\n" for i in range(count)), encoding="utf-8")


@pytest.mark.parametrize("count", [0, 1, 1000])
@pytest.mark.parametrize("file_format", ["orc", "parquet", "textfile", "json"])
def test_row_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: FileFormat, count: int
) -> None:
    monkeypatch.setattr(rows, "_CHUNK", 100)
    path = tmp_path / "f"
    fill(path, file_format, count)
    assert row_count(LocalFiles(), str(path), path.stat().st_size, file_format) == count
