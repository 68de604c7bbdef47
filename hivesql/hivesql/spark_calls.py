"""What a session tells of its Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivesql.sessions.spark_start import LazySpark, Progress


class SparkCalls:
    """The calls about the Spark that runs a session's statements."""

    _spark: LazySpark
    _query_id: str

    def progress(self) -> Progress | None:
        """How far the running statement's Spark jobs are; None when none run."""
        return self._spark.progress(self._query_id) if self._query_id else None

    @property
    def starts_spark(self) -> bool:
        """Whether the running statement may be waiting for Spark to start."""
        return bool(self._query_id) and self._spark.starting

    def start_spark(self) -> None:
        """Start Spark now, so that the first statement that needs it does not wait."""
        self._spark()
