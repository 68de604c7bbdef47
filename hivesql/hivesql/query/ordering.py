"""Numbers in GROUP BY and ORDER BY: positions of select items, or constants."""

from __future__ import annotations

from sqlglot import exp

from hivesql.query.dialect import place_of
from hivesql.query.edits import Edit
from hivesql_planner.settings.settings import Settings


def position_edits(select: exp.Select, settings: Settings) -> list[Edit]:
    """What makes Spark, for which ORDER BY knows positions and GROUP BY does not, take them so."""
    edits = []
    group = select.args.get("group")
    if group is not None and settings.flag("hive.groupby.position.alias"):
        for one in group.expressions:
            item = _item(one, select)
            if item is not None:
                edits.append(Edit(*place_of(one), "", (place_of(item.unalias()),)))
    order = select.args.get("order")
    if order is not None and not settings.flag("hive.orderby.position.alias"):
        for ordered in order.expressions:
            if _position(ordered.this) is not None:
                place = place_of(ordered.this)
                edits.append(Edit(*place, "", ("(0 + ", place, ")")))
    return edits


def _position(node: exp.Expr) -> int | None:
    is_number = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
    return int(node.name) if is_number else None


def _item(node: exp.Expr, select: exp.Select) -> exp.Expr | None:
    position = _position(node)
    items = select.expressions
    return items[position - 1] if position and position <= len(items) else None
