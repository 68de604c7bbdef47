"""Casts, and to what values of several types are brought."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hivesql.dialect.value_types import TIMES, Type, family, is_number, is_text
from hivesql.expressions.calls import Call
from hivesql.expressions.date_rules import as_date, as_timestamp
from hivesql.expressions.function_rules import text_of
from hivesql_planner.model.conversions import conversion, conversion_of_any
from hivesql_planner.model.types import check_length


def cast_template(call: Call, target: str) -> str | None:
    """Tell how Spark must cast the one argument of a call; None where both agree."""
    (source,) = call.types
    name = family(target)
    text = text_of(source, "@0")
    size = re.fullmatch(r"(?:var)?char\((\d+)\)", target)
    if size:
        check_length(name, int(size[1]))
        # Spark keeps such a cast as a plain string, Hive cuts it to length.
        cut = f"substring(CAST({text} AS STRING), 1, {size[1]})"
        return f"rtrim({cut})" if name == "char" else cut
    if target == "string" and text != "@0":
        return text
    found = write_template(call, target) if source is not None else None
    return "CAST(@0 AS TIMESTAMP_LTZ)" if found is None and target == "timestamplocaltz" else found


def write_template(call: Call, target: str) -> str | None:
    """Tell how Spark must see the one argument of a call that is written into a column."""
    (source,) = call.types
    if source is None:
        return conversion_of_any(target)
    if is_text(source) and target in TIMES:
        template = as_date(call, 0) if target == "date" else as_timestamp(call, 0)
        return None if template == "@0" else template
    return conversion(source, target)


def comparison(kinds: Sequence[Type]) -> Type:
    """Return the type to bring all to; None when they can be compared as they are."""
    known = [kind for kind in kinds if kind not in (None, "void")]
    families = {"text" if is_text(kind) else family(kind) for kind in known}
    if len(families) < 2:
        return None
    numbers = any(map(is_number, known))
    if numbers and families & set(TIMES):
        return "double" if "timestamp" in families else "string"
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
    """Refuse what hive.strict.checks.type.safety does: large numbers beside texts or doubles."""
    for one, other in ((left, right), (right, left)):
        if is_text(other) and (one == "bigint" or family(one) == "decimal"):
            return True
        if one == "bigint" and other == "double":
            return True
    return False
