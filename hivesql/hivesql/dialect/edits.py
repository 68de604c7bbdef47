"""Changes to a text by position, nested ones included."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hivesql.dialect.deep_recursion import with_room
from hivesql_planner.errors import NotSupported

Span = tuple[int, int]
Spans = tuple[Span, ...]
# A text that is made longer than this is of templates that repeat what they are given.
_TIMES_AS_LONG, _MOST_MORE = 20, 2**22
_PIECE = re.compile(r"@(\d+|(?=\*))(\*?)")


class Edit(NamedTuple):
    """Replace the text between two offsets (equal ones insert) by ``text``.

    With ``parts`` the replacement is these one after the other: text, or a span of the original
    that lies inside, with its own edits made.
    """

    start: int
    end: int
    text: str
    parts: tuple[str | Span, ...] = ()


def insert(offset: int, text: str) -> Edit:
    """Return an edit that only adds."""
    return Edit(offset, offset, text)


def apply_edits(text: str, spans: Spans, edits: Sequence[Edit], prefix: str = "") -> str:
    """Return the spans with the edits made, joined by line ends, ``prefix`` before the last one.

    Of edits with the same span the later one is outside. Insertions keep their order; at the
    border of a span inside an edit they belong to what is around it.
    """
    # Insertions first, then from the outside in.
    numbered = sorted(
        enumerate(edits),
        key=lambda item: (
            item[1].start, item[1].start != item[1].end, -item[1].end,
            item[0] if item[1].start == item[1].end else -item[0],
        ),
    )  # fmt: skip
    edited = _Made(text, [edit for _, edit in numbered])
    parts = [edited.render(span, 0, len(edits), outermost=True) for span in spans]
    return "\n".join([*parts[:-1], prefix + parts[-1]])


class _Made:
    def __init__(self, text: str, edits: list[Edit]) -> None:
        self.text = text
        self.edits = edits
        self.starts = [edit.start for edit in edits]
        # A template may name a part more than once, and so may one inside of it.
        self.parts: dict[tuple[Span, int], str] = {}
        self.most = _TIMES_AS_LONG * len(text) + _MOST_MORE

    def render(self, span: Span, low: int, high: int, *, outermost: bool = False) -> str:
        start, end = span
        pieces, reached = [], start
        i = bisect_left(self.starts, start, low, high)
        while i < high and self.starts[i] <= end:
            edit = self.edits[i]
            i += 1
            at_border = edit.start == edit.end and edit.start in span and not outermost
            if edit.start < reached or edit.end > end or at_border:
                continue
            pieces += [self.text[reached : edit.start], edit.text]
            for part in edit.parts:
                pieces.append(part if isinstance(part, str) else self._part(part, i, high))
            reached = edit.end
        pieces.append(self.text[reached:end])
        if sum(map(len, pieces)) > self.most:
            raise NotSupported("so many functions inside of each other: what Spark would have to "
                               f"read is longer than {self.most:,} characters")  # fmt: skip
        return "".join(pieces)

    def _part(self, span: Span, low: int, high: int) -> str:
        rendered = self.parts.get((span, low))
        if rendered is None:
            rendered = with_room(lambda: self.render(span, low, high))
            self.parts[span, low] = rendered
        return rendered


def filled(template: str, spans: Sequence[str | Span]) -> Iterable[str | Span]:
    """Yield a template's pieces: ``@0`` is a span or text, ``@1*`` that one and all after it."""
    reached = 0
    for match in _PIECE.finditer(template):
        yield template[reached : match.start()]
        first = int(match[1] or 0)
        if match[2]:
            for i, span in enumerate(spans[first:]):
                yield ", " if i else ""
                yield span
        else:
            yield spans[first]
        reached = match.end()
    yield template[reached:]
