"""A table's layout as a tree, and what a check of it found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.filesize import decimal
from rich.text import Text
from rich.tree import Tree

from hivesql_repl.output.console import Screen
from hivesql_repl.output.formats import WHOLE_LINES

if TYPE_CHECKING:
    from hivesql_executor.checks.finding import Finding
    from hivesql_executor.checks.inspect import DirectoryFacts, FileFacts, Inspection, RootFacts

_HAS_FINDINGS = 1


def draw(inspection: Inspection, console: Screen | None = None) -> int:
    """Print the layout; 0."""
    table = inspection.table
    kind = "full ACID" if table.is_full_acid else "insert-only"
    kind = kind if table.is_transactional else "not transactional"
    title = Text(f"{table.name}", style="bold")
    title.append(f"  {kind}, {table.format}, {table.location}", style="default not bold")
    if inspection.visible is not None:
        title.append(f"\nwrites up to {inspection.visible.high_watermark}", style="dim not bold")
        title.append(_ids(", open", inspection.visible.open), style="dim not bold")
        title.append(_ids(", rolled back", inspection.visible.aborted), style="dim not bold")
    tree = Tree(title)
    for root in inspection.roots:
        branch = tree.add(_root_line(root)) if root.name is not None else tree
        if root.name is None:
            title.append("\n").append(_root_line(root))
        for directory in root.directories:
            _add_directory(branch, directory)
    (console or _console()).print(tree)
    return 0


def _console() -> Screen:
    """Lines are folded for a person, and left whole for a program."""
    return Screen(width=None if sys.stdout.isatty() else WHOLE_LINES, highlight=False)


def _root_line(root: RootFacts) -> Text:
    line = Text(f"{root.name}  " if root.name is not None else "", style="bold")
    line.append(_counted(root.rows, "row"), style="default not bold")
    if root.deleted:
        line.append(f", {root.deleted:,} of them deleted ({root.delete_share:.0%})", style="yellow")
    return line


def _add_directory(branch: Tree, directory: DirectoryFacts) -> None:
    verdict = directory.verdict
    mark, style = ("✓ ", "green") if verdict.is_read else ("✗ ", "dim")
    line = Text(mark, style=style).append(verdict.name, style=style)
    what = "delete" if directory.deletes else "row"
    line.append(f"  {_counted(directory.rows, what)}, {decimal(directory.bytes)}  ", style=style)
    line.append(verdict.why, style="italic" if verdict.is_read else "dim italic")
    node = branch.add(line)
    for file in directory.files:
        node.add(_file_line(file, what, verdict.name))


def _file_line(file: FileFacts, what: str, directory: str) -> Text:
    line = Text(file.path.removeprefix(f"{directory}/"))
    rows = "?" if file.rows is None else _counted(file.rows, what)
    line.append(f"  {rows}, {decimal(file.bytes)}", style="dim")
    if file.problem:
        line.append(f"  {file.problem}", style="red")
    return line


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _ids(word: str, ids: frozenset[int]) -> str:
    return f"{word} {', '.join(map(str, sorted(ids)))}" if ids else ""


def report(table: str, findings: Sequence[Finding], console: Screen | None = None) -> int:
    """Print every finding; 1 when there is one."""
    console = console or _console()
    for finding in findings:
        console.print(Text(finding.place, style="bold"), Text(finding.problem), sep="\n  ")
    verdict = _counted(len(findings), "problem") if findings else "nothing is wrong"
    console.print(Text(f"{table}: {verdict}", style="red" if findings else "green"))
    return _HAS_FINDINGS if findings else 0
