"""The way into the command: as fast as its imports allow."""

from __future__ import annotations

import gc


def main() -> int:
    """Run the command line; the exit code."""
    # Modules make objects by the hundred thousand and throw none away: nothing to collect.
    gc.disable()
    from hivesql_repl.cli import main as run

    gc.freeze()
    gc.enable()
    return run()
