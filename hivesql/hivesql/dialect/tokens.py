"""Hive's tokens with their places, and a cursor to read statements with."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from operator import attrgetter
from typing import NoReturn

from hivesql.script import StatementText, within_text
from hivesql_planner.errors import HiveSqlError, NotSupported, ParseError, SemanticError
from hivesql_planner.model.hive_type import LONGEST_NUMBER, MOST_DIGITS
from hivesql_planner.model.table import TableName

_BLANK = re.compile(r"(?:\s+|--[^\r\n]*|/\*.*?\*/)+", re.DOTALL)
_WORD = re.compile(r"[\w]+|\$(?:elem|key|value)\$", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:\d+\.\d*|\.\d+)[fF](?!\w)"
    r"|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[LSYDlsyd])?(?!\w)|\d+(?!\w)"
)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_QUOTED = re.compile(r"`(?:[^`]|``)*`")
_SYMBOL = re.compile(r"<=>|<>|!=|<=|>=|==|\|\||[-+*/%(),.;=<>!~^&|\[\]:]")
_LARGEST = 2**63 - 1
_MOST_COMPARED = 200
"""So many words of what Spark calls an error about are compared with the statement's."""
_LONGEST_COMPARED = 20_000
"""In a statement of more words nothing is looked for: it would take seconds."""
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-1][0-7]{2}|.)", re.DOTALL)
_SURROGATES = re.compile("[\\ud800-\\udbff][\\udc00-\\udfff]|[\\ud800-\\udfff]")
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a",
            "%": "\\%", "_": "\\_"}  # fmt: skip
_TYPOGRAPHIC = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2013\u2014\u2212\u2010\u2011", "-"),
}
"""What word processors and mail put in the place of what was typed."""
MOST_NESTED = 500
"""How deep brackets, CASEs and signs before an operand may be nested, taken together."""
# Types are nested ten times less deep.
_WEIGHT_OF_TYPES = 10
NESTED_TYPES = frozenset({"array", "map", "struct", "uniontype"})
"""Words before ``<`` that make it the beginning of what a type is made of."""
_OPENED_BY = {"(": ")", "[": "]", "case": "end"}
_SPELLINGS = {"=": "==", "not": "!", "enable": "enabled", "disable": "disabled"}
"""What Hive's scanner reads as the same token, by the usual spelling."""
_SIGNS = frozenset({"not", "-", "+", "~", "!"})
_NESTING = frozenset({*_OPENED_BY, *_OPENED_BY.values(), *_SIGNS, "<", ">"})
UNITS = frozenset(
    ("year", "years", "month", "months", "week", "weeks", "day", "days", "hour", "hours", "minute",
     "minutes", "second", "seconds")
)  # fmt: skip
"""Of intervals."""
INSIDE_WORDS = frozenset({"$elem$", "$key$", "$value$"})
"""What DESCRIBE calls that is inside of arrays and maps."""
# Words that can never be a name: taking one for a name would be misreading the statement.
RESERVED = (
    frozenset(
        """all alter and as between by case cast create cross delete describe distinct drop else
    exchange exists external from full grant group having if in inner insert intersect into is
    join lateral left like not null of on or order outer over partition qualify revoke right select
    set table tablesample then to transform truncate union uniquejoin update using values when where
    window with""".split()  # noqa: SIM905 - words read better than a list of strings
    )
    | INSIDE_WORDS
)


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "quoted name"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"
    ROWS = "rows of constants"
    MEMBERS = "values of IN"
    END = "end of statement"


@dataclass(frozen=True, slots=True)
class Token:
    """``value`` is the meaning: lower-case word, name without backquotes, unescaped string."""

    kind: Kind
    text: str
    value: str
    start: int

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.start + len(self.text)

    def is_(self, word: str) -> bool:
        """Tell whether this is the given unquoted word (lower case) or symbol.

        What Hive's scanner takes for the same token is the same here: ``==`` is ``=``.
        """
        is_same = self.value == word or (word in _SPELLINGS and self.value == _SPELLINGS[word])
        return is_same and self.kind in (Kind.WORD, Kind.SYMBOL)

    @property
    def is_name(self) -> bool:
        """Tell whether it may name something."""
        return self.kind is Kind.QUOTED or (self.kind is Kind.WORD and self.value not in RESERVED)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the statement, lower case, and its offset."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as the statement names it; ``database`` is None for the current one."""

    database: Name | None
    name: Name
    start: int
    end: int
    catalog: Name | None = None
    """A catalog of Spark, where a query reads from it."""

    def full(self, database: str) -> TableName:
        """Return the full name, given the current database; blanks around it do not count."""
        return TableName(self.database.text if self.database else database, self.name.text.strip())


def at(
    error: HiveSqlError, text: StatementText, start: int, end: int | None = None
) -> HiveSqlError:
    """Place an error in the script; without an end, at the name that starts there.

    What is about a column is placed where a statement that starts there names it last.
    """
    if error.about is not None:
        start, end = _last_name(text, error.about, start), None
    if end is None:
        end = _end_of_name(text.text, start)
    return error.at(
        text.file, *text.place(start), text.end_place(max(start + 1, end)),
        text=text.text if text.is_of_view else None,
    )  # fmt: skip


def at_fragment(error: HiveSqlError, text: StatementText) -> HiveSqlError:
    """Place an error where the statement has what Spark calls it about, else at its start.

    Spark was given other words for some of it: the longest part that is alike counts, if it is
    there once.
    """
    span = _span_of(error.fragment, text) if error.fragment and error.line is None else None
    return at(error, text, *span) if span else error.at(text.file, text.line, text.column)


def _span_of(fragment: str, text: StatementText) -> tuple[int, int] | None:
    try:
        ours, theirs = tokenize(text)[:-1], tokenize(StatementText(fragment))[:_MOST_COMPARED]
    except HiveSqlError:
        return None
    if len(ours) > _LONGEST_COMPARED:
        return None
    words, others = ([token.value.lower() for token in tokens] for tokens in (ours, theirs))
    alike = SequenceMatcher(None, words, others, autojunk=False).find_longest_match()
    part = words[alike.a : alike.a + alike.size]
    is_telling = any(
        token.is_name or token.kind in (Kind.STRING, Kind.NUMBER)
        for token in ours[alike.a : alike.a + alike.size]
    )
    starts = range(len(words) - alike.size + 1)
    times = sum(words[start : start + alike.size] == part for start in starts)
    if not is_telling or times != 1:
        return None
    start = alike.a
    if ours[start].is_("(") and start > 0 and ours[start - 1].is_name:
        # Spark knows the function by another name.
        start -= 1
    return ours[start].start, ours[alike.a + alike.size - 1].end


def _last_name(text: StatementText, name: str, start: int) -> int:
    """Return the offset of the last token of that name from ``start`` on, else ``start``."""
    places = (
        token.start
        for token in tokenize(text)
        if token.start > start and token.is_name and token.value.lower() == name
    )
    return max(places, default=start)


def _end_of_name(sql: str, start: int) -> int:
    """Tell where the token that starts here ends, or the row of names with dots between them."""
    token = _token_at(sql, start, None) if start < len(sql) else None
    if token is None:
        return start + 1
    while token.is_name and sql[token.end : token.end + 1] == ".":
        after = _token_at(sql, token.end + 1, token) if token.end + 1 < len(sql) else None
        if after is None or not after.is_name:
            break
        token = after
    return token.end


def tokenize(text: StatementText, *, every_row: bool = False) -> tuple[Token, ...]:
    """All tokens without comments; the last one is the end.

    Long rows of constants, and long lists behind IN, are one token, but for ``every_row``.
    Unknown characters are errors, and so is what is nested more than ``MOST_NESTED`` levels deep.
    """
    tokens: list[Token] = []
    depth = _Depth()
    sql, position = text.text, 0
    tail: tuple[int, int] | None = None
    while True:
        if tail and position == tail[0]:
            tokens.append(_constants(sql, *tail))
            position = tail[1]
        blank = _BLANK.match(sql, position)
        position = blank.end() if blank else position
        if position >= len(sql):
            return (*tokens, Token(Kind.END, "", "", len(sql)))
        token = _token_at(sql, position, tokens[-1] if tokens else None)
        if token is None:
            raise at(_unreadable(sql, position), text, position)
        if token.value in _NESTING and depth.after(token, tokens) > MOST_NESTED:
            problem = ParseError(f"nested too deeply: more than {MOST_NESTED} levels")
            raise at(problem, text, token.start, token.end)
        if token.kind is Kind.NUMBER and len(token.text) > LONGEST_NUMBER:
            problem = ParseError(
                f"a number of {len(token.text)} characters: at most {LONGEST_NUMBER} are read, "
                f"and no type holds more than {MOST_DIGITS} digits"
            )
            raise at(problem, text, token.start, token.end)
        tokens.append(token)
        position = token.end
        if token.is_("values") and not every_row:
            # Imported late: what only VALUES needs.
            from hivesql.dialect.plain_rows import plain_tail

            tail = plain_tail(sql, position)
        elif token.value == "(" and not every_row and len(tokens) > 1 and tokens[-2].is_("in"):
            from hivesql.dialect.plain_rows import members_tail

            tail = members_tail(sql, position)


def _constants(sql: str, start: int, end: int) -> Token:
    """Make one token of rows, which begin with a comma, or of the values of IN."""
    text = sql[start:end]
    values = text.lstrip()
    if values[0] == ",":
        return Token(Kind.ROWS, text, "", start)
    return Token(Kind.MEMBERS, values, "", end - len(values))


class _Depth:
    """How many brackets and CASEs are open, and how long the row of signs before an operand is."""

    def __init__(self) -> None:
        self._open = dict.fromkeys((*_OPENED_BY.values(), ">"), 0)
        self._signs = 0

    def after(self, token: Token, before: Sequence[Token]) -> int:
        """Go over one of the tokens of ``_NESTING``; the levels that it is in."""
        if token.kind in (Kind.WORD, Kind.SYMBOL):
            if token.value in _SIGNS:
                in_row = bool(before) and before[-1].value in _SIGNS
                self._signs = self._signs + 1 if in_row else 1
            elif token.value in _OPENED_BY:
                self._open[_OPENED_BY[token.value]] += 1
            elif token.value == "<" and before and before[-1].value in NESTED_TYPES:
                self._open[">"] += _WEIGHT_OF_TYPES
            elif token.value == ">":
                self._open[">"] = max(0, self._open[">"] - _WEIGHT_OF_TYPES)
            elif self._open.get(token.value):
                self._open[token.value] -= 1
        return sum(self._open.values()) + self._signs


def first_from(tokens: Sequence[Token], offset: int) -> int:
    """Find the first token from the offset on; its index, at most the last one's."""
    return bisect_left(tokens, offset, hi=len(tokens) - 1, key=attrgetter("start"))


def _token_at(sql: str, position: int, previous: Token | None) -> Token | None:
    char = sql[position]
    if char == "/" and sql.startswith("/*", position):
        return None
    if char in "'\"" and (match := _STRING.match(sql, position)):
        return Token(Kind.STRING, match[0], unescape(match[0]), position)
    if char == "`" and (match := _QUOTED.match(sql, position)):
        return Token(Kind.QUOTED, match[0], match[0][1:-1].replace("``", "`").lower(), position)
    # After `t.` digits start a name: t.2b
    after_dot = previous is not None and previous.text == "." and previous.end == position
    touches = previous is not None and previous.end == position and previous.kind is not Kind.SYMBOL
    may_be_number = not after_dot and not (char == "." and touches)
    if may_be_number and (match := _NUMBER.match(sql, position)):
        return Token(Kind.NUMBER, match[0], match[0].lower(), position)
    if match := _WORD.match(sql, position):
        return Token(Kind.WORD, match[0], match[0].lower(), position)
    if match := _SYMBOL.match(sql, position):
        return Token(Kind.SYMBOL, match[0], match[0], position)
    return None


def _unreadable(sql: str, position: int) -> ParseError:
    if sql[position] == "/":
        return ParseError("the comment /* is never closed")
    if sql[position] in "'\"`":
        quote = sql[position]
        return ParseError(f"the quote {quote} is never closed{within_text(quote)}")
    if sql.startswith("${", position):
        name = sql[position + 2 :].partition("}")[0]
        return ParseError(
            f"the variable ${{{name}}} is not set: SET hivevar:{name.removeprefix('hivevar:')}=…, "
            "or -d on the command line"
        )
    return ParseError(f"unexpected character {sql[position]!r}{_plainer(sql[position])}")


def _plainer(character: str) -> str:
    """Say what to type for a character that a word processor has put there."""
    import unicodedata

    plain = _TYPOGRAPHIC.get(character) or unicodedata.normalize("NFKC", character)
    return f": type {plain}" if plain != character and plain.isascii() else ""


def unescape(quoted: str) -> str:
    """Return the value of a string literal, by Hive's escapes."""

    def character(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "u" and len(code) == 5:
            return chr(int(code[1:], 16))
        if len(code) == 3:
            return chr(int(code, 8))
        return _ESCAPES.get(code, code)

    text = _ESCAPE.sub(character, quoted[1:-1])
    # Java's strings are UTF-16: two halves are one character, and half a one is shown as ?
    return _SURROGATES.sub(_character, text) if "\\u" in quoted else text


def _character(halves: re.Match[str]) -> str:
    pair = halves[0].encode("utf-16-be", "surrogatepass")
    return pair.decode("utf-16-be") if len(halves[0]) == 2 else "?"


class Cursor:
    """Reads a statement's tokens from left to right; everything wrong is a placed ParseError."""

    def __init__(self, text: StatementText, tokens: tuple[Token, ...] | None = None) -> None:
        self.text = text
        self.tokens: tuple[Token, ...] = tokens or tokenize(text)
        self.position: int = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return the next token, or one further on."""
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def next(self) -> Token:
        """Take one token."""
        token = self.peek()
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def at(self, *keywords: str) -> bool:
        """Tell whether these words or symbols follow."""
        return all(self.peek(i).is_(word) for i, word in enumerate(keywords))

    def take(self, *keywords: str) -> bool:
        """Take these words or symbols if they follow."""
        if not self.at(*keywords):
            return False
        self.position += len(keywords)
        return True

    def expect(self, *keywords: str) -> Token:
        """Take these words or symbols, or fail; the first of them."""
        first = self.peek()
        for word in keywords:
            if not self.peek().is_(word):
                self.fail(f"expected {word.upper()}")
            self.position += 1
        return first

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise a ParseError that points at a token (the next one by default)."""
        token = token or self.peek()
        what = f"{token.text!r}" if token.text else "the end of the statement"
        raise at(ParseError(f"{message}, found {what}"), self.text, token.start, token.end)

    def refuse(self, feature: str, token: Token | None = None) -> NoReturn:
        """Raise NotSupported by the name of the feature."""
        token = token or self.peek()
        raise at(NotSupported(feature), self.text, token.start, token.end)

    @property
    def last_end(self) -> int:
        """The offset behind the token that was taken last."""
        return self.tokens[self.position - 1].end if self.position else 0

    @property
    def at_end(self) -> bool:
        """Tell whether everything has been read."""
        return self.peek().kind is Kind.END

    def end(self) -> None:
        """Fail unless everything has been read."""
        if not self.at_end:
            self.fail("expected the end of the statement")

    def name(self, what: str = "a name") -> Name:
        """Take a name."""
        token = self.peek()
        if not token.is_name:
            self.fail(f"expected {what}")
        self.position += 1
        return Name(token.value, token.start)

    def new_column(self) -> Name:
        """Take the name of a column that the statement makes: Hive's grammar refuses dots here."""
        token = self.peek()
        if token.kind is Kind.QUOTED and (
            not token.value or frozenset(".:") & frozenset(token.value)
        ):
            self.fail("[., :] can not be used in column name in create table statement")
        return self.name("a column name")

    def names(self, what: str = "a column name") -> tuple[Name, ...]:
        """Take ``(a, b, …)``."""
        self.expect("(")
        names = [self.name(what)]
        while self.take(","):
            names.append(self.name(what))
        self.expect(")")
        return tuple(names)

    def table(self, *, of_spark: bool = False) -> TableRef:
        """Take ``t`` or ``db.t``; ``of_spark`` takes ``catalog.db.t`` too, which it alone reads."""
        start = self.peek().start
        name = self.name("a table name")
        catalog, database = None, None
        if self.take("."):
            database, name = name, self.name("a table name")
        if self.at(".") and not of_spark:
            self.refuse("names of three parts (metadata tables and branches)")
        if self.take("."):
            catalog, database, name = database, name, self.name("a table name")
        return TableRef(database, name, start, self.last_end, catalog)

    def string(self, what: str = "a string") -> str:
        """Take a string; adjacent ones are one, as in Hive."""
        if self.peek().kind is not Kind.STRING:
            self.fail(f"expected {what}")
        parts = []
        while self.peek().kind is Kind.STRING:
            parts.append(self.next().value)
        return "".join(parts)

    def location(self) -> str:
        """Take the text of a place, which must not be empty."""
        token = self.peek()
        text = self.string()
        if not text.strip():
            error = SemanticError("Can not create a Path from an empty string: name a place")
            raise at(error, self.text, token.start, token.end)
        return text

    def integer(self, what: str = "a whole number") -> int:
        """Take a whole number, of 64 bits at most as those of Hive and of databases are."""
        token = self.peek()
        if token.kind is not Kind.NUMBER or not token.text.isdigit():
            self.fail(f"expected {what}")
        if int(token.text) > _LARGEST:
            self.fail(f"expected {what} up to {_LARGEST}")
        self.position += 1
        return int(token.text)

    def skip_group(self) -> None:
        """Take a bracketed group, nested ones included."""
        self.expect("(")
        opened = self.tokens[self.position - 1]
        depth = 1
        while depth:
            token = self.next()
            if token.kind is Kind.END:
                self.fail("the bracket is never closed", opened)
            depth += token.is_("(") - token.is_(")")

    def find(self, *stops: str) -> int:
        """Move to the next of these words outside brackets and CASE (or to the end).

        Returns the offset after the last token passed over.
        """
        cases = 0
        while not self.at_end:
            token = self.peek()
            if not cases and token.kind is not Kind.STRING and token.value in stops \
                    and token.kind is not Kind.QUOTED:  # fmt: skip
                break
            if token.is_("("):
                self.skip_group()
                continue
            if token.is_(")"):
                break
            cases += token.is_("case") - (token.is_("end") and cases > 0)
            self.position += 1
        return self.last_end
