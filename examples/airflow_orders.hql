-- A template of airflow_dag.py: Airflow puts in what is in braces, HiveSQL its own ${day}.
INSERT INTO orders VALUES
{%- for price in params.prices %}
  ({{ loop.index }}, {{ price }}, '${day}'){{ "" if loop.last else "," }}
{%- endfor %};

MERGE INTO totals USING (
  SELECT day, sum(price) AS total FROM orders WHERE day = '${day}' GROUP BY day
) AS news ON totals.day = news.day
WHEN MATCHED THEN UPDATE SET total = news.total
WHEN NOT MATCHED THEN INSERT VALUES (news.day, news.total);
