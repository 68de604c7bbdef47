"""The extras of this package: what their user has to install."""

from __future__ import annotations

import re

_REQUIREMENT = re.compile(r"(.+?) *; *extra *== *['\"](.+)['\"]")


def to_install(extra: str) -> str:
    """Say by which command an extra's packages come, by their own names: ours is in no index."""
    # Most programs have what they need.
    from importlib.metadata import PackageNotFoundError, requires

    try:
        matches = [_REQUIREMENT.fullmatch(requirement) for requirement in requires("hivesql") or ()]
    except PackageNotFoundError:
        # Run from its sources.
        matches = []
    packages = [match[1] for match in matches if match and match[2] == extra]
    listed = " ".join(f"'{package}'" for package in packages or [f"hivesql[{extra}]"])
    return f"pip install {listed} (the extra {extra})"
