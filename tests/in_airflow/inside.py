"""What the tests run with the Python of an environment that has Airflow; prints JSON."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path
from typing import Any


def provider() -> Any:
    """What Airflow finds through the entry point."""
    from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
    from airflow.providers_manager import ProvidersManager
    from airflow.sdk import Asset, Connection

    from hivesql.airflow.hook import HiveSqlHook

    manager = ProvidersManager()
    found = manager.hooks["hivesql"]
    hook = Connection.get("hivesql_default").get_hook()
    assert isinstance(hook, HiveSqlHook)
    script = "SELECT ';' -- a;b\n; SELECT 2"
    # The connection's field gives text, and Airflow's own operator hands it to the hook.
    typed = SQLExecuteQueryOperator(
        task_id="typed", conn_id="hivesql_typed", sql="SET hive.txn.timeout"
    )
    return {
        "hook": found.hook_name if found else None,
        "fields": sorted(key for key in manager.connection_form_widgets if "hivesql" in key),
        "test": hook.test_connection(),
        "databases": hook.get_records("SHOW DATABASES"),
        "engine": [str(row[0]) for row in hook.get_pandas_df("SHOW DATABASES").values],
        "typed": typed.execute({}),
        "split": hook.split_sql_string(script),
        "asset": Asset("hivesql://hivesql_default/Sales/Orders").uri,
    }


def dag_test(name: str) -> Any:
    """One run of a DAG for a fixed date, in this process."""
    module = import_module(name)
    moment = datetime(2024, 3, 1, tzinfo=timezone.utc)
    run = module.dag.test(logical_date=moment, run_after=moment)
    return {one.task_id: str(one.state) for one in run.get_task_instances()}


def operator() -> Any:
    """An operator by itself: templates, errors, lineage of the plans."""
    from airflow.sdk.exceptions import AirflowFailException

    from hivesql.airflow.operator import HiveSqlOperator

    script = (
        "INSERT INTO totals SELECT day, max(price) FROM orders GROUP BY day; SELECT 1;"
        "DELETE FROM totals WHERE total > 25"
    )
    task = HiveSqlOperator(task_id="alone", hql=script, idempotent=False)
    done = task.execute({})
    lineage = task.get_openlineage_facets_on_complete(None)
    wrong = HiveSqlOperator(task_id="wrong", hql="SELEKT 1", idempotent=False)
    try:
        wrong.execute({})
    except AirflowFailException as error:
        refused = str(error)
    return {
        "done": done,
        "inputs": [(one.namespace, one.name) for one in lineage.inputs],
        "outputs": outputs_of(lineage),
        "columns": columns_of(lineage),
        "sql": lineage.job_facets["sql"].query == script,
        "refused": refused,
    }  # fmt: skip


def traced() -> Any:
    """The spans of a task's statements, of which one fails, and what the error says of its own."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    import hivesql
    from hivesql.airflow.operator import HiveSqlOperator

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    script = "SHOW DATABASES; SELECT a FROM nosuch"
    failed: Any = None
    with trace.get_tracer("task").start_as_current_span("task"):
        try:
            HiveSqlOperator(task_id="traced", hql=script, idempotent=False).execute({})
        except hivesql.HiveSqlError as error:
            failed = error.statement_id
    spans = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in spans}
    return {
        "failed": failed,
        "spans": [
            (span.name, names[span.parent.span_id], span.attributes["hivesql.statement.id"])
            for span in spans
            if span.parent is not None
        ],
    }


def served_lineage() -> Any:
    """What a server tells of the tables that it has read and written."""
    from hivesql.airflow.operator import HiveSqlOperator

    script = "INSERT INTO parcels_awaited SELECT id + 1, upper(task) FROM parcels_deferred"
    task = HiveSqlOperator(
        task_id="alone", hivesql_conn_id="hivesql_served", hql=script, idempotent=False
    )
    task.execute({})
    lineage = task.get_openlineage_facets_on_complete(None)
    return {
        "inputs": [(one.name, len(one.facets["schema"].fields)) for one in lineage.inputs],
        "outputs": outputs_of(lineage),
        "types": [field.type for field in lineage.outputs[0].facets["schema"].fields],
        "columns": columns_of(lineage),
    }


def outputs_of(lineage: Any) -> Any:
    return [
        (one.name, one.outputFacets["outputStatistics"].rowCount,
         [field.name for field in one.facets["schema"].fields])
        for one in lineage.outputs
    ]  # fmt: skip


def columns_of(lineage: Any) -> Any:
    return {
        column: [(source.name, source.field) for source in made.inputFields]
        for column, made in lineage.outputs[0].facets["columnLineage"].fields.items()
    }


if __name__ == "__main__":
    answer, *arguments = sys.argv[1:]
    told = {
        "provider": provider, "dag_test": dag_test, "operator": operator,
        "served_lineage": served_lineage, "traced": traced,
    }[answer](*arguments)  # fmt: skip
    Path("answer.json").write_text(json.dumps(told))
