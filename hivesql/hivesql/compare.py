"""In which type Hive compares values of different types."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql.expressions.types import TIMES, Type, family, is_number, is_text


def comparison(kinds: Sequence[Type]) -> Type:
    """The type to bring all to; None when they can be compared as they are."""
    known = [kind for kind in kinds if kind not in (None, "void")]
    families = {"text" if is_text(kind) else family(kind) for kind in known}
    if len(families) < 2:
        return None
    numbers = any(map(is_number, known))
    if "text" in families and (numbers or "boolean" in families):
        return "double"
    if numbers and "boolean" in families:
        return "double"
    if "text" in families and families & set(TIMES):
        return "timestamp" if "timestamp" in families else "date"
    if "float" in families and "decimal" in families and "double" not in families:
        return "float"
    return None


def unsafe(left: Type, right: Type) -> bool:
    """What hive.strict.checks.type.safety forbids: large exact numbers beside texts or doubles."""
    for one, other in ((left, right), (right, left)):
        if is_text(other) and (one == "bigint" or family(one) == "decimal"):
            return True
        if one == "bigint" and other == "double":
            return True
    return False
