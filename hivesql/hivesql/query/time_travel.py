"""FOR SYSTEM_TIME AS OF and FOR SYSTEM_VERSION AS OF, behind a table's name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import NamedTuple

from hivesql.binding import Binding
from hivesql.dialect.tokens import Kind, Token, first_from
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.table import Table
from hivesql_planner.older_python import read_datetime
from hivesql_planner.relations import AsOf
from hivesql_planner.settings.session_zone import fixed_zone

_UNITS = ("seconds", "minutes", "hours", "days", "weeks")
# FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP ( ) - INTERVAL 'n' DAYS
_LONGEST = 11


class Clause(NamedTuple):
    """What a table is read as of, and where the clause stands in the text."""

    as_of: AsOf
    start: int
    end: int


def name_end(binding: Binding, end: int) -> int:
    """Tell where such a clause goes: after a table's name and its TABLESAMPLE (…)."""
    tokens = binding.tokens
    after = first_from(tokens, end)
    if not tokens[after].is_("tablesample"):
        return end
    depth = 0
    for token in islice(tokens, after, None):
        depth += token.is_("(") - token.is_(")")
        if token.is_(")") and not depth:
            return token.end
    return end


def clause_after(binding: Binding, table: Table, end: int) -> Clause | None:
    """Return the clause that follows a table's name, if there is one."""
    first = first_from(binding.tokens, end)
    tokens = binding.tokens[first : first + _LONGEST]
    if len(tokens) < 5 or not tokens[0].is_("for"):
        return None
    is_version = tokens[1].is_("system_version")
    if not (is_version or tokens[1].is_("system_time")):
        return None
    if not table.is_transactional:
        error = SemanticError(
            f"{table.name} is not transactional: it has no earlier states to read"
        )
        binding.fail(error, tokens[0].start)
    as_of, last = _version(binding, tokens) if is_version else _time(binding, tokens)
    return Clause(as_of, tokens[0].start, last.end)


def _version(binding: Binding, tokens: Sequence[Token]) -> tuple[AsOf, Token]:
    token = tokens[4]
    digits = token.text.rstrip("Ll")
    if token.kind is not Kind.NUMBER or not digits.isdigit():
        binding.fail(NotSupported("SYSTEM_VERSION AS OF anything but a write id"), token.start)
    return AsOf(write_id=int(digits)), token


def _time(binding: Binding, tokens: Sequence[Token]) -> tuple[AsOf, Token]:
    token = tokens[4]
    if token.is_("current_timestamp"):
        return _before_now(binding, tokens)
    if token.is_("timestamp") and len(tokens) > 5:
        token = tokens[5]
    if token.kind is not Kind.STRING:
        binding.fail(NotSupported("SYSTEM_TIME AS OF anything but a constant"), token.start)
    try:
        time = read_datetime(token.value)
    except ValueError:
        error = SemanticError(f"'{token.value}' is not a timestamp: write yyyy-MM-dd HH:mm:ss")
        binding.fail(error, token.start)
    return AsOf(
        time=time if time.tzinfo else time.replace(tzinfo=fixed_zone(binding.settings))
    ), token


def _before_now(binding: Binding, tokens: Sequence[Token]) -> tuple[AsOf, Token]:
    """``CURRENT_TIMESTAMP [- INTERVAL 'n' unit]``."""
    now, last, rest = datetime.now(timezone.utc), tokens[4], tokens[5:]
    if len(rest) > 1 and rest[0].is_("(") and rest[1].is_(")"):
        last, rest = rest[1], rest[2:]
    if not rest or not (rest[0].is_("-") or rest[0].is_("+")):
        return AsOf(time=now), last
    words = [token.value for token in rest[1:4]]
    unit = words[-1].rstrip("s") + "s" if len(words) == 3 else ""
    if words[:1] != ["interval"] or unit not in _UNITS or not words[1].isdigit():
        text = "SYSTEM_TIME AS OF anything but a constant or CURRENT_TIMESTAMP - INTERVAL 'n' unit"
        binding.fail(NotSupported(text), rest[0].start)
    try:
        back = timedelta(**{unit: int(words[1])})
        time = now - back if rest[0].is_("-") else now + back
    except (OverflowError, ValueError):
        problem = f"{rest[2].text} {unit} lead out of the years 1 to 9999: name a shorter time"
        binding.fail(SemanticError(problem), rest[2].start)
    return AsOf(time=time), rest[3]
