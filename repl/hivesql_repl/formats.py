"""Rows as Hive's command line prints them, for programs that compare or log results.

``hive_text`` is one value's text. ``with_singles`` goes before it over all rows of a result: it
marks FLOAT values and instants, which Python's own types do not tell from DOUBLE and TIMESTAMP.
"""

from __future__ import annotations

from hivesql.rendering.hive_text import hive_text
from hivesql.rendering.hive_text import with_hive_types as with_singles

__all__ = ["hive_text", "with_singles"]
