"""Paths for Spark's readers, which take some characters in them for patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence

GLOB = "__globPaths__"
"""Spark's own option of whether paths may be patterns."""
_PATTERN = re.compile(r"[{}\[\]*?\\]")


def literal_paths(paths: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Paths and options under which Spark reads each file once, whatever its path looks like.

    Without patterns, Spark reads n files n times when their paths look like patterns, so such
    paths are given as patterns that match nothing else.
    """
    if not any(map(_PATTERN.search, paths)):
        return list(paths), {GLOB: "false"}
    return [_PATTERN.sub(r"\\\g<0>", path) for path in paths], {GLOB: "true"}
