"""Whether Hive's strict checks are on, and what they say."""

from __future__ import annotations

from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.settings import Settings

_MODE = "hive.mapred.mode"
_WHAT = {
    "orderby.no.limit": "Order by-s without limit",
    "no.partition.filter": "Queries against partitioned tables without a partition filter",
    "cartesian.product": "Cartesian products",
    "type.safety": "Unsafe compares between different types",
}


def refuses(check: str, settings: Settings) -> bool:
    """Tell whether a check is on: hive.mapred.mode decides about all of them when it is set."""
    mode = settings.text(_MODE).strip()
    return mode == "strict" if mode else settings.flag(f"hive.strict.checks.{check}")


def strict_error(
    check: str, detail: str = "", *, code: int | None = None, more: str = ""
) -> SemanticError:
    """Hive's words for a statement that a check refuses."""
    return SemanticError(
        f"{_WHAT[check]} are disabled for safety reasons{detail and f' ({detail})'}. If you know "
        f"what you are doing, please set hive.strict.checks.{check} to false and make sure that "
        f"{_MODE} is not set to 'strict' to proceed. Note that you may get errors or incorrect "
        f"results if you make a mistake while using some of the unsafe features.{more}",
        code=code,
    )
