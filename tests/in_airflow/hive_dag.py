"""HiveOperator of Airflow's own provider, which runs `beeline` and `hive`."""

from __future__ import annotations

from datetime import datetime

from airflow.providers.apache.hive.operators.hive import HiveOperator
from airflow.sdk import DAG

with DAG("hive", schedule=None, start_date=datetime(2024, 1, 1), catchup=False) as dag:
    by_beeline = HiveOperator(
        task_id="by_beeline",
        hive_cli_conn_id="by_beeline",
        hql="""
            CREATE TRANSACTIONAL TABLE parcels (id INT, day STRING, note STRING) STORED AS ORC;
            INSERT INTO parcels VALUES
              (1, '${hiveconf:day}', 'first; not the last'), (2, '${hiveconf:day}', NULL);
            UPDATE parcels SET note = '${hiveconf:airflow.ctx.task_id}' WHERE id = 2;
            CREATE DATABASE depot;
        """,
        hiveconfs={"day": "{{ ds }}"},
        mapred_queue="etl",
        mapred_queue_priority="high",
        hive_cli_params="--silent=false --hiveconf hive.exec.dynamic.partition.mode=nonstrict",
        auth="noSasl",
    )
    by_hive = HiveOperator(
        task_id="by_hive",
        hive_cli_conn_id="by_hive",
        schema="depot",
        hql="""
            CREATE TRANSACTIONAL TABLE days (day STRING) STORED AS ORC;
            DELETE FROM default.parcels WHERE id = 1;
            SET tez.queue.name;
        """,
        mapred_queue="etl",
    )
    fails = HiveOperator(
        task_id="fails",
        hive_cli_conn_id="by_beeline",
        hql="INSERT INTO parcels VALUES (3, '', '');\n"
        "INSERT INTO nosuch VALUES (1);\n"
        "DROP TABLE parcels",
    )
    by_beeline >> by_hive >> fails
