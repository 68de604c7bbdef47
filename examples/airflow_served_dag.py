"""A DAG whose statements a HiveSQL server runs: put it into Airflow's folder of DAGs.

The load waits in the triggerer and takes no worker; Airflow's own SQL operators look at what it
has written, and decide what goes on. It needs ``pip install 'hivesql[airflow,serve]' impyla`` and
a connection ``hivesql_server`` of type hivesql to where ``hivesql serve`` runs:
{"conn_type": "hivesql", "host": "warehouse.example", "login": "etl", "password": "…"}
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.common.sql.operators.sql import (
    BranchSQLOperator,
    SQLColumnCheckOperator,
    SQLExecuteQueryOperator,
    SQLTableCheckOperator,
    SQLValueCheckOperator,
)
from airflow.sdk import DAG, AssetAlias

from hivesql.airflow.operator import HiveSqlOperator

SERVER = "hivesql_server"
OF_DAY = "day = '{{ ds }}'"

with DAG("parcels", schedule=None, start_date=datetime(2024, 1, 1), catchup=False) as dag:
    load = HiveSqlOperator(
        task_id="load",
        hivesql_conn_id=SERVER,
        hql="""
            CREATE TRANSACTIONAL TABLE IF NOT EXISTS arrivals (id INT, kilos DOUBLE, day STRING)
            STORED AS ORC;
            CREATE TRANSACTIONAL TABLE IF NOT EXISTS weights (day STRING, kilos DOUBLE)
            STORED AS ORC;
            INSERT INTO arrivals VALUES (1, 2.5, '${hivevar:day}'), (2, 40, '${hivevar:day}');
            MERGE INTO weights w
            USING (SELECT day, sum(kilos) AS kilos FROM arrivals GROUP BY day) a
            ON w.day = a.day
            WHEN MATCHED THEN UPDATE SET kilos = a.kilos
            WHEN NOT MATCHED THEN INSERT VALUES (a.day, a.kilos)
        """,
        hivevars={"day": "{{ ds }}"},
        deferrable=True,
        outlets=[AssetAlias("weights")],
        retries=2,
        retry_delay=timedelta(seconds=1),
    )
    columns = SQLColumnCheckOperator(
        task_id="columns",
        conn_id=SERVER,
        table="arrivals",
        partition_clause=OF_DAY,
        column_mapping={
            "id": {"null_check": {"equal_to": 0}, "unique_check": {"equal_to": 0}},
            "kilos": {"min": {"greater_than": 0}, "max": {"leq_to": 40}},
        },
    )
    rows = SQLTableCheckOperator(
        task_id="rows",
        conn_id=SERVER,
        table="arrivals",
        checks={
            "at_least_one": {"check_statement": "count(*) >= 1"},
            "known_days": {"check_statement": "day <= '{{ ds }}'", "partition_clause": OF_DAY},
        },
    )
    total = SQLValueCheckOperator(
        task_id="total",
        conn_id=SERVER,
        sql=f"SELECT kilos FROM weights WHERE {OF_DAY}",
        pass_value=42.5,
        tolerance=0.01,
    )
    is_heavy = BranchSQLOperator(
        task_id="is_heavy",
        conn_id=SERVER,
        sql=f"SELECT max(kilos) > 30 FROM arrivals WHERE {OF_DAY}",
        follow_task_ids_if_true="truck",
        follow_task_ids_if_false="bicycle",
    )
    truck, bicycle = (
        SQLExecuteQueryOperator(
            task_id=name,
            conn_id=SERVER,
            sql="DELETE FROM arrivals WHERE kilos > 30; SELECT id, kilos FROM arrivals",
            split_statements=True,
        )
        for name in ("truck", "bicycle")
    )
    load >> [columns, rows, total] >> is_heavy >> [truck, bicycle]
