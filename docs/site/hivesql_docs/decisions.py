"""The page that lists the decisions by their numbers."""

from __future__ import annotations

from pathlib import Path

from hivesql_docs.markdown import table

_INTRODUCTION = """\
# Decisions

Why things are as they are: a file for each decision that could have gone another way.
"""


def decisions_page(folder: Path) -> str:
    """Write a line for each file of the folder, whose first line is its title."""
    rows = []
    for path in sorted(folder.glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# 0123456789.·")
        number = path.name.partition("-")[0]
        rows.append((number, f"[{title}](../decisions/{path.name})"))
    return f"{_INTRODUCTION}\n{table(('number', 'title'), rows)}"
