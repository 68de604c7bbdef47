"""Statements as others watch them: counted with their outcome, and timed as spans."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from hivesql.script import StatementText
from hivesql_executor.runtime import Runtime
from hivesql_executor.tracing import span
from hivesql_planner.settings.file_system_keys import HIDDEN_LIST, cover_secrets

P = ParamSpec("P")
R = TypeVar("R")


_LONGEST = 4096


class _Session(Protocol):
    runtime: Runtime


S = TypeVar("S", bound=_Session)
_Run = Callable[Concatenate[S, StatementText, P], R]


def observed(run: _Run[S, P, R]) -> _Run[S, P, R]:
    """Make a method that runs a statement tell of its end, and of its error."""

    @wraps(run)
    def call(session: S, text: StatementText, /, *args: P.args, **kwargs: P.kwargs) -> R:
        tell, began = session.runtime.on_statement, time.monotonic()
        try:
            with span("statement", **_attributes(session, text.text)):
                result = run(session, text, *args, **kwargs)
        except BaseException as error:
            tell(text.text, error, time.monotonic() - began)
            raise
        tell(text.text, None, time.monotonic() - began)
        return result

    return call


def _attributes(session: _Session, text: str) -> dict[str, str]:
    """Describe a statement by OpenTelemetry's names; its text without secrets."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    # Longer than what is told: of what is cut off in its middle nobody knows that it is a secret.
    hidden = session.runtime.settings.text(HIDDEN_LIST)
    covered = cover_secrets(text[: 2 * _LONGEST], hidden)[:_LONGEST]
    return {"db_system_name": "hive", "db_query_text": covered, "enduser_id": session.runtime.user}
