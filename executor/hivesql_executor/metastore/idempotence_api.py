"""What must happen at most once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """A key under which something may commit once.

    With a ``number``, as batches of a stream have, everything up to the last committed number is
    done. ``text`` is the statement: the same key under another statement is an error. Unless it is
    ``required``, a statement that cannot be recorded runs without its key.
    """

    key: str
    number: int | None = None
    text: str = ""
    required: bool = True

    @property
    def digest(self) -> str:
        """The text, in few characters."""
        import hashlib

        return hashlib.sha256(self.text.encode()).hexdigest()[:32] if self.text else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Which transaction did it, and when, in milliseconds since the epoch."""

    txn_id: int
    committed: int

    def __str__(self) -> str:
        return f"transaction {self.txn_id} has committed this before; nothing was run again"
