"""What tasks have beside Spark: the Python that reads and writes Avro tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hivesql_executor.checks.finding import Observation
from hivesql_executor.translate_errors import translate_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SUBJECT = "executors"
_WANTED = "{}.{}".format(*sys.version_info[:2])
_HELP = (
    f"install Python {_WANTED} with pyarrow on every host, and name it by PYSPARK_PYTHON or "
    "spark.pyspark.python; tables of other formats than Avro need none"
)


def observe_executors(spark: SparkSession) -> Iterator[Observation]:
    """Ask some tasks, as many as run at a time, for their Python; one observation.

    A Python that cannot be started, of another version, or without pyarrow is a warning.
    """

    def look(_: int) -> tuple[str, str, bool]:
        from importlib.util import find_spec
        from platform import node, python_version

        return node(), python_version(), find_spec("pyarrow") is not None

    count = max(spark.sparkContext.defaultParallelism, 2)
    try:
        answers = spark.sparkContext.parallelize(range(count), count).map(look).collect()
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        reason = str(translate_error(error)).splitlines()[0]
        program = spark.sparkContext.pythonExec
        yield Observation("warning", _SUBJECT, f"{program} does not work there: {reason}", _HELP)
        return
    by_host = {host: (version, has_arrow) for host, version, has_arrow in answers}
    lacking = sorted(host for host, (_, has_arrow) in by_host.items() if not has_arrow)
    if lacking:
        message = f"there is no pyarrow on {', '.join(lacking)}"
        yield Observation("warning", _SUBJECT, message, _HELP)
        return
    versions = ", ".join(sorted({version for version, _ in by_host.values()}))
    yield Observation("ok", _SUBJECT, f"Python {versions} with pyarrow on {len(by_host)} host(s)")
