"""Paths for Spark's readers, which take some characters in them for patterns; and files' names."""

from __future__ import annotations

import re
from collections.abc import Sequence

GLOB = "__globPaths__"
"""Spark's own option of whether paths may be patterns."""
FILE_COLUMN = "__file"
"""The address of a line's file, in rows that have been to Python or another task."""
_NAME = (
    "regexp_replace(url_decode(replace({}, '+', '%2B')), '^(?:file:)?/+', 'file:/') "
    "AS input__file__name"
)
# Spark writes file:///a%20b, Hive file:/a b.
FILE_NAME = _NAME.format("input_file_name()")
"""Spark SQL of the file that a row was read from; only right next to the scan."""
NAME_OF_COLUMN = _NAME.format(FILE_COLUMN)
"""The same of rows that bring the address along."""
_PATTERN = re.compile(r"[{}\[\]*?\\]")


def literal_paths(paths: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Paths and options under which Spark reads each file once, whatever its path looks like.

    Without patterns, Spark reads n files n times when their paths look like patterns, so such
    paths are given as patterns that match nothing else.
    """
    if not any(map(_PATTERN.search, paths)):
        return list(paths), {GLOB: "false"}
    return [_PATTERN.sub(r"\\\g<0>", path) for path in paths], {GLOB: "true"}
