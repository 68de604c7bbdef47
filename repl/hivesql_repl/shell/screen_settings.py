"""`!set`: what beeline lets one change of the screen while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hivesql_repl.output.formats import FORMATS
from hivesql_repl.output.render import Printer

# By beeline's names in small letters: the printer's own, then those of its style.
_OF_PRINTER = {"silent": "quiet", "verbose": "verbose", "report": "report"}
_OF_STYLE = {
    "showHeader": "header", "escapeCRLF": "escape_breaks", "truncateTable": "truncate",
    "color": "color", "maxWidth": "max_width", "maxColumnWidth": "max_column_width",
    "headerInterval": "batch", "delimiterForDSV": "delimiter",
}  # fmt: skip


def settings(printer: Printer) -> Iterator[tuple[str, str]]:
    """All of them with their values, as `!set` takes them."""
    style = printer.style
    values: dict[str, Any] = {"outputformat": printer.format, "nullemptystring": not style.null}
    values |= {name: getattr(printer, key) for name, key in _OF_PRINTER.items()}
    values |= {name: getattr(style, key) for name, key in _OF_STYLE.items()}
    for name in sorted(values, key=str.lower):
        value = values[name]
        yield name, str(value).lower() if isinstance(value, bool) else str(value)


def change(printer: Printer, name: str, text: str) -> None:
    """Give one of them another value. ValueError for an unknown name or a wrong value."""
    names = {setting.lower(): (setting, value) for setting, value in settings(printer)}
    if name.lower() not in names:
        raise ValueError(
            f"!set knows {', '.join(setting for setting, _ in names.values())}; "
            "variables are set by SET hivevar:NAME=VALUE;"
        )
    setting, before = names[name.lower()]
    value = _value(setting, text, before)
    if setting == "outputformat":
        printer.format = text
    elif setting == "nullemptystring":
        printer.style = replace(printer.style, null="" if value else "NULL")
    elif setting in _OF_PRINTER:
        setattr(printer, _OF_PRINTER[setting], value)
    else:
        changed: Any = {_OF_STYLE[setting]: value}
        printer.style = replace(printer.style, **changed)


def _value(name: str, text: str, before: str) -> Any:
    if name == "outputformat" and text not in FORMATS:
        raise ValueError(f"formats are {', '.join(sorted(FORMATS))}")
    if name == "delimiterForDSV" and len(text) != 1:
        raise ValueError("delimiterForDSV is one character")
    if before in ("true", "false"):
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{name} is true or false")
        return text.lower() == "true"
    if not before.isdigit():
        return text
    least = 1 if name == "headerInterval" else 0
    if not text.isdigit() or int(text) < least:
        raise ValueError(f"{name} is a number from {least} on")
    return int(text)
