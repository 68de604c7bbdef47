"""Which processes of this host are still there."""

from __future__ import annotations

import os


def is_alive(process: str) -> bool:
    """Whether the process of that number runs; True where the text is no number."""
    if not process.isdigit():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
