"""What ORDER BY and GROUP BY mean: positions of select items, constants, and the order of NULLs."""

from __future__ import annotations

from collections.abc import Iterator

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, insert
from hivesql.dialect.slices import BRACKETS
from hivesql.dialect.structure import place_of
from hivesql.dialect.tokens import first_from
from hivesql.python_sqlglot import exp
from hivesql_planner.settings.settings import NULLS_LAST, Settings


def knows_positions(clause: str, settings: Settings) -> bool:
    """Tell whether a number in the ``groupby`` or ``orderby`` is a select item's position."""
    both = settings.flag("hive.groupby.orderby.position.alias")
    return both or settings.flag(f"hive.{clause}.position.alias")


def position_edits(select: exp.Select, settings: Settings) -> list[Edit]:
    """Let Spark take positions, which its ORDER BY knows and its GROUP BY does not."""
    edits = []
    group = select.args.get("group")
    if group is not None and knows_positions("groupby", settings):
        for key in group.expressions:
            item = _item(key, select)
            if item is not None:
                edits.append(Edit(*place_of(key), "", (place_of(item.unalias()),)))
    if group is not None:
        edits += _repeated_sets(group)
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        number = _place_of_window(ordered.this, select)
        if number is not None:
            # Spark finds functions over windows in the select list alone.
            edits.append(Edit(*place_of(ordered.this), str(number)))
    if order is not None and not knows_positions("orderby", settings):
        for ordered in order.expressions:
            if _position(ordered.this) is not None:
                place = place_of(ordered.this)
                edits.append(Edit(*place, "", ("(0 + ", place, ")")))
    return edits


def _repeated_sets(group: exp.Group) -> Iterator[Edit]:
    """Leave out grouping sets that are there already: in Hive each gives its rows once."""
    for part in group.args.get("grouping_sets") or ():
        seen: set[frozenset[str]] = set()
        end = 0
        for key_set in part.expressions:
            members = key_set.expressions if isinstance(key_set, exp.Tuple) else [key_set]
            columns = frozenset(member.unnest().sql().lower() for member in members)
            start, end = end, place_of(key_set)[1]
            if columns in seen:
                yield Edit(start, end, "")
            seen.add(columns)


def _place_of_window(node: exp.Expr, select: exp.Select) -> int | None:
    """Find the select item that is the same expression, with or beside a function over a window."""
    if isinstance(node, exp.Column):
        return None
    if not any(part.find(exp.Window) for part in (node, *select.expressions)):
        return None
    for i, item in enumerate(select.expressions, 1):
        if item.is_star:
            return None
        if item.unalias() == node:
            return i
    return None


def _position(node: exp.Expr) -> int | None:
    is_number = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
    return int(node.name) if is_number else None


def _item(node: exp.Expr, select: exp.Select) -> exp.Expr | None:
    position = _position(node)
    items = select.expressions
    return items[position - 1] if position and position <= len(items) else None


def null_order(tree: exp.Expr, binding: Binding) -> list[Edit]:
    """Tell what gives every ORDER BY, SORT BY and CLUSTER BY of a query Hive's order of NULLs.

    Nothing where a setting wants Spark's, which is the other way round.
    """
    edits: list[Edit] = []
    for sort in tree.find_all(exp.Sort):
        # Spark knows no brackets around all keys.
        edits += [Edit(place, place + 1, "") for place in sort.meta.get(BRACKETS, ())]
    if not binding.settings.flag(NULLS_LAST):
        return edits
    for item in tree.find_all(exp.Ordered):
        if type(item.parent) in (exp.Order, exp.Sort) and not _says(item, binding):
            order = " NULLS FIRST" if item.args.get("desc") else " NULLS LAST"
            end = place_of(item)[1]
            # Nothing need stand between a bracket and the word after it.
            is_word = binding.text.text[end : end + 1].isalnum()
            edits.append(insert(end, f"{order} " if is_word else order))
    return edits + [_sorted_too(cluster, binding) for cluster in tree.find_all(exp.Cluster)]


def nulls_first(item: exp.Ordered, binding: Binding) -> bool:
    """Tell whether an item of ORDER BY puts NULL first, as the statement or Hive's default says."""
    descending = bool(item.args.get("desc"))
    if _says(item, binding):
        start, end = place_of(item)
        return binding.text.text[start:end].lower().endswith("first")
    return descending == binding.settings.flag(NULLS_LAST)


def _says(item: exp.Ordered, binding: Binding) -> bool:
    """Tell whether it says NULLS FIRST or NULLS LAST itself."""
    start, end = place_of(item)
    return binding.text.text[start:end].lower().split()[-2:-1] == ["nulls"]


def _sorted_too(cluster: exp.Cluster, binding: Binding) -> Edit:
    """CLUSTER BY in its two halves: Spark knows no order of NULLs for it."""
    spans = [place_of(key) for key in cluster.expressions]
    word = binding.tokens[first_from(binding.tokens, spans[0][0]) - 2]
    parts: list[str | tuple[int, int]] = ["DISTRIBUTE BY "]
    for i, span in enumerate(spans):
        parts += [", " if i else "", span]
    parts.append(" SORT BY ")
    for i, span in enumerate(spans):
        parts += [", " if i else "", span, " NULLS LAST"]
    return Edit(word.start, spans[-1][1], "", tuple(parts))
