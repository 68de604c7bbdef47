"""What Hive 4.1 says of its functions, as its classes' annotations have it.

``hive_functions.json`` is made by ``tests/interop/describe_functions.py``; the interop suite
compares each answer with real Hive's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILE = resources.files(__package__) / "hive_functions.json"


@dataclass(frozen=True, slots=True)
class Described:
    """A function of Hive's: its class, and its annotation; empty texts where it has none."""

    java_class: str
    usage: str
    details: str
    names: tuple[str, ...]
    """All names of the class, its own among them, in Hive's order."""


@cache
def described_functions() -> dict[str, Described]:
    """Read all functions by their names in lower case."""
    described = [
        Described(entry["class"], entry["usage"], entry["details"], tuple(entry["names"]))
        for entry in json.loads(FILE.read_text(encoding="utf-8"))
    ]
    return {name: function for function in described for name in function.names}
