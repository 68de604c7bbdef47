"""Files that are read as they were listed, whatever their paths look like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivesql_executor.jvm import java_strings
from hivesql_executor.spark.formats.listed_files import FileKind, read_grouped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LINES = FileKind("text", "value string")


@pytest.mark.spark
def test_each_file_is_read_once_and_no_other(spark: SparkSession, tmp_path: Path) -> None:
    names = ["plain", "a?b", "a*b", "a[xy]b", "a{x,y}b", "a\\b", "a\\?b", "a%20b", "a#b c", "aéb"]
    for name in (*names, "axb"):
        (tmp_path / name).mkdir()
        for file in ("1", "2", "3"):
            (tmp_path / name / file).write_text(f"{name} {file}\n")
    for name in names:
        paths = [f"{tmp_path}/{name}/{file}" for file in "12"]
        sized_files = [(path, Path(path).stat().st_size) for path in paths]
        rows = read_grouped(spark, LINES, [((), sized_files)])
        assert sorted(row[0] for row in rows.collect()) == [f"{name} 1", f"{name} 2"]


@pytest.mark.spark
def test_partitions_have_their_values_and_share_directories(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Filters on them choose files, and nothing of them is looked for in paths."""
    values = [("1", "a/b=c"), ("2", None), ("3", ""), ("4", "é\n\\\"'[*]"), ("1", "other")]
    groups = []
    for number, texts in enumerate(values):
        path = tmp_path / f"p=no{number % 2}" / f"file{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"row {number}\n")
        groups.append((texts, [(str(path), path.stat().st_size)]))
    rows = read_grouped(spark, LINES, [*groups, (("5", "none"), [])], ("p", "q"))
    assert sorted(rows.collect(), key=lambda row: row.value) == [
        (f"row {number}", *texts) for number, texts in enumerate(values)
    ]
    assert [row.value for row in rows.where("q IS NULL").collect()] == ["row 1"]
    assert sorted(row.value for row in rows.where("p = '1'").collect()) == ["row 0", "row 4"]
    chosen = rows.where("p = '1' AND q LIKE 'o%' AND value > ''")
    assert [row.value for row in chosen.collect()] == ["row 4"]
    assert rows.where("p = '5'").collect() == []


@pytest.mark.spark
def test_two_reads_of_the_same_files_are_one_in_a_plan(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a\nb\n")
    counts = [
        read_grouped(spark, LINES, [((), [(str(path), 4)])]).groupBy("value").count()
        for _ in range(2)
    ]
    both = counts[0].unionAll(counts[1])
    assert len(both.collect()) == 4
    plan: Any = both._jdf.queryExecution().executedPlan()
    assert "ReusedExchange" in plan.toString()


@pytest.mark.spark
def test_a_format_that_is_none_is_refused(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="odd is no format of files"):
        read_grouped(spark, FileKind("odd", "value string"), [])


@pytest.mark.spark
@pytest.mark.parametrize(
    "texts", [[], [""], ["a", "", "b"], ["", ""], ["a\nb", "\t é 日 \U0001f600", "$1\\"]]
)
def test_texts_come_to_java_as_they_are(spark: SparkSession, texts: list[str]) -> None:
    assert list(java_strings(spark, texts)) == texts
