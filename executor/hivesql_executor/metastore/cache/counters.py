"""What a cache has done so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Counters:
    """Calls answered from memory and by the metastore, and how the copies were kept right."""

    hits: int = 0
    misses: int = 0
    fills: int = 0
    refused_fills: int = 0
    """Rows read that could not be kept, for they were changed meanwhile or by an open write."""
    evictions: int = 0
    events: int = 0
    lookups: int = 0
    """Transactions whose writes had to be asked for, for their opening was not seen."""
    resets: int = 0
    """How often everything was given up, for a part of the log was gone."""
    tables: int = 0
    partitions: int = 0

    @property
    def hit_ratio(self) -> float:
        """The part of the calls that was answered from memory; 0 before the first."""
        calls = self.hits + self.misses
        return self.hits / calls if calls else 0.0
