"""Names and types of what a SELECT gives, by Hive's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, insert
from hivesql.dialect.structure import RANGE, span_of
from hivesql.dialect.value_types import TIMES, Type, common, is_number, is_text
from hivesql.expressions.translator import BY_FORMAT, OWN_KIND
from hivesql.expressions.windows import AGGREGATES, definition_of
from hivesql.python_sqlglot import exp
from hivesql.query.inline_tables import OTHER_EACH_TIME
from hivesql.query.scope import Meaning, Output, Outputs, Scope, outputs_of
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.hive_type import INSTANT, INT, VOID, HiveType, Kind, quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.settings.session_zone import ZONE_KEY, session_zone
from hivesql_planner.settings.settings import Settings

# Functions that give rows; Hive and Spark agree on the names of their columns but for POSEXPLODED.
GENERATORS = frozenset(
    {"explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer",
     "stack", "json_tuple", "parse_url_tuple", "get_splits", "replicate_rows"}
)  # fmt: skip

# The names of what posexplode gives.
POSEXPLODED = ("pos", "val")

_OF_NULLS = ("first_value", "last_value")

# How the names begin that Hive makes.
_GENERATED = "_c"

# Columns that may stand for an expression in Spark's text.
_REPLACED = ("row__id", "row__is__deleted", "grouping__id")


def output_names(select: exp.Select, meanings: Mapping[int, Meaning]) -> list[str | None]:
    """Name the items of a select list: alias, column, last field, ``sum_window_0``, ``_c<i>``.

    None for ``*`` and for functions that give several columns (SemanticAnalyzer.getColAlias).
    ``meanings`` are those of columns that one relation gives, if the SELECT has only one.
    """
    items = select.expressions
    names: list[str | None] = []
    windows, last = 0, _last_windows(items)
    has_own = not select.args.get("group") and not select.args.get("distinct") and not last
    if (
        select.args.get("distinct")
        or _gives_constants_sorted(select)
        or _sorts_by_others(select)
        or wants_no_rows(select)
    ):
        last = frozenset()
    for i, item in enumerate(items):
        # To Hive, brackets around an expression are not there.
        bare = item.unnest()
        name = _name(bare, i, windows if id(bare) in last else None)
        if has_own and name and name.startswith(_GENERATED):
            column = _column_of(bare)
            meaning = meanings.get(id(column)) if column else None
            # To Hive it is a name of its own making: a column's name is better, if still free.
            if column and meaning and meaning.used == len(column.parts):
                own = column.name.lower()
                is_free = own not in names and not any(before.is_star for before in items[:i])
                name = own if is_free and not own.startswith(_GENERATED) else name
        names.append(name)
        windows += sum(1 for _ in item.find_all(exp.Window))
    return names


def alias_of(item: exp.Expr, meanings: Mapping[int, Meaning]) -> str:
    """Tell by which relation's alias an item names its column; "" where it does not."""
    bare = item.unnest()
    meaning = meanings.get(id(bare))
    if meaning is None or not isinstance(bare, exp.Column):
        return ""
    return meaning.relation.alias if 1 < meaning.used == len(bare.parts) else ""


def _is_made(name: str) -> bool:
    return name.startswith(_GENERATED) and name.removeprefix(_GENERATED).isdecimal()


def _column_of(item: exp.Expr) -> exp.Column | None:
    """Return the column that an item is, under an alias and one CAST."""
    inner = item.unalias().unnest()
    if isinstance(inner, exp.Cast) and BY_FORMAT not in inner.meta:
        inner = inner.this.unnest()
    return inner if isinstance(inner, exp.Column) and not inner.is_star else None


def _last_windows(items: Sequence[exp.Expr]) -> frozenset[int]:
    """Tell which windows, by their ids, Hive computes last; names are kept of these alone.

    It goes through the rows once for each PARTITION BY and ORDER BY, in the order of the text.
    """
    groups: dict[tuple[object, object], set[int]] = {}
    for item in items:
        for window in item.find_all(exp.Window):
            at = definition_of(window) or window
            key = (tuple(at.args.get("partition_by") or ()), at.args.get("order"))
            groups.setdefault(key, set()).add(id(window))
    return frozenset(groups.popitem()[1]) if groups else frozenset()


def _gives_constants_sorted(select: exp.Select) -> bool:
    """Tell whether Hive adds constants after it has sorted: it has no names for windows then."""
    if not select.args.get("order"):
        return False
    where = select.args.get("where")
    condition = where.this.unnest() if where else exp.null()
    parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
    equal = {name for part in parts for name in _column_of_constant(part)}
    items = [item.unalias().unnest() for item in select.expressions]
    return any(
        _is_constant(item) or (isinstance(item, exp.Column) and item.name.lower() in equal)
        for item in items
    )


def _sorts_by_others(select: exp.Select) -> bool:
    """Tell whether Hive sorts by what it then leaves out: it has no names for windows then.

    Those over all rows keep theirs.
    """
    order = select.args.get("order")
    windows = [definition_of(window) or window for window in select.find_all(exp.Window)]
    if order is None or not any(
        over.args.get("partition_by") or over.args.get("order") for over in windows
    ):
        return False
    if any(item.is_star for item in select.expressions):
        return False
    names = {item.alias_or_name.lower() for item in select.expressions}
    return any(
        key.name.lower() not in names if isinstance(key, exp.Column)
        else not isinstance(key, exp.Literal)
        for key in (ordered.this.unnest() for ordered in order.expressions)
    )  # fmt: skip


def _column_of_constant(node: exp.Expr) -> set[str]:
    """Return the column that a condition says a constant for."""
    node = node.unnest()
    if isinstance(node, exp.EQ):
        for side, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(side.unnest(), exp.Column) and _is_constant(other.unnest()):
                return {side.unnest().name.lower()}
    return set()


def _is_constant(item: exp.Expr) -> bool:
    """Tell whether Hive computes it once, before any row."""
    if item.is_star:
        return False
    for node in item.walk():
        if isinstance(node, (exp.Column, exp.Window, exp.Query, exp.Rand, exp.Uuid, exp.AggFunc)):
            return False
        if isinstance(node, exp.Anonymous):
            name = str(node.this).lower()
            if name in OTHER_EACH_TIME | AGGREGATES or node.meta.get(OWN_KIND) == "aggregate":
                return False
    return True


def wants_no_rows(select: exp.Select) -> bool:
    """Tell whether a statement is limited to no rows, for which Hive does without Calcite."""
    limit = select.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else None
    is_none = isinstance(number, exp.Literal) and str(number.this) == "0"
    return is_none and select.parent_select is None


def _name(item: exp.Expr, position: int, windows: int | None) -> str | None:
    if item.is_star or isinstance(item, exp.Aliases):
        return None
    if isinstance(item, exp.Anonymous) and (
        str(item.this).lower() in GENERATORS or item.meta.get(OWN_KIND) == "rows"
    ):
        return None
    if isinstance(item, (exp.Alias, exp.Column)):
        return item.alias_or_name.lower()
    if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Identifier):
        return str(item.expression.name).lower()
    if windows is not None and isinstance(item, exp.Window):
        call = item.this
        if isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
            call = call.this
        name = str(call.this).lower() if isinstance(call, exp.Anonymous) else ""
        # With an argument for NULLs, Hive takes the name for an expression.
        if name and not (name in _OF_NULLS and len(call.expressions) > 1):
            return f"{name}_window_{windows}"
    return f"{_GENERATED}{position}"


def is_posexplode(call: exp.Expr) -> bool:
    """Tell whether it calls posexplode, whose columns have other names in Spark."""
    return isinstance(call, exp.Anonymous) and str(call.this).lower() == "posexplode"


def generated_types(function: str, argument: Type) -> tuple[Type, ...]:
    """Give the column types that a function makes of what it is given; () if unknown."""
    inside = argument.children if argument else ()
    match function.lower().removesuffix("_outer"):
        case "explode":
            return inside
        case "posexplode" if len(inside) == 1:
            return (INT, inside[0])
        case "inline" if len(inside) == 1:
            return inside[0].children
    return ()


def named_outputs(
    items: Sequence[exp.Expr], names: Sequence[str | None]
) -> tuple[frozenset[str], list[Edit]]:
    """Give a select list's names in Hive, and what makes Spark give those it would not."""
    named = [(item, name) for item, name in zip(items, names, strict=True) if name]
    edits = [edit for item, name in named if (edit := naming_edit(item, name))]
    edits += [
        insert(item.meta[RANGE][1], f" AS ({', '.join(POSEXPLODED)})")
        for item in items
        if is_posexplode(item)
    ]
    return frozenset(name for _, name in named), edits


def naming_edit(item: exp.Expr, name: str) -> Edit | None:
    """Tell what makes Spark give the item this name; None when it does already."""
    if isinstance(item, exp.Alias):
        alias = item.args["alias"]
        start, end = alias.meta["start"], alias.meta["end"] + 1
        return None if alias.name == name else Edit(start, end, quote_name(name))
    if isinstance(item, exp.Column) and item.name == name and name not in _REPLACED:
        return None
    end = item.meta[RANGE][1]
    return Edit(end, end, f" AS {quote_name(name)}")


def united(left: Outputs, right: Outputs) -> Outputs:
    """Return the columns of a UNION or its like: names of the left side, types that take both.

    SemanticError where numbers, texts and dates would be mixed, or the sides differ in width.
    """
    if left is None or right is None:
        return left
    if len(left) != len(right):
        raise SemanticError("Schema of both sides of union should match: "
                            f"{len(left)} columns and {len(right)}")  # fmt: skip
    for column, other in zip(left, right, strict=True):
        if not _mixable(column.type, other.type):
            raise SemanticError(
                f"Schema of both sides of setop should match: Column {column.name} is of type "
                f"{column.type} on first table and type {other.type} on second table"
            )
    return tuple(
        Output(
            column.name,
            common([column.type, other.type]),
            column.origins + other.origins,
            twin=column.twin,
        )
        for column, other in zip(left, right, strict=True)
    )


def check_united(left: Outputs, right: Outputs, settings: Settings) -> None:
    """Refuse instants beside other types in the branches of a set operation, but for UTC."""
    for column, other in zip(left or (), right or (), strict=False):
        kinds = {column.type, other.type} - {None, VOID}
        if INSTANT in kinds and len(kinds) > 1 and session_zone(settings) is not None:
            what = f"UNION and its like of {column.type} and {other.type}"
            raise NotSupported(f"{what} where {ZONE_KEY} is not UTC: CAST one of them")


def _mixable(left: Type, right: Type) -> bool:
    if left is not None and right is not None and (left.is_nested or right.is_nested):
        return VOID not in (left, right) and _are_alike(left, right)

    def group(kind: Type) -> str:
        if is_number(kind):
            return "number"
        return "text" if is_text(kind) else "time" if kind in TIMES else ""

    groups = {group(left), group(right)}
    return len(groups) == 1 or "" in groups


def _are_alike(left: HiveType, right: HiveType) -> bool:
    """Tell whether what is nested agrees at each place, but for lengths and digits."""
    unknown = (Kind.VOID, Kind.OTHER)
    if left.kind in unknown or right.kind in unknown:
        return True
    return (
        left.kind is right.kind
        and [name.lower() for name in left.names] == [name.lower() for name in right.names]
        and len(left.children) == len(right.children)
        and all(map(_are_alike, left.children, right.children))
    )


def renamed(columns: Outputs, alias: exp.Expr | None) -> Outputs:
    """Return the columns under the names of an alias ``q(a, b)``."""
    names = [name.name.lower() for name in alias.args.get("columns") or ()] if alias else []
    if not names:
        return columns
    if columns is None or len(columns) != len(names):
        return tuple(Output(name) for name in names)
    return tuple(
        column._replace(name=name, twin="") for name, column in zip(names, columns, strict=True)
    )


def named_queries(with_: exp.With, binding: Binding) -> Iterator[exp.CTE]:
    """Yield the queries of a WITH; SemanticError 10008 at the second one of a name."""
    names = set()
    for cte in with_.expressions:
        if cte.alias.lower() in names:
            error = SemanticError(f"Ambiguous table alias '{cte.alias}'", code=10008)
            binding.fail(error, *span_of(cte.args["alias"]))
        names.add(cte.alias.lower())
        yield cte


def label_columns(cte: exp.CTE, columns: Outputs, binding: Binding, edits: list[Edit]) -> Outputs:
    """Return the columns of a query of WITH under the names of ``q (a, b)``.

    Hive lets the last columns go without one; Spark, which does not, gets their own names.
    Raises SemanticError 10425 for more names than columns.
    """
    alias = cte.args["alias"]
    labels = alias.args.get("columns") or ()
    if not labels or columns is None or len(columns) == len(labels):
        return renamed(columns, alias)
    if len(labels) > len(columns):
        problem = (
            f"WITH-clause query {cte.alias} returns {len(columns)} columns, but {len(labels)} "
            "labels were specified"
        )
        binding.fail(SemanticError(problem, code=10425), *span_of(alias))
    others = columns[len(labels) :]
    end = span_of(labels[-1])[1]
    edits.append(Edit(end, end, "".join(f", {quote_name(other.name)}" for other in others)))
    return (*(renamed(columns[: len(labels)], alias) or ()), *others)


def numbered_names(
    select: exp.Select, names: Sequence[str | None], meanings: Mapping[int, Meaning]
) -> list[str | None]:
    """Give items that are called alike the names of Hive: ``k, k`` are ``k`` and ``k_1``.

    In FROM, and in a UNION, they are ``k`` and ``_col1``, by their place. Of a statement's own,
    those are not alike that one names by its relation and another without. Lists with ``*`` stay.
    """
    if None in names:
        return list(names)
    is_inner = select.parent is not None
    names_before: set[tuple[str, str]] = set()
    numbered: list[str | None] = []
    for i, (item, called) in enumerate(zip(select.expressions, names, strict=True)):
        alias = "" if is_inner else alias_of(item, meanings)
        name, number = str(called), 0
        while (alias, name) in names_before:
            number += 1
            name = f"{called}_{number}"
        if number and is_inner:
            name = f"_col{i}"
        names_before.add((alias, name))
        numbered.append(name)
    return numbered


def with_twins(outputs: Outputs, called: Sequence[str | None]) -> Outputs:
    """Note what columns would be called, of a select list without ``*``, had they no numbers."""
    return tuple(
        output._replace(twin=name if name and name != output.name else "")
        for output, name in zip(outputs or (), called, strict=True)
    )


def of_view(view: Table, query_columns: Outputs) -> tuple[Output, ...]:
    """Give the columns of a view's query the names and types of the view.

    Where Hive made the name, it makes it anew of the view's text, in which each ``*`` is written
    out: ``SELECT *, 1`` is described with a ``_c1`` that a table of two columns calls ``_c2``.
    """
    columns = outputs_of(view)
    if query_columns is None or len(query_columns) != len(columns):
        return columns
    return tuple(
        column._replace(
            name=new.name if _is_made(column.name) and _is_made(new.name) else column.name,
            origins=new.origins,
        )
        for column, new in zip(columns, query_columns, strict=True)
    )


def has_numbered_star(select: exp.Select) -> bool:
    """Tell whether the columns of the select list's ``*`` are ``_col0`` and so on outside of it.

    So Hive names them beside GROUP BY. In a statement's own select list they are
    ``(tok_table_or_col key)``: there HiveSQL leaves them their names.
    """
    is_grouped = select.args.get("group") is not None and not select.args.get("distinct")
    return is_grouped and select.parent is not None


_PATTERN = "pattern"


def mark_patterns(select: exp.Select, settings: Settings) -> None:
    """Make a ``*`` that knows its pattern of each select item that is a regular expression."""
    if settings.text("hive.support.quoted.identifiers").strip().lower() != "none":
        return
    for item in select.expressions:
        name = item.this if isinstance(item, exp.Column) else None
        # As in Hive, a quoted name of nothing but word characters is a name.
        if isinstance(name, exp.Identifier) and name.quoted and re.search(r"\W", name.name):
            item.meta[_PATTERN] = name.name
            item.set("this", exp.Star())


def columns_of_star(
    item: exp.Expr, scope: Scope, binding: Binding, *, merges: bool
) -> tuple[list[tuple[str, Output]] | None, bool]:
    """Return the columns with their relations' aliases, and whether they must be written out.

    None when only Spark knows them. ``merges``: some columns are joined by USING. Raises
    NoSuchObject 10009 (no such alias), SemanticError 10002 (a pattern that matches nothing).
    """
    table = item.table.lower() if isinstance(item, exp.Column) else ""
    relations = [relation for relation in scope.relations if not relation.hidden]
    if table:
        relations = [relation for relation in scope.relations if relation.alias == table]
        if not relations:
            error = NoSuchObject(f"Invalid table alias '{table}'", code=10009)
            binding.fail(error, *span_of(item))
    has_row_id = any(
        relation.use is not None and relation.use.with_hidden for relation in relations
    )
    pattern = item.meta.get(_PATTERN)
    if (merges and not table) or any(relation.columns is None for relation in relations):
        if has_row_id or pattern:
            what = "a regular expression of columns" if pattern else "* beside row__id"
            feature = f"{what} where not all columns are known"
            binding.fail(NotSupported(feature), *span_of(item))
        return None, False
    columns = [
        (relation.alias, column) for relation in relations for column in relation.columns or ()
    ]
    if pattern is None:
        return columns, has_row_id
    try:
        # Python writes possessive quantifiers as Java does.
        matches = re.compile(pattern, re.IGNORECASE).fullmatch
    except re.error as error:
        problem = SemanticError(f"'{pattern}' is no regular expression: {error}")
        binding.fail(problem, *span_of(item))
    columns = [(alias, column) for alias, column in columns if matches(column.name)]
    if not columns:
        problem = SemanticError(f"no column matches '{pattern}'", code=10002)
        binding.fail(problem, *span_of(item))
    return columns, True
