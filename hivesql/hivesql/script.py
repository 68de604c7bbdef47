r"""A script as statements, each knowing where it came from.

Statements end with ``;`` outside quotes and comments; ``\;`` is a semicolon of the text. A line
that starts with ``!`` is a statement by itself. Variables are put in when a statement is reached,
so a SET earlier in the same script counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hivesql.script_file import read_script
from hivesql_executor.hadoop_user import system_user
from hivesql_planner.errors import ParseError

_SOURCE = re.compile(
    r"source\s+(?:(?P<quote>['\"])(?P<name>.*)(?P=quote)|(?P<plain>.*\S))\s*",
    re.IGNORECASE | re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{([^}$ ]+)\}")
_PROCESSOR = re.compile(r"(set|reset|add|list|delete|dfs|source)\b\s*(\S*)", re.IGNORECASE)
# Where a statement may end, or something begins in which it cannot.
_MARK = re.compile(r"[;'\"`\\/-]")
_LINE_END = re.compile(r"[\r\n]")
# By the quote, and whether SQL is quoted: an escape, the end, or the line's end.
_INSIDE = {
    (quote, is_sql): re.compile(escape + quote + ("" if is_sql else "|\n"), re.DOTALL)
    for quote, escape in (("'", r"\\.|"), ('"', r"\\.|"), ("`", ""))
    for is_sql in (True, False)
}
_RESOURCES = frozenset({"jar", "jars", "file", "files", "archive", "archives"})
_MOST_SUBSTITUTIONS = 40  # hive.variable.substitute.depth


@dataclass(frozen=True, slots=True)
class StatementText:
    """One statement without its ``;``, and the place of its first token (1-based).

    ``origins`` gives for each character of ``text`` its offset in ``source``, the statement as it
    was written, when variables or escapes made the two differ.
    """

    text: str
    file: str | None = None
    line: int = 1
    column: int = 1
    source: str | None = field(default=None, repr=False)
    origins: tuple[int, ...] | None = field(default=None, repr=False)
    is_of_view: bool = False
    """``file`` is no file: it names the view whose text this is."""

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column in the script of a character of ``text``."""
        if self.origins is not None:
            offset = self.origins[offset] if offset < len(self.origins) else len(self._written)
        return self._place_of_written(offset)

    def end_place(self, offset: int) -> tuple[int, int]:
        """Give the place behind the character before ``offset``, or behind its variable."""
        if self.origins is None:
            return self.place(offset)
        last = self.origins[min(offset, len(self.origins)) - 1] if offset and self.origins else 0
        variable = _VARIABLE.match(self._written, last)
        return self._place_of_written(variable.end() if variable else last + 1)

    def check_characters(self) -> None:
        """ParseError for a half of a surrogate pair, which no file, database or JVM takes."""
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            half = self.text[error.start]
            raise ParseError(
                f"{half!a} is a half of a character: it comes of bytes that are no UTF-8, or of a "
                "text that was cut within a character. Read the text in the encoding that it has"
            ).at(self.file, *self.place(error.start), self.end_place(error.start + 1)) from None

    @property
    def _written(self) -> str:
        return self.text if self.source is None else self.source

    def _place_of_written(self, offset: int) -> tuple[int, int]:
        source = self._written
        before = source[:offset]
        lines = before.count("\n")
        if lines == 0:
            return self.line, self.column + offset
        return self.line + lines, offset - before.rfind("\n")


def split(
    text: str,
    file: str | None,
    variables: Mapping[str, str],
    *,
    included: tuple[Path, ...] = (),
    reads_files: bool = True,
    most_characters: int | None = None,
) -> Iterator[StatementText]:
    """Yield the statements of a script; those of a file in SOURCE's place, if it ``reads_files``.

    ``variables`` has keys like ``hivevar:x`` and ``hiveconf:hive.y``; ``${x}`` looks for a hivevar
    first. A variable that is not set stays as it is written. ``included`` are the files that this
    text is being read for. ParseError for a statement that variables make longer than
    ``most_characters``.
    """
    text = text.removeprefix("\ufeff")
    line, line_start, position = 1, 0, 0
    while True:
        before = position
        try:
            position = _statement_start(text, position)
            line += text.count("\n", before, position)
            line_start = max(line_start, text.rfind("\n", before, position) + 1)
            if position >= len(text):
                return
            end = _statement_end(text, position)
        except _Unclosed as opened:
            raise _unclosed(text, opened.start, file) from None
        raw = text[position:end].rstrip()
        if raw:
            column = position - line_start + 1
            statement = _substituted(raw, file, line, column, variables, most_characters)
            match = _SOURCE.fullmatch(statement.text) if reads_files else None
            if match:
                yield from _sourced(match, statement, variables, included)
            else:
                yield statement
        line += text.count("\n", position, end + 1)
        line_start = max(line_start, text.rfind("\n", position, end + 1) + 1)
        position = end + 1


class _Unclosed(Exception):
    """The text ends inside the comment or the quote that starts here."""

    def __init__(self, start: int) -> None:
        self.start = start


def within_text(quote: str) -> str:
    """Say how a quote is written within a text of its kind, where it ended that too early."""
    if quote not in "'\"`":
        return ""
    return f"; within one it is written {'``' if quote == '`' else f'{chr(92)}{quote}'}"


def _unclosed(text: str, start: int, file: str | None) -> Exception:
    what = "comment /*" if text[start] == "/" else f"quote {text[start]}"
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start)
    width = 2 if text[start] == "/" else 1
    problem = ParseError(f"the {what} is never closed{within_text(text[start])}")
    return problem.at(file, line, column, (line, column + width))


def _sourced(
    match: re.Match[str],
    statement: StatementText,
    variables: Mapping[str, str],
    included: tuple[Path, ...],
) -> Iterator[StatementText]:
    """Yield the statements of the file, named from the working directory, as in Hive."""
    group = "name" if match["quote"] else "plain"
    name = match[group]
    path = Path(name).expanduser().resolve()
    problem = "it is being read already" if path in included else None
    try:
        text = "" if problem else read_script(path, name)
    except FileNotFoundError:
        problem = "no such file"
    except OSError as error:
        problem = str(error)
    if problem:
        refusal = ParseError(f"cannot source {name}: {problem}")
        place, end = statement.place(match.start(group)), statement.end_place(match.end(group))
        raise refusal.at(statement.file, *place, end)
    yield from split(text, name, variables, included=(*included, path))


def check_length(length: int, most_characters: int) -> None:
    """ParseError for a statement of too many characters."""
    if length > most_characters:
        raise ParseError(
            f"Query length longer than what the server takes ({length}>{most_characters} "
            "characters). Put rows into a file and LOAD it, cut the statement into several, or "
            "start the server with a larger --max-statement"
        )


def refuse_semicolon(text: str) -> None:
    """ParseError for a ``;`` behind a statement, as Hive's where a text must be one statement."""
    try:
        start = _statement_start(text, 0)
        end = _statement_end(text, start) if start < len(text) else start
    except _Unclosed:
        return  # Whoever splits the text tells of it.
    if end < len(text) and text[end] == ";":
        line, column = text.count("\n", 0, end) + 1, end - text.rfind("\n", 0, end)
        raise ParseError(
            "extraneous input ';' expecting EOF: a server's clients send one statement, without it"
        ).at(None, line, column)


def is_complete(text: str) -> bool:
    """Tell whether the text ends with the ``;`` of a statement, outside quotes and comments."""
    position = 0
    try:
        while True:
            position = _statement_start(text, position)
            if position >= len(text):
                return bool(text.strip())
            end = _statement_end(text, position)
            if end >= len(text):
                return False
            position = end + 1
    except _Unclosed:
        return False


def _statement_start(text: str, position: int) -> int:
    while position < len(text):
        if text[position].isspace() or text[position] == ";":
            position += 1
            continue
        after = _comment_end(text, position)
        if after is None and text[position] == "#" and _begins_line(text, position):
            after = _line_end(text, position)  # as beeline reads a line before a statement
        if after is None:
            break
        position = after
    return position


def _begins_line(text: str, position: int) -> bool:
    return not text[max(text.rfind("\n", 0, position), 0) : position].strip()


def _line_end(text: str, position: int) -> int:
    match = _LINE_END.search(text, position)
    return match.start() if match else len(text)


def _comment_end(text: str, position: int) -> int | None:
    """Tell where the comment that starts here ends; None when none does."""
    if text.startswith("--", position):
        return _line_end(text, position)
    if text.startswith("/*", position):
        end = text.find("*/", position + 2)
        if end < 0:
            raise _Unclosed(position)
        return end + 2
    return None


def _statement_end(text: str, position: int) -> int:
    if text[position] == "!":
        end = text.find("\n", position)
        return len(text) if end < 0 else end
    ends = (place for place in _semicolons(text, position) if text[place] == ";")
    return next(ends, len(text))


def _semicolons(text: str, position: int) -> Iterator[int]:
    r"""Yield where each ``;`` and ``\;`` begins that is in no quotes and no comment."""
    is_sql = text[position] != "!" and not is_processor(text, position)
    while mark := _MARK.search(text, position):
        position = mark.start()
        if mark[0] == ";" or text.startswith("\\;", position):
            yield position
            position += len(mark[0]) if mark[0] == ";" else len("\\;")
        elif text[position] in "'\"`":
            position = _quote_end(text, position, is_sql=is_sql)
        else:
            after = _comment_end(text, position) if is_sql else None
            position = position + 1 if after is None else after


def is_processor(text: str, position: int) -> bool:
    """SET and its like take the rest as it is: a quote in it may stay open."""
    match = _PROCESSOR.match(text, position)
    if match is None:
        return False
    return match[1].lower() not in ("add", "list", "delete") or match[2].lower() in _RESOURCES


def _quote_end(text: str, position: int, *, is_sql: bool) -> int:
    quote, start = text[position], position
    if not is_sql and text[start - 1].isalnum():
        return start + 1  # an apostrophe: set x=it's
    for match in _INSIDE[quote, is_sql].finditer(text, position + 1):
        if match[0] == quote:
            return match.end()
        if match[0] == "\n":
            return start + 1
    if is_sql:
        raise _Unclosed(start)
    return start + 1


def _substituted(
    source: str, file: str | None, line: int, column: int, variables: Mapping[str, str],
    most_characters: int | None,
) -> StatementText:  # fmt: skip
    if "\\;" not in source and not _VARIABLE.search(source):
        return StatementText(source, file, line, column)
    text, origins = _unescaped(source)
    for _ in range(_MOST_SUBSTITUTIONS):
        changed, changed_origins = _substitute_once(text, origins, variables, most_characters)
        if changed == text:
            return StatementText(text, file, line, column, source, tuple(origins))
        text, origins = changed, changed_origins
    raise ParseError(
        f"variables refer to each other more than {_MOST_SUBSTITUTIONS} deep: {source[:60]!r}"
    ).at(file, line, column)


def _unescaped(source: str) -> tuple[str, list[int]]:
    escapes = {place for place in _semicolons(source, 0) if source[place] != ";"}
    places = [i for i in range(len(source)) if i not in escapes]
    return "".join(source[i] for i in places), places


def _substitute_once(
    text: str, origins: list[int], variables: Mapping[str, str], most_characters: int | None
) -> tuple[str, list[int]]:
    parts: list[str] = []
    places: list[int] = []
    reached = 0
    length = len(text)
    for match in _VARIABLE.finditer(text):
        value = _variable(match[1], variables)
        if value is None:
            continue
        length += len(value) - len(match[0])
        if most_characters is not None:
            check_length(length, most_characters)
        parts += [text[reached : match.start()], value]
        places += origins[reached : match.start()] + [origins[match.start()]] * len(value)
        reached = match.end()
    return "".join([*parts, text[reached:]]), places + origins[reached:]


def _variable(name: str, variables: Mapping[str, str]) -> str | None:
    space, _, key = name.partition(":")
    if key:
        value = variables.get(f"{space.lower()}:{key}")
        return outside(space.lower(), key) if value is None else value
    for candidate in (f"hivevar:{name}", name, f"hiveconf:{name}"):
        if candidate in variables:
            return variables[candidate]
    return None


def split_key(key: str) -> tuple[str, str]:
    """Return the space of a variable and its name: SET without a space is about ``hiveconf``."""
    space, _, name = key.partition(":")
    if name and space.lower() in ("env", "system", "hivevar", "hiveconf"):
        return space.lower(), name
    return "hiveconf", key


def outside(space: str, key: str) -> str | None:
    """Give an environment variable, or one of the system properties that Hive's scripts ask for.

    None where there is none of that name.
    """
    if space != "system":
        return os.environ.get(key) if space == "env" else None
    properties = {
        "user.name": system_user,
        "user.home": lambda: str(Path.home()),
        "user.dir": lambda: str(Path.cwd()),
        "java.io.tmpdir": _temporary_directory,
    }
    return properties[key]() if key in properties else None


def _temporary_directory() -> str:
    # Imported late: with all its compressions it takes longer than cutting a script.
    import tempfile

    return tempfile.gettempdir()
