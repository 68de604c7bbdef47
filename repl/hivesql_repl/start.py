"""The way into the command: as fast as its imports allow."""

from __future__ import annotations

import gc


def main() -> int:
    """Run the command line; the exit code."""
    # Modules make objects by the hundred thousand and throw none away: nothing to collect.
    gc.disable()
    from hivesql_repl.cli import main as run
    from hivesql_repl.java_noise import leave_out_noise

    leave_out_noise()

    gc.freeze()
    gc.enable()
    return run()
