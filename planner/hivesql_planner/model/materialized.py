"""What the catalog keeps of a materialized view beside its text and its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from hivesql_planner.acid.write_ids import ValidWriteIdList

MATERIALIZED = "hivesql.materialized"
"""A parameter that is no property: what a materialized view was made from."""
NEEDS_ACID = (
    "Automatic rewriting for materialized view cannot be enabled if the materialized view uses "
    "non-transactional tables"
)
IncrementalRebuild = Literal["all", "inserts", "none"]
"""After which changes of its tables Hive could rebuild it from the changes alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Materialized:
    """The tables that a materialized view was made from, and how far it has read each.

    ``sources`` maps full names to the write ids that were seen, as Hive writes them
    (``5:9223372036854775807::``); None stands for a table that is not transactional.
    """

    sources: Mapping[str, str | None] = field(hash=False)
    rewrite: bool = True
    """Whether Hive may answer other queries from it. Nothing here does."""
    incremental: IncrementalRebuild = "none"

    def written(self) -> str:
        """Write down what a rebuild changes, and what never does."""
        return json.dumps({"sources": dict(self.sources), "incremental": self.incremental})

    @classmethod
    def read(cls, text: str, *, rewrite: bool) -> Materialized:
        """Read what ``written`` wrote."""
        stored = json.loads(text)
        return cls(sources=stored["sources"], rewrite=rewrite, incremental=stored["incremental"])

    def seen(self, visible: Mapping[str, ValidWriteIdList]) -> Materialized:
        """Return the same view after it has read its tables as they are ``visible`` by name."""
        sources = {
            name: visible[name].format().partition(":")[2] if name in visible else None
            for name in self.sources
        }
        return replace(self, sources=sources)

    def is_outdated(self, visible: Mapping[str, ValidWriteIdList]) -> bool | None:
        """Tell whether its tables have rows by now that it has not read; None: nobody can."""
        if any(text is None for text in self.sources.values()):
            return None
        return any(
            _has_more(visible[name], ValidWriteIdList.parse(f"{name}:{text}"))
            for name, text in self.sources.items()
            if name in visible
        )


def _has_more(now: ValidWriteIdList, then: ValidWriteIdList) -> bool:
    """Tell whether a write is seen now that was not seen then."""
    later = range(then.high_watermark + 1, now.high_watermark + 1)
    fresh = len(later) - sum(1 for write_id in now.exceptions if write_id in later)
    return fresh > 0 or any(now.sees(write_id) for write_id in then.open)
