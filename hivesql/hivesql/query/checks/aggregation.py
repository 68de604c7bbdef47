"""Where aggregates and windows may stand, and what may stand beside them: keys of GROUP BY."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import NoReturn

from hivesql.binding import Binding
from hivesql.dialect.structure import place_of, span_of
from hivesql.expressions.translator import OWN_KIND
from hivesql.expressions.windows import (
    AGGREGATES,
    BEHIND,
    OF_ORDER,
    SETS,
    SHIFTS,
    definition_of,
    grouped_keys,
    listed_keys,
    window_around,
)
from hivesql.python_sqlglot import exp
from hivesql.query.checks.window_arguments import check_window_call
from hivesql.query.meaning.learning import QUERIES
from hivesql.query.ordering import knows_positions
from hivesql.query.scope import Meaning, Output, Scope
from hivesql_planner.errors import NoSuchObject, NotSupported, SemanticError
from hivesql_planner.settings.settings import Settings

_OF_ONE = frozenset(
    """avg collect_list collect_set max min std stddev stddev_pop stddev_samp sum var_pop var_samp
    variance""".split()  # noqa: SIM905
)
_WINDOW_ONLY = frozenset(
    """cume_dist dense_rank first_value lag last_value lead ntile percent_rank rank
    row_number""".split()  # noqa: SIM905
)
_TREAT_NULLS = ("first_value", "last_value")
_CLAUSES = ("where", "group", "having", "order", "sort", "distribute", "cluster", "windows")
_MOST_COLUMNS = 64
_MOST_SETS = 2**14
"""Spark makes a copy of its plan's columns for each set before anything can stop it."""
_AROUND_CALL = (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls, exp.Filter)

_Form = tuple[object, ...]


def check_places(parts: Iterable[exp.Expr | None], binding: Binding) -> None:
    """Refuse aggregates in expressions where none may stand (SemanticError 10128)."""
    for part in parts:
        for call in _aggregates_in(part) if part is not None else ():
            _refuse_place(call, binding)


def check_aggregation(
    select: exp.Select,
    scope: Scope,
    meanings: Mapping[int, Meaning],
    stars: Mapping[int, tuple[Output, ...]],
    binding: Binding,
) -> None:
    """Refuse columns beside aggregates that no key of GROUP BY gives (SemanticError 10025, 10409).

    And aggregates inside of others, or before rows are grouped (10128), windows in the wrong place
    (10002, 10011, 10247), positions (10220, 10221), grouping sets (10209 to 10226), several
    DISTINCTs with skew (10022). ``stars`` are the columns of each ``*`` by its id, where known.
    """
    group = select.args.get("group")
    where, having = select.args.get("where"), select.args.get("having")
    joins = [join.args.get("on") for join in select.args.get("joins") or ()]
    check_places([where, group, *joins], binding)
    _check_calls(select, binding)
    _check_positions(select, stars, binding)
    selected = [item for item in select.expressions if not item.is_star]
    calls = [call for part in (*selected, having) if part for call in _aggregates_in(part)]
    for call in calls:
        check_places(call.expressions, binding)
    _check_sets(select, calls, _Keys([], scope, meanings), binding)
    _check_grouping_id(select, meanings, binding)
    if group is None and not calls:
        if having is not None:
            error = SemanticError("Having clause without any group-by.")
            binding.fail(error, *span_of(having))
        return
    _check_beside(select, _Keys(_keys(select, binding.settings), scope, meanings), stars, binding)


def _check_beside(
    select: exp.Select,
    keys: _Keys,
    stars: Mapping[int, tuple[Output, ...]],
    binding: Binding,
) -> None:
    """Refuse columns that neither a key nor an aggregate gives."""
    selected = [item for item in select.expressions if not item.is_star]
    for part in (*selected, select.args.get("having")):
        for argument in _grouping_arguments(part) if part is not None else ():
            if keys.missing_in(argument) is not None:
                message = "Expression in GROUPING function not present in GROUP BY"
                fail(message, 10409, argument, binding)
        wrong = keys.missing_in(part) if part is not None else None
        if wrong is not None:
            _refuse_column(wrong.parts[-1].name.lower(), wrong, binding)
    for item in select.expressions:
        for column in stars.get(id(item), ()):
            if not keys.has(column.name):
                _refuse_column(column.name, item, binding)
    for clause in ("order", "sort", "distribute", "cluster"):
        part = select.args.get(clause)
        wrong = keys.missing_in(part) if isinstance(part, exp.Expr) else None
        if wrong is not None:
            what = f"Invalid table alias or column reference '{wrong.parts[0].name}'"
            error = NoSuchObject(f"{what}: it is neither grouped by nor selected", code=10004)
            binding.fail(error, *span_of(wrong))


def _grouping_arguments(part: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the columns of which ``grouping`` asks whether a row is grouped by them."""
    for node in _outside_queries(part):
        if isinstance(node, exp.Anonymous) and str(node.this).lower() == "grouping":
            yield from (argument for argument in node.expressions if argument.find(exp.Column))


def _refuse_place(call: exp.Expr, binding: Binding) -> None:
    error = SemanticError(f"Not yet supported place for UDAF '{call.this}'", code=10128)
    binding.fail(error, *place_of(call))


def _refuse_column(name: str, node: exp.Expr, binding: Binding) -> None:
    error = SemanticError(f"Expression not in GROUP BY key '{name}'", code=10025)
    binding.fail(error, *span_of(node))


def _aggregates_in(part: exp.Expr) -> Iterator[exp.Anonymous]:
    """Yield calls that make one value of many rows; not with OVER, nor of other queries."""
    for node in part.walk(prune=lambda below: below is not part and isinstance(below, QUERIES)):
        if isinstance(node, exp.Anonymous) and _is_aggregate(node):
            yield node


def _is_aggregate(call: exp.Anonymous) -> bool:
    return names_aggregate(call) and _window_of(call) is None


def names_aggregate(node: exp.Expr) -> bool:
    """Tell whether it is a call of a function that makes one value of many rows."""
    if not isinstance(node, exp.Anonymous):
        return False
    return node.meta.get(OWN_KIND) == "aggregate" or str(node.this).lower() in AGGREGATES


def _gives_aggregate(node: exp.Expr) -> bool:
    """Tell whether it is an aggregate with all that belongs to it, also WITHIN GROUP."""
    call: exp.Expr | None = node
    while isinstance(call, _AROUND_CALL):
        call = call.this
    return isinstance(call, exp.Anonymous) and _is_aggregate(call)


def _called(window: exp.Window) -> Iterator[exp.Expr]:
    """Yield what OVER is said of: a call, perhaps with WITHIN GROUP or IGNORE NULLS."""
    inside: exp.Expr | None = window.this
    while inside is not None:
        yield inside
        inside = inside.this if isinstance(inside, _AROUND_CALL) else None


def _keys(select: exp.Select, settings: Settings) -> list[exp.Expr]:
    group = select.args.get("group")
    if group is None:
        return []
    keys: list[exp.Expr] = []
    for node in grouped_keys(listed_keys(group)):
        if knows_positions("groupby", settings) and node.name.isdigit():
            keys += [item.unalias() for item in select.expressions[int(node.name) - 1 :][:1]]
        else:
            keys.append(node)
    return keys


class _Keys:
    """The keys of one GROUP BY, in the form in which they are compared."""

    def __init__(
        self, keys: Collection[exp.Expr], scope: Scope, meanings: Mapping[int, Meaning]
    ) -> None:
        self._scope = scope
        self._meanings = meanings
        bare = [_bare(key) for key in keys]
        self._forms = {self.form(key) for key in bare}
        self._kinds = {type(key) for key in bare}
        self._names = {
            meaning.column for key in bare if (meaning := meanings.get(id(key))) is not None
        }

    def has(self, column: str) -> bool:
        """Tell whether some key is a column of that name."""
        return column in self._names or None in self._names

    def missing_in(self, part: exp.Expr) -> exp.Column | None:
        """Return a column of the expression that neither a key nor an aggregate gives, or None."""
        pending = [part]
        while pending:
            node = pending.pop()
            if isinstance(node, QUERIES) or _gives_aggregate(node):
                continue
            if type(node) in self._kinds and self.form(node) in self._forms:
                continue
            if isinstance(node, exp.Column):
                if self._is_missing(node):
                    return node
                continue
            pending += node.iter_expressions(reverse=True)
        return None

    def _is_missing(self, node: exp.Column) -> bool:
        meaning = self._meanings.get(id(node))
        if meaning is None or meaning.scope is not self._scope or meaning.column is None:
            return False
        # A field of a key.
        return (("column", id(meaning.relation), meaning.column),) not in self._forms

    def form(self, expression: exp.Expr) -> _Form:
        """Give the same key to expressions that differ in case, brackets and qualifiers alone."""
        signature: list[object] = []
        pending = [expression]
        while pending:
            node = _bare(pending.pop())
            meaning = self._meanings.get(id(node))
            if isinstance(node, exp.Column) and meaning is not None and meaning.column is not None:
                rest = tuple(part.name.lower() for part in node.parts[meaning.used :])
                signature.append(("column", id(meaning.relation), meaning.column, *rest))
                continue
            children = list(node.iter_expressions(reverse=True))
            own = tuple(
                (key, value if isinstance(node, exp.Literal) else str(value).lower())
                for key, value in sorted(node.args.items())
                if value and not isinstance(value, (exp.Expr, list))
            )
            signature.append((type(node), own, len(children)))
            pending += children
        return tuple(signature)


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def fail(message: str, code: int | None, node: exp.Expr, binding: Binding) -> NoReturn:
    """Raise a SemanticError at a part of a query; ``code`` is Hive's, None where it has none."""
    binding.fail(SemanticError(message, code=code), *span_of(node))


# -- calls
def _check_calls(select: exp.Select, binding: Binding) -> None:
    """Refuse windows, DISTINCT and arguments of aggregates where Hive does."""
    where = select.args.get("where")
    for node in _outside_queries(where) if where is not None else ():
        if isinstance(node, exp.Window):
            fail("Invalid column reference: WHERE takes no windows", 10002, node, binding)
    for part in (*select.expressions, *_clauses_of(select, _CLAUSES)):
        for node in _outside_queries(part):
            if isinstance(node, exp.Anonymous):
                _check_call(node, binding)
            elif isinstance(node, exp.Window):
                _check_nulls(node, binding)
                _check_outside(node, binding)
                _check_inside(node, binding)


def _check_outside(window: exp.Window, binding: Binding) -> None:
    """Refuse a function with OVER inside another one or inside an aggregate."""
    around: exp.Expr | None = window.parent
    while around is not None and not isinstance(around, (*QUERIES, exp.Select)):
        if isinstance(around, exp.Window) or names_aggregate(around):
            message = (
                "Invalid column reference: OVER inside another function over rows. "
                "Calculate the inner one in a subquery"
            )
            fail(message, 10002, window, binding)
        around = around.parent


def _check_inside(window: exp.Window, binding: Binding) -> None:
    """Refuse LAG and LEAD in arguments where Hive has no rows that they could count in."""
    for call in window.this.find_all(exp.Anonymous):
        if str(call.this).lower() not in SHIFTS or window_around(call) is not window:
            continue
        definition = definition_of(window)
        has_order = definition is not None and definition.args.get("order") is not None
        if not has_order or _is_argument_of(call, OF_ORDER):
            feature = (
                f"{call.this} inside of another function over rows: calculate it in a subquery"
            )
            binding.fail(NotSupported(feature), *span_of(call))


def _is_argument_of(call: exp.Anonymous, names: Collection[str]) -> bool:
    around = call.parent
    while around is not None and not isinstance(around, exp.Window):
        if isinstance(around, exp.Anonymous) and str(around.this).lower() in names:
            return True
        around = around.parent
    return False


def _check_nulls(window: exp.Window, binding: Binding) -> None:
    function = window.this
    if isinstance(function, (exp.IgnoreNulls, exp.RespectNulls)):
        name = str(function.this.this).lower()
        if name not in _TREAT_NULLS:
            fail(f"Function {name} does not support null treatment.", 10426, function, binding)


def _check_call(call: exp.Anonymous, binding: Binding) -> None:
    name = str(call.this).lower()
    over = _window_of(call) is not None
    if names_aggregate(call):
        _check_arguments(name, call, binding, over=over)
        inside = [node for argument in call.expressions for node in _outside_queries(argument)]
        shifts = [node for node in inside if isinstance(node, exp.Anonymous)
                  and str(node.this).lower() in ("lead", "lag")]  # fmt: skip
        if not over and any(_window_of(node) is None for node in shifts):
            fail(f"Missing over clause for function : {name}", 10247, call, binding)
    elif name in _WINDOW_ONLY:
        if not over and not isinstance(call.parent, exp.WithinGroup) and not _is_inside(call):
            fail(f"Missing over clause for function : {name}", 10247, call, binding)
        if over:
            check_window_call(name, call, binding)
    elif over:
        fail(f"Invalid function {name}: it has no OVER", 10011, call, binding)
    elif _is_distinct(call):
        message = f"Distinct keyword is not support in current context: {name}"
        fail(message, None, call, binding)


def _check_arguments(name: str, call: exp.Anonymous, binding: Binding, *, over: bool) -> None:
    arguments = [
        part
        for argument in call.expressions
        for part in (argument.expressions if isinstance(argument, exp.Distinct) else [argument])
    ]
    if any(isinstance(argument, exp.Star) for argument in arguments):
        if name != "count":
            message = f"The specified syntax for UDAF invocation is invalid: {name}(*)"
            fail(message, None, call, binding)
        if _is_distinct(call):
            message = "TOK_ALLCOLREF is not supported in current context: count(DISTINCT *)"
            fail(message, None, call, binding)
        return
    if name == "count" and not arguments and not over:
        fail("Argument expected: count()", None, call, binding)
    if name in _OF_ONE and len(arguments) != 1:
        fail(f"Exactly one argument is expected: {name}", None, call, binding)
    if name == "count" and len(arguments) > 1 and not _is_distinct(call):
        fail("DISTINCT keyword must be specified: count of several", None, call, binding)


def _window_of(call: exp.Expr) -> exp.Window | None:
    """Return the OVER of a call; None without one."""
    around: exp.Expr | None = call.parent
    while isinstance(around, _AROUND_CALL):
        around = around.parent
    if isinstance(around, exp.Window) and any(function is call for function in _called(around)):
        return around
    return None


def _is_inside(call: exp.Expr) -> bool:
    """Tell whether it is an argument of a function with OVER: sum(lead(a)) OVER (…)."""
    around = call.parent
    while around is not None and not isinstance(around, QUERIES):
        if isinstance(around, exp.Window):
            return True
        around = around.parent
    return False


def _is_distinct(call: exp.Expr) -> bool:
    return any(isinstance(argument, exp.Distinct) for argument in call.expressions)


# -- positions
def _check_positions(
    select: exp.Select, stars: Mapping[int, tuple[Output, ...]], binding: Binding
) -> None:
    """Refuse positions that no select item has."""
    items, settings = select.expressions, binding.settings
    group, order = select.args.get("group"), select.args.get("order")
    if group is not None and knows_positions("groupby", settings):
        _check_each("Group By", 10220, group.expressions, len(items), binding)
    unknown = any(item.is_star and not stars.get(id(item)) for item in items)
    if order is None or unknown or any(isinstance(item, exp.Aliases) for item in items):
        return
    if knows_positions("orderby", settings):
        width = sum(len(stars[id(item)]) if item.is_star else 1 for item in items)
        _check_each(
            "Order By", 10221, [ordered.this for ordered in order.expressions], width, binding
        )


def _check_each(
    clause: str, code: int, parts: Iterable[exp.Expr], width: int, binding: Binding
) -> None:
    for part in parts:
        is_number = isinstance(part, exp.Literal) and not part.is_string and part.name.isdigit()
        if is_number and not 1 <= int(part.name) <= width:
            message = (
                f"Invalid position alias in {clause} Position alias: {part.name} does not exist; "
                f"the select list is indexed from 1 to {width}"
            )
            fail(message, code, part, binding)


# -- grouping sets
def check_grouping(select: exp.Select, binding: Binding) -> None:
    """Fail where there are more columns or sets than can be grouped by.

    Raises SemanticError 10411, or NotSupported where Hive would go on for days.
    """
    group = select.args.get("group")
    if not isinstance(group, exp.Group):
        return
    plain, parts, behind = _parts(group)
    if not parts and not behind:
        return
    columns = {column.sql() for part in parts for column in part.find_all(exp.Column)}
    count = len(plain) + len(columns)
    if count > _MOST_COLUMNS:
        error = SemanticError(
            f"Grouping sets size cannot be greater than 64: there are {count} columns", code=10411
        )
        binding.fail(error, *span_of(group))
    sets = _count_sets(group)
    if sets > _MOST_SETS:
        binding.fail(NotSupported(f"GROUP BY with {sets:,} grouping sets (at most {_MOST_SETS:,}): "
                                  "name those that are wanted with GROUPING SETS"),
                     *span_of(group))  # fmt: skip


def _count_sets(group: exp.Group) -> int:
    """Tell how many grouping sets a GROUP BY asks for; 1 without any."""
    plain, parts, behind = _parts(group)
    return prod(_sets(part, len(plain)) for part in (*parts, *behind))


def _parts(group: exp.Group) -> tuple[list[exp.Expr], list[exp.Expr], list[exp.Expr]]:
    """Its plain columns, the sets among them (CUBE(a, b)), and those behind (a, b WITH CUBE)."""
    plain = [key for key in group.expressions if not isinstance(key, SETS)]
    parts: list[exp.Expr] = [key for key in group.expressions if isinstance(key, SETS)]
    behind = [key_set for key in BEHIND for key_set in group.args.get(key) or ()]
    return plain, parts, behind


def _sets(node: exp.Expr, columns_before: int) -> int:
    """Count the sets that one of them stands for; without columns it is about those before."""
    width = len(node.expressions) or columns_before
    if isinstance(node, exp.Cube):
        return 1 << width
    if isinstance(node, exp.Rollup):
        return width + 1
    inner = (
        _sets(inner_set, 0) if isinstance(inner_set, SETS) else 1 for inner_set in node.expressions
    )
    return max(1, sum(inner))


def _check_sets(
    select: exp.Select, calls: Sequence[exp.Anonymous], forms: _Keys, binding: Binding
) -> None:
    """Refuse grouping sets of what is not grouped by, and those that settings forbid."""
    flag, group = binding.settings.flag, select.args.get("group")
    is_skewed = flag("hive.groupby.skewindata")
    if (
        is_skewed
        and len({forms.form(argument) for argument in calls if _is_distinct(argument)}) > 1
    ):
        message = "DISTINCT on different columns not supported with skew in data"
        fail(message, 10022, group or select.expressions[0], binding)
    if group is None or not _has_sets(group):
        return
    _check_listed(group, forms, binding)
    if not flag("hive.map.aggr"):
        fail(
            "Grouping sets aggregations (with rollups or cubes) are not allowed if map-side "
            "aggregation is turned off. Set hive.map.aggr=true if you want to use grouping sets",
            10209, group, binding,
        )  # fmt: skip
    count = _count_sets(group)
    if count <= int(binding.settings.text("hive.new.job.grouping.set.cardinality")):
        return
    rows = f"The number of rows per input row due to grouping sets is {count}"
    if is_skewed:
        fail(
            "An additional MR job is introduced since the number of rows created per input row due "
            "to grouping sets is more than hive.new.job.grouping.set.cardinality. There is no need "
            f"to handle skew separately. set hive.groupby.skewindata to false. {rows}",
            10225, group, binding,
        )  # fmt: skip
    if any(map(_is_distinct, calls)):
        fail(
            "An additional MR job is introduced since the cardinality of grouping sets is more "
            "than hive.new.job.grouping.set.cardinality. This functionality is not supported with "
            "distincts. Either set hive.new.job.grouping.set.cardinality to a high number (higher "
            "than the number of rows per input row due to grouping sets), or do not use distincts. "
            f"{rows}",
            10226, group, binding,
        )  # fmt: skip


def _check_listed(group: exp.Group, forms: _Keys, binding: Binding) -> None:
    """Refuse GROUPING SETS of what is not grouped by, and of nothing."""
    keys = {forms.form(key) for key in group.expressions}
    sets = [
        key_set for part in group.args.get("grouping_sets") or () for key_set in part.expressions
    ]
    for key_set in sets:
        members = key_set.expressions if isinstance(key_set, exp.Tuple) else [key_set]
        for member in members:
            if keys and not isinstance(member, SETS) and forms.form(member) not in keys:
                message = "Grouping sets expression is not in GROUP BY key"
                fail(message, 10213, member, binding)
    if sets and all(isinstance(key_set, exp.Tuple) and not key_set.expressions for key_set in sets):
        fail("Empty grouping sets not allowed", 10211, group, binding)


def _has_sets(group: exp.Group | None) -> bool:
    return group is not None and (
        any(group.args.get(key) for key in BEHIND)
        or any(isinstance(key, SETS) for key in group.expressions)
    )


def _check_grouping_id(
    select: exp.Select, meanings: Mapping[int, Meaning], binding: Binding
) -> None:
    """``grouping__id`` is a column of grouping sets alone."""
    group = select.args.get("group")
    if _has_sets(group):
        return
    for part in (*select.expressions, *_clauses_of(select, ("where", "having", "order"))):
        for node in _outside_queries(part):
            if not isinstance(node, exp.Column) or id(node) in meanings:
                continue
            if [name_part.name.lower() for name_part in node.parts] != ["grouping__id"]:
                continue
            if group is not None:
                _refuse_column("grouping__id", node, binding)
            what = "Invalid table alias or column reference 'grouping__id': nothing is grouped"
            binding.fail(NoSuchObject(what, code=10004), *span_of(node))


# -- help
def _clauses_of(select: exp.Select, names: Iterable[str]) -> Iterator[exp.Expr]:
    for name in names:
        value = select.args.get(name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expr):
                yield part


def _outside_queries(part: exp.Expr) -> Iterator[exp.Expr]:
    """Return an expression and what is below it, but not inside queries of its own."""
    return part.walk(prune=lambda below: isinstance(below, QUERIES))
