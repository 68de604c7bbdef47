"""A DAG of HiveSQL tasks: put it and airflow_orders.hql into Airflow's folder of DAGs.

It needs ``pip install 'hivesql[airflow]'`` and a connection ``hivesql_default`` of type hivesql:
{"conn_type": "hivesql", "extra": {"metastore": "sqlite:////data/m.db", "warehouse": "/data"}}
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.sdk import DAG, AssetAlias

from hivesql.airflow.operator import HiveSqlOperator

with DAG("orders", schedule=None, start_date=datetime(2024, 1, 1), catchup=False) as dag:
    tables = HiveSqlOperator(
        task_id="tables",
        hql="""
            CREATE TRANSACTIONAL TABLE IF NOT EXISTS orders (id INT, price DECIMAL(8,2))
            PARTITIONED BY (day STRING) STORED AS ORC;
            CREATE TRANSACTIONAL TABLE IF NOT EXISTS totals (day STRING, total DECIMAL(10,2))
            STORED AS ORC
        """,
    )
    # A template. A retry goes on behind the last statement that was committed.
    load = HiveSqlOperator(
        task_id="load",
        hql="airflow_orders.hql",
        hivevars={"day": "{{ ds }}"},
        hiveconfs={"hive.lock.numretries": "20"},
        params={"prices": [10, 20, 30]},
        outlets=[AssetAlias("orders_loaded")],
        retries=2,
        retry_delay=timedelta(seconds=1),
    )
    tables >> load
