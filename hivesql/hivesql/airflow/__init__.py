"""HiveSQL in Airflow 3: a connection type, a hook, an operator, assets and lineage.

Nothing else in HiveSQL imports this package, and Airflow is no dependency of the rest.
"""
