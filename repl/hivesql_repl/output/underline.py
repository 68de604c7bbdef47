"""The offending part of a script, underlined."""

from __future__ import annotations

from rich.cells import cell_len

_MOST_LINES = 6
_WIDEST = 240
"""Characters of a line that are shown; a script of a program's may be one line of megabytes."""
_BEFORE = 40
"""Characters that are shown before the place when not all of the line is."""


def underlined(script: str, place: tuple[int, int], end: tuple[int, int] | None) -> list[str]:
    """Give the lines from ``place`` to ``end`` (behind the last character), each with carets.

    Lines and columns count from 1. () when the script has no such line.
    """
    source = script.splitlines()
    (first, column), (last, until) = place, end or (place[0], place[1] + 1)
    if not 0 < first <= len(source):
        return []
    lines: list[str] = []
    last = min(last, len(source))
    for number in range(first, last + 1):
        if number - first == _MOST_LINES:
            return [*lines, f"  … and {last - number + 1} more lines"]
        line = source[number - 1].replace("\t", " ")
        indent = len(line) - len(line.lstrip())
        start = column - 1 if number == first else indent
        stop = until - 1 if number == last else len(line)
        line, start, stop = _cut(line, start, stop)
        marked = line[start:stop].rstrip() if number != first else line[start:stop]
        if marked or number == first:
            below = " " * cell_len(line[:start]) + "^" * max(cell_len(marked), 1)
            lines += [f"  {line}", f"  {below}"]
        else:
            lines.append(f"  {line}".rstrip())
    return lines


def _cut(line: str, start: int, stop: int) -> tuple[str, int, int]:
    """Tell what is shown of a line, and where in it the marked part begins and ends."""
    if len(line) <= _WIDEST:
        return line, start, stop
    left = max(0, min(start - _BEFORE, len(line) - _WIDEST))
    right = left + _WIDEST
    before, after = "… " if left else "", " …" if right < len(line) else ""
    text = f"{before}{line[left:right]}{after}"
    moved = len(before) - left
    return text, start + moved, min(stop, right) + moved
