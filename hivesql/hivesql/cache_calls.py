"""What a session tells of the copies that it keeps of the metastore's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql_executor.metastore.opening import counters_of

if TYPE_CHECKING:
    from hivesql_executor.metastore.cache.counters import Counters
    from hivesql_executor.runtime import Runtime


class CacheCalls:
    """How the metastore's cache does."""

    runtime: Runtime

    @property
    def cache_counters(self) -> Counters | None:
        """Hits, misses and the rest since the session began; None without a cache."""
        return counters_of(self.runtime.metastore)
