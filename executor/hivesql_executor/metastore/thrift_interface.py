"""Interfaces of Thrift: loaded when they are first needed, by a package that is an extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hivesql_executor.metastore.extras import to_install
from hivesql_planner.errors import SemanticError


def load_interface(path: Path, *, needed_by: str, extra: str) -> Any:
    """Load the module with all structs and the service of a file; SemanticError without thriftpy2.

    ``needed_by`` and ``extra`` tell the user what needs that package, and which extra brings it.
    """
    require_thrift(needed_by=needed_by, extra=extra)
    import thriftpy2

    return thriftpy2.load(str(path), module_name=f"hivesql_{path.stem}_thrift")


def require_thrift(*, needed_by: str, extra: str) -> None:
    """SemanticError without thriftpy2, before anything is done that is in vain without it."""
    try:
        import thriftpy2  # noqa: F401
    except ModuleNotFoundError as error:
        raise SemanticError(
            f"{needed_by} needs the package thriftpy2: {to_install(extra)}"
        ) from error
