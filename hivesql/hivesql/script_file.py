"""Bytes of a script as text: UTF-8, with or without a mark at its beginning."""

from __future__ import annotations

import codecs
from pathlib import Path

from hivesql_planner.errors import ParseError

# The longer marks begin as the shorter ones do.
_OTHERS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def read_script(path: Path, name: str | None = None) -> str:
    """Return the text of a file with a line feed at the end of each line; ``name`` is for errors.

    Raises OSError, and ParseError at the first byte that is no text.
    """
    return decode_script(path.read_bytes(), name or str(path))


def decode_script(data: bytes, name: str) -> str:
    """Return the text of these bytes with a line feed at the end of each line.

    Raises ParseError at the first byte that is no text.
    """
    for mark, encoding in _OTHERS:
        if data.startswith(mark):
            raise ParseError(f"this is {encoding} text: save it as UTF-8").at(name, 1, 1)
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = _with_line_ends(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = _with_line_ends(data[: error.start].decode("utf-8"))
        problem = f"the byte 0x{data[error.start]:02x} is no UTF-8 text: save the file as UTF-8"
        raise _at_end(ParseError(problem), before, name) from None
    before, nul, _ = text.partition("\0")
    if nul:
        problem = "a byte of zero: this is no text, or none in UTF-8"
        raise _at_end(ParseError(problem), before, name)
    return text


def _with_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _at_end(error: ParseError, before: str, name: str) -> Exception:
    line = before.count("\n") + 1
    return error.at(name, line, len(before) - before.rfind("\n"))
