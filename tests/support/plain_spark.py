"""Tables of ours as plain Spark has them, by the catalog ``acid``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hivesql_executor.spark.lines import collect_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    import hivesql


def rows_of_both(
    plain: SparkSession, session: hivesql.Session, query: str, table: str
) -> list[Any]:
    """Rows of a query as our session and as plain Spark have them, which are the same."""
    ours = [tuple(row) for row in session.sql(query.format(table)).rows]
    sparks = collect_rows(plain.sql(query.format(f"acid.default.{table}")))
    assert [tuple(row) for row in sparks] == ours
    return ours
