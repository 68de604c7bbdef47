"""Statements as others watch them: counted with their outcome, and timed as spans."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from hivesql.script import StatementText
from hivesql_executor.runtime import Runtime

P = ParamSpec("P")
R = TypeVar("R")


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
            result = run(session, text, *args, **kwargs)
        except BaseException as error:
            tell(text.text, error, time.monotonic() - began)
            raise
        tell(text.text, None, time.monotonic() - began)
        return result

    return call
