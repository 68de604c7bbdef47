"""What sqlglot lets through inside queries and Hive's grammar does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeGuard

from hivesql.dialect.slices import RANGE
from hivesql.dialect.tokens import RESERVED, UNITS, Kind, Token, at
from hivesql.python_sqlglot import exp
from hivesql.script import StatementText
from hivesql_planner.errors import ParseError

_OF_CASE = frozenset({"case", "when", "then", "else", "end"})
_AFTER_IS = frozenset({"not", "!", "null", "true", "false", "unknown", "distinct"})
_LAST = ("order", "sort", "distribute", "cluster", "limit")
_ORDER = (("where",), ("group",), ("having",), ("windows",), ("qualify",),
          ("order",), ("cluster",), ("distribute",), ("sort",), ("limit",))  # fmt: skip
_STAR_OPTIONS = ("except_", "replace", "rename")
_OF_QUERIES = {
    "into": "INTO", "kind": "AS STRUCT", "operation_modifiers": "words after SELECT",
    "match": "MATCH_RECOGNIZE", "connect": "CONNECT BY", "by_name": "BY NAME", "on": "ON",
    "side": "a kind of join between queries", "prewhere": "PREWHERE", "settings": "SETTINGS",
    "format": "FORMAT", "options": "OPTION",
}  # fmt: skip
_OTHERS_CLAUSES: dict[type[exp.Expr], dict[str, str]] = {
    exp.Select: _OF_QUERIES,
    exp.SetOperation: _OF_QUERIES,
    exp.Group: {"all": "ALL or DISTINCT after GROUP BY", "totals": "WITH TOTALS"},
    exp.Limit: {"expressions": "LIMIT … BY", "limit_options": "words after LIMIT"},
    exp.Offset: {"expressions": "OFFSET … BY"},
    exp.Join: {"method": "a kind of join", "global_": "GLOBAL", "match_condition": "a match"},
    exp.Table: {"hints": "a hint after a table", "ordinality": "WITH ORDINALITY", "only": "ONLY"},
    exp.CTE: {"materialized": "MATERIALIZED", "key_expressions": "USING KEY"},
    exp.WindowSpec: {"exclude": "EXCLUDE"},
    exp.Ceil: {"to": "TO in CEIL"},
}
"""What sqlglot's nodes have of other databases' clauses, and how they are called in an error."""
_MAY_BE_EMPTY = (exp.Group, exp.GroupingSets, exp.Cube, exp.Rollup)
"""What may have brackets without anything in them."""
_MOST_ROWS = 2**31 - 1
Wrong = Iterator[tuple[exp.Expr, str]]
"""Nodes that Hive's grammar has no words for, and what an error says of each."""


def check_tokens(text: StatementText, tokens: Sequence[Token]) -> None:
    """Fail at a keyword behind which something else stands than its clause wants."""
    before: Token | None = None
    for token, after in pairwise((*tokens, Token(Kind.END, "", "", tokens[-1].end))):
        rule = _FOLLOWED.get(token.value) if token.kind in (Kind.WORD, Kind.SYMBOL) else None
        if rule is not None and (message := rule(before, after)):
            message = f"{message}, found {after.text or 'the end'!r}"
            raise at(ParseError(message), text, after.start, after.end)
        before = token
    _check_cases(text, tokens)


def _behind_as(before: Token | None, after: Token) -> str:
    if before is not None and before.is_("defined"):  # NULL DEFINED AS '…'
        return ""
    if before is None or before.is_("select") or before.value in (",", "("):
        return "expected an expression before AS"
    ends = after.kind in (Kind.NUMBER, Kind.STRING, Kind.END) or after.value in (",", ")")
    return "expected a name after AS" if ends else ""


def _behind_over(before: Token | None, after: Token) -> str:
    return "" if after.is_name or after.is_("(") else "expected a window after OVER"


def _behind_comma(before: Token | None, after: Token) -> str:
    # Of tables in FROM, which are no list to sqlglot's parser.
    return "expected an item" if after.is_(",") else ""


def _behind_from(before: Token | None, after: Token) -> str:
    return "expected a table after FROM" if after.is_("from") else ""


def _behind_not(before: Token | None, after: Token) -> str:
    if after.is_("is") or (after.is_("not") and before is not None and before.is_("is")):
        return "expected IS NOT and NULL, TRUE or FALSE"
    ends_value = before is not None and (
        before.kind is Kind.QUOTED
        or before.value in (")", "]")
        or (before.is_name and before.value != "else")
    )
    return "expected IS before NOT" if after.is_("null") and ends_value else ""


def _behind_is(before: Token | None, after: Token) -> str:
    return "" if after.value in _AFTER_IS else "expected NULL, TRUE, FALSE or DISTINCT FROM"


def _behind_in(before: Token | None, after: Token) -> str:
    # Of POSITION('a' IN b) the operand may be anything else.
    return "expected values in brackets after IN" if after.kind is Kind.NUMBER else ""


def _behind_by(before: Token | None, after: Token) -> str:
    return "expected an expression after BY" if after.is_("by") else ""


_FOLLOWED: dict[str, Callable[[Token | None, Token], str]] = {
    ",": _behind_comma, "as": _behind_as, "by": _behind_by, "from": _behind_from, "in": _behind_in,
    "is": _behind_is, "not": _behind_not, "over": _behind_over,
}  # fmt: skip


def _check_cases(text: StatementText, tokens: Sequence[Token]) -> None:
    """Fail at a WHEN of CASE without THEN, which sqlglot does not ask for."""
    waiting: list[bool] = []
    for token in tokens:
        if token.kind is not Kind.WORD or token.value not in _OF_CASE:
            continue
        if token.value == "case":
            waiting.append(False)
        elif not waiting:
            continue
        elif waiting[-1] and token.value != "then":
            problem = ParseError(f"expected THEN before {token.text.upper()}")
            raise at(problem, text, token.start, token.end)
        elif token.value == "end":
            waiting.pop()
        else:
            waiting[-1] = token.value == "when"


def check_tree(tree: exp.Expr, text: StatementText, start: int) -> None:
    """Fail at what Hive has no words for; without a place of its own, at ``start``."""
    for node in tree.find_all(*{*_RULES, *_OTHERS_CLAUSES}):
        for wrong, message in _wrong_parts(node):
            raise at(ParseError(message), text, _start(wrong) or start)
    for table in tree.find_all(exp.Table):
        place = table.this.meta.get("start") if isinstance(table.this, exp.Identifier) else None
        if place is not None and text.text[place] == "'":
            raise at(ParseError("expected a table, found a string"), text, place)


def _wrong_parts(node: exp.Expr) -> Wrong:
    """Apply the rules of the node's kind, and of those that it is one of."""
    for kind in type(node).__mro__:
        for rule in _RULES.get(kind, ()):
            yield from rule(node)
        for key, words in _OTHERS_CLAUSES.get(kind, {}).items():
            if node.args.get(key) not in (None, []):
                yield _first(node), f"unexpected {words}"


def _wrong_select(select: exp.Expr) -> Wrong:
    if select.args.get("locks"):
        yield select, "unexpected FOR: rows cannot be locked"
    distinct = select.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        yield select, "unexpected DISTINCT ON"
    group = select.args.get("group")
    if group is not None and not any(group.args.values()):
        yield select, "GROUP BY without anything to group by"
    if isinstance(select.args.get("limit"), exp.Fetch):
        yield select, "unexpected FETCH: say LIMIT"
    yield from _wrong_numbers(select)


def _wrong_numbers(select: exp.Expr) -> Wrong:
    """Yield what is no number of rows; Hive's are integers of Java."""
    for number in _numbers_of_rows(select):
        if not isinstance(number, exp.Literal) or number.is_string or not number.name.isdigit():
            yield _first(number), "expected a whole number after LIMIT"
        elif int(number.name) > _MOST_ROWS:
            yield _first(number), f"LIMIT takes whole numbers up to {_MOST_ROWS}"


def _numbers_of_rows(select: exp.Expr) -> Iterator[exp.Expr]:
    """Yield how many rows LIMIT gives, and how many it and OFFSET leave out."""
    limit, offset = select.args.get("limit"), select.args.get("offset")
    if isinstance(limit, exp.Limit):
        yield from filter(None, (limit.expression, limit.args.get("offset")))
    if offset is not None:
        yield offset.expression


def _wrong_first_operand(operation: exp.Expr) -> Wrong:
    first_operand = operation.this
    for key in _LAST if isinstance(first_operand, exp.Select) else ():
        if first_operand.args.get(key):
            message = f"unexpected {key.upper()} before a set operation: write brackets"
            yield _first(first_operand.args[key]), message


def _in_wrong_order(select: exp.Expr) -> Wrong:
    """Yield clauses that stand behind others that Hive has last."""
    last: tuple[exp.Expr, str] | None = None
    for keys in _ORDER:
        clauses_of_keys = [(_first(select.args[key]), key) for key in keys if select.args.get(key)]
        for node, key in clauses_of_keys:
            if last is not None and _start(node) < _start(last[0]):
                clauses = (clause.upper().removesuffix("S") for clause in (last[1], key))
                yield last[0], "{} must stand before {}".format(*clauses)
        last = max(
            [*([last] if last else []), *clauses_of_keys],
            key=lambda clause: _start(clause[0]),
            default=None,
        )


def _without_from(select: exp.Expr) -> Wrong:
    for clause, words in (("joins", "JOIN"), ("laterals", "LATERAL VIEW")):
        if select.args.get(clause) and select.args.get("from_") is None:
            yield _first(select.args[clause]), f"unexpected {words}: FROM is missing"


def _wrong_join(join: exp.Expr) -> Wrong:
    kind = join.args.get("kind")
    if kind in ("SEMI", "ANTI") and not join.args.get("side"):
        yield _first(join.this), f"unexpected {kind} JOIN: say LEFT {kind} JOIN"
    if kind == "OUTER" and not join.args.get("side"):
        yield _first(join.this), "unexpected OUTER JOIN: say LEFT, RIGHT or FULL OUTER JOIN"


def _wrong_frame(frame: exp.Expr) -> Wrong:
    if frame.args.get("kind") == "GROUPS":
        yield frame, "unexpected GROUPS: a frame is of ROWS or a RANGE"
    if frame.args.get("end") is None and frame.args.get("start_side") == "FOLLOWING":
        yield frame, "unexpected FOLLOWING: say BETWEEN … AND …"
    for bound in (frame.args.get("start"), frame.args.get("end")):
        if isinstance(bound, exp.Interval):
            yield _first(bound), "unexpected INTERVAL: a frame is measured by numbers"


def _wrong_call(call: exp.Expr) -> Wrong:
    for argument in call.expressions:
        if isinstance(argument, exp.Order | exp.Limit):
            yield _first(call), f"unexpected {type(argument).__name__.upper()} in a call"
        if isinstance(argument, exp.Select | exp.SetOperation):
            yield argument, "unexpected SELECT: write brackets around it"


def _ilike(like: exp.Expr) -> Wrong:
    yield like, "unexpected ILIKE: compare lower(…) with LIKE"


def _wrong_in(test: exp.Expr) -> Wrong:
    if not any(test.args.get(key) for key in ("expressions", "query", "unnest", "field")):
        yield test.this, "expected values between the brackets of IN"
    if isinstance(test.this, exp.In):
        yield test.this.this, "unexpected second IN: write brackets"


def _wrong_star(star: exp.Expr) -> Wrong:
    if any(star.args.get(option) for option in _STAR_OPTIONS):
        yield star, "unexpected words after *"
    around = star.parent
    arguments = around.expressions if isinstance(around, exp.Anonymous) else []
    if isinstance(around, exp.Binary | exp.Neg) or (arguments[1:] and arguments[0] is star):
        yield _first(around or star), "unexpected *"
    if isinstance(around, exp.Paren):
        yield around, "unexpected * in brackets"


def _program_beside_others(program: exp.Expr) -> Wrong:
    select = program.parent
    if not isinstance(select, exp.Select) or len(select.expressions) > 1:
        yield program, "TRANSFORM must be all that SELECT selects"


def _rows_without_comma(values: exp.Expr) -> Wrong:
    """Yield the second of two rows, which sqlglot takes for the columns of an alias."""
    named = values.args.get("alias")
    if named is not None and named.this is None and named.args.get("columns"):
        yield named.args["columns"][0], "expected a comma between two rows"


def _misplaced_name(alias: exp.Expr) -> Wrong:
    """Yield names of what cannot have any: they come of a comma or an operator that is missing."""
    around = alias.parent
    in_row = isinstance(around, exp.Tuple | exp.Paren) and isinstance(around.parent, exp.Values)
    if alias.this.is_star:
        yield _first(alias), "unexpected name behind *"
    elif around is not None and not in_row and not isinstance(around, exp.Select):
        yield _first(alias), f"unexpected name {alias.alias.upper()}: only columns have one"


def _reserved_alias(alias: exp.Expr) -> Wrong:
    name = alias.args.get("alias") if isinstance(alias, exp.Alias) else alias.this
    if _is_reserved(name):
        yield name, f"{name.name.upper()} cannot be an alias"


def _reserved_window(window: exp.Expr) -> Wrong:
    for name in (window.args.get("alias"), window.this):
        if _is_reserved(name):
            yield name, f"unexpected {name.name.upper()}"


def _is_reserved(name: object) -> TypeGuard[exp.Identifier]:
    return isinstance(name, exp.Identifier) and not name.quoted and name.name.lower() in RESERVED


def _behind_number(dot: exp.Expr) -> Wrong:
    if isinstance(dot.this, exp.Literal) and not dot.this.is_string:
        yield _first(dot), "unexpected . behind a number"


def _empty_brackets(row: exp.Expr) -> Wrong:
    if not row.expressions and not isinstance(row.parent, _MAY_BE_EMPTY):
        yield row, "expected an expression between the brackets"


def _wrong_size(size: exp.Expr) -> Wrong:
    if not isinstance(size.this, exp.Literal) or size.args.get("expression"):
        cast = size.find_ancestor(exp.Cast, exp.TryCast)
        yield _first(cast or size), "expected a number in the brackets of a type"


def _wrong_interval(interval: exp.Expr) -> Wrong:
    unit = interval.args.get("unit")
    # INTERVAL '2' DAY + 1 is a sum of intervals to sqlglot.
    in_sum = isinstance(interval.this, exp.Literal) and isinstance(interval.parent, exp.Add)
    if isinstance(interval.this, exp.Interval) or (unit is None and not in_sum):
        yield _first(interval), "expected a number and a unit after INTERVAL"
    elif isinstance(unit, exp.Var) and unit.name.lower() not in UNITS:
        yield _first(interval), f"unexpected unit {unit.name.upper()} of an interval"


_RULES: dict[type[exp.Expr], tuple[Callable[[exp.Expr], Wrong], ...]] = {
    exp.Select: (_wrong_select, _in_wrong_order, _without_from),
    exp.SetOperation: (_wrong_select, _wrong_first_operand, _in_wrong_order),
    exp.Join: (_wrong_join,),
    exp.WindowSpec: (_wrong_frame,),
    exp.Window: (_reserved_window,),
    exp.Anonymous: (_wrong_call,),
    exp.ILike: (_ilike,),
    exp.In: (_wrong_in,),
    exp.Star: (_wrong_star,),
    exp.QueryTransform: (_program_beside_others,),
    exp.Values: (_rows_without_comma,),
    exp.Alias: (_misplaced_name, _reserved_alias),
    exp.Aliases: (_misplaced_name,),
    exp.TableAlias: (_reserved_alias,),
    exp.Dot: (_behind_number,),
    exp.Tuple: (_empty_brackets,),
    exp.DataTypeParam: (_wrong_size,),
    exp.Interval: (_wrong_interval,),
}


def _first(clause: exp.Expr | list[exp.Expr]) -> exp.Expr:
    """Return the first part of a clause that knows its place."""
    parts = clause if isinstance(clause, list) else [clause]
    nodes = (node for part in parts for node in part.dfs())
    return next((node for node in nodes if RANGE in node.meta or "start" in node.meta), parts[0])


def _start(node: exp.Expr) -> int:
    return int(node.meta["start"] if "start" in node.meta else node.meta.get(RANGE, (0, 0))[0])
