"""Where aggregates may stand, and what may stand beside them: keys of GROUP BY."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from sqlglot import exp

from hivesql.binder.context import Binding
from hivesql.query.dialect import place_of, span_of
from hivesql.query.filters.learning import QUERIES
from hivesql.query.scope import Meaning, Output, Scope
from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.settings import Settings

_AGGREGATES = frozenset(
    """avg collect_list collect_set corr count covar_pop covar_samp histogram_numeric max min
    percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy std stddev stddev_pop stddev_samp
    sum var_pop var_samp variance""".split()  # noqa: SIM905 - words read better than a list of strings
)
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
    """Refuse columns beside aggregates that no key of GROUP BY gives (SemanticError 10025).

    And aggregates inside of others, or before rows are grouped (10128). ``stars`` are the columns
    of each ``*`` by its id, where they are known.
    """
    group = select.args.get("group")
    where, having = select.args.get("where"), select.args.get("having")
    joins = [join.args.get("on") for join in select.args.get("joins") or ()]
    check_places([where, group, *joins], binding)
    selected = [item for item in select.expressions if not item.is_star]
    calls = [call for part in (*selected, having) if part for call in _aggregates_in(part)]
    for call in calls:
        check_places(call.expressions, binding)
    if group is None and not calls:
        return
    keys = _Keys(_keys(select, binding.settings), scope, meanings)
    for part in (*selected, having):
        wrong = keys.missing_in(part) if part is not None else None
        if wrong is not None:
            _refuse_column(wrong.parts[-1].name.lower(), wrong, binding)
    for item in select.expressions:
        for column in stars.get(id(item), ()):
            if not keys.has(column.name):
                _refuse_column(column.name, item, binding)


def _refuse_place(call: exp.Expr, binding: Binding) -> None:
    error = SemanticError(f"Not yet supported place for UDAF '{call.this}'", code=10128)
    binding.fail(error, *place_of(call))


def _refuse_column(name: str, node: exp.Expr, binding: Binding) -> None:
    error = SemanticError(f"Expression not in GROUP BY key '{name}'", code=10025)
    binding.fail(error, *span_of(node))


def _aggregates_in(part: exp.Expr) -> Iterator[exp.Anonymous]:
    """The calls that make one value of many rows; not those with OVER, nor of other queries."""
    for node in part.walk(prune=lambda one: one is not part and isinstance(one, QUERIES)):
        if isinstance(node, exp.Anonymous) and _is_aggregate(node):
            yield node


def _is_aggregate(call: exp.Anonymous) -> bool:
    if str(call.this).lower() not in _AGGREGATES:
        return False
    around: exp.Expr | None = call.parent
    while isinstance(around, _AROUND_CALL):
        around = around.parent
    over = isinstance(around, exp.Window) and any(one is call for one in _called(around))
    return not over


def _gives_aggregate(node: exp.Expr) -> bool:
    """Whether it is an aggregate with all that belongs to it, the order of WITHIN GROUP too."""
    call: exp.Expr | None = node
    while isinstance(call, _AROUND_CALL):
        call = call.this
    return isinstance(call, exp.Anonymous) and _is_aggregate(call)


def _called(window: exp.Window) -> Iterator[exp.Expr]:
    """What OVER is said of: a call, perhaps with WITHIN GROUP or IGNORE NULLS."""
    inside: exp.Expr | None = window.this
    while inside is not None:
        yield inside
        inside = inside.this if isinstance(inside, _AROUND_CALL) else None


def _keys(select: exp.Select, settings: Settings) -> list[exp.Expr]:
    group = select.args.get("group")
    if group is None:
        return []
    found: list[exp.Expr] = []
    left = [*group.expressions]
    for key in ("cube", "rollup", "grouping_sets"):
        behind = group.args.get(key)
        left += behind if isinstance(behind, list) else []
    while left:
        one = left.pop()
        if isinstance(one, (exp.Cube, exp.Rollup, exp.GroupingSets, exp.Tuple)):
            left += one.expressions
        elif settings.flag("hive.groupby.position.alias") and one.name.isdigit():
            found += [item.unalias() for item in select.expressions[int(one.name) - 1 :][:1]]
        else:
            found.append(one)
    return found


class _Keys:
    """The keys of one GROUP BY, in the form in which they are compared."""

    def __init__(
        self, keys: Collection[exp.Expr], scope: Scope, meanings: Mapping[int, Meaning]
    ) -> None:
        self._scope = scope
        self._meanings = meanings
        bare = [_bare(key) for key in keys]
        self._forms = {self._form(key) for key in bare}
        self._kinds = {type(key) for key in bare}
        self._names = {
            meaning.column for key in bare if (meaning := meanings.get(id(key))) is not None
        }

    def has(self, column: str) -> bool:
        """Whether some key is a column of that name."""
        return column in self._names or None in self._names

    def missing_in(self, part: exp.Expr) -> exp.Column | None:
        """A column of the expression that neither a key nor an aggregate gives."""
        left = [part]
        while left:
            node = left.pop()
            if isinstance(node, QUERIES) or _gives_aggregate(node):
                continue
            if type(node) in self._kinds and self._form(node) in self._forms:
                continue
            if isinstance(node, exp.Column):
                if self._is_missing(node):
                    return node
                continue
            left += node.iter_expressions(reverse=True)
        return None

    def _is_missing(self, node: exp.Column) -> bool:
        meaning = self._meanings.get(id(node))
        if meaning is None or meaning.scope is not self._scope or meaning.column is None:
            return False
        # A field of a key.
        return (("column", id(meaning.relation), meaning.column),) not in self._forms

    def _form(self, expression: exp.Expr) -> _Form:
        """The same for expressions that differ in nothing but case, brackets and qualifiers."""
        found: list[object] = []
        left = [expression]
        while left:
            node = _bare(left.pop())
            meaning = self._meanings.get(id(node))
            if isinstance(node, exp.Column) and meaning is not None and meaning.column is not None:
                rest = tuple(part.name.lower() for part in node.parts[meaning.used :])
                found.append(("column", id(meaning.relation), meaning.column, *rest))
                continue
            children = list(node.iter_expressions(reverse=True))
            own = tuple(
                (key, value if isinstance(node, exp.Literal) else str(value).lower())
                for key, value in sorted(node.args.items())
                if value and not isinstance(value, (exp.Expr, list))
            )
            found.append((type(node), own, len(children)))
            left += children
        return tuple(found)


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node
