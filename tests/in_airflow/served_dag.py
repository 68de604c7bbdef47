"""Tasks whose statements a server runs: a trigger waits, or the worker."""

from __future__ import annotations

from datetime import datetime

from airflow.providers.common.sql.operators.sql import SQLColumnCheckOperator
from airflow.sdk import DAG, AssetAlias

from hivesql.airflow.operator import HiveSqlOperator

TABLE = "parcels_${hivevar:kind}"
LOAD = f"""
    CREATE TRANSACTIONAL TABLE IF NOT EXISTS {TABLE} (id INT, task STRING) STORED AS ORC;
    INSERT INTO {TABLE} VALUES (1, '${{hiveconf:airflow.ctx.task_id}}; not the end'), (2, NULL);
    DELETE FROM {TABLE} WHERE id = 2
"""

with DAG("served", schedule=None, start_date=datetime(2024, 1, 1), catchup=False) as dag:
    tasks = [
        HiveSqlOperator(
            task_id=kind,
            hivesql_conn_id="hivesql_served",
            hql=LOAD,
            hivevars={"kind": kind},
            deferrable=kind == "deferred",
            poll_interval=0.2,
            outlets=[AssetAlias("parcels")],
        )
        for kind in ("deferred", "awaited")
    ]
    wrong = HiveSqlOperator(
        task_id="wrong",
        hivesql_conn_id="hivesql_served",
        hql="SELECT 1;\nSELEKT 2",
        deferrable=True,
        retries=3,
    )
    alone = HiveSqlOperator(task_id="alone", hql="SELECT 1", deferrable=True)
    checked = [
        SQLColumnCheckOperator(
            task_id=f"checked_{conn_id}",
            conn_id=conn_id,
            table="parcels_awaited",
            column_mapping={"id": {"null_check": {"equal_to": 0}, "max": {"leq_to": 1}}},
        )
        for conn_id in ("hivesql_default", "by_hiveserver2")
    ]
    for task in tasks:
        task >> checked
