"""Results, notices and errors on the screen: rows to stdout, everything else to stderr."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hivesql import ExecutionError, HiveSqlError, ParseError, Progress, Result
from hivesql.rendering.hive_text import with_hive_types
from hivesql.script_file import read_script
from hivesql_executor.outcome import types_of
from hivesql_executor.statement_log import LOG, log_notice
from hivesql_planner.settings.file_system_keys import cover_secret, sets_secret
from hivesql_repl.output.formats import FORMATS, Style

if TYPE_CHECKING:
    from subprocess import Popen

    from pyspark.sql import DataFrame

# How less pages, as in pgcli: cut nothing, keep colours, leave the screen alone, and end at once
# when all fits.
_LESS = "-SRXF"
_OF_SHELLS = frozenset("|&;<>()$`\\\"'*?[#~=%!{}\n")
_WAITING = re.compile(
    r"waiting for locks for ([\d.]+ s): blocked by lock \S+ (\S+) .* on (\S+)"
    r" of transaction (\d+) by (\S+)"
)
_WAITING_SHORT = r"waiting for transaction \4 (\5), \1: it holds \2 on \3"


@dataclass(kw_only=True)
class Printer:
    """Prints for a person or a program; ``quiet`` leaves only rows and errors."""

    format: str
    style: Style = field(default_factory=Style)
    quiet: bool = False
    verbose: bool = False
    report: bool = True
    logs: bool = False
    """What is no row is logged, as statements are themselves."""
    paging: bool = False
    record: IO[str] | None = None
    once: str = ""
    """Where the next result goes instead of the screen: a file, or a program after ``|``."""
    output: str = ""
    """Where all others go, likewise; empty for the screen."""
    _status: str = ""
    _pages: bool = False
    _pager: Popen[str] | None = None
    """The pager while it gets rows."""
    _left: bool = False

    def announce(self, statement: str) -> None:
        """Show the statement that is about to run."""
        self._left = False
        if not (self.verbose or self.record):
            return
        shown = cover_secret(statement)
        if self.verbose:
            self.tell(f"> {shown}")
        if self.record:
            self.record.write(f"> {shown}\n")

    def tell(self, line: str) -> None:
        """Print a notice for the person."""
        if self.logs:
            log_notice(line)
        elif not self.quiet:
            if sys.stderr.isatty() and (waiting := _WAITING.match(line)):
                # Told again and again: each takes the place of the one before.
                self.set_status(waiting.expand(_WAITING_SHORT))
                return
            self.clear_status()
            print(line, file=sys.stderr, flush=True)

    def tell_progress(self, progress: Progress) -> None:
        """Tell how far the running Spark jobs are, on a line that the next one overwrites."""
        share = progress.done / progress.total
        bar = ("█" * round(share * 20)).ljust(20, "░")
        self.set_status(
            f"{bar} {progress.done:,} of {progress.total:,} tasks, {progress.active} running"
        )

    def tell_start(self) -> None:
        """Tell that Spark is being started."""
        self.set_status("starting Spark …")

    def tell_stop(self) -> None:
        """Tell that the statement is being stopped."""
        self.stop_pager()
        self.set_status("stopping …")

    def set_status(self, line: str) -> None:
        """Show a line that goes away by itself; only where a person looks."""
        if (
            self.quiet
            or self.logs
            or self._pages
            or not sys.stderr.isatty()
            or line == self._status
        ):
            return
        width = shutil.get_terminal_size().columns - 1
        self._status = line
        print(f"\r\x1b[2K{line[:width]}", end="", file=sys.stderr, flush=True)

    def clear_status(self) -> None:
        """Take that line away."""
        if self._status:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
            self._status = ""

    def consume(self, frame: DataFrame) -> int:
        """Print a query's rows as they arrive, partition by partition; how many there were."""
        rows = with_hive_types(types_of(frame.schema), frame.toLocalIterator())
        return self._write(frame.columns, rows)

    def show(self, result: Result) -> None:
        """Print what a statement gave, then how long it took."""
        self.clear_status()
        count = result.value if isinstance(result.value, int) else len(result.rows)
        # A query has a header even where it has no rows.
        has_rows = result.rows or isinstance(result.value, list)
        if has_rows and not self._draw_plan(result):
            self._write(result.columns, with_hive_types(result.types, result.rows))
        if self.logs:
            return
        if result.message:
            self.tell(result.message)
        if result.affected is not None:
            what = f"{_counted(result.affected)} affected"
        elif result.columns:
            what = f"{_counted(count)} selected"
            if self._left:
                what = f"left the pager, {_counted(count)} had been read"
        else:
            what = "ok"
        if self.report:
            self.tell(f"{what} ({result.seconds:.3f} seconds)")

    def _draw_plan(self, result: Result) -> bool:
        """Draw what EXPLAIN gave, where a person looks; whether it was."""
        if self.format != "table" or not sys.stdout.isatty():
            return False
        from hivesql_repl.output.plan_tree import draw_plan, is_plan

        lines = [str(row[0]) for row in result.rows]
        if not is_plan(result.columns, lines):
            return False
        with self._screen() as out:
            draw_plan(lines, out, color=self.style.color)
        return True

    def fail(self, error: HiveSqlError, text: str | None) -> None:
        """Print an error and, where the place is known, the offending text underlined."""
        if self.logs:
            # The end of a statement is logged with its id.
            if error.statement_id is None:
                LOG.error("%s", error)
            return
        self.clear_status()
        lines = [f"ERROR: {error}"]
        if text is not None and error.line is not None:
            from hivesql_repl.output.underline import underlined

            place = error.line, error.column or 1
            script = _script(error, text)
            last = error.end[0] if error.end else error.line
            marked = ";".join(script.splitlines()[error.line - 1 : last])
            if not sets_secret(marked.split(";")):
                lines += underlined(script, place, error.end)
        # Who knows which name was meant needs no list of names.
        notes = [
            note
            for note in getattr(error, "__notes__", ())
            if note != error.remedy or not error.meant
        ]
        lines += [f"  {note}" for note in notes]
        for line in lines:
            print(line, file=sys.stderr, flush=True)
        if self.record:
            self.record.writelines(f"{line}\n" for line in lines)

    @contextmanager
    def formatted(self, name: str) -> Iterator[None]:
        """Another format for a while."""
        before, self.format = self.format, name
        try:
            yield
        finally:
            self.format = before

    def _write(self, columns: Sequence[str], rows: Any) -> int:
        write = FORMATS["vertical" if self._is_too_wide(columns) else self.format]
        if self.record:
            rows = list(rows)
            write(self.record, columns, rows, self.style)
            self.record.flush()
        # The pager takes the screen when there is something to show.
        rest = iter(rows)
        rows = itertools.chain(list(itertools.islice(rest, 1)), rest)
        count = itertools.count()
        self._left = True
        with self._screen() as out:
            write(out, columns, self._without_status(rows, count), self._style_of(out))
            self._left = False
        return next(count)

    def _is_too_wide(self, columns: Sequence[str]) -> bool:
        """Tell whether not even the names of a table's columns fit where a person looks."""
        if self.format != "table" or self.style.max_width or not sys.stdout.isatty():
            return False
        width = sum(map(len, columns)) + 3 * len(columns) + 1
        return width > shutil.get_terminal_size().columns

    def _without_status(self, rows: Any, count: Iterator[int]) -> Iterator[Any]:
        """Yield the rows, counted; the status line goes before the first one comes."""
        for row in rows:
            self.clear_status()
            next(count)
            yield row
        self.clear_status()

    def _style_of(self, out: IO[str]) -> Style:
        if self.style.max_width or not sys.stdout.isatty() or out is sys.stdout:
            return self.style
        return replace(self.style, max_width=shutil.get_terminal_size().columns)

    @contextmanager
    def _screen(self) -> Iterator[IO[str]]:
        """Provide standard output, through a pager where a person reads."""
        once, self.once = self.once or self.output, ""
        if once and not once.startswith("|"):
            with open_for_append(once) as out:
                yield out
            return
        # On a screen that cannot move its lines a pager waits for a key before each result.
        moves = os.environ.get("TERM") not in (None, "", "dumb", "unknown")
        pager = find_pager() if self.paging and moves and sys.stdout.isatty() else None
        if once:
            pager = ["sh", "-c", once[1:]]
        if pager is None:
            yield sys.stdout
            sys.stdout.flush()
            return
        # Somebody's PAGER is often a bare `less`, which would take the screen for one line.
        environment = {"LESS": _LESS, **os.environ}
        import subprocess

        process = subprocess.Popen(pager, stdin=subprocess.PIPE, text=True, env=environment)
        assert process.stdin
        self._pages = True
        # To end a shell would leave its programs on the screen.
        self._pager = process if pager[0] != "sh" else None
        try:
            with suppress(BrokenPipeError):  # The reader has seen enough.
                yield process.stdin
                process.stdin.close()
        except BaseException:
            # Rows that wait for the reader's next page would hold us up until then.
            self.stop_pager()
            raise
        finally:
            self._pager = None
            with suppress(BrokenPipeError):
                process.stdin.close()
            _wait_for(process)
            self._pages = False

    def stop_pager(self) -> None:
        """End a pager that still gets rows; one that has all is left to its reader."""
        if pager := self._pager:
            pager.terminate()
            pager.wait()
            # Its own prompt stays behind.
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def _wait_for(pager: Popen[str]) -> None:
    """Until the reader leaves: Ctrl-C is the pager's own until then."""
    while True:
        try:
            pager.wait()
        except KeyboardInterrupt:
            continue
        return


def open_for_append(name: str) -> IO[str]:
    """Return a file of the user's; ExecutionError when it cannot be written."""
    try:
        return Path(name).expanduser().open("a", encoding="utf-8")
    except OSError as error:
        raise ExecutionError(f"cannot write {name}: {error.strerror}") from error


def find_pager() -> Sequence[str] | None:
    """Return the command to page with: $PAGER, else less; None when there is none."""
    chosen = os.environ.get("PAGER")
    if chosen:
        words = chosen.split()
        is_plain = not _OF_SHELLS & set(chosen) and words and shutil.which(words[0])
        return words if is_plain else ["sh", "-c", chosen]
    return ["less"] if shutil.which("less") else None


def _counted(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _script(error: HiveSqlError, text: str) -> str:
    """Give the text that the error's line counts in: perhaps a view's, or that of another file."""
    if error.text is not None:
        return error.text
    try:
        return read_script(Path(error.file)) if error.file else text
    except (OSError, ParseError):
        return text
