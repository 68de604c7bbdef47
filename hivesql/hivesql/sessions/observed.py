"""Statements as others watch them: counted with their outcome, timed as spans, and logged."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from hivesql.result import Result
from hivesql.script import StatementText
from hivesql_executor.runtime import Runtime
from hivesql_executor.statement_log import LEVELS, STATEMENTS, beginning, current_work, log
from hivesql_executor.tracing import span
from hivesql_executor.transactions.interrupts import NotingInterrupts
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.settings.file_system_keys import HIDDEN_LIST, cover_beginning

P = ParamSpec("P")


class _Session(Protocol):
    runtime: Runtime
    database: str

    @property
    def open_transaction(self) -> int | None:
        """The one that START TRANSACTION has opened."""

    def cancel(self) -> bool:
        """Stop the statement that runs; False when none runs."""

    def end_interrupted(self) -> None:
        """Roll back what is open, as after any other error."""


S = TypeVar("S", bound=_Session)
_Run = Callable[Concatenate[S, StatementText, P], Result]


def observed(run: _Run[S, P]) -> _Run[S, P]:
    """Make a method that runs a statement tell of its end, and of its error."""

    @wraps(run)
    def call(session: S, text: StatementText, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        tell, began = session.runtime.on_statement, time.monotonic()
        with NotingInterrupts(session.cancel) as interrupts, beginning() as work:
            work.transaction = session.open_transaction or 0
            _log_begin(session, text.text)
            try:
                with span("statement", **_attributes(session, text.text)):
                    result = run(session, text, *args, **kwargs)
                    if interrupts.is_noted:
                        session.end_interrupted()
            except BaseException as error:
                if isinstance(error, HiveSqlError):
                    error.statement_id = work.statement
                    from hivesql.hints.meant import add_hint

                    add_hint(error, text, session)
                tell(text.text, error, time.monotonic() - began)
                _log_failure(session, error, time.monotonic() - began)
                raise
            tell(text.text, None, time.monotonic() - began)
            _log_end(result)
            return result

    return call


def _log_begin(session: _Session, text: str) -> None:
    if STATEMENTS.isEnabledFor(logging.INFO):
        facts = {"user": session.runtime.user, "text": _covered(session, text)}
        log(STATEMENTS, f"statement {current_work().statement} begins", facts)


def _log_end(result: Result) -> None:
    facts: dict[str, object] = {"outcome": "ok", "seconds": round(result.seconds, 3)}
    if result.affected is not None:
        facts["affected"] = result.affected
    message = f": {result.message}" if result.message else ""
    log(STATEMENTS, f"statement {result.statement_id} has ended{message}", facts)


def _log_failure(session: _Session, error: BaseException, seconds: float) -> None:
    if STATEMENTS.isEnabledFor(LEVELS.failure):
        facts: dict[str, object] = {"outcome": "failed", "error": type(error).__name__}
        if code := getattr(error, "code", None):
            facts["code"] = code
        facts["seconds"] = round(seconds, 3)
        name = current_work().statement
        message = f"statement {name} failed: {_covered(session, str(error))}"
        log(STATEMENTS, message, facts, level=LEVELS.failure)


def _attributes(session: _Session, text: str) -> dict[str, str]:
    """Describe a statement by OpenTelemetry's names; its text without secrets."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    covered = _covered(session, text)
    return {"db_system_name": "hive", "db_query_text": covered, "enduser_id": session.runtime.user}


def _covered(session: _Session, text: str) -> str:
    return cover_beginning(text, session.runtime.settings.text(HIDDEN_LIST))
