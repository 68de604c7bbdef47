"""What the steps of one running statement share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hivesql_executor.transactions.interrupts import heeding_interrupts
from hivesql_executor.translate_errors import marking_user_errors
from hivesql_planner.errors import SemanticError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from hivesql_executor.runtime import Runtime
    from hivesql_executor.transactions.transaction import Transaction
    from hivesql_planner.plan import Plan

Consume = Callable[["DataFrame"], Any]


@dataclass(frozen=True, slots=True)
class OrRows:
    """A consumer that need not be called: few rows may as well come with the outcome."""

    consume: Consume

    def __call__(self, frame: DataFrame) -> Any:
        """Take the rows from Spark."""
        return self.consume(frame)


def of_user(consume: Consume | None) -> Consume | None:
    """Return the consumer, whose own errors reach the user as they are."""
    if isinstance(consume, OrRows):
        return OrRows(marking_user_errors(heeding_interrupts(consume.consume)))
    if consume is not None and not callable(consume):
        raise SemanticError(f"consume is a function of a DataFrame, not {type(consume).__name__}")
    return consume and marking_user_errors(heeding_interrupts(consume))


@dataclass(frozen=True, slots=True)
class Work:
    """A plan, its transaction, and what it may touch; ``consume`` gets a query's rows."""

    plan: Plan
    txn: Transaction
    runtime: Runtime
    consume: Consume | None
