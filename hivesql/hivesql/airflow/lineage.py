"""OpenLineage of what an operator did, from the plans that it ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from airflow.providers.common.compat.openlineage.facet import (
    InputDataset,
    OutputDataset,
    OutputStatisticsOutputDatasetFacet,
    SchemaDatasetFacet,
    SchemaDatasetFacetFields,
    SQLJobFacet,
)
from airflow.providers.openlineage.extractors import OperatorLineage

import hivesql
from hivesql.airflow.served import Totals
from hivesql_planner.model.table import Table
from hivesql_planner.plan_facts import tables_read, tables_written


def lineage_of(results: Sequence[hivesql.Result], conn_id: str, hql: str) -> OperatorLineage:
    """Tell inputs, outputs with the rows changed, and the script."""
    plans = [(result.plan, result.affected or 0) for result in results if result.plan is not None]
    read = {table.name: table for plan, _ in plans for table in tables_read(plan)}
    written: dict[Any, Table] = {}
    rows: dict[Any, int] = {}
    for plan, affected in plans:
        for table in tables_written(plan):
            written[table.name] = table
            rows[table.name] = rows.get(table.name, 0) + affected
    return OperatorLineage(
        inputs=list(_inputs(read.values(), conn_id)),
        outputs=[
            OutputDataset(
                **_named(table, conn_id),
                outputFacets={
                    "outputStatistics": OutputStatisticsOutputDatasetFacet(rowCount=rows[name])
                },
            )
            for name, table in written.items()
        ],
        job_facets={"sql": SQLJobFacet(query=hql)},
    )


def lineage_of_totals(totals: Totals, conn_id: str, hql: str) -> OperatorLineage:
    """Tell inputs and outputs of what a server ran, and the script."""
    namespace = f"hivesql://{conn_id}"
    return OperatorLineage(
        inputs=[InputDataset(namespace=namespace, name=name) for name in totals.read],
        outputs=[OutputDataset(namespace=namespace, name=name) for name in totals.written],
        job_facets={"sql": SQLJobFacet(query=hql)},
    )


def _inputs(tables: Iterable[Table], conn_id: str) -> Iterable[InputDataset]:
    for table in tables:
        yield InputDataset(**_named(table, conn_id))


def _named(table: Table, conn_id: str) -> dict[str, Any]:
    fields = [
        SchemaDatasetFacetFields(
            name=column.name, type=str(column.type), description=column.comment
        )
        for column in table.all_columns
    ]
    return {
        "namespace": f"hivesql://{conn_id}",
        "name": str(table.name),
        "facets": {"schema": SchemaDatasetFacet(fields=fields)},
    }
