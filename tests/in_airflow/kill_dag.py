"""A task that runs until it is killed."""

from __future__ import annotations

from datetime import datetime

from airflow.sdk import DAG

from hivesql.airflow.operator import HiveSqlOperator

NUMBERS = "(SELECT posexplode(split(space(99999), ' ')) AS (pos, val))"

with DAG("endless", schedule=None, start_date=datetime(2024, 1, 1), catchup=False) as dag:
    HiveSqlOperator(
        task_id="endless",
        hql=f"""
            CREATE TRANSACTIONAL TABLE IF NOT EXISTS endless (n BIGINT) STORED AS ORC;
            INSERT INTO endless SELECT sum(a.pos * b.pos) FROM {NUMBERS} a CROSS JOIN {NUMBERS} b
        """,
        kill_timeout=20,
    )
