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
        # Hive leaves the names of WITH as they are written.
        names = node.columns if isinstance(node.parent, exp.CTE) else (node.this, *node.columns)
        for name in names:
            yield from _quoted(name)
    elif isinstance(node, exp.Column) and (meaning := _meaning(node, meanings)) is not None:
        parts = node.parts[: meaning.used]
        names = [meaning.relation.alias, parts[-1].name.lower()]
        if meaning.used == 1 and (meaning.column is None or _is_merged(node)):
            names = names[1:]
        start, end = parts[0].meta["start"], parts[-1].meta["end"] + 1
        yield Edit(start, end, ".".join(map(quote_name, names)))


def _meaning(column: exp.Column, meanings: Mapping[int, Meaning]) -> Meaning | None:
    """Look a name up, in ORDER BY and SORT BY among the columns that are selected as they are.

    Hive takes each column of FROM there, also where the select list gives its name to something
    else: its views of `SELECT -a AS a … ORDER BY a` are ordered the other way round. Such a name
    stays as it is.
    """
    meaning = meanings.get(id(column))
    if meaning is not None or len(column.parts) > 1:
        return meaning
    clause = column.find_ancestor(exp.Order, exp.Sort, exp.Window, exp.Select)
    # Not DISTRIBUTE BY and CLUSTER BY, which are kinds of these two here.
    select = clause.parent if type(clause) in (exp.Order, exp.Sort) and clause else None
    if not isinstance(select, exp.Select):
        return None
    name = column.name.lower()
    items = [item for item in select.expressions if item.alias_or_name.lower() == name]
    if len(items) != 1 or not isinstance(selected := items[0].unalias(), exp.Column):
        return None
    meaning = meanings.get(id(selected))
    is_it = meaning is not None and selected.name.lower() == name and meaning.column is not None
    return meaning._replace(used=1) if meaning is not None and is_it else None


def _quoted(name: exp.Expr | None) -> Iterator[Edit]:
    if isinstance(name, exp.Identifier) and "start" in name.meta:
        yield Edit(name.meta["start"], name.meta["end"] + 1, quote_name(name.name.lower()))


def _is_merged(column: exp.Column) -> bool:
    select = column.find_ancestor(exp.Select)
    return select is not None and any(join.args.get("using") for join in select.find_all(exp.Join))
