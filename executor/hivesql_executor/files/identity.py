"""What tells one version of a file in an object store from another."""

from __future__ import annotations

import hashlib

_BYTES = 7


def identity_of(tag: str) -> int:
    """Return a number of a store's tag of contents: its times are of whole seconds, and no more.

    A table that is dropped and made again has files of the same names and lengths.
    """
    return int.from_bytes(hashlib.blake2b(tag.encode(), digest_size=_BYTES).digest(), "big")
