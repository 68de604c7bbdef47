"""The statements of a shell or a script: what they give is printed, and Ctrl-C stops them."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from types import TracebackType

from hivesql import Cancelled, HiveSqlError, Session
from hivesql.script import StatementText
from hivesql.sessions.statement_thread import StatementThread
from hivesql_executor.metastore.api import Once
from hivesql_executor.statements.context import OrRows
from hivesql_repl.output.render import Printer
from hivesql_repl.shell.commands import Commands

HEADER = "hive.cli.print.header"


class Interrupted(Exception):
    """The user pressed Ctrl-C and the statement is gone."""


class Runner:
    """Runs statements one after the other and prints what they give."""

    def __init__(self, session: Session, printer: Printer, *, shell: bool = True) -> None:
        self.session = session
        self.printer = printer
        self.commands = Commands(self, shell=shell)
        self.ended_by = 0
        """The signal that asked the whole process to end; 0 when none has."""
        self._thread = StatementThread(session, printer)

    def __enter__(self) -> Runner:
        if threading.current_thread() is threading.main_thread():
            # PySpark's own handler would cancel jobs in the middle of a call to the JVM.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, self._end)
        return self

    def _end(self, number: int, frame: object) -> None:
        # As Ctrl-C: the statement is cancelled and its transaction aborted before we go.
        self.ended_by = number
        raise KeyboardInterrupt

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.close()

    def run(self, statement: StatementText, text: str, once: Once | None = None) -> bool:
        """Run a statement of ``text`` and print its result or its error; False when it failed.

        Raises Interrupted when the user stopped it.
        """
        self.printer.announce(statement.text)
        if statement.text.startswith("!"):
            return self.commands.run(statement.text[1:].strip().rstrip(";").rstrip())
        consume = OrRows(self.printer.consume)
        header = self._wanted_header
        try:
            result = self._thread.wait_for(
                lambda: self.session.run_statement(statement, consume=consume, idempotency_key=once)
            )
        except Cancelled as error:
            self.printer.fail(error, None)
            raise Interrupted from error
        except HiveSqlError as error:
            self.printer.fail(error, text)
            return False
        if self._wanted_header != header:
            self.printer.style = replace(self.printer.style, header=self._wanted_header)
        self.printer.show(result)
        return True

    @property
    def _wanted_header(self) -> bool:
        return self.session.settings.flag(HEADER)
