"""What a transaction's statements did, as its commit keeps it: the history of their tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivesql_planner.definitions.steps import AdoptFiles, Definition
from hivesql_planner.settings.file_system_keys import HIDDEN_LIST, cover_secrets
from hivesql_planner.write_history import CONVERTED, TableWrite, unknown_counts

if TYPE_CHECKING:
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.model.table import TableName
    from hivesql_planner.plan import Plan
    from hivesql_planner.write_history import RowCounts

_LONGEST = 4000
"""Characters of a statement that are kept."""


def writes_of(
    plan: Plan,
    write_ids: Mapping[TableName, int],
    done: Mapping[TableName, RowCounts],
    runtime: Runtime,
    began: float,
) -> tuple[TableWrite, ...]:
    """Return what a statement did to each table that it has a write id of, for the history.

    ``done`` is what was counted, ``began`` when it began by the runtime's clock, in seconds.
    """
    steps = plan.body.steps if isinstance(plan.body, Definition) else ()
    adopted = {step.table.name: step.write_id for step in steps if isinstance(step, AdoptFiles)}
    if not write_ids and not adopted:
        return ()
    duration = round((runtime.clock.monotonic() - began) * 1000)
    # Longer than what is kept: of what is cut off in its middle nobody knows that it is a secret.
    beginning = runtime.query_text[: 16 * _LONGEST]
    text = cover_secrets(beginning, runtime.settings.text(HIDDEN_LIST))
    # PostgreSQL has it in no text, and no commit may fail for its text.
    text = text.replace("\0", "\\0")
    return tuple(
        TableWrite(
            table=table,
            write_id=write_id,
            operation=CONVERTED if adopted else plan.operation,
            counts=done.get(table) or unknown_counts(),
            statement=text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…",
            user=runtime.user,
            host=runtime.host,
            program=runtime.program,
            started=round(time.time() * 1000) - duration,
            duration=duration,
        )
        for table, write_id in (adopted or write_ids).items()
    )
