"""Which argument of a public call is of another kind than its annotation says."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "None": type(None), "str": str, "bool": bool, "int": int, "float": (int, float),
    "bytes": bytes, "Mapping": Mapping, "Sequence": Sequence, "Iterable": Iterable,
    "PathLike": PathLike, "Parameters": (Mapping, Sequence),
}  # fmt: skip
_CALLABLE = ("Callable", "Consume")


def wrong_argument(call: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> str | None:
    """Say what is wrong with the first argument of another kind; None where all may be right.

    Asked only when the call has failed, so it costs nobody anything. What an annotation says
    beyond the kinds above is not looked at.
    """
    try:
        given = inspect.signature(call).bind(*arguments, **named).arguments
    except TypeError:
        return None
    for name, value in given.items():
        annotation = call.__annotations__.get(name)
        if isinstance(annotation, str) and not _is_of(annotation, value):
            # The value itself may be a secret.
            return f"{call.__name__}() takes {name} as {annotation}, not as {type(value).__name__}"
    return None


def _is_of(annotation: str, value: Any) -> bool:
    kinds = [part.strip().partition("[")[0] for part in _parts(annotation)]
    if any(kind in _CALLABLE for kind in kinds) and callable(value):
        return True
    known = [kind for kind in kinds if kind in _KINDS]
    if len(known) + sum(kind in _CALLABLE for kind in kinds) < len(kinds):
        return True
    return any(isinstance(value, _KINDS[kind]) for kind in known)


def _parts(annotation: str) -> list[str]:
    """Split an annotation into its alternatives: ``A[B | C] | D``: ``A[B | C]`` and ``D``."""
    parts, depth = [""], 0
    for mark in annotation:
        depth += (mark == "[") - (mark == "]")
        if mark == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += mark
    return parts
