"""Markdown for what the code says: tables, and docstrings with double back quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; each row has a text for every head."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def cell(text: str) -> str:
    """Write a text in one line of a table."""
    return text.replace("|", "\\|").replace("\n", "<br>")


def code(text: str) -> str:
    """Write a text as code; nothing for an empty one."""
    if "`" in text:
        return f"`` {text} ``"
    return f"`{text}`" if text else ""


def prose(docstring: str | None) -> str:
    """Write a docstring, whose code stands between two back quotes on either side."""
    return (docstring or "").replace("``", "`").strip()


def plain(text: str) -> str:
    """Write a message in which signs mean nothing to Markdown or HTML."""
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, written)
    for sign in "\\`*_[]{}":
        text = text.replace(sign, f"\\{sign}")
    return text
