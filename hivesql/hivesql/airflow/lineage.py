"""OpenLineage of what an operator did, from the plans that it ran."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from airflow.providers.common.compat.openlineage.facet import (
    ColumnLineageDatasetFacet,
    Fields,
    InputDataset,
    InputField,
    OutputDataset,
    OutputStatisticsOutputDatasetFacet,
    SchemaDatasetFacet,
    SchemaDatasetFacetFields,
    SQLJobFacet,
)
from airflow.providers.openlineage.extractors import OperatorLineage

import hivesql
from hivesql.airflow.served import Totals
from hivesql.lineage.column_lineage import (
    ColumnSource,
    ColumnSources,
    sources_of_json,
    trace_columns,
)
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.plan_facts import tables_read, tables_written


def lineage_of(results: Sequence[hivesql.Result], conn_id: str, hql: str) -> OperatorLineage:
    """Tell inputs, outputs with rows changed and sources of their columns, and the script."""
    done = [(result, result.plan) for result in results if result.plan is not None]
    read = {table.name: table for _, plan in done for table in tables_read(plan)}
    written: dict[TableName, Table] = {}
    rows: dict[TableName, int] = {}
    sources: ColumnSources = {}
    for result, plan in done:
        targets = tables_written(plan)
        for table in targets:
            written[table.name] = table
            rows[table.name] = rows.get(table.name, 0) + (result.affected or 0)
        traced = trace_columns(result.statement, tables_read(plan), targets)
        for name, columns in traced.items():
            for column, made_from in columns.items():
                sources.setdefault(name, {}).setdefault(column, set()).update(made_from)
    return OperatorLineage(
        inputs=list(_inputs(read.values(), conn_id)),
        outputs=[
            OutputDataset(
                **_named(table, conn_id, sources.get(name)),
                outputFacets={
                    "outputStatistics": OutputStatisticsOutputDatasetFacet(rowCount=rows[name])
                },
            )
            for name, table in written.items()
        ],
        job_facets={"sql": SQLJobFacet(query=hql)},
    )


def lineage_of_totals(totals: Totals, conn_id: str, hql: str) -> OperatorLineage:
    """Tell inputs, outputs with sources of their columns of what a server ran, and the script."""
    namespace = f"hivesql://{conn_id}"
    sources: dict[str, dict[str, set[ColumnSource]]] = {}
    for text in totals.lineage:
        for name, columns in sources_of_json(text).items():
            for column, made_from in columns.items():
                sources.setdefault(name, {}).setdefault(column, set()).update(made_from)
    return OperatorLineage(
        inputs=[InputDataset(namespace=namespace, name=name) for name in totals.read],
        outputs=[
            OutputDataset(
                namespace=namespace, name=name, facets=_column_facet(namespace, sources.get(name))
            )
            for name in totals.written
        ],
        job_facets={"sql": SQLJobFacet(query=hql)},
    )


def _inputs(tables: Iterable[Table], conn_id: str) -> Iterable[InputDataset]:
    for table in tables:
        yield InputDataset(**_named(table, conn_id))


def _named(
    table: Table, conn_id: str, sources: Mapping[str, Collection[ColumnSource]] | None = None
) -> dict[str, Any]:
    """Return a data set's name and what is known of its columns; ``sources`` of each column."""
    namespace = f"hivesql://{conn_id}"
    fields = [
        SchemaDatasetFacetFields(
            name=column.name, type=str(column.type), description=column.comment
        )
        for column in table.all_columns
    ]
    facets = {
        "schema": SchemaDatasetFacet(fields=fields),
        **_column_facet(namespace, sources),
    }
    return {"namespace": namespace, "name": str(table.name), "facets": facets}


def _column_facet(
    namespace: str, sources: Mapping[str, Collection[ColumnSource]] | None
) -> dict[str, Any]:
    """Return the facet of columns' sources; nothing where none are known."""
    if not sources:
        return {}
    fields = {
        column: Fields(
            inputFields=[
                InputField(namespace=namespace, name=source.table, field=source.column)
                for source in sorted(made_from)
            ]
        )
        for column, made_from in sources.items()
    }
    return {"columnLineage": ColumnLineageDatasetFacet(fields=fields)}
