"""Statements that only Hive has: their nodes say how they are written."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from hivesql.python_sqlglot import Generator, exp

_GROUP = re.compile(r"\[([^\]]*)\]")
_ARG = re.compile(r"[@~?](\w+)")


class Own(exp.Expression):
    """A statement that sqlglot prints for ``hive_acid`` alone.

    In ``written``, ``@name`` is what an argument says (``~name`` a list without commas), and
    ``[…]`` stands where all of the arguments in it are there; ``?name`` says no more than that.
    """

    written: ClassVar[str] = ""

    def sql(self, dialect: Any = None, copy: bool = True, **options: Any) -> str:
        """Return its text."""
        return super().sql(dialect or "hive_acid", copy=copy, **options)


def print_own(generator: Generator, node: Own) -> str:
    """Print a node as it is written."""

    def group(match: re.Match[str]) -> str:
        there = all(node.args.get(name) for name in _ARG.findall(match[1]))
        return match[1] if there else ""

    def argument(match: re.Match[str]) -> str:
        if match[0].startswith("?"):
            return ""
        value = node.args[match[1]]
        parts = value if isinstance(value, list) else [value]
        return (" " if match[0].startswith("~") else ", ").join(map(generator.sql, parts))

    words = _GROUP.sub(group, node.written).split()
    return " ".join(filter(None, (_ARG.sub(argument, word) for word in words)))
