"""Names and types of what a SELECT gives, by Hive's rules."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from hivesql.dialect import RANGE
from hivesql.hive_only import Edit
from hivesql.scope import Meaning

# Functions that give rows; their columns keep the names that Hive and Spark agree on.
_GENERATORS = frozenset(
    {"explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer",
     "stack", "json_tuple", "parse_url_tuple", "get_splits", "replicate_rows"}
)  # fmt: skip

# Columns that may stand for an expression in Spark's text.
_REPLACED = ("row__id", "grouping__id")


def output_name(item: exp.Expr, position: int) -> str | None:
    """The name of a select-list item: alias, column, last field, else ``_c<position>``.

    None for ``*`` and for functions that give several columns (SemanticAnalyzer.getColAlias).
    """
    if item.is_star or isinstance(item, exp.Aliases):
        return None
    if isinstance(item, exp.Anonymous) and str(item.this).lower() in _GENERATORS:
        return None
    if isinstance(item, (exp.Alias, exp.Column)):
        return item.alias_or_name.lower()
    if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Identifier):
        return str(item.expression.name).lower()
    return f"_c{position}"


def naming_edit(item: exp.Expr, name: str) -> Edit | None:
    """What makes Spark give the item this name; None when it does already."""
    if isinstance(item, exp.Alias):
        alias = item.args["alias"]
        start, end = alias.meta["start"], alias.meta["end"] + 1
        return None if alias.name == name else Edit(start, end, f"`{name}`")
    if isinstance(item, exp.Column) and item.name == name and name not in _REPLACED:
        return None
    end = item.meta[RANGE][1]
    return Edit(end, end, f" AS `{name}`")


def column_type(item: exp.Expr, meanings: Mapping[int, Meaning]) -> str | None:
    """The Hive type of a select-list item that is a column of a table; else None."""
    item = item.unalias()
    meaning = meanings.get(id(item))
    if meaning is None or meaning.column is None or not isinstance(item, exp.Column):
        return None
    if meaning.used != len(item.parts):
        return None
    types = {one.name: one.type for one in meaning.relation.columns or ()}
    return types.get(meaning.column)
