"""What is asked of a file system that does not answer fails as one of our errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from hivesql_executor.files.hadoop import HadoopFiles
from hivesql_planner.errors import HiveSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE = "nosuch://bucket/t/x"
QUESTIONS: dict[str, Callable[[HadoopFiles], object]] = {
    "list": lambda files: files.list(PLACE),
    "top": lambda files: files.top(PLACE),
    "all_directories": lambda files: files.all_directories(PLACE),
    "survey": lambda files: files.survey(PLACE),
    "exists": lambda files: files.exists(PLACE),
    "is_file": lambda files: files.is_file(PLACE),
    "directories": lambda files: files.directories(PLACE),
    "size": lambda files: files.size(PLACE),
    "modified": lambda files: files.modified(PLACE),
    "read": lambda files: files.read(PLACE, 0, 1),
    "write": lambda files: files.write(PLACE, b"x"),
    "make_directories": lambda files: files.make_directories(PLACE),
    "rename": lambda files: files.rename(PLACE, f"{PLACE}2"),
    "rename into it": lambda files: files.rename("file:///tmp/nosuch", PLACE),
    "copy": lambda files: files.copy(PLACE, f"{PLACE}2"),
    "copy into it": lambda files: files.copy("file:///tmp/nosuch", PLACE),
    "delete": lambda files: files.delete(PLACE),
    "delete_below": lambda files: files.delete_below("nosuch://bucket/t", ["x"]),
    "delete_each": lambda files: files.delete_each([PLACE]),
    "remove_if_empty": lambda files: files.remove_if_empty(PLACE),
    "replace_tail": lambda files: files.replace_tail(PLACE, 0, b"x"),
}


@pytest.mark.spark
def test_every_question_fails_as_an_error_of_ours(spark: SparkSession) -> None:
    """Hadoop knows no file system of that scheme, which it says at the first call."""
    files = HadoopFiles(lambda: spark)
    for name, ask in QUESTIONS.items():
        with pytest.raises(HiveSqlError) as error:
            ask(files)
        assert "nosuch" in str(error.value), name
        assert "Traceback" not in str(error.value), name
        assert "py4j" not in str(error.value), name
