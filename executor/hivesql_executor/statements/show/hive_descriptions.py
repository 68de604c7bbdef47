"""What Hive's function classes say of themselves, read from the jar that PySpark ships.

They are read as files: Hive's registry of functions cannot be loaded beside Spark, which leaves out
classes that it names.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import BytesIO
from typing import Any
from zipfile import ZipFile

_REGISTRY = "org/apache/hadoop/hive/ql/exec/FunctionRegistry"
_DESCRIPTION = "Lorg/apache/hadoop/hive/ql/exec/Description;"
# In bytecode: load a text, then load a class or make an object of it.
_REGISTERED = re.compile(rb"(?:\x12(.)|\x13(..))(?:\x12(.)|\x13(..)|\xbb(..))", re.DOTALL)
_LATER = {"nvl": "coalesce", "mid": "substr", "position": "locate"}
"""Names that Hive gave to its classes since."""
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4}
_UTF8, _CLASS, _STRING, _WIDE = 1, 7, 8, (5, 6)


@dataclass(frozen=True, slots=True)
class Described:
    """A function of Hive's: its class, and its annotation; empty texts where it has none."""

    java_class: str
    usage: str
    details: str
    names: tuple[str, ...]
    """All names of the class, its own among them."""


@cache
def described_functions() -> dict[str, Described]:
    """Read all functions by their names in lower case; nothing where there is no such jar."""
    folder = resources.files("pyspark") / "jars"
    jar = next((one for one in folder.iterdir() if one.name.startswith("hive-exec-")), None)
    if jar is None:
        return {}
    with jar.open("rb") as file, ZipFile(file) as classes:
        names = _ClassFile(classes.read(f"{_REGISTRY}.class")).registered()
        names |= {new: names[old] for new, old in _LATER.items() if old in names}
        known = set(classes.namelist())
        texts = {
            path: _ClassFile(classes.read(f"{path}.class")).description()
            for path in set(names.values())
            if f"{path}.class" in known
        }
    return {
        name: Described(
            path.replace("/", "."),
            *texts.get(path, ("", "")),
            tuple(one for one, other in names.items() if other == path),
        )
        for name, path in names.items()
    }


class _ClassFile:
    """The constants of a Java class, and what follows them."""

    def __init__(self, content: bytes) -> None:
        self._file = BytesIO(content)
        self._content = content
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

    def registered(self) -> dict[str, str]:
        """Return paths of classes by the names that the code gives them."""
        found = {}
        for match in _REGISTERED.finditer(self._content, self._file.tell()):
            name, path = (
                self._constants.get(int.from_bytes(next(part for part in parts if part), "big"))
                for parts in (match.groups()[:2], match.groups()[2:])
            )
            if isinstance(name, tuple) and isinstance(path, tuple) and name[0] != path[0]:
                found[self._constants[name[1]].lower()] = self._constants[path[1]]
        return found

    def description(self) -> tuple[str, str]:
        """Return ``value`` and ``extended`` of the class's annotation."""
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
                        return members.get("value", ""), members.get("extended", "")
                self._file.seek(end)
        return "", ""

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
