"""Rows that were collected, as an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.conversion import LocalDataToArrowConversion
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_of(rows: Sequence[Any], schema: StructType) -> pa.Table:
    """The rows with the types that Spark gave them."""
    if not rows:
        return to_arrow_schema(schema).empty_table()
    return LocalDataToArrowConversion.convert(list(rows), schema, use_large_var_types=False)
