"""OpenLineage of what an operator did, from the facts of its statements."""

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

from hivesql.lineage.column_lineage import ColumnSource
from hivesql.lineage.statement_facts import ColumnFacts, StatementFacts


def lineage_of(done: Iterable[StatementFacts], conn_id: str, hql: str) -> OperatorLineage:
    """Tell inputs, outputs with rows changed and sources of their columns, and the script."""
    namespace = f"hivesql://{conn_id}"
    read: dict[str, Sequence[ColumnFacts]] = {}
    written: dict[str, Sequence[ColumnFacts]] = {}
    rows: dict[str, int] = {}
    sources: dict[str, dict[str, set[ColumnSource]]] = {}
    for facts in done:
        read.update(facts.read)
        written.update(facts.written)
        for name in facts.written:
            rows[name] = rows.get(name, 0) + facts.affected
        for name, columns in facts.sources.items():
            for column, made_from in columns.items():
                sources.setdefault(name, {}).setdefault(column, set()).update(made_from)
    return OperatorLineage(
        inputs=[
            InputDataset(namespace=namespace, name=name, facets=_schema_facet(columns))
            for name, columns in read.items()
        ],
        outputs=[
            OutputDataset(
                namespace=namespace,
                name=name,
                facets=_schema_facet(columns) | _column_facet(namespace, sources.get(name)),
                outputFacets={
                    "outputStatistics": OutputStatisticsOutputDatasetFacet(rowCount=rows[name])
                },
            )
            for name, columns in written.items()
        ],
        job_facets={"sql": SQLJobFacet(query=hql)},
    )


def _schema_facet(columns: Iterable[ColumnFacts]) -> dict[str, Any]:
    fields = [
        SchemaDatasetFacetFields(name=column.name, type=column.type, description=column.comment)
        for column in columns
    ]
    return {"schema": SchemaDatasetFacet(fields=fields)}


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
