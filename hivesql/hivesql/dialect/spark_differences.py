"""Where Hive's query text and Spark's differ: translated in place, or refused by name.

Works on tokens, so that everything else of the user's text reaches Spark untouched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from hivesql.dialect.edits import Edit, Spans, insert
from hivesql.dialect.plain_rows import number_edits
from hivesql.dialect.tokens import NESTED_TYPES, UNITS, Kind, Token, at, first_from
from hivesql.script import StatementText
from hivesql_planner.errors import NotSupported, ParseError, SemanticError

_Tokens = list[Token]
# What brackets follow that are no call's.
_BEFORE_BRACKETS = frozenset(
    "select distinct all and or not where when then else on having + - , ( = < > <= >= <>".split()  # noqa: SIM905
)
_RANGES = (("year", "to", "month"), ("day", "to", "second"))
_OPERATIONS = ("union", "intersect", "except", "minus")
_AFTER_OPERATION = ("all", "distinct", "select", "from", "values", "table", "(")
_Pattern = tuple[tuple[str | Kind, ...], str]
# Each pattern is a row of words (choices by |) or kinds of tokens.
_REFUSED: tuple[_Pattern, ...] = (
    (("uniquejoin",), "UNIQUEJOIN"),
    (("between", "symmetric"), "BETWEEN SYMMETRIC"),
    (("(", "on"), "table functions with ON (partitioned table functions)"),
    (("matchpath", "("), "matchpath"),
    (("tablesample", "(", Kind.WORD), "TABLESAMPLE by size"),
    (
        ("row__offset__inside__block|raw__data__size|"
         "partition__spec__id|partition__hash|partition__projection",),
        "the virtual column",
    ),
)  # fmt: skip
# Types of which Hive's grammar has no literal.
_NO_LITERALS = frozenset(
    ("bigint", "binary", "boolean", "char", "dec", "decimal", "double", "float", "int", "integer",
     "numeric", "real", "smallint", "string", "time", "timestamp_ltz", "tinyint", "varchar")
)  # fmt: skip
_OF_TEXTS = frozenset({"date", "timestamp", "timestamplocaltz"})
_ENDS_OF_TABLES = frozenset({"select", "where", "group", "having", "on", "by", "set", "values"})
_BYTES = re.compile("0[xX](?:[0-9a-fA-F]{2})+")
_PROPERTY: tuple[str | Kind, ...] = ("(", Kind.STRING, "=", Kind.STRING)
_REFUSED_BY_WORD: dict[str, list[_Pattern]] = {}
for _one in _REFUSED:
    for _word in str(_one[0][0]).split("|"):
        _REFUSED_BY_WORD.setdefault(_word, []).append(_one)


def tokens_in(tokens: tuple[Token, ...], spans: Spans) -> _Tokens:
    """Return the tokens that lie in the spans."""
    inside: _Tokens = []
    for start, end in spans:
        inside += tokens[first_from(tokens, start) : first_from(tokens, end)]
    return inside


def check_slice(text: StatementText, tokens: _Tokens) -> list[Edit]:
    """Tell what sqlglot shall read in place of some of the tokens.

    Raises NotSupported for what has no counterpart in Spark, ParseError for what is none of Hive's.
    """
    _refuse(text, tokens)
    for token, after in pairwise(tokens):
        if token.kind is not Kind.WORD or after.kind not in (Kind.STRING, Kind.NUMBER):
            continue
        is_type = token.value in _NO_LITERALS or token.value in NESTED_TYPES
        if is_type or (token.value in _OF_TEXTS and after.kind is Kind.NUMBER):
            problem = ParseError(f"unexpected constant after {token.text}: use CAST")
            raise at(problem, text, after.start, after.end)
    try:
        return sorted((*_same_length(tokens), *_readable(tokens)))
    except SemanticError as error:
        raise at(error, text, tokens[0].start, tokens[-1].end) from error


def _refuse(text: StatementText, tokens: _Tokens) -> None:
    nested = 0
    for i, token in enumerate(tokens):
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        for pattern, feature in _patterns_from(token):
            if _matches(tokens, i, ("tablesample", "(", "bucket")):
                continue
            if _matches(tokens, i, pattern):
                name = f" {token.text}" if feature == "the virtual column" else ""
                raise at(NotSupported(feature + name), text, token.start)
        if token.kind is not Kind.SYMBOL:
            continue
        if token.is_("<") and (nested or (i and tokens[i - 1].value in NESTED_TYPES)):
            nested += 1
        elif token.is_(">") and nested:
            nested -= 1
        is_field = token.is_(":") and nested > 0
        if (token.is_(":") and not is_field) or (token.is_("-") and after and after.is_(">")):
            raise at(ParseError(f"unexpected {token.text!r}"), text, token.start)


def _patterns_from(token: Token) -> Iterable[_Pattern]:
    if token.kind is Kind.STRING:
        return ()
    return _REFUSED_BY_WORD.get(token.value, ())


def bare_intervals(tokens: _Tokens) -> Iterator[tuple[Token, Token]]:
    """Yield first token and unit of every ``1 DAY``, ``'1' DAY`` and ``(1) DAY``.

    Spark would see an alias. The unit of ``'1-2' YEAR TO MONTH`` is the last of its words.
    """
    before = ""
    for i, (opened, value, closed, unit) in enumerate(
        zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False)
    ):
        is_value = value.kind in (Kind.NUMBER, Kind.STRING) and closed.is_(")")
        is_unit = unit.kind is Kind.WORD and unit.value in UNITS
        if opened.is_("(") and is_value and is_unit and before in _BEFORE_BRACKETS:
            yield opened, _last_of_unit(tokens, i + 3)
        before = opened.value if opened.kind in (Kind.WORD, Kind.SYMBOL) else ""
    before = ""
    for i, (token, after) in enumerate(pairwise(tokens)):
        is_unit = after.kind is Kind.WORD and after.value in UNITS
        is_value = token.kind is Kind.NUMBER and before != "interval" and before not in UNITS
        # A text behind any other word or text is a part of what has that alias: DATE '…' day
        is_value = is_value or (token.kind is Kind.STRING and before in _BEFORE_BRACKETS)
        if is_value and is_unit:
            yield token, _last_of_unit(tokens, i + 1)
        before = "" if token.kind is Kind.STRING else token.value


def _last_of_unit(tokens: _Tokens, i: int) -> Token:
    words = tuple(token.value for token in tokens[i : i + 3] if token.kind is Kind.WORD)
    return tokens[i + 2] if words in _RANGES else tokens[i]


def _matches(tokens: _Tokens, i: int, pattern: tuple[str | Kind, ...]) -> bool:
    if i + len(pattern) > len(tokens):
        return False
    for token, expected in zip(tokens[i : i + len(pattern)], pattern, strict=True):
        if isinstance(expected, Kind):
            if token.kind is not expected:
                return False
        elif token.kind is Kind.STRING or token.value not in expected.split("|"):
            return False
    return True


def _same_length(tokens: _Tokens) -> Iterator[Edit]:
    if tokens and (tokens[0].is_("values") or len(tokens) == 1):
        yield from (Edit(t.start, t.end, "NULL") for t in tokens if t.is_("default"))
    for token, bracket, values in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.is_("table") and bracket.is_("(") and values.is_("values"):
            yield Edit(token.start, token.end, "")

    for first, last in _table_properties(tokens):
        yield Edit(tokens[first].start, tokens[last].end, "")


def _table_properties(tokens: _Tokens) -> Iterator[tuple[int, int]]:
    """Yield where the brackets of ``FROM t('key'='value', …)`` are, which Hive hardly looks at."""
    for i in range(1, len(tokens)):
        # Of a long list of values few tokens are looked at closer.
        if not (tokens[i].value == "(" and tokens[i - 1].is_name):
            continue
        if not (_matches(tokens, i, _PROPERTY) and _names_table(tokens, i - 1)):
            continue
        last = i + 4
        while _matches(tokens, last, (",", *_PROPERTY[1:])):
            last += 4
        if last < len(tokens) and tokens[last].is_(")"):
            yield i, last


def _names_table(tokens: _Tokens, i: int) -> bool:
    """Tell whether the name that ends at a token is that of a table in FROM."""
    while i > 1 and tokens[i].is_name and tokens[i - 1].is_("."):
        i -= 2
    if not tokens[i].is_name or not i:
        return False
    depth = 0
    for before in reversed(tokens[:i]):
        depth += before.is_(")") - before.is_("(")
        if before.is_("from") or before.is_("join"):
            return True
        if depth < 0 or not (depth or before.is_(",") or tokens[i - 1].is_(",")):
            return False
        if not depth and before.kind is Kind.WORD and before.value in _ENDS_OF_TABLES:
            return False
    return False


def _programs(tokens: _Tokens) -> Iterator[tuple[Token, Token]]:
    """Yield MAP and REDUCE of ``MAP a, b USING '…'``, and what follows the expressions."""
    for i, token in enumerate(tokens):
        is_clause = _matches(tokens, i, ("map", "keys", "terminated"))
        if is_clause or not (token.is_("map") or token.is_("reduce")):
            continue
        depth, end = 0, None
        for j in range(i + 1, len(tokens) - 1):
            depth += tokens[j].is_("(") - tokens[j].is_(")")
            if depth < 0 or (not depth and tokens[j].value in ("select", "from", "where")):
                break
            if depth:
                continue
            if end is None and (
                _matches(tokens, j, ("row", "format")) or tokens[j].is_("recordwriter")
            ):
                end = tokens[j]
            if _matches(tokens, j, ("using", Kind.STRING)):
                if j > i + 1:
                    yield token, end or tokens[j]
                break


def _texts_of_bytes(tokens: _Tokens) -> Iterator[tuple[int, int, str]]:
    """Yield places of ``_UTF-8 0xC3A9`` and the string literals that these are.

    Raises SemanticError for a charset that nobody knows.
    """
    for i, token in enumerate(tokens):
        if token.kind is not Kind.WORD or token.text[0] != "_":
            continue
        j = i + 1
        while j < len(tokens) and tokens[j].start == tokens[j - 1].end:
            j += 1
        if j == len(tokens) or not _BYTES.fullmatch(tokens[j].text):
            continue
        charset = "".join(part.text for part in tokens[i:j])[1:]
        try:
            # Without a mark Java takes the higher byte for the first.
            codec = "utf-16-be" if charset.lower() == "utf-16" else charset
            text = bytes.fromhex(tokens[j].text[2:]).decode(codec, "replace")
        except (LookupError, ValueError) as error:
            problem = SemanticError(f"{charset} {tokens[j].text} is no text: {error}")
            raise problem from error
        literal = re.sub(r"(['\\\\])", r"\\\1", text)
        yield token.start, tokens[j].end, f"'{literal}'"


def _empty_groups(tokens: _Tokens) -> Iterator[Edit]:
    """Leave out ``GROUP BY ()``, which changes nothing in Hive, and which Spark cannot read."""
    for i, token in enumerate(tokens):
        if token.is_("group") and _matches(tokens, i, ("group", "by", "(", ")")):
            yield Edit(token.start, tokens[i + 3].end, "")


def _readable(tokens: _Tokens) -> Iterator[Edit]:
    yield from _empty_groups(tokens)
    for start, end, literal in _texts_of_bytes(tokens):
        # Two strings that are one, and as long as what they stand for.
        yield Edit(start, end, literal.ljust(end - start - 2) + "''")
    for program, behind in _programs(tokens):
        # As SELECT TRANSFORM (…), which means the same; Spark knows the words themselves.
        yield Edit(program.start, program.end, "SELECT TRANSFORM (")
        yield insert(behind.start, ")")
    for token, after in pairwise(tokens):
        if token.is_("format") and after.kind is Kind.STRING:
            yield Edit(token.start, after.end, "")
        if token.is_("timestamplocaltz") and after.kind is Kind.STRING:
            yield Edit(token.start, token.end, "TIMESTAMP")
        elif token.is_("timestamplocaltz") and after.is_(")"):
            # The type of a cast; as a function or a name it is what it says.
            yield Edit(token.start, token.end, "TIMESTAMP_LTZ".ljust(token.end - token.start))
    for number, unit in bare_intervals(tokens):
        # A call that is as long: i(   )
        yield Edit(number.start, unit.end, "i(".ljust(unit.end - number.start - 1) + ")")


@dataclass(slots=True)
class _Operands:
    """What stands between two brackets: where its query begins, what was united in it so far."""

    start: int | None = None
    has_with: bool = False
    is_begun: bool = False
    is_united: bool = False


def _brackets_of_operations(tokens: _Tokens) -> Iterator[Edit]:
    """Let INTERSECT have all that is before it, as in Hive: in Spark it binds closer."""
    if not any(token.value == "intersect" for token in tokens):
        return
    inside = [_Operands()]
    for i, token in enumerate(tokens):
        query = inside[-1]
        before = tokens[i - 1] if i else token
        after = tokens[i + 1] if i + 1 < len(tokens) else token
        if not query.is_begun and token.is_("with"):
            query.has_with = True
        elif query.start is None and (not query.has_with or _begins_query(token, before)):
            query.start = token.start
        query.is_begun = True
        if token.is_("("):
            inside.append(_Operands())
        elif token.is_(")") and len(inside) > 1:
            inside.pop()
        elif token.kind is not Kind.WORD or token.value not in _OPERATIONS:
            continue
        elif after.value in _AFTER_OPERATION and query.start is not None:
            if token.is_("intersect") and query.is_united:
                yield insert(query.start, "(")
                yield insert(token.start, ") ")
            query.is_united = not token.is_("intersect")


def _begins_query(token: Token, before: Token) -> bool:
    """Tell whether the query after WITH begins here."""
    opened = token.is_("(") and before.is_(")")
    return opened or (token.kind is Kind.WORD and token.value in _AFTER_OPERATION)


def spark_edits(tokens: _Tokens) -> list[Edit]:
    """Return the edits that make Spark SQL of a slice's tokens."""
    edits = [*_same_length(tokens), *_brackets_of_operations(tokens), *_empty_groups(tokens)]
    edits += [Edit(start, end, literal) for start, end, literal in _texts_of_bytes(tokens)]
    for i, token in enumerate(tokens):
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        if token.is_("timestamplocaltz") and after and after.kind is Kind.STRING:
            edits.append(Edit(token.start, token.end, "TIMESTAMP_LTZ"))
        elif token.kind is Kind.STRING and after and after.kind is Kind.STRING:
            # Touching strings are one string to Hive; to Spark the quotes would be doubled.
            edits.append(Edit(token.end, after.start, " "))
        elif token.kind is Kind.ROWS:
            edits += number_edits(token.text, token.start)
        elif token.is_("natural"):
            edits.append(Edit(token.start, token.end, "`natural`"))
        elif token.is_("cluster") and i and tokens[i - 1].is_("("):
            # In a window: to Hive it is an order too, of which all rows of a part are at one place.
            edits.append(Edit(token.start, token.end, "PARTITION"))
        elif token.is_("grouping__id"):
            edits.append(Edit(token.start, token.end, "grouping_id()"))
        elif token.is_("limit") and _matches(tokens, i + 2, (",", Kind.NUMBER)):
            first, second = tokens[i + 1], tokens[i + 3]
            edits.append(Edit(first.start, second.end, f"{second.text} OFFSET {first.text}"))
    return edits
