"""Metrics for Prometheus: statements, caches, and what goes on in a warehouse.

>>> import hivesql, prometheus_client
>>> from hivesql.metrics.register import register_metrics
>>> session = hivesql.connect()                                   # doctest: +SKIP
>>> register_metrics(session, prometheus_client.REGISTRY)         # doctest: +SKIP
"""
