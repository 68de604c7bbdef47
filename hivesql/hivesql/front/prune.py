"""What a WHERE says about partitions and stripes before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlglot import exp

from hivesql_planner.table import Partition, Table

_COMPARE: dict[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: lambda a, b: bool(a == b),
    exp.NEQ: lambda a, b: bool(a != b),
    exp.LT: lambda a, b: bool(a < b),
    exp.LTE: lambda a, b: bool(a <= b),
    exp.GT: lambda a, b: bool(a > b),
    exp.GTE: lambda a, b: bool(a >= b),
}
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
_WHOLE = ("tinyint", "smallint", "int", "integer", "bigint")
# Types for which ORC's statistics and Spark's comparison are sure to agree.
_SEARCHABLE = (*_WHOLE, "string", "boolean", "decimal")


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of an AND."""
    if condition is None:
        return
    if isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition


def prune(
    table: Table, partitions: Sequence[Partition], where: Sequence[exp.Expr]
) -> tuple[Partition, ...]:
    """The partitions that may satisfy every conjunct; whatever is not understood keeps them."""
    names = set(table.partition_names)
    useful = [part for part in where if columns_of(part) and columns_of(part) <= names]
    if not useful:
        return tuple(partitions)
    return tuple(
        partition
        for partition in partitions
        if all(_may_hold(condition, table, partition) for condition in useful)
    )


def columns_of(condition: exp.Expr) -> set[str]:
    """Lower-case names of the columns that a condition mentions."""
    return {column.name.lower() for column in condition.find_all(exp.Column)}


def _may_hold(condition: exp.Expr, table: Table, partition: Partition) -> bool:
    return _truth(condition, _values(table, partition)) is not False


def _values(table: Table, partition: Partition) -> dict[str, tuple[str, str | None]]:
    return {
        column.name: (column.type.lower(), value)
        for column, value in zip(table.partition_columns, partition.values, strict=True)
    }


class _Unknown:
    """Stands for a predicate that cannot be judged here: it may hold."""


_UNKNOWN = _Unknown()
_Values = dict[str, tuple[str, "str | None"]]


def _truth(node: exp.Expr, values: _Values) -> bool | _Unknown:  # noqa: C901 - one flat list
    """True, False, or unknown; NULL comparisons count as False, as WHERE does."""
    if isinstance(node, exp.Paren):
        return _truth(node.this, values)
    if isinstance(node, exp.And):
        left, right = _truth(node.left, values), _truth(node.right, values)
        if left is False or right is False:
            return False
        return True if left is True and right is True else _UNKNOWN
    if isinstance(node, exp.Or):
        left, right = _truth(node.left, values), _truth(node.right, values)
        if left is True or right is True:
            return True
        return False if left is False and right is False else _UNKNOWN
    if isinstance(node, exp.In) and node.args.get("query") is None and node.expressions:
        results = [_compared(exp.EQ, node.this, item, values) for item in node.expressions]
        if any(result is True for result in results):
            return True
        return False if all(result is False for result in results) else _UNKNOWN
    if isinstance(node, exp.Between):
        low = _compared(exp.GTE, node.this, node.args["low"], values)
        high = _compared(exp.LTE, node.this, node.args["high"], values)
        if low is False or high is False:
            return False
        return True if low is True and high is True else _UNKNOWN
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        column = _column(node.this, values)
        return _UNKNOWN if column is None else column[1] is None
    for kind in _COMPARE:
        if type(node) is kind:
            return _compared(kind, node.args["this"], node.args["expression"], values)
    return _UNKNOWN


def _column(node: exp.Expr, values: _Values) -> tuple[str, str | None] | None:
    if isinstance(node, exp.Paren):
        return _column(node.this, values)
    return values.get(node.name.lower()) if isinstance(node, exp.Column) else None


def _compared(
    kind: type[exp.Expr], left: exp.Expr, right: exp.Expr, values: _Values
) -> bool | _Unknown:
    column, literal = _column(left, values), _literal(right)
    if column is None:
        column, literal = _column(right, values), _literal(left)
        kind = _MIRRORED.get(kind, kind)
    if column is None or literal is None:
        return _UNKNOWN
    hive_type, text = column
    if text is None:
        return False
    ours: object = text
    theirs: object = literal[0]
    if hive_type in _WHOLE:
        try:
            ours, theirs = Decimal(text), Decimal(literal[0])
        except InvalidOperation:
            return _UNKNOWN
    elif hive_type != "string" or not literal[1]:
        # Other types compare by rules that Spark knows better.
        return _UNKNOWN
    return _COMPARE[kind](ours, theirs)


def _literal(node: exp.Expr) -> tuple[str, bool] | None:
    """Text of a literal, and whether it is a string."""
    if isinstance(node, exp.Literal):
        return node.this, bool(node.is_string)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return f"-{node.this.this}", False
    return None


def search_text(table: Table, where: Sequence[exp.Expr]) -> str | None:
    """The part of a WHERE that ORC statistics can judge, over unqualified data columns."""
    kinds = {column.name: column.type.lower().partition("(")[0] for column in table.columns}
    parts = []
    for condition in where:
        names = columns_of(condition)
        if names and all(kinds.get(name) in _SEARCHABLE for name in names):
            text = _search(condition)
            if text:
                parts.append(text)
    return " AND ".join(parts) or None


_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def _search(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Paren):
        return _search(node.this)
    if isinstance(node, (exp.And, exp.Or)):
        left, right = _search(node.left), _search(node.right)
        word = "AND" if isinstance(node, exp.And) else "OR"
        return f"({left} {word} {right})" if left and right else None
    if isinstance(node, exp.In) and node.args.get("query") is None and node.expressions:
        items = [_literal_sql(item) for item in node.expressions]
        column = _column_sql(node.this)
        if column is None or any(item is None for item in items):
            return None
        return f"{column} IN ({', '.join(filter(None, items))})"
    if isinstance(node, exp.Between):
        column = _column_sql(node.this)
        low, high = _literal_sql(node.args["low"]), _literal_sql(node.args["high"])
        return f"{column} BETWEEN {low} AND {high}" if column and low and high else None
    for kind, sign in _SIGNS.items():
        if type(node) is kind:
            return _comparison(sign, node.args["this"], node.args["expression"])
    return None


def _comparison(sign: str, left: exp.Expr, right: exp.Expr) -> str | None:
    column, literal = _column_sql(left), _literal_sql(right)
    if column is None:
        column, literal = _column_sql(right), _literal_sql(left)
        sign = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(sign, sign)
    return f"{column} {sign} {literal}" if column and literal else None


def _column_sql(node: exp.Expr) -> str | None:
    return f"`{node.name.lower()}`" if isinstance(node, exp.Column) else None


def _literal_sql(node: exp.Expr) -> str | None:
    found = _literal(node)
    if found is None:
        return None
    text, is_string = found
    return exp.Literal.string(text).sql("spark") if is_string else text
