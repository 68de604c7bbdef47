"""What tasks of Java's told of the files that they wrote (``TaskAnswers.java``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hivesql_executor.spark.lines import read_served
from hivesql_planner.errors import ExecutionError

if TYPE_CHECKING:
    from hivesql_executor.files.uploads import Upload

_WHOLE = "="
"""The word of a file that is nowhere yet (``Uploads.java``)."""


@dataclass(frozen=True)
class TaskAnswers:
    """The answers of a job's tasks, by the object of the class in Spark's JVM."""

    job: Any = field(repr=False)

    @cached_property
    def text(self) -> str:
        """All that is text."""
        return str(self.job.text())

    @cached_property
    def _contents(self) -> Iterator[bytes]:
        return iter(read_served(self.job.serve()))

    def upload(self, word: str, length: int) -> Upload:
        """Return what a word of the text stands for: words are asked for in their order."""
        if word != _WHOLE:
            return word
        content = next(self._contents, b"")
        if len(content) != length:
            raise ExecutionError(
                f"of a file of {length} bytes that a task has written, {len(content)} bytes came "
                "from Spark's JVM, which may have ended. Nothing was written. Run the statement "
                "again"
            )
        return content
