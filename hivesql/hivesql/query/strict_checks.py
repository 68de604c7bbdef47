"""What hive.strict.checks.* and hive.mapred.mode=strict refuse while a query is bound.

Hive looks at its optimized plan. Here the text is looked at: what a filter or a join says of a
table's partition columns, through subqueries and views, and which relations an equality joins.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from hivesql.binding import Binding
from hivesql.dialect.deep_recursion import with_room
from hivesql.dialect.structure import span_of
from hivesql.expressions.strict_mode import refuses, strict_error
from hivesql.python_sqlglot import exp
from hivesql.query.inline_tables import OTHER_EACH_TIME
from hivesql.query.meaning.predicates import conjuncts, operands
from hivesql.query.scope import Meaning, Output, Outputs, Relation, Scope, TableUse
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import Table, TableName

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)
_OF_NULLS = (exp.Is, exp.Coalesce, exp.Case, exp.NullSafeEQ)
Uses = frozenset[TableUse]
Pair = tuple[frozenset[Relation], frozenset[Relation]]


def check_query(tree: exp.Expr, uses: Iterable[TableUse], binding: Binding) -> None:
    """Look at a statement's whole query; a view's text is looked at with what reads the view."""
    if not binding.views:
        check_limited(tree, binding)
        check_filtered(uses, binding)


def check_limited(tree: exp.Expr, binding: Binding) -> None:
    """Fail at an outermost ORDER BY without LIMIT; Hive drops those of subqueries."""
    while isinstance(tree, exp.Subquery) and not tree.args.get("order"):
        tree = tree.this
    order = tree.args.get("order") or tree.args.get("sort")
    if order is None or tree.args.get("limit") is not None:
        return
    if refuses("orderby.no.limit", binding.settings):
        binding.fail(strict_error("orderby.no.limit"), *span_of(order.expressions[0]))


def check_filtered(uses: Iterable[TableUse], binding: Binding) -> None:
    """Fail at a partitioned table of which no filter speaks of a partition column alone."""
    if not refuses("no.partition.filter", binding.settings):
        return
    for use in uses:
        if use.table.partition_columns and not use.is_filtered and use.changes is None:
            binding.fail(_unfiltered(use.table.name), use.start)


def check_chosen(table: Table, start: int, binding: Binding) -> None:
    """Fail at a partitioned table that a statement without a query reads whole."""
    if table.partition_columns and refuses("no.partition.filter", binding.settings):
        binding.fail(_unfiltered(table.name), start)


def _unfiltered(name: TableName) -> SemanticError:
    missing = f' No partition predicate for Alias "{name}" Table "{name.name}"'
    return strict_error("no.partition.filter", code=10056, more=missing)


def traced(columns: Outputs, use: TableUse) -> Outputs:
    """Return the columns of a table, its partition columns knowing where they come from."""
    names = use.table.partition_names
    return columns and tuple(
        column._replace(origins=((use, column.name),)) if column.name in names else column
        for column in columns
    )


@dataclass(slots=True)
class StrictChecks:
    """The checks of one walk; ``sides`` has what each join joins to what."""

    binding: Binding
    meanings: dict[int, Meaning]
    sides: dict[int, tuple[list[Relation], int, int]] = field(default_factory=dict)
    """Relations of a scope, and between which places of them those are that the join adds."""

    def join(self, join: exp.Join, scope: Scope, before: int) -> None:
        """Remember what a join joins: so many relations of its scope, and those after them."""
        self.sides[id(join)] = scope.relations, before, len(scope.relations)

    def _sides(self, join: exp.Join) -> Pair:
        relations, before, end = self.sides[id(join)]
        return frozenset(relations[:before]), frozenset(relations[before:end])

    def select(self, node: exp.Select, scope: Scope, joins: list[exp.Join]) -> None:
        """Look at the conditions of a SELECT whose names are known."""
        if node.args.get("where") is not None:
            self.filter(node.args["where"].this)
        for part in conjuncts(node.args["having"].this) if node.args.get("having") else ():
            if not part.find(exp.AggFunc, exp.Anonymous):
                self._name_selected(part, node)
                self.filter(part)
        by_partition = refuses("no.partition.filter", self.binding.settings)
        for join in joins if by_partition else ():
            allowed = self._filtered_by(join)
            if join.args.get("on") is not None:
                self.filter(join.args["on"], allowed)
            for name in join.args.get("using") or ():
                for relation in allowed:
                    for use in _uses_of(relation, name.name.lower()):
                        use.is_filtered = True
        if joins and refuses("cartesian.product", self.binding.settings):
            self._check_joined(node, scope, joins)

    def merge(self, on: exp.Expr, target: Relation) -> None:
        """Look at the ON of a MERGE."""
        self.filter(on)
        joined = any(target in side | other for side, other in self._equal(on).values())
        if not joined and refuses("cartesian.product", self.binding.settings):
            self.binding.fail(strict_error("cartesian.product"), *span_of(on))

    def _name_selected(self, condition: exp.Expr, node: exp.Select) -> None:
        """Give the columns of HAVING that name select items the meaning of those."""
        items = {item.alias_or_name.lower(): item.unalias() for item in node.expressions}
        for column in condition.find_all(exp.Column):
            meaning = self.meanings.get(id(items.get(column.name.lower())))
            if len(column.parts) == 1 and meaning is not None:
                self.meanings.setdefault(id(column), meaning)

    def subquery(self, node: exp.Expr, columns: Outputs, scope: Scope) -> None:
        """Look at a subquery inside an expression.

        Fail when it sorts all its rows, and when it gives a value that has nothing to do with the
        query around it.
        """
        check_limited(node, self.binding)
        around_it = node.parent
        while isinstance(around_it, exp.Paren):
            around_it = around_it.parent
        if isinstance(around_it, exp.In) and not _is_denied(around_it):
            for use, _ in columns[0].origins if columns else ():
                use.is_filtered = True
        if isinstance(around_it, (exp.In, exp.EQ)) and not _is_denied(around_it):
            return
        around = list(scope.chain())
        for column in node.find_all(exp.Column):
            meaning = self.meanings.get(id(column))
            if meaning is not None and any(meaning.scope is enclosing for enclosing in around):
                return
        if refuses("cartesian.product", self.binding.settings):
            self.binding.fail(strict_error("cartesian.product"), *span_of(node))

    def origins(self, item: exp.Expr) -> tuple[tuple[TableUse, str], ...]:
        """Tell which partition columns a select item is."""
        column = item.unalias()
        meaning = self.meanings.get(id(column))
        if meaning is None or meaning.column is None or not isinstance(column, exp.Column):
            return ()
        if meaning.used < len(column.parts):
            return ()
        return _column_of(meaning.relation, meaning.column).origins

    # -- filters
    def filter(self, condition: exp.Expr, allowed: frozenset[Relation] | None = None) -> None:
        """Mark the tables of whose partition columns a condition speaks.

        ``allowed`` are the relations that the condition filters; None: all.
        """
        if not refuses("no.partition.filter", self.binding.settings):
            return
        for part in conjuncts(condition):
            for use in self._filtered(part, allowed, positive=True):
                use.is_filtered = True

    def _filtered(
        self, node: exp.Expr, allowed: frozenset[Relation] | None, *, positive: bool
    ) -> Uses:
        node = node.unnest()
        if isinstance(node, exp.Not) and not isinstance(node.this.unnest(), _OF_NULLS):
            return self._filtered(node.this, allowed, positive=not positive)
        if isinstance(node, (exp.And, exp.Or)):
            parts = [
                with_room(functools.partial(self._filtered, part, allowed, positive=positive))
                for part in operands(node, type(node))
            ]
            every = (
                frozenset.union if isinstance(node, exp.And) == positive else frozenset.intersection
            )
            return every(*parts)
        if _is_random(node):
            return frozenset()
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return self._meant(node.this, allowed, node) if positive else frozenset()
        if node.find(*_QUERIES):
            return frozenset()
        uses = self._meant(node, allowed, node)
        if isinstance(node, exp.EQ) and positive:
            # A join by a partition column implies that it is not NULL.
            uses |= self._meant(node.this, allowed, node)
            uses |= self._meant(node.expression, allowed, node)
            constant = not (node.this.find(exp.Column) and node.expression.find(exp.Column))
            relations = [self._relations(side) for side in (node.this, node.expression)]
            if not constant and relations[0] & relations[1]:
                uses = self._meant(node, allowed, node)
        return uses

    def _meant(
        self, part: exp.Expr, allowed: frozenset[Relation] | None, condition: exp.Expr
    ) -> Uses:
        """Return the tables of which each column of an expression is a partition column."""
        common: Uses | None = None
        for column in part.find_all(exp.Column):
            meaning = self.meanings.get(id(column))
            if meaning is None or meaning.column is None:
                return frozenset()
            relation = meaning.relation
            of_nulls = relation.nullable and condition.find(*_OF_NULLS)
            if (allowed is not None and relation not in allowed) or (
                of_nulls and not isinstance(condition, exp.Not)
            ):
                return frozenset()
            uses = _uses_of(relation, meaning.column)
            common = uses if common is None else common & uses
        return common or frozenset()

    def _filtered_by(self, join: exp.Join) -> frozenset[Relation]:
        """Return the relations whose rows ON leaves out: not those that an outer join preserves."""
        before, added = self._sides(join)
        if join.side == "FULL":
            return frozenset()
        if join.side == "LEFT" or join.kind == "ANTI":
            return added
        return before if join.side == "RIGHT" else before | added

    # -- Cartesian products
    def _check_joined(self, node: exp.Select, scope: Scope, joins: list[exp.Join]) -> None:
        conditions = [join.args["on"] for join in joins if join.args.get("on") is not None]
        if node.args.get("where") is not None:
            conditions.append(node.args["where"].this)
        pairs = [pair for condition in conditions for pair in self._equal(condition).values()]
        pairs += [self._sides(join) for join in joins if join.args.get("using")]
        for join in joins:
            before, added = self._sides(join)
            near = pairs
            if join.side or join.kind in ("SEMI", "ANTI"):
                on = join.args.get("on")
                near = list(self._equal(on).values()) if on is not None else []
                near += [(before, added)] if join.args.get("using") else []
            everything = frozenset(scope.relations)
            reached = _reached(added, near)
            if not reached & (everything - added):
                self.binding.fail(strict_error("cartesian.product"), *span_of(join.this))
        first = frozenset(scope.relations).difference(*(self._sides(join)[1] for join in joins))
        missed = frozenset(scope.relations) - _reached(first, pairs)
        for join in joins:
            if missed & self._sides(join)[1]:
                self.binding.fail(strict_error("cartesian.product"), *span_of(join.this))

    def _equal(self, condition: exp.Expr) -> dict[str, Pair]:
        """Return the equalities between relations that a condition implies, by their text."""
        condition = condition.unnest()
        if isinstance(condition, (exp.And, exp.Or)):
            parts = [
                with_room(functools.partial(self._equal, part))
                for part in operands(condition, type(condition))
            ]
            everything = {text: pair for part in parts for text, pair in part.items()}
            if isinstance(condition, exp.And):
                return everything
            shared = set(everything).intersection(*parts)
            return {text: pair for text, pair in everything.items() if text in shared}
        if not isinstance(condition, (exp.EQ, exp.NullSafeEQ)) or condition.find(*_QUERIES):
            return {}
        mine, other = self._relations(condition.this), self._relations(condition.expression)
        return (
            {condition.sql().lower(): (mine, other)} if mine and other and not mine & other else {}
        )

    def _relations(self, part: exp.Expr) -> frozenset[Relation]:
        meanings = (self.meanings.get(id(column)) for column in part.find_all(exp.Column))
        return frozenset(meaning.relation for meaning in meanings if meaning is not None)


def _reached(start: frozenset[Relation], pairs: Iterable[Pair]) -> frozenset[Relation]:
    pairs = list(pairs)
    while True:
        more = start.union(*(a | b for a, b in pairs if (a | b) & start))
        if more == start:
            return start
        start = more


def _is_denied(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return isinstance(above, exp.Not)


def _is_random(node: exp.Expr) -> bool:
    for call in node.find_all(exp.Rand, exp.Anonymous):
        if isinstance(call, exp.Rand) or str(call.this).lower() in OTHER_EACH_TIME:
            return True
    return False


def _column_of(relation: Relation, name: str) -> Output:
    return next((column for column in relation.columns or () if column.name == name), Output(name))


def _uses_of(relation: Relation, name: str) -> Uses:
    return frozenset(use for use, _ in _column_of(relation, name).origins)


def passed(select: exp.Select, outputs: Outputs) -> Outputs:
    """Forget the origins of outputs where a filter of them would not reach the tables.

    That is behind LIMIT, and behind windows over other columns.
    """
    if outputs is None or not any(output.origins for output in outputs):
        return outputs
    parts = [*select.expressions, *filter(None, [select.args.get("qualify")])]
    windows = [window for part in parts for window in part.find_all(exp.Window)]

    def stops(output: Output) -> bool:
        return select.args.get("limit") is not None or any(
            output.name not in {key.name.lower() for key in window.args.get("partition_by") or ()}
            for window in windows
        )

    return tuple(output._replace(origins=()) if stops(output) else output for output in outputs)
