"""Ask real Hive what its functions say of themselves, and keep it where DESCRIBE FUNCTION reads it.

``python -m interop.describe_functions`` (in ``tests``) writes the file anew. Names and classes are
Hive's answers; the texts are the annotations of those classes, read from their files, because in an
answer the function's name already stands in its place.
"""

from __future__ import annotations

import json
import re
import struct
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from hivesql_executor.statements.show import hive_descriptions
from interop import hive

_DESCRIPTION = "Lorg/apache/hadoop/hive/ql/exec/Description;"
_UNLISTED = [
    "binary",
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "string",
    "date",
    "timestamp",
    "decimal",
    "char",
    "varchar",
    "interval_year_month",
    "interval_day_time",
    "div",
]
"""Functions that SHOW FUNCTIONS leaves out: they are written as casts or operators."""
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4}
_UTF8, _CLASS, _STRING, _WIDE = 1, 7, 8, (5, 6)


def main() -> None:
    """Write the file anew."""
    with tempfile.TemporaryDirectory() as work:
        listed = hive.run("SHOW FUNCTIONS;\n", Path(work))[0].lines
        answers = ask([*listed, *_UNLISTED], Path(work))
    text = json.dumps(of_classes(answers), ensure_ascii=False, indent=1)
    hive_descriptions.FILE.write_text(f"{text}\n", encoding="utf-8")  # type: ignore[attr-defined]


def ask(names: Sequence[str], work: Path) -> dict[str, list[str]]:
    """Run DESCRIBE FUNCTION EXTENDED of each function in real Hive; the lines that it printed."""
    script = "".join(f"DESCRIBE FUNCTION EXTENDED {quoted(name)};\n" for name in names)
    return {name: block.lines for name, block in zip(names, hive.run(script, work), strict=True)}


def quoted(name: str) -> str:
    """Return a function's name as DESCRIBE FUNCTION takes it."""
    return f"`{name}`" if re.fullmatch(r"[\w$]+", name) else name


def of_classes(answers: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return what the file holds, a class after the other, of Hive's answers and its jar."""
    names: dict[str, list[str]] = {}
    orders: list[list[str]] = []
    for name, lines in answers.items():
        if path := next((line for line in lines if line.startswith("Function class:")), ""):
            names.setdefault(path.partition(":")[2], []).append(name)
        orders += [
            line.partition(": ")[2].split(", ") for line in lines if line.startswith("Synonyms: ")
        ]
    jar = next((hive.PROJECT / "target" / "lib").glob("hive-exec-*.jar"))
    with jar.open("rb") as file, ZipFile(file) as classes:
        return [
            {
                "class": path,
                **ClassFile(classes.read(f"{path.replace('.', '/')}.class")).description(),
                "names": sorted(of_class, key=partial(_rank, orders=orders)),
            }
            for path, of_class in sorted(names.items())
        ]


def _rank(name: str, orders: list[list[str]]) -> int:
    """Return how many names Hive tells before this one, in an order of its own."""
    return len({one for order in orders if name in order for one in order[: order.index(name)]})


class ClassFile:
    """The constants of a Java class, and what follows them."""

    def __init__(self, content: bytes) -> None:
        self._file = BytesIO(content)
        self._file.seek(8)
        self._constants: dict[int, Any] = {}
        number, end = 1, self._short()
        while number < end:
            (tag,) = self._file.read(1)
            if tag == _UTF8:
                self._constants[number] = self._file.read(self._short()).decode("utf-8", "replace")
            elif tag in (_CLASS, _STRING):
                self._constants[number] = (tag, self._short())
            else:
                self._file.read(_SIZES[tag])
            number += 2 if tag in _WIDE else 1

    def description(self) -> dict[str, str]:
        """Return ``value`` and ``extended`` of the class's annotation, as Hive prints them."""
        self._file.read(6)
        self._file.read(2 * self._short())
        for _ in range(2):  # fields and methods
            for _ in range(self._short()):
                self._file.read(6)
                list(self._attributes())
        for name, length in self._attributes():
            if name == "RuntimeVisibleAnnotations":
                end = self._file.tell() + length
                for _ in range(self._short()):
                    kind, members = self._annotation()
                    if kind == _DESCRIPTION:
                        usage = members.get("value", "_FUNC_ is undocumented")
                        details = members.get("extended", "")
                        return {"usage": _printed(usage), "details": _printed(details)}
                self._file.seek(end)
        return {"usage": "", "details": ""}

    def _attributes(self) -> Iterator[tuple[str, int]]:
        """Yield each attribute's name and length, standing at its content; skip the rest."""
        for _ in range(self._short()):
            name = self._constants[self._short()]
            (length,) = struct.unpack(">I", self._file.read(4))
            end = self._file.tell() + length
            yield name, length
            self._file.seek(end)

    def _annotation(self) -> tuple[str, dict[str, Any]]:
        kind = self._constants[self._short()]
        return kind, {self._constants[self._short()]: self._member() for _ in range(self._short())}

    def _member(self) -> Any:
        tag = self._file.read(1)
        if tag == b"e":
            self._file.read(4)
        elif tag == b"@":
            return self._annotation()
        elif tag == b"[":
            return [self._member() for _ in range(self._short())]
        else:
            return self._constants.get(self._short())
        return None

    def _short(self) -> int:
        return int.from_bytes(self._file.read(2), "big")


def _printed(text: str) -> str:
    """Return a text as Hive prints it: the last byte of each character (DataOutput.writeBytes)."""
    return bytes(ord(letter) & 0xFF for letter in text).decode("utf-8", "replace")


if __name__ == "__main__":
    main()
