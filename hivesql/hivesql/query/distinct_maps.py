"""DISTINCT, UNION and ORDER BY of what Spark takes otherwise: maps, and FLOAT beside DECIMAL.

Spark groups by maps, and compares them not else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from hivesql.dialect.edits import Edit, filled, insert
from hivesql.dialect.structure import RANGE, place_of, span_of
from hivesql.dialect.tokens import Token, first_from
from hivesql.dialect.value_types import Type, is_decimal
from hivesql.expressions.comparisons import with_maps, without_maps
from hivesql.python_sqlglot import exp
from hivesql.query.qualify import first_word
from hivesql.query.scope import Outputs
from hivesql_planner.model.hive_type import FLOAT, Kind, quote_name

_AROUND, _GROUP = "SELECT * FROM (", " GROUP BY ALL"
_LAST_CLAUSES = ("order", "sort", "distribute", "cluster", "limit", "offset")
_BEHIND = ("union", "intersect", "except", "minus", "insert")


def map_edits(
    select: exp.Select,
    outputs: Outputs,
    tokens: Sequence[Token],
    type_of: Callable[[exp.Expr], Type],
) -> list[Edit]:
    """Let a SELECT tell maps apart and order them; ``type_of`` tells types of its expressions."""
    return _distinct_edits(select, outputs, tokens) + _order_edits(select, outputs, type_of)


def _distinct_edits(select: exp.Select, outputs: Outputs, tokens: Sequence[Token]) -> list[Edit]:
    """Make a grouping of SELECT DISTINCT whose columns hold maps.

    It goes around what has groups or windows of its own.
    """
    if not select.args.get("distinct") or select.args.get("qualify") or not _hold_maps(outputs):
        return []
    first = first_word(select, tokens)
    item = first_from(tokens, min(item.meta[RANGE][0] for item in select.expressions))
    word = _last_before(tokens, item, ("distinct",))
    edits = [Edit(tokens[word].start, tokens[word].end, "")]
    end = _end(select, tokens, first)
    if not select.args.get("group") and select.find(exp.Window) is None:
        return [*edits, insert(end, _GROUP)]
    return [insert(tokens[first].start, _AROUND), *edits, insert(end, f"){_GROUP}")]


def united_map_edits(
    operands: Sequence[exp.Expr],
    operations: Sequence[exp.SetOperation],
    columns: Outputs,
    tokens: Sequence[Token],
) -> list[Edit]:
    """Let Spark find the same maps in the operands of UNION, INTERSECT and EXCEPT.

    A grouping goes around a row of UNIONs up to the last one without ALL.
    """
    is_of_unions = all(isinstance(operation, exp.Union) for operation in operations)
    if operations and _hold_maps(columns) and not is_of_unions:
        return _compared_edits(operands, operations, columns, tokens)
    unions = [i for i, operation in enumerate(operations) if operation.args.get("distinct")]
    if not unions or not _hold_maps(columns):
        return []
    united = operations[: unions[-1] + 1]
    starts = [_start(operand, tokens) for operand in operands]
    edits = [insert(tokens[starts[0]].start, _AROUND)]
    for i in unions:
        word = _last_before(tokens, starts[i + 1], ("union",))
        last = tokens[word + 1] if tokens[word + 1].is_("distinct") else tokens[word]
        edits.append(Edit(tokens[word].start, last.end, "UNION ALL"))
    end = _end(united[-1], tokens, starts[len(united)])
    return [*edits, insert(end, f"){_GROUP}")]


def _compared_edits(
    operands: Sequence[exp.Expr],
    operations: Sequence[exp.SetOperation],
    columns: Outputs,
    tokens: Sequence[Token],
) -> list[Edit]:
    """Compare arrays of entries instead of maps, which the outermost SELECT makes again."""
    every = [(column.type, f"`c{i}`", quote_name(column.name))
             for i, column in enumerate(columns or ())]  # fmt: skip
    names = ", ".join(name for _, name, _ in every)
    again = ", ".join(
        f"{with_maps(kind, name) if kind else name} AS {called}" for kind, name, called in every
    )
    compared = ", ".join(without_maps(kind, name) if kind else name for kind, name, _ in every)
    starts = [_start(operand, tokens) for operand in operands]
    edits = [insert(tokens[starts[0]].start, f"SELECT {again} FROM (")]
    for start in starts:
        edits.append(insert(tokens[start].start, f"SELECT {compared} FROM ("))
        end = _end_before((*_BEHIND, *_LAST_CLAUSES), tokens, start)
        edits.append(insert(end, f") AS `side`({names})"))
    end = _end(operations[-1], tokens, starts[-1])
    return [*edits, insert(end, f") AS `compared`({names})")]


def united_float_edits(
    operands: Sequence[exp.Expr],
    sides: Sequence[Outputs],
    columns: Outputs,
    constant: Collection[int],
    tokens: Sequence[Token],
) -> Iterator[Edit]:
    """Make FLOATs of the DECIMALs beside them in a row of UNIONs: Spark would take DOUBLE.

    ``sides`` are the columns of each operand, ``columns`` those of all; ``constant`` are the
    places of rows of constants, which may become one table.
    """
    for place, (operand, side) in enumerate(zip(operands, sides, strict=True)):
        select = operand.unnest()
        if not isinstance(select, exp.Select) or not side or len(side) != len(columns or ()):
            continue
        pairs = zip(side, columns or (), strict=True)
        casts = [column.type == FLOAT and is_decimal(own.type) for own, column in pairs]
        if not any(casts):
            continue
        if place in constant:
            for item, cast in zip(select.expressions, casts, strict=True):
                span = place_of(item.unalias())
                if cast:
                    yield Edit(*span, "", ("CAST(", span, " AS FLOAT)"))
            continue
        items = (
            f"CAST(`c{i}` AS FLOAT) AS {quote_name(column.name)}"
            if cast
            else f"`c{i}` AS {quote_name(column.name)}"
            for i, (column, cast) in enumerate(zip(side, casts, strict=True))
        )
        names = ", ".join(f"`c{i}`" for i in range(len(casts)))
        first = first_word(select, tokens)
        stops = _BEHIND if isinstance(operand, exp.Subquery) else (*_BEHIND, *_LAST_CLAUSES)
        yield insert(tokens[first].start, f"SELECT {', '.join(items)} FROM (")
        yield insert(_end_before(stops, tokens, first), f") AS `side`({names})")


def _order_edits(
    select: exp.Select, outputs: Outputs, type_of: Callable[[exp.Expr], Type]
) -> list[Edit]:
    """Order rows by maps as Hive does: by their entries, in the order of their keys."""
    selected = {column.name: column.type for column in outputs or ()}
    edits = []
    for clause in ("order", "sort"):
        part = select.args.get(clause)
        for key in part.expressions if part is not None else ():
            value = key.this if isinstance(key, exp.Ordered) else key
            kind = type_of(value)
            if kind is None and isinstance(value, exp.Column) and len(value.parts) == 1:
                kind = selected.get(value.name.lower())
            if kind is not None and kind.holds(Kind.MAP):
                start, end = place_of(value)
                template = without_maps(kind, "@0")
                edits.append(Edit(start, end, "", tuple(filled(template, [(start, end)]))))
    return edits


def _hold_maps(columns: Outputs) -> bool:
    return any(column.type is not None and column.type.holds(Kind.MAP) for column in columns or ())


def _start(operand: exp.Expr, tokens: Sequence[Token]) -> int:
    if isinstance(operand, exp.Select):
        return first_word(operand, tokens)
    return first_from(tokens, span_of(operand)[0])


def _end(query: exp.Expr, tokens: Sequence[Token], i: int) -> int:
    """Find where a query whose last part begins at a token ends, but for its order and limit."""
    clauses = [query.args[key] for key in _LAST_CLAUSES if query.args.get(key)]
    if clauses:
        inside = first_from(tokens, min(span_of(clause)[0] for clause in clauses))
        return tokens[_last_before(tokens, inside, _LAST_CLAUSES) - 1].end
    return _end_before(_BEHIND, tokens, i)


def _end_before(stops: Sequence[str], tokens: Sequence[Token], i: int) -> int:
    """Find where a query ends whose last part begins at a token: before one of these words."""
    depth, end = 0, tokens[i].end
    for token in tokens[i:]:
        if depth == 0 and (token.is_(")") or any(map(token.is_, stops))):
            break
        depth += token.is_("(") - token.is_(")")
        end = token.end
    return end


def _last_before(tokens: Sequence[Token], i: int, keywords: Sequence[str]) -> int:
    while not any(map(tokens[i].is_, keywords)):
        i -= 1
    return i
