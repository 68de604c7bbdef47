"""The answer of a statement, asked for again and again, in one place of the screen."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.text import Text

from hivesql import HiveSqlError
from hivesql.script import split
from hivesql_repl.console import Screen
from hivesql_repl.formats import to_text

if TYPE_CHECKING:
    from hivesql import Result
    from hivesql_repl.running import Runner

EVERY = 2.0
"""Seconds between two answers."""
# These ask the metastore alone, so Ctrl-C may come at any time.
_READS = ("show", "describe", "desc")


def watch(runner: Runner, text: str, every: float = EVERY) -> bool:
    """Show what SHOW or DESCRIBE answers until Ctrl-C; False when it could not be run."""
    statements = list(split(text, None, runner.session.variables))
    problem = ""
    if len(statements) != 1 or not statements[0].text.lower().startswith(_READS):
        problem = "one SHOW or DESCRIBE is wanted, as in: !watch 2 SHOW LOCKS"
    elif not sys.stdout.isatty():
        problem = "only a terminal can be watched"
    if problem:
        print(f"ERROR: {problem}", file=sys.stderr)
        return False
    console = Screen(highlight=False)
    try:
        with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
            while True:
                result = runner.session.run_statement(statements[0])
                live.update(_drawn(result, runner, every, console.width), refresh=True)
                time.sleep(every)
    except KeyboardInterrupt:
        return True
    except HiveSqlError as error:
        runner.printer.fail(error, text)
        return False


def _drawn(result: Result, runner: Runner, every: float, width: int) -> Group:
    style = replace(runner.printer.style, max_width=width)
    told = f"{time.strftime('%H:%M:%S')}  every {every:g} s, Ctrl-C ends"
    table = to_text("table", result.columns, result.rows, style) if result.rows else "no rows"
    return Group(Text(told, style="dim"), Text(table.rstrip("\n"), no_wrap=True, overflow="crop"))
