"""Runs of SELECTs of constants below a UNION ALL: one table of rows instead of a query for each.

Spark takes a tenth of a second for each branch of a union, and no time for a row of VALUES. Rows
come together only where no value is converted otherwise than branch after branch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, Span, Spans, insert
from hivesql.dialect.numbers import number
from hivesql.dialect.plain_rows import constants_in
from hivesql.dialect.spark_differences import tokens_in
from hivesql.dialect.structure import RANGE, is_constant_select, place_of
from hivesql.dialect.tokens import Kind, Token, first_from
from hivesql.dialect.value_types import Type, common, is_decimal, is_text
from hivesql.python_sqlglot import exp
from hivesql.query.scope import Output, Outputs
from hivesql_planner.errors import ParseError, SemanticError
from hivesql_planner.model.hive_type import (
    BOOLEAN,
    DATE,
    FLOAT,
    STRING,
    TIMESTAMP,
    VOID,
    HiveType,
    quote_name,
)

OTHER_EACH_TIME = frozenset({"rand", "uuid", "reflect", "java_method", "surrogate_key"})
"""Functions that may give another value each time."""
_MOST_DIGITS = 19
"""Of numbers that come together: what they become has room for all of them, whatever they are."""
_LONG = 2**16
"""Rows that are longer than this are left to Spark, which reads them anyhow."""


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """A SELECT of constants, and the columns that it gives."""

    select: exp.Select
    columns: tuple[Output, ...]

    @property
    def start(self) -> int:
        """Offset of its first constant."""
        return place_of(self.select.expressions[0].unalias())[0]


_MADE_NAME = re.compile("_c[0-9]+")


def constant_rows(
    operands: Sequence[exp.Expr],
    operations: Sequence[exp.SetOperation],
    bind: Callable[[exp.Select], tuple[Output, ...]],
) -> dict[int, ConstantRow]:
    """Bind those of a row of UNIONs that are constants and stand beside others, by their places.

    ``operations`` are between the operands, the first one between the first two.
    """
    # INTERSECT binds closer than UNION in Spark's text.
    if not all(isinstance(operation, exp.Union) for operation in operations):
        return {}
    joins = [True, *(not operation.args.get("distinct") for operation in operations)]
    constant = [
        union and is_constant_select(operand)
        for union, operand in zip(joins, operands, strict=True)
    ]
    constant_selects: dict[int, ConstantRow] = {}
    for i, (before, here, after) in enumerate(
        zip([False, *constant], constant, [*constant[1:], False], strict=False)
    ):
        select = operands[i]
        if here and (before or after) and isinstance(select, exp.Select):
            constant_selects[i] = ConstantRow(select, bind(select))
    return constant_selects


def tables_of_rows(
    rows: Mapping[int, ConstantRow], tokens: tuple[Token, ...], spans: Spans
) -> Iterator[Edit]:
    """Make tables of the rows that stand beside each other, as far as their types allow it.

    ``spans`` are the parts of the text that are read: a table lies in one of them.
    """
    table: list[ConstantRow] = []
    first, last = False, -1
    types: Sequence[Type] | None = None
    for place in sorted(rows):
        row = rows[place]
        beside = table and place == last + 1 and not _apart(table[-1], row, spans)
        types = _join_types(types, row.columns, first=first) if beside and types else None
        if types is None:
            if table:
                yield _rows_edit(table, tokens)
            table, first, types = [], place == 0, [column.type for column in row.columns]
        table.append(row)
        last = place
    if table:
        yield _rows_edit(table, tokens)


def _apart(row: ConstantRow, after: ConstantRow, spans: Spans) -> bool:
    return any(row.start < start <= after.start for start, _ in spans[1:])


def _join_types(
    types: Sequence[Type], columns: Sequence[Output], *, first: bool
) -> tuple[Type, ...] | None:
    """Join the types of columns with another row's; None where it must stand by itself.

    ``first``: nothing is united with these rows before they are, so that whole numbers and
    decimals may become each other's.
    """
    if len(types) != len(columns):
        return None
    pairs = zip(types, (column.type for column in columns), strict=True)
    joined = tuple(_joined(*pair, first=first) for pair in pairs)
    return None if None in joined else joined


def _joined(before: Type, new: Type, *, first: bool) -> Type:
    if before is None or new is None or before == new:
        return new
    if VOID in (before, new):
        return before if new == VOID else new
    return common([before, new]) if first and _is_exact(before) and _is_exact(new) else None


def _is_exact(kind: HiveType) -> bool:
    return kind.digits is not None and kind.digits[0] <= _MOST_DIGITS


def columns_of_rows(
    rows: exp.Values, binding: Binding, spans: Spans, type_of: Callable[[exp.Expr], Type]
) -> tuple[tuple[Output, ...], list[Edit]]:
    """Name the columns of VALUES, as the first row does or ``col1`` …; what lets Spark do so too.

    Their types are told where they are rows of FROM: what is written has those of the table.

    Raises ParseError for a name in another row, SemanticError 10083 for one that is there twice.
    """
    first, *others = map(_items, rows.expressions)
    for item in (item for row in others for item in row):
        if isinstance(item, exp.Alias):
            what = "unexpected name: the first row of VALUES names the columns"
            binding.fail(ParseError(what), *place_of(item))
    names = tuple(
        item.alias.lower() if isinstance(item, exp.Alias) else f"col{i}"
        for i, item in enumerate(first, 1)
    )
    if len(set(names)) < len(names):
        error = SemanticError(
            "The number of aliases supplied in the AS clause does not match the number of columns "
            f"output by the UDTF expected {len(names)} aliases but got {len(set(names))}: the "
            "first row of VALUES gives a name twice",
            code=10083,
        )
        binding.fail(error, *place_of(first[0]))
    types: Sequence[Type] = (None,) * len(names)
    if rows.parent is not None and first:
        types = _types_of_rows([first, *others], binding.tokens, type_of)
    edits = selects_of_rows(rows, binding.tokens, spans)
    edits += _name_edits(rows, first, names, binding.tokens)
    return tuple(map(Output, names, types)), edits


def _types_of_rows(
    rows: Sequence[Sequence[exp.Expr]],
    tokens: tuple[Token, ...],
    type_of: Callable[[exp.Expr], Type],
) -> list[Type]:
    """Return the type of each column; None where only Spark knows it."""
    columns = [{type_of(item.unalias()) for item in column} for column in zip(*rows, strict=True)]
    # Long rows are one token behind the first of them.
    bracket = first_from(tokens, place_of(rows[-1][-1])[1])
    after = tokens[min(bracket + 1, len(tokens) - 1)]
    if after.kind is Kind.ROWS:
        if len(after.text) > _LONG:
            return [None] * len(columns)
        for constant, kinds in zip(constants_in(after.text), cycle(columns), strict=False):
            kinds.add(_type_of_constant(constant))
    return list(map(_type_of_column, columns))


def _type_of_constant(text: str) -> Type:
    word = re.match(r"[a-z]*", text, re.IGNORECASE)
    match word[0].lower() if word else "":
        case "null":
            return VOID
        case "true" | "false":
            return BOOLEAN
        case "date":
            return DATE
        case "timestamp":
            return TIMESTAMP
    return STRING if text[0] in "'\"" else number(text.lstrip("+-"))[0]


def _type_of_column(kinds: set[Type]) -> Type:
    kinds = kinds - {VOID}
    if not kinds or None in kinds:
        return None
    if len(kinds) > 1 and any(map(is_text, kinds)):
        return STRING
    # Spark takes another type than Hive for FLOAT beside DECIMAL.
    differs = FLOAT in kinds and any(map(is_decimal, kinds))
    return None if differs else common([*kinds])


def _items(row: exp.Expr) -> list[exp.Expr]:
    return row.expressions if isinstance(row, exp.Tuple) else [row]


def _name_edits(
    rows: exp.Values, first: Sequence[exp.Expr], names: Sequence[str], tokens: Sequence[Token]
) -> list[Edit]:
    named = [item for item in first if isinstance(item, exp.Alias)]
    if not named:
        return []
    i = first_from(tokens, place_of(first[0])[0])
    while not tokens[i].is_("values"):
        i -= 1
    depth, end = 0, tokens[i].end
    for token in tokens[i + 1 :]:
        if depth == 0 and not (token.is_("(") or token.is_(",") or token.kind is Kind.ROWS):
            break
        depth += token.is_("(") - token.is_(")")
        end = token.end
    return [
        *(Edit(place_of(item.this)[1], place_of(item)[1], "") for item in named),
        insert(tokens[i].start, "SELECT * FROM ("),
        insert(end, f") AS `rows`({', '.join(map(quote_name, names))})"),
    ]


def selects_of_rows(rows: exp.Values, tokens: tuple[Token, ...], spans: Spans) -> list[Edit]:
    """Make a UNION ALL of a statement's VALUES where Spark refuses them: they call ``rand()`` …."""
    called = {str(call.this).lower() for call in rows.find_all(exp.Anonymous)}
    read = tokens_in(tokens, spans)
    if not called & OTHER_EACH_TIME or not read or not read[0].is_("values"):
        return []
    edits, depth = [], 0
    for token in read:
        depth += token.is_("(") - token.is_(")")
        if depth == 0 and token.is_("values"):
            edits.append(Edit(token.start, token.end, ""))
        elif depth == 0 and token.is_(","):
            edits.append(Edit(token.start, token.end, " UNION ALL "))
        elif (depth == 1 and token.is_("(")) or (depth == 0 and token.is_(")")):
            edits.append(Edit(token.start, token.end, "SELECT " if depth else " "))
    return edits


def _rows_edit(rows: Sequence[ConstantRow], tokens: tuple[Token, ...]) -> Edit:
    """Tell what makes one table of the rows, whose columns have the names of the first one's."""
    parts: list[str | Span] = []
    for row in rows:
        parts.append(", (" if parts else "SELECT * FROM VALUES (")
        for i, item in enumerate(row.select.expressions):
            parts += [", "] if i else []
            parts.append(place_of(item.unalias()))
        parts.append(")")
    listed = ", ".join(quote_name(column.name) for column in rows[0].columns)
    first = first_from(tokens, rows[0].select.expressions[0].meta[RANGE][0])
    while not tokens[first].is_("select"):
        first -= 1
    end = rows[-1].select.expressions[-1].meta[RANGE][1]
    return Edit(tokens[first].start, end, "", (*parts, f" AS `rows`({listed})"))


def named_as_values(tree: exp.Expr, sql: str, columns: Outputs) -> tuple[str, Outputs]:
    """Give a statement's own UNION ALL of constants the names that Hive gives it.

    Columns without a name are ``col1`` and so on, as those of VALUES; in FROM they are ``_c0``.
    """
    if columns is None or not any(_MADE_NAME.fullmatch(column.name) for column in columns):
        return sql, columns
    if not isinstance(tree, exp.Union) or not all(map(_is_of_constants, _united(tree))):
        return sql, columns
    named = tuple(
        column._replace(name=f"col{i}") if _MADE_NAME.fullmatch(column.name) else column
        for i, column in enumerate(columns, 1)
    )
    items = ", ".join(f"q.c{i} AS {quote_name(column.name)}" for i, column in enumerate(named))
    names = ", ".join(f"c{i}" for i in range(len(named)))
    return f"SELECT {items} FROM ({sql}) AS q({names})", named


def _united(tree: exp.Expr) -> Iterator[exp.Expr | None]:
    """Yield the queries that are put together; None for what is no UNION ALL."""
    left = [tree]
    while left:
        node = left.pop().unnest()
        if not isinstance(node, exp.SetOperation):
            yield node
        elif isinstance(node, exp.Union) and not node.args.get("distinct"):
            left += [node.left, node.right]
        else:
            yield None


def _is_of_constants(node: exp.Expr | None) -> bool:
    if not isinstance(node, exp.Select):
        return False
    others = ("from_", "from", "where", "group", "having", "distinct", "limit", "order", "with_")
    return not any(node.args.get(part) for part in others) and all(
        isinstance(item.unalias(), exp.Literal | exp.Boolean) for item in node.expressions
    )
