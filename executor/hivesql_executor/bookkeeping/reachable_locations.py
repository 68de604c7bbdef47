"""Places that statements name, completed, on file systems that there are."""

from __future__ import annotations

from collections.abc import Iterator

from hivesql_executor.files.locations import complete_location, require_below_root
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.settings import LOCAL_PLACES

_ARCHIVES = "har:"


def reachable_location(text: str, runtime: Runtime, base: str | None = None) -> str:
    """Return the directory of a table, partition or database; a relative one is below ``base``."""
    location = require_below_root(complete_location(text, base))
    check_allowed(location, runtime)
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
    check_allowed(path, runtime)
    runtime.files(path).require(path)
    return path


def check_allowed(location: str, runtime: Runtime) -> None:
    """SemanticError for a place on this machine that statements of this session may not name."""
    allowed = runtime.settings.text(LOCAL_PLACES)
    if not allowed:
        return
    if location.lower().startswith(_ARCHIVES):
        raise SemanticError(
            f"{location}: statements may name no places in archives, which tell themselves where "
            f"on this machine their files are ({LOCAL_PLACES})"
        )
    local = location.removeprefix("file:")
    if not local.startswith("/"):
        return
    roots = map(complete_location, allowed.split(","))
    if not any(_is_below(local, root) for root in (*roots, *_homes(runtime))):
        raise SemanticError(
            f"{location}: statements may name no places of this machine but those below {allowed} "
            f"({LOCAL_PLACES}) and of databases"
        )


def _is_below(path: str, root: str) -> bool:
    return f"{path}/".startswith(f"{root.removeprefix('file:').rstrip('/')}/")


def _homes(runtime: Runtime) -> Iterator[str]:
    for name in runtime.metastore.databases():
        database = runtime.metastore.database(name)
        yield from filter(None, (database.location, database.managed_location))
