"""The magics ``%hivesql`` and ``%%hivesql`` of IPython."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import ProgressBar

import hivesql
from hivesql import HiveSqlError, Progress, Result, Session
from hivesql.sessions.open_transaction import take_apart
from hivesql.sessions.statement_thread import StatementThread

_SESSION = "session"
_FORMATS = {
    "result": lambda result: result,
    "arrow": Result.to_arrow,
    "pandas": Result.to_pandas,
    "polars": Result.to_polars,
}


@magics_class
class HiveSqlMagics(Magics):
    """Runs the statements of a line or a cell in the session that the notebook has."""

    @magic_arguments()
    @argument("--session", default=_SESSION, help="variable with the session (session)")
    @argument("--into", help="variable that gets the last statement's rows, instead of the page")
    @argument("--as", dest="form", choices=_FORMATS, default="result", help="what the rows become")
    @line_cell_magic
    def hivesql(self, line: str, cell: str | None = None) -> Any:
        """Run the statements of a line, or of a cell with options behind ``%%hivesql``.

        The rows of the last one are shown. A session is opened, as ``hivesql.connect()`` does,
        where the variable for it is not there yet.
        """
        options = parse_argstring(self.hivesql, line if cell is not None else "")
        result = self._run(line if cell is None else cell, options.session)
        if result is None:
            return None
        rows = _FORMATS[options.form](result)
        if options.into is None:
            return rows
        self._variables[options.into] = rows
        return None

    @property
    def _variables(self) -> dict[str, Any]:
        assert self.shell is not None
        variables: dict[str, Any] = self.shell.user_ns
        return variables

    def _session(self, name: str) -> Session:
        session = self._variables.get(name)
        if session is None:
            session = self._variables[name] = hivesql.connect()
        if not isinstance(session, Session):
            raise UsageError(f"{name} is no session: give another name by --session")
        return session

    def _run(self, text: str, name: str) -> Result | None:
        session = self._session(name)
        watcher = _Watcher(is_page=hasattr(self.shell, "kernel"))
        thread = StatementThread(session, watcher)

        def results() -> Iterator[Result]:
            for statement in take_apart(session, text, "cell"):
                yield thread.wait_for(partial(session.run_statement, statement))

        try:
            last = deque(results(), maxlen=1)
        except HiveSqlError as error:
            # A page of Python's calls would hide what is wrong with the statement.
            lines = f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())
            raise UsageError("\n".join(lines)) from error
        finally:
            thread.close()
            watcher.close()
        return last[0] if last else None


class _Watcher:
    """Shows how far Spark is, below the cell; nothing in a terminal."""

    def __init__(self, *, is_page: bool) -> None:
        self._is_page = is_page
        self._bar: ProgressBar | None = None

    def tell_progress(self, progress: Progress) -> None:
        if not self._is_page:
            return
        if self._bar is None:
            self._bar = ProgressBar(progress.total)
            self._bar.display()
        self._bar.total = progress.total
        self._bar.progress = progress.done

    def tell_start(self) -> None:
        """Say nothing: a moment later there is progress."""

    def tell_stop(self) -> None:
        """Say nothing: the cell ends in a moment."""

    def close(self) -> None:
        """Show that all is done."""
        if self._bar is not None:
            self._bar.progress = self._bar.total


def load(shell: InteractiveShell) -> None:
    """Give a shell of IPython the magics."""
    shell.register_magics(HiveSqlMagics)
