"""Spans for OpenTelemetry, where the program that runs us has set it up; nothing otherwise."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from hivesql_executor.statement_log import current_work

_NOTHING: AbstractContextManager[Any] = nullcontext()


def span(name: str, **attributes: str) -> AbstractContextManager[Any]:
    """Make a block a span ``hivesql.name``; underscores of attributes are written as dots.

    Who has set a tracer provider has imported OpenTelemetry; we never do.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return _NOTHING
    dotted: dict[str, str | int] = {key.replace("_", "."): text for key, text in attributes.items()}
    # hivesql.statement.id and the like: those who read logs by an id find the trace by it.
    dotted |= {f"hivesql.{k.replace('_', '.')}": v for k, v in current_work().fields().items()}
    started: AbstractContextManager[Any] = trace.get_tracer("hivesql").start_as_current_span(
        f"hivesql.{name}", attributes=dotted
    )
    return started
