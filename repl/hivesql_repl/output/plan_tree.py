"""The lines of EXPLAIN as a tree, for a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from rich.text import Text
from rich.tree import Tree

from hivesql_repl.output.console import Screen

_STYLES = {
    "TRANSACTION": "bold", "TABLES": "bold", "lock": "yellow", "write": "magenta", "scan": "cyan",
    "query": "green", "when": "blue",
}  # fmt: skip


def is_plan(columns: tuple[str, ...], lines: list[str]) -> bool:
    """Tell whether these are lines of a plan: JSON stays as it is."""
    return columns == ("Explain",) and not lines[0].startswith("{")


def draw_plan(lines: Iterable[str], out: IO[str], *, color: bool = True) -> None:
    """Print the tree that the lines' indents make."""
    console = Screen(file=out, highlight=False, no_color=not color, soft_wrap=False)
    opened: list[tuple[int, Tree]] = []
    roots: list[Tree] = []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        label = _label(line.strip())
        while opened and opened[-1][0] >= depth:
            opened.pop()
        if opened:
            node = opened[-1][1].add(label)
        else:
            node = Tree(label)
            roots.append(node)
        opened.append((depth, node))
    for root in roots:
        console.print(root)


def _label(line: str) -> Text:
    word = line.partition(" ")[0]
    if " = scan " in line:
        word = "scan"
    return Text(line, style=_STYLES.get(word, "bold" if word.isupper() else ""))
