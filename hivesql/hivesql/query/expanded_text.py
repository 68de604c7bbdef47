"""The text of a view as Hive expands it: names in back quotes, columns with their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hivesql.dialect.edits import Edit
from hivesql.python_sqlglot import exp
from hivesql.query.scope import Meaning
from hivesql_planner.model.hive_type import quote_name


def expanded_names(tree: exp.Expr, meanings: Mapping[int, Meaning]) -> list[Edit]:
    """Give each column of a query its table, and each name that the query makes its quotes.

    Columns that USING joins stay alone: with a table they would be that table's.
    """
    return [edit for node in tree.find_all(exp.Column, exp.Alias, exp.TableAlias)
            for edit in _edits(node, meanings)]  # fmt: skip


def _edits(node: exp.Expr, meanings: Mapping[int, Meaning]) -> Iterator[Edit]:
    if isinstance(node, exp.Alias):
        yield from _quoted(node.args["alias"])
    elif isinstance(node, exp.TableAlias):
        for name in (node.this, *node.columns):
            yield from _quoted(name)
    elif isinstance(node, exp.Column) and (meaning := meanings.get(id(node))) is not None:
        parts = node.parts[: meaning.used]
        names = [meaning.relation.alias, parts[-1].name.lower()]
        if meaning.used == 1 and (meaning.column is None or _is_merged(node)):
            names = names[1:]
        start, end = parts[0].meta["start"], parts[-1].meta["end"] + 1
        yield Edit(start, end, ".".join(map(quote_name, names)))


def _quoted(name: exp.Expr | None) -> Iterator[Edit]:
    if isinstance(name, exp.Identifier) and "start" in name.meta:
        yield Edit(name.meta["start"], name.meta["end"] + 1, quote_name(name.name.lower()))


def _is_merged(column: exp.Column) -> bool:
    select = column.find_ancestor(exp.Select)
    return select is not None and any(join.args.get("using") for join in select.find_all(exp.Join))
