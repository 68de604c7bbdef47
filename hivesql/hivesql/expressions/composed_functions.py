"""Functions of Hive that Spark lacks, built from expressions that it has."""

from __future__ import annotations

from hivesql.dialect.value_types import field_of
from hivesql.expressions.calls import Call, Rule, takes
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import Kind

_PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "AUTHORITY", "FILE", "USERINFO")


def _url_parts(call: Call) -> str:
    """Give one row with a column for each part that is asked for."""
    takes(2, 10_000)(call)
    columns = []
    for i in range(1, len(call.types)):
        asked = call.literal(i)
        if asked is None:
            raise NotSupported("parse_url_tuple with parts that are no constants")
        part, colon, key = asked.partition(":")
        if part not in _PARTS or (colon and part != "QUERY"):
            found = "CAST(NULL AS STRING)"
        elif colon:
            quoted = key.replace("\\", "\\\\").replace("'", "\\'")
            found = f"parse_url(@0, 'QUERY', '{quoted}')"
        else:
            found = f"parse_url(@0, '{part}')"
        columns.append(f"'c{i - 1}', {found}")
    return f"inline(array(named_struct({', '.join(columns)})))"


def _sorted_by_fields(call: Call) -> str:
    """Structs in the order of some of their fields; NULLs are the smallest."""
    takes(2, 10_000)(call)
    names = [call.literal(i) for i in range(1, len(call.types))]
    if any(name is None for name in names):
        raise NotSupported("sort_array_by with fields that are no constants")
    fields = [str(name).lower() for name in names]
    order = fields.pop() if fields[-1] in ("asc", "desc") and len(fields) > 1 else "asc"
    kind = call.type(0)
    member = kind.children[0] if kind is not None and kind.kind is Kind.ARRAY else None
    for field in fields:
        if member is not None and field_of(member, field) is None:
            raise SemanticError(f"{field} is not in the struct field names of sort_array_by",
                                code=10016)  # fmt: skip
    less, more = ("-1", "1") if order == "asc" else ("1", "-1")
    tests = " ".join(
        f"WHEN NOT (a.`{one}` <=> b.`{one}`) THEN CASE WHEN a.`{one}` IS NULL OR "
        f"a.`{one}` < b.`{one}` THEN {less} ELSE {more} END"
        for one in fields
    )
    return f"array_sort(@0, (a, b) -> CASE {tests} ELSE 0 END)"


def discrete_percentile(share: str, value: str, *, descending: bool = False) -> str:
    """Return the value at a share of the sorted ones; between two of them the later, as in Hive."""
    place = f"CAST(ceil({share} * (count({value}) - 1)) AS INT)"
    order = "false" if descending else "true"
    return f"CAST(sort_array(collect_list({value}), {order})[{place}] AS DOUBLE)"


def _percentile_disc(call: Call) -> str | None:
    takes(1, 2)(call)  # one before WITHIN GROUP
    return discrete_percentile("@1", "@0") if len(call.types) == 2 else None


BUILT: dict[str, Rule] = {
    "parse_url_tuple": _url_parts,
    "percentile_disc": _percentile_disc,
    "sort_array_by": _sorted_by_fields,
    "histogram_numeric": "histogram_numeric(CAST(@0 AS DOUBLE), @1)",
}
