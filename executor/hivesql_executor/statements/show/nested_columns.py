"""What DESCRIBE tells of what is inside of a column: fields, elements, keys and values."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import HiveType, Kind

_CHILDREN = {
    (Kind.ARRAY, "$elem$"): 0, (Kind.MAP, "$key$"): 0, (Kind.MAP, "$value$"): 1,
}  # fmt: skip


def fields_inside(
    columns: Sequence[tuple[str, HiveType]], steps: Sequence[str]
) -> list[tuple[str, HiveType]]:
    """Go from the columns to what ``steps`` name, and give its fields where it is a struct.

    The last step is repeated as it is written, as Hive does.
    """
    at = HiveType.struct(*columns)
    for step in steps:
        at = _inside(at, step)
    if at.kind is Kind.STRUCT:
        return list(zip(at.names, at.children, strict=True))
    return [(steps[-1], at)]


def _inside(outer: HiveType, step: str) -> HiveType:
    name = step.lower()
    if outer.kind is Kind.STRUCT:
        for field, type_ in zip(outer.names, outer.children, strict=True):
            if field.lower() == name:
                return type_
        fields = ", ".join(f"{i}:{field}" for i, field in enumerate(outer.names))
        raise SemanticError(f"cannot find field {name} from [{fields}]", code=40000)
    child = _CHILDREN.get((outer.kind, name))
    if child is None:
        raise SemanticError(
            f"Error in getting fields from serde.Unknown type for {name}: a {outer.kind} has no "
            "such thing inside",
            code=40000,
        )
    return outer.children[child]
