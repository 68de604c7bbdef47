"""In whose name services work in a directory: that of its owner, as Hive's compactor."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_executor.compaction.unit import Place
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import ExecutionError
from hivesql_planner.settings.connection_keys import ACTS_FOR_OTHERS

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files

_RUN_AS = "metastore.compactor.run.as.user"


def user_to_act_for(place: Place, runtime: Runtime) -> str | None:
    """Tell as whom to work in a directory; None: as we are.

    Only where the setting wants it, in file systems that know other users than who logs in.
    """
    if not runtime.settings.flag(ACTS_FOR_OTHERS):
        return None
    from hivesql_executor.files.hadoop import HadoopFiles

    files = runtime.files(place.location)
    # No store of objects, nor a local disk.
    if type(files) is not HadoopFiles:
        return None
    user = runtime.settings.text(_RUN_AS).strip()
    if not user:
        user = place.table.owner or ""
        with suppress(ExecutionError):  # One who may not see it works as the table's owner.
            user = files.owner(place.location)
    return user if user and user != files.user_name() else None


def acting_as_owner(place: Place, runtime: Runtime) -> Runtime:
    """Return a runtime whose files in Hadoop's file systems are asked for as that user."""
    user = user_to_act_for(place, runtime)
    if user is None:
        return runtime
    from hivesql_executor.files.hadoop import HadoopFiles

    def files(location: str) -> Files:
        own = runtime.files(location)
        return replace(own, user=user) if type(own) is HadoopFiles else own

    return replace(runtime, files=files)
