"""The door: give a Spark session a catalog of our tables."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING

from hivesql.connections import connect
from hivesql_executor.translate_errors import translate_errors
from hivesql_planner.errors import SemanticError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hivesql.session import Session


@translate_errors
def register_catalog(
    spark: SparkSession,
    name: str = "hive_acid",
    *,
    metastore: str | None = None,
    warehouse: str | PathLike[str] | None = None,
    settings: Mapping[str, str | float] | None = None,
) -> Session:
    """Let a Spark session name our tables: ``spark.table("hive_acid.default.stock")``.

    Its queries read them, joined with what else Spark knows, under one snapshot and Hive's locks;
    ``writeTo``, INSERT, UPDATE, DELETE and MERGE are transactions. The other arguments are those
    of ``connect``. The session that is returned runs what the catalog refuses, such as CREATE
    TABLE; closed, it closes the catalog.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise SemanticError(f"a catalog's name is a word of letters, digits and _, not {name!r}")
    session = connect(metastore, warehouse, spark=spark, settings=settings)
    try:
        session.start_spark()
        # Imported late: few programs have a catalog.
        from hivesql.spark_catalog.requests import CatalogRequests
        from hivesql_executor.spark.catalog import add_catalog

        requests = CatalogRequests(session)
        session.at_close(requests.close)
        add_catalog(spark, name, requests)
    except BaseException:
        session.close()
        raise
    return session
