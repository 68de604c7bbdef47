"""ACID version 1: deltas that hold inserts, updates and deletes side by side.

An update event repeats the id of the row that it changes, with the new content; a delete event
has no content. The event of the latest write is what a row is.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from hivesql_executor.spark.scan.delete_filter import ID_COLUMNS
from hivesql_executor.spark.scan.partition_columns import PLACE
from hivesql_planner.acid.layout import DELETE_EVENT

OPERATION, WRITER = "__operation", "__writer"
"""What an event does and the write that did it: they travel with the rows until they are merged."""

# Version 1 wrote bucket numbers as they are; originals are numbered with those of version 2.
_BUCKET = "if(shiftrightunsigned(__bucket, 29) = 0, 536870912 | shiftleft(__bucket, 16), __bucket)"


def newest(events: DataFrame) -> DataFrame:
    """Keep the latest event of each id, without OPERATION and WRITER."""
    write, _, row = ID_COLUMNS
    # Within one write a row is inserted before it is updated, and deleted last.
    same_row = Window.partitionBy(PLACE, write, f.expr(_BUCKET), row)
    latest = same_row.orderBy(f.desc(WRITER), f.desc(OPERATION))
    ranked = events.withColumn("__rank", f.row_number().over(latest))
    alive = ranked.where((f.col("__rank") == 1) & (f.col(OPERATION) != DELETE_EVENT))
    return alive.drop("__rank", OPERATION, WRITER)
