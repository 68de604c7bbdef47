"""The transaction that a session has open, from START TRANSACTION to COMMIT or ROLLBACK.

An error rolls it back. Run by itself, each statement of the rest, up to the end that its author
wrote, would be committed without those that stand before it: see LostTransaction.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from hivesql.positional_parameters import Positional
from hivesql.script import StatementText, split
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
    HiveSqlError,
    NotSupported,
    OfAnotherProcess,
    SemanticError,
)
from hivesql_planner.multi_statement import check_inside
from hivesql_planner.settings.transaction_keys import DB_TXN_MANAGER, DUMMY_TXN_MANAGER

if TYPE_CHECKING:
    from hivesql_executor.metastore.api import Done, Once
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.plan import Plan
    from hivesql_planner.statements.bound import EndTransaction, StartTransaction, Statement

_BEGINS = re.compile(r"(start|begin)\b", re.IGNORECASE)
_ENDS = re.compile(r"(commit|rollback)\b", re.IGNORECASE)
_ROLLS_BACK = re.compile(r"rollback\b", re.IGNORECASE)
_ADVICE = "ROLLBACK ends the rest of it, START TRANSACTION begins it anew"


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

    @property
    def has_changed(self) -> bool:
        """Tell whether a statement of what is open has changed anything."""
        opened = self.opened
        return opened is not None and bool(opened.next_statement_id or opened.writes)

    def check_own(self) -> None:
        """Refuse a statement of a forked process in the transaction of the one it was forked from.

        Both would write under one id, and either would end what the other has begun.
        """
        opened = self.opened
        if opened is not None and opened.process != os.getpid():
            raise OfAnotherProcess(
                f"transaction {opened.id} is that of process {opened.process}, from which this one "
                "was forked: there it goes on, and here nothing was run. The next statement of "
                "this session has a transaction of its own; fork before START TRANSACTION"
            )

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
        opened, self.skipped = self._let_go(), None
        if opened is None or isinstance(error, CommitUnknown):
            return
        roll_back(opened, runtime, error)
        runtime.notify(f"transaction {opened.id} was rolled back")

    def close(self, runtime: Runtime) -> None:
        """Roll back what was never committed."""
        opened = self._let_go()
        if opened is not None:
            roll_back(opened, runtime, None)

    def _let_go(self) -> OpenTransaction | None:
        """Forget what is open; give it where it is this process's, which has to end it."""
        opened, self.opened = self.opened, None
        return opened if opened is not None and opened.process == os.getpid() else None


class Transacting(Protocol):
    """What is asked of a session whose transaction may end by an error."""

    variables: dict[str, str]

    @property
    def in_transaction(self) -> bool:
        """Tell whether a transaction is open."""

    @property
    def has_changed(self) -> bool:
        """Tell whether a statement of it has changed anything."""

    def end_interrupted(self) -> None:
        """Roll back what is open."""


@contextmanager
def rolling_back(session: Transacting) -> Iterator[None]:
    """Roll back what is open where the block fails, as run_statement does itself."""
    try:
        yield
    except HiveSqlError:
        session.end_interrupted()
        raise


def take_apart(
    session: Transacting, text: str, file: str | None, parameters: Sequence[Any] | None = None
) -> Iterator[StatementText]:
    """Split a script into statements, with parameters put in.

    A mistake that is found then rolls back what is open, as one of a statement does.
    """
    with rolling_back(session):
        positional = None if parameters is None else Positional(text, parameters)
        for statement in split(text, file, session.variables):
            yield positional.put_into(statement) if positional else statement


class LostTransaction:
    """Whether a session is in the rest of a transaction that an error has rolled back."""

    def __init__(self) -> None:
        self.is_lost: bool = False

    def leaves_out(self, statement: StatementText) -> bool:
        """Tell whether the statement, which is reached now, belongs to such a rest."""
        if not self.is_lost:
            return False
        if _BEGINS.match(statement.text):
            self.is_lost = False
        elif _ENDS.match(statement.text):
            self.is_lost = False
            return True
        return self.is_lost and not changes_session(statement)

    def note_failure(self, statement: StatementText, *, was_open: bool) -> None:
        """Note that a statement has failed, before which a transaction may have been open."""
        if was_open or _BEGINS.match(statement.text):
            self.is_lost = _ENDS.match(statement.text) is None

    def end(self, session: Transacting) -> None:
        """Roll back what is open after an error beside the statement itself, such as in its text.

        Its client was told of an error, and may send COMMIT all the same.
        """
        if session.in_transaction:
            session.end_interrupted()
            self.is_lost = True

    @contextmanager
    def watch(
        self, session: Transacting, statement: StatementText, *, is_implied: bool = False
    ) -> Iterator[bool]:
        """Run a statement in the block, and note whether it fails; False where it is not to run.

        ``is_implied``: nobody wrote where the transaction begins, so that only what it has changed
        can be missed. ExecutionError for what belongs to the rest of a lost transaction: 20008 for
        its COMMIT, 10262 for the others. Its ROLLBACK has nothing to do.
        """
        if self.leaves_out(statement):
            if _ROLLS_BACK.match(statement.text):
                yield False
                return
            if _ENDS.match(statement.text):
                raise ExecutionError(
                    "COMMIT of a transaction that an error has rolled back: nothing of it is "
                    "committed. START TRANSACTION begins it anew",
                    code=20008,
                )
            raise ExecutionError(
                "the transaction was rolled back when a statement before failed, and this one "
                f"was not run: it would be committed by itself. {_ADVICE}",
                code=10262,
            )
        was_open = session.has_changed if is_implied else session.in_transaction
        try:
            yield True
        except BaseException:
            self.note_failure(statement, was_open=was_open)
            raise


def changes_session(statement: StatementText) -> bool:
    """Tell whether what the statement does is the session's own, and in no transaction."""
    # Imported late: few scripts fail so.
    from hivesql.dialect.nodes.commands import UseBody
    from hivesql.dialect.nodes.functions import CreateMacroBody, DropFunctionBody
    from hivesql.dialect.statements.statement import parse
    from hivesql_planner.statements.bound import FileSystemShell, SessionFiles, SetSetting
    from hivesql_planner.statements.functions import CreateFunction

    if statement.text.startswith("!"):
        return False
    try:
        body = parse(statement).body
    except HiveSqlError:
        return False
    # What these change is gone with the process.
    return isinstance(
        body,
        CreateFunction | CreateMacroBody | DropFunctionBody | FileSystemShell | SessionFiles
        | SetSetting | UseBody,
    )  # fmt: skip
