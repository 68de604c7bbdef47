"""Functions over windows: frames, orders and DISTINCT as Hive understands them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import inf

from hivesql.dialect.edits import Edit, Span, filled, insert
from hivesql.dialect.structure import place_of, span_of
from hivesql.dialect.value_types import (
    TIMES,
    Type,
    averaged,
    is_float,
    is_integer,
    summed,
)
from hivesql.expressions.comparisons import hold_maps
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import FLOAT, TIMESTAMP

AGGREGATES = frozenset(
    """approx_distinct avg bloom_filter collect_list collect_set compute_bit_vector_fm
    compute_bit_vector_hll context_ngrams corr count covar_pop covar_samp histogram_numeric max min
    ndv_compute_bit_vector ngrams percentile percentile_approx percentile_cont percentile_disc
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy std
    stddev stddev_pop stddev_samp sum var_pop var_samp variance""".split()  # noqa: SIM905
)

OF_ORDER = (
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lead", "lag",
)  # fmt: skip
SHIFTS = ("lag", "lead")
"""Functions that look at another row, and may do so inside of another function over rows."""
_FRAME = re.compile(
    r"\b(rows|range)\s+(?:between\s+(?P<start>.+?)\s+and\s+(?P<end>.+?)|(?P<only>[^)]+?))\s*\)?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_NULLS = re.compile(r"\s+(?:respect|ignore)\s+nulls(?=\s*[,)])", re.IGNORECASE)
_BOUND = re.compile(r"(\d+(?:\.\d+)?)\s+(preceding|following)", re.IGNORECASE)
_MEASURED: dict[Type, str] = {TIMESTAMP: "unix_seconds(@0)", FLOAT: "CAST(@0 AS DOUBLE)"}
"""How Hive measures values: whole seconds, and FLOAT as DOUBLE."""
_LEAST = Decimal("0.000000001")  # what is nearer than this is as far, to FLOAT and DOUBLE


@dataclass(frozen=True, slots=True)
class Windows:
    """Makes the edits of one query; ``type_of`` tells types of what is inside of a window."""

    text: str
    type_of: Callable[[exp.Expr | None], Type]

    def edits(self, node: exp.Window) -> list[Edit]:
        """Return what makes Spark see a function over a window, or a window's name, as Hive."""
        self._check_comparable(node)
        function = node.this
        name = str(function.this).lower() if isinstance(function, exp.Anonymous) else ""
        edits = self._frame_edits(node, name)
        alias = node.args.get("alias")
        if name in OF_ORDER and alias is not None and node.args.get("spec") is None:
            edits += self._with_order(node, place_of(alias))
        if name in OF_ORDER and not (node.args.get("order") or node.args.get("alias")):
            # To Hive all rows come at once then, where Spark asks for an order.
            edits.append(insert(self._end(node) - 1, " ORDER BY 1"))
        if name == "count" and _is_of_nothing(function):
            # To Hive it counts all rows.
            start, end = place_of(function)
            return [*edits, Edit(self.text.index("(", start), end, "(*)")]
        if name and function.expressions and isinstance(function.expressions[0], exp.Distinct):
            edits += self._distinct(node, name, function.expressions[0])
        if name and function.expressions:
            edits += self._about_nulls(node, function.expressions[0])
        return edits

    def _with_order(self, node: exp.Window, name: Span) -> list[Edit]:
        """Say the brackets of a window without an order for its name: see ``edits``."""
        definition = definition_of(node)
        if definition is None or definition.args.get("order") is not None:
            return []
        if self.frame(definition) is not None:
            return []
        start = self.text.index("(", span_of(definition.this)[1])
        return [Edit(*name, "", ((start, self.end_of_spec(definition) - 1), " ORDER BY 1)"))]

    def _check_comparable(self, node: exp.Window) -> None:
        """Refuse maps in PARTITION BY and ORDER BY, as Hive."""
        order = node.args.get("order")
        keys = [key.this for key in order.expressions] if order is not None else []
        for key in (*(node.args.get("partition_by") or ()), *keys):
            if hold_maps([self.type_of(key)]):
                start, end = place_of(key)
                raise SemanticError(
                    "Failed to breakup Windowing invocations into Groups: "
                    f"{self.text[start:end]} is not a comparable expression, its type holds maps"
                )

    def _about_nulls(self, node: exp.Window, value: exp.Expr) -> list[Edit]:
        """Spark wants to be told of NULLs behind the brackets, not inside."""
        if not isinstance(value, (exp.RespectNulls, exp.IgnoreNulls)):
            return []
        words = _NULLS.search(self.text, place_of(node)[0])
        if words is None:
            return []
        edits = [Edit(words.start(), words.end(), "")]
        if isinstance(value, exp.IgnoreNulls):
            edits.append(insert(self.text.index(")", words.end()) + 1, " IGNORE NULLS"))
        return edits

    def _end(self, node: exp.Window) -> int:
        return place_of(node)[1]

    def _frame_edits(self, node: exp.Window, name: str) -> list[Edit]:
        definition = definition_of(node)
        edits: list[Edit] = []
        is_call = name and name not in OF_ORDER
        if is_call and (condition := self._emptied_by(definition)) is not None:
            empty = "0L" if name == "count" else "NULL"
            template = f"CASE WHEN {condition} THEN {empty} ELSE @0 END"
            start, end = place_of(node)
            edits = [Edit(start, end, "", tuple(filled(template, [(start, end)])))]
        frame = self.frame(node)
        if frame is None:
            return edits
        (start, end), match = frame
        self._check_frame(node, name, match)
        if name in OF_ORDER:
            return [Edit(start, end, "")]
        if node.args.get("order") is None:
            # All rows are as far as each other.
            return [Edit(start, end, "")] if match[1].lower() == "range" else edits
        key = _key(node)
        if match[1].lower() == "range" and key is not None and not _is_empty(match):
            edits += self._bounds(key, match)
        return edits

    def _check_frame(self, node: exp.Window, name: str, match: re.Match[str]) -> None:
        """Refuse frames that Hive refuses: rows behind their end, and all but all for ranks."""
        first, last = _ends(match)
        problem = None
        if first is not None and last is not None and first > last:
            problem = "the frame begins behind its end"
        elif name in OF_ORDER and (first, last) != (-inf, inf):
            problem = f"{name} looks at all rows, and takes no frame of fewer"
        if problem is not None:
            raise SemanticError(f"Failed to breakup Windowing invocations into Groups: {problem}")
        is_far = any(end is not None and 0 < abs(end) < inf for end in (first, last))
        if match[1].lower() == "range" and is_far and node.args.get("order") is None:
            raise SemanticError(
                "RANGE with offset PRECEDING/FOLLOWING requires at least one ORDER BY column"
            )

    def frame(self, node: exp.Window) -> tuple[Span, re.Match[str]] | None:
        """Find the frame that stands in this window's own brackets."""
        if node.args.get("spec") is None:
            return None
        start = self._keys_end(node)
        end = self.text.find(")", start)
        match = _FRAME.search(self.text, start, end if end >= 0 else len(self.text))
        return None if match is None else ((match.start(), match.end()), match)

    def end_of_spec(self, node: exp.Window) -> int:
        """Return the place behind the brackets of a window that has no frame."""
        return self.text.index(")", self._keys_end(node)) + 1

    def _keys_end(self, node: exp.Window) -> int:
        order = node.args.get("order")
        keys = [part for part in (*(node.args.get("partition_by") or ()), order) if part]
        return max([span_of(key)[1] for key in keys] or [span_of(node.this)[1]])

    def _bounds(self, key: exp.Ordered, match: re.Match[str]) -> list[Edit]:
        """Change distances: to Hive an end PRECEDING and a start FOLLOWING lie before them.

        No distance is the current row.
        """
        kind, edits, is_far = self.type_of(key.this), [], False
        for group in ("start", "end", "only"):
            bound = _BOUND.fullmatch((match[group] or "").strip())
            if bound is None:
                continue
            number, side = bound[1], bound[2].lower()
            if float(number) == 0:
                edits.append(Edit(match.start(group), match.end(group), "CURRENT ROW"))
                continue
            is_far = True
            beyond = (side == "preceding") if group == "end" else (side == "following")
            changed = _distance(number, kind, beyond=beyond)
            if changed is not None:
                place = match.start(group) + match[group].index(number)
                edits.append(Edit(place, place + len(number), changed))
        if is_far and kind in _MEASURED:
            start, end = place_of(key.this)
            edits.append(Edit(start, end, "", tuple(filled(_MEASURED[kind], [(start, end)]))))
        return edits

    def _emptied_by(self, definition: exp.Window | None) -> str | None:
        """Tell when a frame by RANGE is empty in Hive, as a condition; None where Spark knows."""
        frame = self.frame(definition) if definition is not None else None
        key = _key(definition) if definition is not None else None
        if frame is None or key is None or frame[1][1].lower() != "range":
            return None
        if _is_empty(frame[1]):
            return "true"
        first, _ = _ends(frame[1])
        if _is_turned(key, self.text) or first is None or not 0 < first < inf:
            return None
        start, end = place_of(key.this)
        # A frame that begins behind the row has nothing where the key is NULL.
        return f"{self.text[start:end]} IS NULL" if isinstance(key.this, exp.Column) else None

    def _distinct(self, node: exp.Window, name: str, distinct: exp.Distinct) -> list[Edit]:
        """Spark knows no DISTINCT over windows: the set of the values tells as much."""
        if len(distinct.expressions) != 1:
            return []
        (value,) = distinct.expressions
        kind = self.type_of(value)
        start, end = place_of(node)
        over: Span = (self.text.index(")", span_of(value)[1]) + 1, end)
        chosen = "collect_set(@0) @1"
        total = summed(kind)
        added = (
            f"aggregate({chosen}, CAST(NULL AS {total}), "
            f"(a, b) -> CAST(coalesce(a, CAST(0 AS {total})) + b AS {total}))"
        )
        if name in ("min", "max"):
            template = f"{name}(@0) @1"
        elif name == "count":
            template = f"CAST(size({chosen}) AS BIGINT)"
        elif name == "sum" and total:
            template = added
        elif name == "avg" and total:
            template = f"CAST({added} / nullif(size({chosen}), 0) AS {averaged(kind)})"
        else:
            return []
        parts = tuple(filled(template, [place_of(value), over]))
        return [Edit(start, end, "", parts)]


def _is_of_nothing(call: exp.Expr) -> bool:
    """Tell whether it is ``count()`` or ``count(DISTINCT)``."""
    (argument, *_) = call.expressions or [exp.Distinct()]
    return isinstance(argument, exp.Distinct) and not argument.expressions


def shift_edits(call: exp.Expr, text: str) -> list[Edit]:
    """Give LAG and LEAD inside of another function over rows the rows of that function."""
    if not isinstance(call, exp.Anonymous) or str(call.this).lower() not in SHIFTS:
        return []
    window = window_around(call)
    definition = definition_of(window) if window is not None else None
    if definition is None:
        return []
    windows = Windows(text, lambda node: None)
    start = text.index("(", _name_end(definition))
    frame = windows.frame(definition)
    end, rest = (windows.end_of_spec(definition), "") if frame is None else (frame[0][0], ")")
    place = place_of(call)
    parts = tuple(filled(f"@0 OVER @1{rest}", [place, (start, end)]))
    return [Edit(*place, "", parts)]


SETS = (exp.Cube, exp.Rollup, exp.GroupingSets)
"""What stands for several sets of keys in a GROUP BY."""
BEHIND = ("cube", "rollup", "grouping_sets")
"""What may stand behind the keys (a, b WITH CUBE)."""
_OF_KEY = "if(grouping(@0) = 1, NULL, first(@0))"


def grouping_edits(node: exp.Expr, text: str) -> list[Edit]:
    """Say what Spark does not see of keys: in aggregates over rows of grouping sets, and without.

    Spark takes a key inside of such an aggregate for a column of the rows that were grouped.
    ``grouping(key)`` is 0 where there are no sets, which Spark asks for.
    """
    is_call = isinstance(node, exp.Anonymous) and str(node.this).lower() == "grouping"
    if not is_call and not isinstance(node, exp.Window):
        return []
    select = node.find_ancestor(exp.Select)
    group = select.args.get("group") if select is not None else None
    if select is None or group is None:
        return []
    has_sets = any(isinstance(key, SETS) for key in listed_keys(group))
    if is_call and not has_sets:
        return [Edit(*place_of(node), "CAST(0 AS BIGINT)")]
    if is_call or not has_sets:
        return []
    function = node.this
    while isinstance(function, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        function = function.this
    if not isinstance(function, exp.Anonymous) or str(function.this).lower() in OF_ORDER:
        return []
    forms = {(type(key), _form(key, text)) for key in _keys(select, group)}
    kinds = {kind for kind, _ in forms}
    edits: list[Edit] = []
    pending = list(function.expressions)
    while pending:
        part = pending.pop()
        if isinstance(part, exp.Query) or _is_aggregate(part):
            continue
        if type(part) in kinds and (type(part), _form(part, text)) in forms:
            start, end = place_of(part)
            edits.append(Edit(start, end, "", tuple(filled(_OF_KEY, [(start, end)]))))
        else:
            pending += part.iter_expressions()
    return edits


def _is_aggregate(part: exp.Expr) -> bool:
    name = str(part.this).lower() if isinstance(part, exp.Anonymous) else ""
    return name in AGGREGATES or name == "grouping"


def listed_keys(group: exp.Group) -> Iterator[exp.Expr]:
    """Yield what a GROUP BY lists, CUBE and its like as they stand."""
    yield from group.expressions
    for name in BEHIND:
        yield from group.args.get(name) or ()


def grouped_keys(keys: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield what is grouped by, out of CUBE and its like; in no order."""
    pending = [*keys]
    while pending:
        key = pending.pop()
        if isinstance(key, (*SETS, exp.Tuple)):
            pending += key.expressions
        else:
            yield key


def _keys(select: exp.Select, group: exp.Group) -> Iterator[exp.Expr]:
    """Yield what is grouped by; a number is an item of SELECT."""
    for key in grouped_keys(listed_keys(group)):
        if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
            yield from (item.unalias() for item in select.expressions[int(key.name) - 1 :][:1])
        else:
            yield key


def _form(key: exp.Expr, text: str) -> str:
    """Return what is alike for the same key: the name of a column, or how it is written."""
    if isinstance(key, exp.Column):
        return key.name.lower()
    start, end = place_of(key)
    return "".join(text[start:end].lower().split())


def window_around(call: exp.Expr) -> exp.Window | None:
    """Return the window of the function that a call without OVER is an argument of."""
    inner, around = call, call.parent
    while isinstance(around, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        inner, around = around, around.parent
    if isinstance(around, exp.Window) and around.this is inner:
        return None
    while around is not None and not isinstance(around, (exp.Query, exp.Window)):
        inner, around = around, around.parent
    return around if isinstance(around, exp.Window) and around.this is inner else None


def _name_end(definition: exp.Window) -> int:
    """Return where the brackets of a window may begin: behind its function or its name."""
    return span_of(definition.this)[1]


def _ends(match: re.Match[str]) -> tuple[float | None, float | None]:
    """Give how far behind the current row a frame begins and ends; None for what is no number."""
    if match["only"]:
        return _far(match["only"]), 0.0
    return _far(match["start"]), _far(match["end"])


def _far(bound: str) -> float | None:
    words = bound.lower().split()
    if words == ["current", "row"]:
        return 0.0
    sign = -1 if words[-1:] == ["preceding"] else 1
    if words[:1] == ["unbounded"]:
        return sign * inf
    match = _BOUND.fullmatch(bound.strip())
    return None if match is None else sign * float(match[1])


def _is_empty(match: re.Match[str]) -> bool:
    """Tell whether a frame by RANGE is of one distance, at which Hive finds nothing."""
    first, last = _ends(match)
    return first is not None and first == last and 0 < abs(first) < inf


def _distance(number: str, kind: Type, *, beyond: bool) -> str | None:
    """Say a distance as Spark measures it, or the next one ``beyond``; None to leave it."""
    if (is_integer(kind) or kind in TIMES) and number.isdigit():
        return str(int(number) + 1) if beyond else None
    if is_float(kind):
        return f"{Decimal(number) + _LEAST}D" if beyond else None
    if kind is None or kind.scale is None or not number.isdigit():
        return None
    # Hive looks at the whole part of how far decimals are from each other.
    return f"{int(number) + 1 - (0 if beyond else Decimal(1).scaleb(-kind.scale))}BD"


def definition_of(node: exp.Window) -> exp.Window | None:
    """Return the window that a call is over: its own, or the one of the name it gives.

    None where nothing has that name.
    """
    alias = node.args.get("alias")
    if alias is None or node.args.get("spec") is not None:
        return node
    select = node.find_ancestor(exp.Select)
    for window in (select.args.get("windows") or ()) if select is not None else ():
        if window.name.lower() == alias.name.lower():
            return window if isinstance(window, exp.Window) else None
    return None


def _key(node: exp.Window) -> exp.Ordered | None:
    """Return what a window is ordered by, where that is one expression."""
    order = node.args.get("order")
    keys = order.expressions if order is not None else []
    return keys[0] if len(keys) == 1 and isinstance(keys[0], exp.Ordered) else None


def _is_turned(key: exp.Ordered, text: str) -> bool:
    """Tell whether values go down or NULLs come first, where Hive's frames of NULLs are random."""
    start, end = place_of(key)
    return bool(key.args.get("desc")) or text[start:end].lower().split()[-2:] == ["nulls", "first"]
