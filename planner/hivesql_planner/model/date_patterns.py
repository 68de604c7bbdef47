"""Patterns of dates and times: those of Hive (java.time's) by Spark, which lacks some letters."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"'[^']*'|([A-Za-z])\1*|[^A-Za-z']+|'")
_UNKNOWN = re.compile(r"[@YwWecABNnpI]|M{5}|E{5}|L{5}|[^\x00-\x7f]")
_DAY = "CAST({0} AS DATE)"
# Weeks of the United States, as Hive has them: from Sunday on, and the first has January 1.
_SATURDAY = f"date_add({_DAY}, 7 - dayofweek({_DAY}))"
_WEEK = f"((dayofyear({_SATURDAY}) - 1) DIV 7 + 1)"
_WEEK_OF_MONTH = f"((day({_DAY}) + dayofweek(trunc({_DAY}, 'MM')) - 2) DIV 7 + 1)"
_MICROSECONDS = "unix_micros(CAST({0} AS TIMESTAMP))"
_IN_DAY = f"pmod({_MICROSECONDS}, 86400000000)"
_PARTS_OF_DAY = {
    "n": f"(pmod({_MICROSECONDS}, 1000000) * 1000)",
    "A": f"({_IN_DAY} DIV 1000)",
    "N": f"({_IN_DAY} * 1000)",
}
_MOST_DIGITS = 19
_LACKED = {
    **{
        letter * width: f"lpad({part}, greatest({width}, length({part})), '0')"
        for letter, part in _PARTS_OF_DAY.items()
        for width in range(1, _MOST_DIGITS + 1)
    },
    "YY": f"lpad(pmod(year({_SATURDAY}), 100), 2, '0')",
    **{
        "Y" * width: f"lpad(year({_SATURDAY}), greatest({width}, length(year({_SATURDAY}))), '0')"
        for width in (1, 3, 4, 5, 6)
    },
    "w": f"CAST({_WEEK} AS STRING)",
    "ww": f"lpad({_WEEK}, 2, '0')",
    "W": f"CAST({_WEEK_OF_MONTH} AS STRING)",
    "e": f"CAST(dayofweek({_DAY}) AS STRING)",
    "ee": f"lpad(dayofweek({_DAY}), 2, '0')",
    "eee": "date_format({0}, 'E')",
    "eeee": "date_format({0}, 'EEEE')",
    **{letter * 5: f"substring(date_format({{0}}, '{letter * 4}'), 1, 1)" for letter in "MLE"},
    "c": f"CAST(dayofweek({_DAY}) AS STRING)",
}
"""The text of what Spark's patterns lack, of a moment ``{0}``."""
_WIDEST = {
    **dict.fromkeys("yuYAnNg", 19), "S": 9,
    **dict.fromkeys("GQqMLEecXxZ", 5), **dict.fromkeys("zOBv", 4), "D": 3,
    **dict.fromkeys("wdhHkKmsV", 2), **dict.fromkeys("aWF", 1),
}  # fmt: skip
"""How often java.time lets each of its letters be repeated at most."""
_NEVER = frozenset({"V", "cc", "OO", "OOO", "vv", "vvv", "BB", "BBB"})
_RESERVED = "{}#"


def problem_of(pattern: str) -> str | None:
    """Tell why java.time takes a pattern for none, in its words; None where it takes it."""
    bare = re.sub(r"'[^']*'", "", pattern)
    if "'" in bare:
        return "Pattern ends with an incomplete string literal"
    # A p pads what follows it.
    padded = re.sub(r"p+(?=[A-Za-oq-z])", "", bare)
    for match in re.finditer(r"([A-Za-z])\1*", padded):
        word, letter = match[0], match[1]
        if letter == "p":
            return f"Pad letter 'p' must be followed by valid pad pattern: {pattern}"
        if letter not in _WIDEST:
            return f"Unknown pattern letter: {letter}"
        if len(word) > _WIDEST[letter] and word != "BBBBB":
            return f"Too many pattern letters: {letter}"
        if word in _NEVER:
            return f"Pattern letter count must be another: {word}"
    reserved = next((sign for sign in bare if sign in _RESERVED), None)
    return f"Pattern includes reserved character: '{reserved}'" if reserved else None


def is_lacked(pattern: str) -> bool:
    """Tell whether a pattern has letters that neither Spark's have nor ``formatted`` writes."""
    tokens = [match[0] for match in _TOKEN.finditer(pattern)]
    return any(
        _UNKNOWN.search(token) for token in tokens if token[0] != "'" and token not in _LACKED
    )


def formatted(moment: str, pattern: str | None) -> str | None:
    """Write a moment by a pattern that Spark lacks letters of; None for others and no literals."""
    if pattern is None:
        return None
    tokens = [match[0] for match in _TOKEN.finditer(pattern)]
    if not any(token in _LACKED for token in tokens):
        return None
    parts: list[str] = []
    plain = ""
    for token in [*tokens, ""]:
        if token and token not in _LACKED:
            plain += token
            continue
        if plain:
            parts.append(f"date_format({moment}, {pattern_literal(plain)})")
            plain = ""
        if token:
            parts.append(_LACKED[token].format(moment))
    return f"concat({', '.join(parts)})"


def pattern_literal(text: str) -> str:
    """Return a pattern as Spark takes it, quoted."""
    pieces = re.split(r"('[^']*')", text)
    changed = "".join(p if p.startswith("'") else p.replace("u", "y") for p in pieces)
    return "'" + changed.replace("\\", "\\\\").replace("'", "\\'") + "'"
