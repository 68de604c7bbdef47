"""Tables as Airflow's assets: ``hivesql://<connection>/<database>/<table>``."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, urlsplit

from airflow.sdk import Asset

from hivesql_planner.model.table import TableName


def asset_of(conn_id: str, table: TableName) -> Asset:
    """Return the asset of a table; the name is ``database.table``."""
    return create_asset(conn_id=conn_id, database=table.database, table=table.name)


def create_asset(*, conn_id: str, database: str, table: str, extra: Any = None) -> Asset:
    """Return the asset of a table by the connection through which it is reached."""
    return Asset(
        name=f"{conn_id}:{database}.{table}",
        uri=f"hivesql://{conn_id}/{database}/{table}",
        extra=extra,
    )


def sanitize_uri(uri: SplitResult) -> SplitResult:
    """Lower case, as Hive's names are; ValueError for what names no table."""
    parts = uri.path.strip("/").lower().split("/")
    if not uri.netloc or len(parts) != 2 or not all(parts):
        raise ValueError("an asset of HiveSQL is hivesql://<connection>/<database>/<table>")
    return uri._replace(path=f"/{parts[0]}/{parts[1]}", query="", fragment="")


def convert_asset_to_openlineage(asset: Asset, lineage_context: Any) -> Any:
    """Return the data set that OpenLineage knows the asset as."""
    from airflow.providers.common.compat.openlineage.facet import Dataset

    uri = urlsplit(asset.uri)
    return Dataset(namespace=f"hivesql://{uri.netloc}", name=uri.path.strip("/").replace("/", "."))
