"""The transaction that a session has open, from START TRANSACTION to COMMIT or ROLLBACK."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivesql_executor.transactions.transaction import (
    OpenTransaction,
    commit,
    open_transaction,
    roll_back,
)
from hivesql_planner.errors import (
    AlreadyCommitted,
    CommitUnknown,
    ExecutionError,
    NotSupported,
    SemanticError,
)
from hivesql_planner.multi_statement import check_inside
from hivesql_planner.settings.transaction_keys import DB_TXN_MANAGER, DUMMY_TXN_MANAGER

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import Done, Once
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.plan import Plan
    from hivesql_planner.statements.bound import EndTransaction, StartTransaction, Statement


class Conversation:
    """At most one open transaction; every error ends it."""

    def __init__(self) -> None:
        self.opened: OpenTransaction | None = None
        self.skipped: Done | None = None
        """Set from START TRANSACTION to its end when the whole was committed before."""
        self._once: Once | None = None

    @property
    def is_open(self) -> bool:
        """Between START TRANSACTION and its end, also where all was committed before."""
        return self.opened is not None or self.skipped is not None

    def recorded(self, plan: Plan, once: Once | None) -> Once | None:
        """Give the key that the plan's own commit records; None where the transaction's does."""
        if once is None or self.opened:
            return None
        # Imported late: most sessions have no keys.
        from hivesql_planner.plan_facts import is_recorded

        try:
            return once if is_recorded(plan) else None
        except NotSupported:
            if once.required:
                raise
            return None

    def start(
        self, statement: StartTransaction, runtime: Runtime, once: Once | None = None
    ) -> Done | None:
        """Open a transaction; its snapshot is that of this moment.

        When it was committed before under the same key, nothing is opened, and that is told.
        """
        if self.opened is not None:
            raise ExecutionError(
                f"START TRANSACTION is not allowed in transaction {self.opened.id}, which was "
                "rolled back",
                code=20007,
            )
        if not runtime.settings.flag("hive.support.concurrency"):
            raise SemanticError(
                "transactions need locks: set hive.support.concurrency=true", code=10264
            )
        if runtime.settings.text("hive.txn.manager") == DUMMY_TXN_MANAGER:
            raise SemanticError(
                f"transactions need set hive.txn.manager={DB_TXN_MANAGER}", code=10265
            )
        if once is not None:
            self.skipped = runtime.metastore.done(once)
        if self.skipped is None:
            self.opened = open_transaction(runtime, read_only=statement.read_only)
        self._once = once
        return self.skipped

    def end(self, statement: EndTransaction, runtime: Runtime) -> AlreadyCommitted | None:
        """COMMIT or ROLLBACK; 20008 when nothing is open.

        Gives who committed the same under its key meanwhile, which is as good; else None.
        """
        opened, self.opened = self.opened, None
        skipped, self.skipped = self.skipped, None
        if skipped is not None:
            return None
        if opened is None:
            word = "COMMIT" if statement.commit else "ROLLBACK"
            raise ExecutionError(
                f"{word} without an open transaction: begin one with START TRANSACTION",
                code=20008,
            )
        if statement.commit:
            # The first committer wins, whatever kind of locks was taken.
            try:
                commit(opened, replace(runtime, once=self._once), exclusive_write=False)
            except AlreadyCommitted as earlier:
                return earlier
        else:
            roll_back(opened, runtime, None)
        return None

    def check(self, plan: Plan, statement: Statement) -> None:
        """Refuse what the open transaction cannot hold."""
        if self.opened is not None:
            check_inside(
                plan,
                statement,
                txn_id=self.opened.id,
                read_only=self.opened.read_only,
                replaced=self.opened.replaced,
            )

    def fail(self, runtime: Runtime, error: BaseException) -> None:
        """Roll back after an error, as Hive does, and tell the user."""
        opened, self.opened = self.opened, None
        self.skipped = None
        if opened is None or isinstance(error, CommitUnknown):
            return
        roll_back(opened, runtime, error)
        runtime.notify(f"transaction {opened.id} was rolled back")

    def close(self, runtime: Runtime) -> None:
        """Roll back what was never committed."""
        opened, self.opened = self.opened, None
        if opened is not None:
            roll_back(opened, runtime, None)
