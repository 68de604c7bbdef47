"""The answer of a statement, asked for again and again, in one place of the screen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.text import Text

from hivesql import HiveSqlError
from hivesql.script import split
from hivesql_repl.output.console import Screen
from hivesql_repl.output.formats import Style, to_text

if TYPE_CHECKING:
    from hivesql import Result, Session
    from hivesql_repl.output.render import Printer

EVERY = 2.0
"""Seconds between two answers."""
SHORTEST, LONGEST = 0.1, 86400.0
_WIDEST = 30
_NOTHING = ("", "None", "NULL")
# These ask the metastore alone, so Ctrl-C may come at any time.
_READS = ("show", "describe", "desc")


def watch(session: Session, printer: Printer, text: str, every: float = EVERY) -> bool:
    """Show what SHOW or DESCRIBE answers until Ctrl-C, each ``every`` seconds; False: it cannot."""
    statements = list(split(text, None, session.variables))
    if len(statements) != 1 or not statements[0].text.lower().startswith(_READS):
        print("ERROR: one SHOW or DESCRIBE is wanted, as in: !watch 2 SHOW LOCKS", file=sys.stderr)
        return False
    ask = partial(session.run_statement, statements[0])
    return refresh(ask, printer, every, text)


def refresh(
    ask: Callable[[], Result], printer: Printer, every: float, text: str | None = None
) -> bool:
    """Show what ``ask`` gives each ``every`` seconds, until Ctrl-C; False when it cannot be shown.

    ``text`` is the statement that an error is about, if it is one.
    """
    if not sys.stdout.isatty():
        once = "run the statement without --watch" if text is not None else "hivesql top --once"
        print(f"ERROR: only a terminal can be watched; to see it once: {once}", file=sys.stderr)
        return False
    console = Screen(highlight=False)
    try:
        with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
            while True:
                live.update(_drawn(ask(), printer.style, every, console.width), refresh=True)
                time.sleep(every)
    except KeyboardInterrupt:
        return True
    except HiveSqlError as error:
        printer.fail(error, text)
        return False


def _drawn(result: Result, look: Style, every: float, width: int) -> Group:
    footer = f"{time.strftime('%H:%M:%S')}  every {every:g} s, Ctrl-C ends"
    if not result.rows:
        return Group(Text(footer, style="dim"), Text("no rows"))
    style = replace(look, max_width=width, truncate=True, max_column_width=_WIDEST)
    positions = _that_fit(result, style, width)
    if len(positions) < len(result.columns):
        hidden = (name for i, name in enumerate(result.columns) if i not in positions)
        footer += f"; no room for, or nothing in: {', '.join(hidden)}"
    columns = [result.columns[i] for i in positions]
    rows = [[row[i] for i in positions] for row in result.rows]
    table = to_text("table", columns, rows, style).rstrip("\n")
    lines = (Text(footer, style="dim"), Text(table, no_wrap=True, overflow="crop"))
    return Group(*lines)


def _that_fit(result: Result, style: Style, width: int) -> list[int]:
    """Columns with a value that fit beside each other, from the left: one line a row."""
    positions: list[int] = []
    for i, name in enumerate(result.columns):
        texts = [style.text(row[i]) for row in result.rows if str(row[i]).strip() not in _NOTHING]
        column_width = min(max(map(len, (name, *texts))), _WIDEST) + 3
        if texts and (not positions or column_width < width):
            positions.append(i)
            width -= column_width
        elif texts:
            break
    return positions or [0]
