"""A statement's tokens as sqlglot's parser wants them: types, and words that make one keyword.

There is one scanner, of ``tokens``; sqlglot's own is asked only what the keywords of Hive are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from hivesql.dialect.edits import Edit
from hivesql.dialect.tokens import Kind, Token, tokenize
from hivesql.python_sqlglot import Hive, SqlglotToken, TokenType
from hivesql.script import StatementText

_HIVE = Hive.tokenizer_class
# Words of other databases, which are names to Hive: joins and operators, what begins commands
# of sqlglot's own, and types.
NAMES_IN_HIVE = frozenset(
    """apply asof begin call collate copy glob isnull keep list natural next notnull object
    ordinality overlaps pivot pragma ref refresh returning sequence session straight_join temp
    uncache unnest unpivot vacuum volatile xor
    auto_increment autoincrement bigdecimal bignum bignumeric bit blob bool bpchar byte bytea
    character clob datemultirange daterange decfloat decimal128 decimal256 decimal32 decimal64
    fixed float4 float8 geography geometry hugeint inet int1 int128 int16 int2 int256 int32 int4
    int4multirange int4range int64 int8 int8multirange int8range json jsonb long longblob longtext
    longvarchar mediumblob mediumint mediumtext nchar number nummultirange numrange nvarchar
    nvarchar2 short str text time_ns timestamp_ntz timestampltz timestampntz
    timestamptz timetz tinyblob tinytext tsmultirange tsrange tstzmultirange tstzrange uhugeint
    uint uint128 uint256 uuid varbinary varchar2 variant vector""".split()  # noqa: SIM905
)
NOTHING_IN_HIVE = frozenset(
    ("|>", "~~", "~~~", "~~*", "~*", "CONNECT BY", "SIMILAR TO", "CHARACTER VARYING",
     "CHAR VARYING")
)  # fmt: skip
_KINDS = {
    word: kind
    for word, kind in ((key.lower(), kind) for key, kind in _HIVE.KEYWORDS.items())
    if word not in NAMES_IN_HIVE
}
_KINDS_OF_SYMBOLS = {**_HIVE.SINGLE_TOKENS, **_HIVE.KEYWORDS}
_SUFFIXES = {suffix: _HIVE.KEYWORDS[name] for suffix, name in _HIVE.NUMERIC_LITERALS.items()}
TYPE_OF_MEMBERS = TokenType.RAW_STRING
"""What the values of a long IN are to sqlglot's parser; Hive has nothing of that type."""
_PIECE = re.compile(r"\w+|<=>|<>|!=|<=|>=|==|\|\||[^\w\s]")
_NUMBER = re.compile(r"(?P<digits>\d+(?:\.\d*)?(?:[eE](?:[+-]?\d+)?)?)(?P<suffix>\w*)")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
# What stands before names of tables, and of columns of a call's result.
_BEFORE_NAMES = (".", ")", "as", "with", "from", "join", "into", "table", "view", "update")
_HINT = re.compile(r"\s*(/\*\+(.*?)\*/)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Keyword:
    """A keyword of several tokens, such as GROUP BY or ->."""

    kind: TokenType
    text: str
    pieces: tuple[str, ...]

    def begins(self, text: str, tokens: Sequence[Token], position: int) -> bool:
        """Tell whether it stands there, with blanks and nothing else where it has one."""
        row = tokens[position : position + len(self.pieces)]
        return tuple(token.value for token in row) == self.pieces and all(
            text[before.end : after.start].isspace()
            if " " in self.text
            else before.end == after.start
            for before, after in pairwise(row)
        )


def _of_several() -> dict[str, list[_Keyword]]:
    """Keywords of several tokens by the first one, the longest first."""
    keywords: dict[str, list[_Keyword]] = {}
    for key in sorted(_HIVE.KEYWORDS, key=len, reverse=True):
        pieces = tuple(_PIECE.findall(key.lower()))
        if len(pieces) > 1 and key not in NOTHING_IN_HIVE:
            keywords.setdefault(pieces[0], []).append(_Keyword(_HIVE.KEYWORDS[key], key, pieces))
    return keywords


_OF_SEVERAL = _of_several()


def sqlglot_tokens(
    text: str, tokens: Sequence[Token], edits: Sequence[Edit] = ()
) -> list[SqlglotToken]:
    """Give these tokens sqlglot's types; ``edits`` has some read as something else."""
    if edits:
        tokens = list(_edited(tokens, edits))
    translated: list[SqlglotToken] = []
    position, count = 0, len(tokens)
    while position < count:
        token = tokens[position]
        position += 1
        kind = token.kind
        if translated and translated[-1].token_type in _HIVE.TOKENS_PRECEDING_HINT:
            translated += _hint(text, translated[-1].end + 1, token.start)
        if kind is Kind.STRING:
            translated.append(_made(TokenType.STRING, token.value, token.start, token.end))
        elif kind is Kind.QUOTED:
            name = token.text[1:-1].replace("``", "`")
            kind_of_name = TokenType.IDENTIFIER
            if _is_called(tokens, position - 1):
                kind_of_name = TokenType.VAR
            translated.append(_made(kind_of_name, name, token.start, token.end))
        elif kind is Kind.NUMBER or (kind is Kind.WORD and token.text[0].isdigit()):
            translated += _number(token.text, token.start, token.end)
        elif kind is Kind.MEMBERS:
            translated.append(_made(TYPE_OF_MEMBERS, token.text, token.start, token.end))
        elif kind in (Kind.WORD, Kind.SYMBOL):
            word, count_of_word = _word(text, tokens, position - 1)
            translated.append(word)
            position += count_of_word - 1
    return translated


def _is_called(tokens: Sequence[Token], position: int) -> bool:
    """Tell whether a name in back quotes is a function's, which Hive takes as without them."""
    after = tokens[position + 1 : position + 2]
    before = tokens[position - 1] if position else None
    return (
        bool(after)
        and after[0].is_("(")
        and tokens[position].value.isidentifier()
        and not (before is not None and any(map(before.is_, _BEFORE_NAMES)))
    )


def _word(text: str, tokens: Sequence[Token], position: int) -> tuple[SqlglotToken, int]:
    """Return the word or symbol there, and of how many tokens it is made."""
    token = tokens[position]
    value, start, end = token.value, token.start, token.end
    for keyword in _OF_SEVERAL.get(value, ()):
        if keyword.begins(text, tokens, position):
            piece_count = len(keyword.pieces)
            last = tokens[position + piece_count - 1]
            return _made(keyword.kind, keyword.text, start, last.end), piece_count
    if token.kind is Kind.SYMBOL:
        return _made(_KINDS_OF_SYMBOLS[value], value, start, end), 1
    if value == "n" and position + 1 < len(tokens):
        after = tokens[position + 1]
        if after.kind is Kind.STRING and after.start == end:
            return _made(TokenType.NATIONAL_STRING, after.value, start, after.end), 2
    return _made(_KINDS.get(value, TokenType.VAR), token.text, start, end), 1


def _made(kind: TokenType, text: str, start: int, end: int) -> SqlglotToken:
    # Errors tell nothing but line and column.
    return SqlglotToken(kind, text, 1, end, start, end - 1)


def _hint(text: str, start: int, end: int) -> Iterable[SqlglotToken]:
    match = _HINT.match(text, start, end)
    if match is None:
        return ()
    token = _made(TokenType.HINT, match[1], match.start(1), match.end())
    token.comments = [match[2]]
    return (token,)


def _number(text: str, start: int, end: int) -> Iterable[SqlglotToken]:
    """Read a number, one with a type behind it (``1L`` is a cast to sqlglot), or a name as 2b."""
    if _PLAIN.fullmatch(text):
        return (_made(TokenType.NUMBER, text, start, end),)
    if text[0] == ".":
        dot = _made(TokenType.DOT, ".", start, start + 1)
        return (dot, *_number(text[1:], start + 1, end))
    match = _NUMBER.fullmatch(text)
    suffix = match["suffix"] if match else text
    if not match or (suffix and suffix.upper() not in _SUFFIXES):
        return (_made(TokenType.VAR, text, start, end),)
    number = _made(TokenType.NUMBER, match["digits"], start, end)
    if not suffix:
        return (number,)
    cast = _made(TokenType.DCOLON, "::", start, end)
    return (number, cast, _made(_SUFFIXES[suffix.upper()], suffix, start, end))


def _edited(tokens: Sequence[Token], edits: Sequence[Edit]) -> Iterator[Token]:
    """Yield the tokens, with those of the new text in place of those that an edit covers."""
    next_index = 0
    for edit in edits:
        first = bisect_left(tokens, edit.start, key=attrgetter("start"))
        yield from tokens[next_index:first]
        for token in tokenize(StatementText(edit.text))[:-1]:
            start = edit.start + token.start
            if edit.start < edit.end:
                # Longer than what it stands for: nothing of it lies behind that.
                start = min(start, edit.end - 1)
            yield Token(token.kind, token.text, token.value, start)
        next_index = bisect_left(tokens, edit.end, key=attrgetter("start"))
    yield from tokens[next_index:]
