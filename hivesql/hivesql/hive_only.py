"""Where Hive's query text and Spark's differ: translated in place, or refused by name.

Works on tokens, so that everything else of the user's text reaches Spark untouched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from hivesql.script import StatementText
from hivesql.tokens import Kind, Token, at
from hivesql_planner.errors import NotSupported, ParseError

Spans = tuple[tuple[int, int], ...]
_Tokens = list[Token]
_UNIT = "year|years|month|months|week|weeks|day|days|hour|hours|minute|minutes|second|seconds"
_UNITS = frozenset(_UNIT.split("|"))
# Each pattern is a row of words (choices by |) or kinds of tokens.
_REFUSED: tuple[tuple[tuple[str | Kind, ...], str], ...] = (
    (("transform", "("), "TRANSFORM"),
    (("using", Kind.STRING), "TRANSFORM"),
    (("uniquejoin",), "UNIQUEJOIN"),
    (("qualify",), "QUALIFY"),
    (("between", "symmetric"), "BETWEEN SYMMETRIC"),
    (("interval", "("), "INTERVAL with an expression"),
    (("format", Kind.STRING), "CAST … FORMAT"),
    (("(", "on"), "table functions with ON (partitioned table functions)"),
    (("matchpath", "("), "matchpath"),
    (("tablesample", "(", "bucket"), "TABLESAMPLE (BUCKET …)"),
    (("tablesample", "(", Kind.WORD), "TABLESAMPLE by size"),
    (("(", Kind.STRING, "=", Kind.STRING, ")"), "table properties in FROM"),
    (("=|==|<>|!=|<|<=|>|>=|<=>", "all|any|some", "("), "comparison with ALL, ANY or SOME"),
    (
        ("input__file__name|block__offset__inside__file|row__offset__inside__block|"
         "raw__data__size|row__is__deleted|partition__spec__id|partition__hash|"
         "partition__projection",),
        "the virtual column",
    ),
)  # fmt: skip


class Edit(NamedTuple):
    """Replace the text between two offsets (equal ones insert)."""

    start: int
    end: int
    text: str


def apply_edits(text: str, spans: Spans, edits: list[Edit], prefix: str = "") -> str:
    """The spans with the edits made, joined by line ends."""
    pieces = []
    for start, end in spans:
        inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
        # Insertions at one place keep their order: what closes an expression, then its name.
        inside.sort(key=lambda edit: (edit.start, edit.end))
        parts, done = [], start
        for edit in inside:
            if edit.start < done:
                continue
            parts += [text[done : edit.start], edit.text]
            done = edit.end
        pieces.append("".join([*parts, text[done:end]]))
    return prefix + "\n".join(pieces)


def tokens_in(tokens: tuple[Token, ...], spans: Spans) -> _Tokens:
    """The tokens that lie in the spans."""
    starts = [token.start for token in tokens[:-1]]
    found: _Tokens = []
    for start, end in spans:
        found += tokens[bisect_left(starts, start) : bisect_left(starts, end)]
    return found


def check_slice(text: StatementText, tokens: tuple[Token, ...], spans: Spans) -> str:
    """The text with everything outside the spans blanked out, ready to be parsed.

    Raises NotSupported for what has no counterpart in Spark. Words that Spark lacks are replaced
    by others of the same length.
    """
    inside = tokens_in(tokens, spans)
    _refuse(text, inside)
    masked = ["\n" if char == "\n" else " " for char in text.text]
    for start, end in spans:
        masked[start:end] = text.text[start:end]
    for edit in (*_same_length(inside), *_readable(inside)):
        masked[edit.start : edit.end] = edit.text.ljust(edit.end - edit.start)
    return "".join(masked)


def _refuse(text: StatementText, tokens: _Tokens) -> None:
    opened: list[int] = []
    for i, token in enumerate(tokens):
        for pattern, feature in _REFUSED:
            if _matches(tokens, i, pattern):
                name = f" {token.text}" if feature == "the virtual column" else ""
                raise at(NotSupported(feature + name), text, token.start)
        before = tokens[i - 1] if i else None
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        if token.is_("("):
            opened.append(i)
        group = opened.pop() if token.is_(")") and opened else None
        if token.is_(":") or (token.is_("-") and after and after.is_(">")):
            raise at(ParseError(f"unexpected {token.text!r}"), text, token.start)
        if after is None or after.kind is not Kind.WORD:
            continue
        if token.is_("to") and after.value in _UNITS and before and before.value not in _UNITS:
            raise at(NotSupported("FLOOR … TO"), text, token.start)
        if after.value in _UNITS and _is_bare_interval(tokens, i, group):
            raise at(NotSupported("intervals without the word INTERVAL"), text, token.start)


def _is_bare_interval(tokens: _Tokens, i: int, group: int | None) -> bool:
    """``1 DAY`` or ``+ (a) DAYS`` where Spark would see an alias."""
    if tokens[i].kind is Kind.NUMBER:
        before = tokens[i - 1].value if i else ""
        return before != "interval" and before not in _UNITS
    return group is not None and group > 0 and tokens[group - 1].value in ("+", "-")


def _matches(tokens: _Tokens, i: int, pattern: tuple[str | Kind, ...]) -> bool:
    if i + len(pattern) > len(tokens):
        return False
    for token, wanted in zip(tokens[i : i + len(pattern)], pattern, strict=True):
        if isinstance(wanted, Kind):
            if token.kind is not wanted:
                return False
        elif token.kind is Kind.STRING or token.value not in wanted.split("|"):
            return False
    return True


def _same_length(tokens: _Tokens) -> Iterator[Edit]:
    if tokens and (tokens[0].is_("values") or len(tokens) == 1):
        yield from (Edit(t.start, t.end, "NULL") for t in tokens if t.is_("default"))
    for token, bracket, values in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.is_("table") and bracket.is_("(") and values.is_("values"):
            yield Edit(token.start, token.end, "")


def _readable(tokens: _Tokens) -> Iterator[Edit]:
    for token, after in pairwise(tokens):
        if token.is_("timestamplocaltz") and after.kind is Kind.STRING:
            yield Edit(token.start, token.end, "TIMESTAMP")


def spark_edits(tokens: _Tokens) -> list[Edit]:
    """The edits that make Spark SQL of a slice's tokens."""
    edits = list(_same_length(tokens))
    for i, token in enumerate(tokens):
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        if token.is_("timestamplocaltz") and after and after.kind is Kind.STRING:
            edits.append(Edit(token.start, token.end, "TIMESTAMP_LTZ"))
        elif token.kind is Kind.STRING and after and after.kind is Kind.STRING:
            # Touching strings are one string to Hive; to Spark the quotes would be doubled.
            edits.append(Edit(token.end, after.start, " "))
        elif token.is_("grouping__id"):
            edits.append(Edit(token.start, token.end, "grouping_id()"))
        elif token.is_("cast") and after and after.is_("("):
            edits += _cast_edits(tokens, i)
        elif token.is_("limit") and _matches(tokens, i + 2, (",", Kind.NUMBER)):
            first, second = tokens[i + 1], tokens[i + 3]
            edits.append(Edit(first.start, second.end, f"{second.text} OFFSET {first.text}"))
    return edits


def _cast_edits(tokens: _Tokens, cast: int) -> list[Edit]:
    close, as_ = _cast_parts(tokens, cast)
    if close is None or as_ is None:
        return []
    words = [token.value for token in tokens[as_ + 1 : close]]
    first, last = tokens[as_ + 1], tokens[close - 1]
    if words[0] in ("varchar", "char") and len(words) == 4:
        # Spark keeps such a cast as a plain string, Hive cuts it to length.
        name = "rtrim(substring(CAST" if words[0] == "char" else "substring(CAST"
        end = ")" if words[0] == "char" else ""
        return [
            Edit(tokens[cast].start, tokens[cast].end, name),
            Edit(first.start, last.end, "STRING"),
            Edit(tokens[close].end, tokens[close].end, f", 1, {words[2]}){end}"),
        ]
    if " ".join(words) in ("timestamp with local time zone", "timestamplocaltz"):
        return [Edit(first.start, last.end, "TIMESTAMP_LTZ")]
    if words == ["double", "precision"]:
        return [Edit(first.start, last.end, "DOUBLE")]
    return []


def _cast_parts(tokens: _Tokens, cast: int) -> tuple[int | None, int | None]:
    depth, as_ = 0, None
    for i in range(cast + 1, len(tokens)):
        depth += tokens[i].is_("(") - tokens[i].is_(")")
        if depth == 0:
            return i, as_
        if depth == 1 and tokens[i].is_("as"):
            as_ = i
    return None, None
