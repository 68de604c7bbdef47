"""A statement in a thread of its own, so that the screen stays alive and Ctrl-C can stop it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Unfinished
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType

from hivesql import Cancelled, HiveSqlError, Result, Session
from hivesql.script import StatementText
from hivesql_executor.metastore.api import Once
from hivesql_executor.statements.context import OrRows
from hivesql_repl.output.render import Printer
from hivesql_repl.shell.commands import Commands

_LOOK_EVERY = 0.1


HEADER = "hive.cli.print.header"


class Interrupted(Exception):
    """The user pressed Ctrl-C and the statement is gone."""


class Runner:
    """Runs statements one after the other in one thread and prints what they give.

    Spark binds job groups to threads, and an interrupt inside a call to the JVM would break the
    connection: so the main thread only waits, and tells the session to cancel.
    """

    def __init__(self, session: Session, printer: Printer, *, shell: bool = True) -> None:
        self.session = session
        self.printer = printer
        self.commands = Commands(self, shell=shell)
        self.ended_by = 0
        """The signal that asked the whole process to end; 0 when none has."""
        self._interrupted = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="statement")

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
        self._thread.shutdown()

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
            result = self.wait_for(
                lambda: self.session.run_statement(statement, consume=consume, idempotency_key=once)
            )
        except Cancelled as error:
            self.printer.fail(error, None)
            raise Interrupted from error
        except HiveSqlError as error:
            from hivesql_repl.shell.hints import hint

            self.printer.fail(error, text, hint(error, text, self.session))
            return False
        if self._wanted_header != header:
            self.printer.style = replace(self.printer.style, header=self._wanted_header)
        self.printer.show(result)
        return True

    @property
    def _wanted_header(self) -> bool:
        return self.session.settings.flag(HEADER)

    def wait_for(self, call: Callable[[], Result]) -> Result:
        """Return the call's result; meanwhile progress is shown and Ctrl-C cancels."""
        future = self._thread.submit(call)
        stopping = False
        with self._noting_interrupts():
            while True:
                try:
                    result = self._look(future, stopping=stopping)
                except KeyboardInterrupt:
                    self._interrupted = True
                    result = None
                if result is not None:
                    return result
                if self._interrupted and not stopping:
                    stopping = True
                    self.printer.stop_pager()
                    self.printer.set_status("stopping …")

    @contextmanager
    def _noting_interrupts(self) -> Iterator[None]:
        """Ctrl-C only leaves a note meanwhile: no call to the JVM may end in its midst."""
        self._interrupted = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def take_note(number: int, frame: object) -> None:
            self._interrupted = True

        before = signal.signal(signal.SIGINT, take_note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _look(self, future: Future[Result], *, stopping: bool) -> Result | None:
        try:
            return future.result(_LOOK_EVERY)
        except Unfinished:
            if future.done():
                raise
        if stopping:
            # Again and again: a job may begin after the first call.
            self.session.cancel()
        elif progress := self.session.progress():
            self.printer.tell_progress(progress)
        elif self.session.starts_spark:
            self.printer.set_status("starting Spark …")
        return None
