"""Places that statements name, completed, on file systems that there are."""

from __future__ import annotations

from hivesql_executor.files.locations import complete_location, require_below_root
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import SemanticError


def reachable_location(text: str, runtime: Runtime, base: str | None = None) -> str:
    """Return the directory of a table, partition or database; a relative one is below ``base``."""
    location = require_below_root(complete_location(text, base))
    runtime.files(location).require(location)
    return location


def named_path(text: str, runtime: Runtime, *, local: bool) -> str:
    """Return the path of LOAD DATA and INSERT OVERWRITE DIRECTORY; with LOCAL on this machine."""
    path = complete_location(text)
    if local and path.startswith("/"):
        path = f"file:{path}"
    if local and not path.startswith("file:"):
        raise SemanticError(
            f'Path is not legal \'{text}\': Source file system should be "file" if "local" is '
            "specified",
            code=10028,
        )
    runtime.files(path).require(path)
    return path
