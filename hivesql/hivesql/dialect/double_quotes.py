"""Names in double quotes, which hive.support.quoted.identifiers=standard has."""

from __future__ import annotations

import re
from dataclasses import replace

from hivesql.script import StatementText, is_processor
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.settings.settings import Settings

_PIECE = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`|\"(?P<name>(?:[^\"]|\"\")*)\"", re.DOTALL
)


def with_back_quotes(text: StatementText, settings: Settings) -> StatementText:
    """Return the statement with back quotes around what stands in double ones, if these are names.

    Texts have single quotes then. Each character knows its place as before.
    """
    standard = settings.text("hive.support.quoted.identifiers").strip().lower() == "standard"
    if not standard or '"' not in text.text or is_processor(text.text, 0):
        return text
    before = text.origins or range(len(text.text))
    pieces: list[str] = []
    origins: list[int] = []
    reached = 0
    for match in _PIECE.finditer(text.text):
        if match["name"] is None:
            continue
        start, end = match.span()
        name = quote_name(match["name"].replace('""', '"'))
        pieces += [text.text[reached:start], name]
        origins += before[reached:start]
        origins += (before[min(start + i, end - 1)] for i in range(len(name) - 1))
        origins.append(before[end - 1])
        reached = end
    pieces.append(text.text[reached:])
    origins += before[reached:]
    source = text.text if text.source is None else text.source
    return replace(text, text="".join(pieces), source=source, origins=tuple(origins))
