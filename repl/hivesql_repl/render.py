"""Results, notices and errors on the screen: rows to stdout, everything else to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hivesql import HiveSqlError, Result
from hivesql_repl.formats import Writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(kw_only=True)
class Printer:
    """Prints for a person or a program; ``quiet`` leaves only rows and errors."""

    format: Writer
    header: bool = True
    quiet: bool = False
    verbose: bool = False

    def announce(self, statement: str) -> None:
        """Show the statement that is about to run."""
        if self.verbose:
            self.tell(f"> {statement}")

    def tell(self, line: str) -> None:
        """A notice for the person."""
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)

    def consume(self, frame: DataFrame) -> int:
        """Print a query's rows as they arrive, partition by partition; how many there were."""

        def rows() -> Iterator[Any]:
            yield from frame.toLocalIterator()

        count = self.format(sys.stdout, frame.columns, rows(), self.header)
        sys.stdout.flush()
        return count

    def show(self, result: Result) -> None:
        """Print what a statement gave, then how long it took."""
        count = result.value if isinstance(result.value, int) else len(result.rows)
        if result.rows:
            self.format(sys.stdout, result.columns, result.rows, self.header)
            sys.stdout.flush()
        if result.message:
            self.tell(result.message)
        if result.affected is not None:
            what = f"{_counted(result.affected)} affected"
        elif result.columns:
            what = f"{_counted(count)} selected"
        else:
            what = "ok"
        self.tell(f"{what} ({result.seconds:.3f} seconds)")

    def fail(self, error: HiveSqlError, text: str | None) -> None:
        """Print an error and, where the place is known, the offending line with a caret."""
        print(f"ERROR: {error}", file=sys.stderr)
        if text is None or error.line is None:
            return
        lines = text.splitlines()
        if 0 < error.line <= len(lines):
            line = lines[error.line - 1].replace("\t", " ")
            print(f"  {line}\n  {' ' * ((error.column or 1) - 1)}^", file=sys.stderr)


def _counted(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
