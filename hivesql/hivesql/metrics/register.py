"""The door: put a session's metrics into a registry of prometheus-client."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hivesql_executor.translate_errors import translate_errors
from hivesql_planner.errors import SemanticError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from hivesql.metrics.statements import StatementMetrics
    from hivesql.metrics.warehouse import WarehouseMetrics
    from hivesql.session import Session
    from hivesql_executor.service_health import ServiceHealth


_guard = threading.Lock()
_of_registries: WeakKeyDictionary[CollectorRegistry, StatementMetrics] = WeakKeyDictionary()
_of_warehouses: WeakKeyDictionary[CollectorRegistry, WarehouseMetrics] = WeakKeyDictionary()


@translate_errors
def new_registry() -> CollectorRegistry:
    """Return an empty registry with what prometheus-client tells of the process itself."""
    from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return registry


@translate_errors
def register_metrics(
    session: Session,
    registry: CollectorRegistry | None = None,
    *,
    warehouse: bool = False,
    health: ServiceHealth | None = None,
) -> None:
    """Count a session's statements in a registry, by default prometheus-client's own.

    Any number of sessions may share it; of several registries the last one counts. With
    ``warehouse`` a scrape also asks the session's metastore what goes on there; of one such session
    a registry, until that is closed. ``health`` adds the rounds of the services. ExecutionError
    without the package prometheus-client.
    """
    from prometheus_client import REGISTRY

    from hivesql.metrics.statements import StatementMetrics
    from hivesql.metrics.warehouse import WarehouseMetrics

    if registry is None:
        registry = REGISTRY
    with _guard:
        if warehouse:
            if registry in _of_warehouses:
                raise SemanticError("the registry has the metrics of a warehouse already")
            of_warehouse = WarehouseMetrics(session, health)
            registry.register(of_warehouse)
            _of_warehouses[registry] = of_warehouse
            session.at_close(lambda: _forget(registry, of_warehouse))
        if registry not in _of_registries:
            _of_registries[registry] = StatementMetrics(registry)
        counts = _of_registries[registry]
    counts.count_cache(session.runtime.metastore)
    session.at_close(lambda: counts.end_cache(session.runtime.metastore))
    session.runtime = replace(
        session.runtime, on_statement=counts.count_statement, on_work=counts.count_work
    )


def _forget(registry: CollectorRegistry, of_warehouse: WarehouseMetrics) -> None:
    with _guard:
        registry.unregister(of_warehouse)
        _of_warehouses.pop(registry, None)
