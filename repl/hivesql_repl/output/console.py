"""Where rich draws: a console that leaves the program to us."""

from __future__ import annotations

from rich.console import Console


class Screen(Console):
    """A console that says when nobody reads any more; rich's own would end the program."""

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled."""
        raise
