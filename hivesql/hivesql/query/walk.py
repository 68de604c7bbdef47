"""Queries: names looked up, scans put in for tables, Hive's meaning kept in Spark's SQL.

Spark gets the user's own text but for names of tables (each reading is a view of its own), ``*``
beside row ids, and what it would understand differently (see also ``hive_only``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from hivesql.binding import Binding
from hivesql.dialect.deep_recursion import with_room
from hivesql.dialect.edits import Edit, Span, Spans, apply_edits, filled, insert
from hivesql.dialect.slices import Slice
from hivesql.dialect.spark_differences import spark_edits, tokens_in
from hivesql.dialect.structure import RANGE, is_join, place_of, read_query, span_of
from hivesql.dialect.value_types import Type, field_of
from hivesql.expressions.calls import Call
from hivesql.expressions.hash_functions import HASHES, hash_template
from hivesql.expressions.session_zone import check_zone_of
from hivesql.expressions.translator import Translator
from hivesql.python_sqlglot import exp
from hivesql.query.bucket_sample import bucket_sample, sample_edit, sampled_by
from hivesql.query.checks.aggregation import check_aggregation, check_grouping, check_places
from hivesql.query.checks.placement import check_aliases, check_placement, check_width, is_generator
from hivesql.query.distinct_maps import map_edits, united_float_edits, united_map_edits
from hivesql.query.expanded_text import expanded_names
from hivesql.query.hidden_columns import hidden_text, note_properties
from hivesql.query.inline_tables import columns_of_rows, constant_rows, tables_of_rows
from hivesql.query.meaning.learning import QUERIES, learn
from hivesql.query.meaning.looks import Looked, look_of
from hivesql.query.meaning.no_rows import Known, gives_no_rows
from hivesql.query.meaning.predicates import all_of, conjuncts
from hivesql.query.ordering import null_order, position_edits
from hivesql.query.outputs import (
    POSEXPLODED,
    alias_of,
    check_united,
    columns_of_star,
    generated_types,
    has_numbered_star,
    is_posexplode,
    label_columns,
    mark_patterns,
    named_outputs,
    named_queries,
    numbered_names,
    of_view,
    output_names,
    renamed,
    united,
    with_twins,
)
from hivesql.query.qualify import names_in_qualify, qualify_edits
from hivesql.query.scope import (
    HIDDEN,
    BoundQuery,
    Meaning,
    Output,
    Outputs,
    Relation,
    Scope,
    TableUse,
    outputs_of,
)
from hivesql.query.strict_checks import StrictChecks, check_query, passed, traced
from hivesql.query.table_changes import changes_in
from hivesql.query.time_travel import clause_after, name_end
from hivesql.query.transform import transform_edits, transform_of, transform_outputs
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.hive_type import INT, Kind, quote_name
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.predicates.predicate import ALWAYS, Predicate
from hivesql_planner.relations import Expr

Ctes = Mapping[str, Outputs]
_ALIASES_SEEN = ("having", "order", "sort", "distribute", "cluster", "windows", "qualify")


def _is_hash_of_star(node: exp.Expr) -> bool:
    """Tell whether it is HASH or MURMUR_HASH of ``*`` or ``t.*``."""
    return (
        isinstance(node, exp.Anonymous)
        and str(node.this).lower() in HASHES
        and len(node.expressions) == 1
        and bool(node.expressions[0].is_star)
    )


def bind_query(
    part: Slice,
    binding: Binding,
    *,
    expand_stars: bool = False,
    defaults: Mapping[int, str] | None = None,
) -> BoundQuery:
    """Bind a query. ``expand_stars`` writes out every ``*`` whose columns are known.

    ``defaults`` says what the word DEFAULT at an offset stands for.
    """
    walk = Walk(binding, part.spans, expand_stars=expand_stars, defaults=defaults or {})
    columns = walk.query(part.tree, {}, None)
    check_query(part.tree, walk.uses, binding)
    named = expanded_names(part.tree, walk.meanings) if expand_stars else []
    hive = apply_edits(binding.text.text, part.spans, walk.hive_edits + named, part.prefix)
    looked = walk.looked.get(id(part.tree))
    look = look_of(part.tree, looked) if looked is not None else None
    known = Known(columns, walk.translator.types)
    is_empty = look is None and gives_no_rows(part, binding.text.text, known)
    return BoundQuery(walk.render(part), columns, tuple(walk.uses), hive, look, is_empty)


@dataclass(slots=True)
class Walk:
    """Goes through the queries and expressions of one text and collects the edits."""

    binding: Binding
    spans: Spans = ()
    expand_stars: bool = False
    uses: list[TableUse] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    hive_edits: list[Edit] = field(default_factory=list)
    meanings: dict[int, Meaning] = field(default_factory=dict)
    defaults: Mapping[int, str] = field(default_factory=dict)
    looked: dict[int, Looked] = field(default_factory=dict)
    """What is known of each SELECT over one table, or none, whose condition is understood."""
    translator: Translator = field(init=False)
    strict: StrictChecks = field(init=False)

    def __post_init__(self) -> None:
        self.translator = Translator(self.binding, self.edits)
        self.strict = StrictChecks(self.binding, self.meanings)

    def render(self, part: Slice) -> str:
        """Return the slice as Spark SQL."""
        edits = [
            edit._replace(text=self.defaults[edit.start]) if edit.start in self.defaults else edit
            for edit in spark_edits(tokens_in(self.binding.tokens, part.spans))
        ]
        edits += null_order(part.tree, self.binding)
        return apply_edits(self.binding.text.text, part.spans, edits + self.edits, part.prefix)

    def expr(self, part: Slice, scope: Scope) -> Expr:
        """Bind one expression."""
        self.expression(part.tree, scope, {})
        check_places([part.tree], self.binding)
        return Expr(self.render(part))

    # -- queries
    def query(self, node: exp.Expr, ctes: Ctes, outer: Scope | None) -> Outputs:
        """Look up everything in a query; the columns it gives."""
        return with_room(lambda: self._query(node, ctes, outer))

    def _query(self, node: exp.Expr, ctes: Ctes, outer: Scope | None) -> Outputs:
        # UNION and its like, of which the first one stands deepest.
        row: list[tuple[exp.SetOperation, Ctes]] = []
        while isinstance(node, exp.SetOperation):
            ctes = self._with(node, ctes)
            row.append((node, ctes))
            node = node.this
        row.reverse()
        operands = [(node, ctes), *((operation.expression, visible) for operation, visible in row)]
        every = [operand for operand, _ in operands]
        operations = [operation for operation, _ in row]
        constant = constant_rows(every, operations, self._constant_row)
        self.edits += tables_of_rows(constant, self.binding.tokens, self.spans)
        columns: Outputs = None
        sides = []
        for i, (operand, in_scope) in enumerate(operands):
            if i in constant:
                other: Outputs = constant[i].columns
            elif i == 0:
                other = self._operand(operand, in_scope, outer)
            else:
                other = self.query(operand, in_scope, outer)
            sides.append(other)
            try:
                if i:
                    check_united(columns, other, self.binding.settings)
                columns = united(columns, other) if i else other
            except HiveSqlError as error:
                self.binding.fail(error, *span_of(operand))
        self.edits += united_map_edits(every, operations, columns, self.binding.tokens)
        self.edits += united_float_edits(every, sides, columns, constant, self.binding.tokens)
        return columns

    def _constant_row(self, select: exp.Select) -> tuple[Output, ...]:
        for item in select.expressions:
            self.expression(item.unalias(), Scope(), {})
        names = numbered_names(select, output_names(select, {}), {})
        types = [self.translator.type_of(item.unalias()) for item in select.expressions]
        return tuple(Output(name or "", kind) for name, kind in zip(names, types, strict=True))

    def _operand(self, node: exp.Expr, ctes: Ctes, outer: Scope | None) -> Outputs:
        ctes = self._with(node, ctes)
        if isinstance(node, exp.Select):
            return self._select(node, ctes, outer)
        if isinstance(node, exp.Subquery):
            return self.query(node.this, ctes, outer)
        if not isinstance(node, exp.Values):
            self._refuse("this kind of query", node)
        return self._values(node, ctes, outer)

    def _with(self, node: exp.Expr, ctes: Ctes) -> Ctes:
        if (with_ := node.args.get("with_")) is None:
            return ctes
        if with_.args.get("recursive"):
            self._refuse("WITH RECURSIVE", node)
        visible = dict(ctes)
        for cte in named_queries(with_, self.binding):
            columns = self.query(cte.this, visible, None)
            visible[cte.alias.lower()] = label_columns(cte, columns, self.binding, self.edits)
        return visible

    def _values(self, node: exp.Values, ctes: Ctes, outer: Scope | None) -> Outputs:
        rows = []
        scope = Scope(outer)
        for row in node.expressions:
            self.expression(row, scope, ctes)
            rows.append(row.expressions if isinstance(row, exp.Tuple) else [row])
        widths = set(map(len, rows))
        if len(widths) != 1:
            error = SemanticError("the rows of VALUES have different numbers of columns")
            self.binding.fail(error, *span_of(node))
        for column in zip(*rows, strict=True):
            self.translator.unify_types(column)
        type_of = self.translator.type_of
        columns, edits = columns_of_rows(node, self.binding, self.spans, type_of)
        self.edits += edits
        return renamed(columns, node.args.get("alias"))

    def _select(self, node: exp.Select, ctes: Ctes, outer: Scope | None) -> Outputs:
        scope = Scope(outer)
        mark_patterns(node, self.binding.settings)
        from_ = node.args.get("from_")
        joins = [] if from_ is None else self._relation(from_.this, scope, ctes)
        joins += self._joins(node, scope, ctes)
        for lateral in node.args.get("laterals") or ():
            self._lateral(lateral, scope, ctes)
        for join in joins:
            if join.args.get("on") is not None:
                self.expression(join.args["on"], scope, ctes)
                self.translator.truth([join.args["on"]])
        scope.is_joining = scope.sees_outer = False
        scope.merges = any(join.args.get("using") for join in joins)
        program = transform_of(node)
        items = node.expressions if program is None else program.expressions
        for item in items:
            if not item.is_star:
                self.expression(item, scope, ctes)
        if program is not None:
            self.edits += transform_edits(program, self.binding)
        program_outputs = transform_outputs(program, self.binding) if program else ()
        called = output_names(node, self.meanings if len(scope.relations) == 1 else {})
        names = numbered_names(node, called, self.meanings)
        named, edits = (
            named_outputs(node.expressions, names)
            if program is None
            else (frozenset(output.name for output in program_outputs), [])
        )
        self.edits += edits
        self._clauses(node, scope, ctes, named - self._doubtful(node, names, scope))
        check_placement(node, self.binding)
        check_grouping(node, self.binding)
        self.edits += position_edits(node, self.binding.settings)
        where = node.args.get("where")
        learnt = self._learn(where.this, scope) if where is not None else ALWAYS
        self.strict.select(node, scope, joins)
        stars: dict[int, tuple[Output, ...]] = {}
        outputs = program_outputs or self._outputs(node, names, scope, stars)
        if names != called:
            outputs = with_twins(outputs, called)
        check_aggregation(node, scope, self.meanings, stars, self.binding)
        self.edits += qualify_edits(node, outputs, self.binding)
        self.edits += map_edits(node, outputs, self.binding.tokens, self.translator.type_of)
        relation = scope.relations[0] if len(scope.relations) == 1 else None
        if learnt is not None and (not scope.relations or (relation and relation.use)):
            self.looked[id(node)] = Looked(relation, self.meanings, stars, learnt, self.binding)
        return passed(node, outputs)

    def _doubtful(
        self, node: exp.Select, item_names: Sequence[str | None], scope: Scope
    ) -> frozenset[str]:
        """Names that several select items have and none was given: ORDER BY cannot mean one."""
        if len(scope.relations) < 2 or not any(node.args.get(key) for key in _ALIASES_SEEN):
            return frozenset()
        aliases = {item.alias.lower() for item in node.expressions if isinstance(item, exp.Alias)}
        names: Counter[str] = Counter()
        for item, name in zip(node.expressions, item_names, strict=True):
            if item.is_star:
                columns, _ = columns_of_star(item, scope, self.binding, merges=scope.merges)
                names.update(column.name for _, column in columns or ())
            elif name:
                names[name] += 1
        return frozenset(name for name, count in names.items() if count > 1) - aliases

    def _clauses(self, node: exp.Select, scope: Scope, ctes: Ctes, aliases: frozenset[str]) -> None:
        for key, value in node.args.items():
            if key in ("expressions", "from_", "joins", "laterals", "with_", "hint", "kind"):
                continue
            visible = aliases if key in _ALIASES_SEEN else frozenset()
            visible = names_in_qualify(visible, scope) if key == "qualify" else visible
            scope.sees_outer = key == "where"
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    self.expression(part, scope, ctes, visible)

    # -- FROM
    def _relation(
        self, node: exp.Expr, scope: Scope, ctes: Ctes, *, hidden: bool = False
    ) -> list[exp.Join]:
        """Add what a FROM item names; the joins written inside it."""
        if isinstance(node, exp.Table):
            relation = self._table(node, ctes)
        elif isinstance(node, exp.Subquery) and is_join(node):
            inner = node.this
            joins = with_room(lambda: self._relation(inner, scope, ctes))
            return joins + self._joins(node, scope, ctes)
        elif isinstance(node, (exp.Subquery, exp.Values)):
            columns = self.query(node, ctes, None)
            relation = Relation(node.alias.lower(), renamed(columns, node.args.get("alias")))
        else:
            self._refuse("this kind of FROM item", node)
        relation.hidden = hidden
        if relation.alias and any(other.alias == relation.alias for other in scope.relations):
            error = SemanticError(f"Ambiguous table alias '{relation.alias}'", code=10008)
            self.binding.fail(error, *span_of(node))
        scope.relations.append(relation)
        joins = self._joins(node, scope, ctes)
        for lateral in node.args.get("laterals") or ():
            self._lateral(lateral, scope, ctes)
        return joins

    def _joins(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> list[exp.Join]:
        joins: list[exp.Join] = []
        for join in node.args.get("joins") or ():
            before = len(scope.relations)
            hidden = join.kind in ("SEMI", "ANTI")
            joins += [join, *self._relation(join.this, scope, ctes, hidden=hidden)]
            self.strict.join(join, scope, before)
            for relation in scope.relations[:before] if join.side in ("RIGHT", "FULL") else ():
                relation.nullable = True
            for relation in scope.relations[before:] if join.side in ("LEFT", "FULL") else ():
                relation.nullable = True
        return joins

    def _lateral(self, node: exp.Lateral, scope: Scope, ctes: Ctes) -> None:
        if not node.args.get("view"):
            self._refuse("LATERAL without VIEW", node)
        self.expression(node.this, scope, ctes)
        alias = node.args.get("alias")
        columns = [name.name.lower() for name in alias.columns] if alias else []
        if alias and alias.this and not columns and is_posexplode(node.this):
            columns = list(POSEXPLODED)
            self.edits.append(insert(alias.this.meta["end"] + 1, f" AS {', '.join(columns)}"))
        arguments = node.this.expressions or [node.this.this]
        called = str(node.this.this) if isinstance(node.this, exp.Anonymous) else node.this.key
        types = generated_types(called, self.translator.type_of(arguments[0]))
        check_aliases(node.this, len(columns), types, self.binding)
        if len(types) != len(columns):
            types = (None,) * len(columns)
        names = tuple(Output(name, kind) for name, kind in zip(columns, types, strict=True))
        scope.relations.append(Relation(node.alias.lower(), names or None))

    def _table(self, node: exp.Table, ctes: Ctes) -> Relation:
        if not isinstance(node.this, exp.Identifier):
            called = changes_in(self.binding, node)
            if called is None:
                self._refuse("table functions in FROM", node)
            self.uses.append(called.use)
            self.edits += called.edits
            columns = renamed(called.columns, node.args.get("alias"))
            return Relation(called.alias, columns, called.use)
        name, database, catalog = node.name.lower(), node.db.lower(), node.catalog
        if catalog:
            # Case counts in other catalogs.
            name, database = node.name, node.db
        alias = (node.alias or node.name).lower()
        if not database and name in ctes:
            return Relation(alias, renamed(ctes[name], node.args.get("alias")))
        if not catalog:
            name = name.strip()  # as the metastore does
        first = node.args.get("catalog") or node.args.get("db") or node.this
        start, end = first.meta["start"], node.this.meta["end"] + 1
        full = TableName(database or self.binding.database, name)
        table = self.binding.readable(name, database or None, start, catalog)
        check_zone_of(table, start, self.binding)
        if table.is_view:
            text, columns, use = *self._view(table, start), None
        else:
            view = self.binding.view_name(table.name)
            use = TableUse(table, view, start=start, through=self.binding.views)
            note_properties(use, self.binding.tokens, end)
            self.uses.append(use)
            text, columns = f"`{use.view}`", traced(outputs_of(table), use)
        after = name_end(self.binding, end)
        sample = bucket_sample(node, table, self.binding)
        self.edits.append(Edit(start, end, text))
        if sample is not None:
            self._sample(sample, Relation(alias, columns, use), (start, after), ctes)
        own_alias = f" {quote_name(alias)}" if not node.alias and alias != name else ""
        self.hive_edits.append(Edit(start, end, full.quoted + own_alias))
        clause = clause_after(self.binding, table, after)
        if clause is not None:
            assert use is not None
            use.as_of = clause.as_of
            self.edits.append(Edit(clause.start, clause.end, ""))
            after = clause.end
        if node.args.get("alias") is None:
            self.edits.append(insert(after, f" AS {quote_name(alias)}"))
        return Relation(alias, renamed(columns, node.args.get("alias")), use)

    def _sample(self, sample: exp.TableSample, of: Relation, span: Span, ctes: Ctes) -> None:
        assert of.use is not None
        for expression in sampled_by(sample):
            self.expression(expression, Scope(relations=[of]), ctes)
        types = [self.translator.type_of(expression) for expression in sampled_by(sample)]
        names = (of.use.view, of.alias)
        self.edits.append(sample_edit(sample, types, of.use.table, names, span, self.binding))

    def _view(self, view: Table, start: int) -> tuple[str, Outputs]:
        inside = self.binding.of_view(view, start)
        part = read_query(inside.text, inside.tokens, ((0, inside.tokens[-2].end),))
        bound = bind_query(part, inside)
        for use in bound.uses:
            use.start = start
        self.uses += bound.uses
        outputs = of_view(view, bound.columns)
        names = [column.name for column in outputs]
        if not names or (bound.columns and names == [column.name for column in bound.columns]):
            return f"({bound.sql})", bound.columns
        listed = ", ".join(map(quote_name, names))
        return f"(SELECT * FROM ({bound.sql}) AS {quote_name(view.name.name)}({listed}))", outputs

    # -- expressions
    def expression(
        self, node: exp.Expr, scope: Scope, ctes: Ctes, aliases: frozenset[str] = frozenset()
    ) -> None:
        """Look up the columns and queries inside an expression."""
        pending = [(node, False)]
        while pending:
            part, is_done = pending.pop()
            if is_done:
                self.translator.leave(part)
            elif isinstance(part, QUERIES):
                columns = self.query(part, ctes, scope)
                self.translator.types[id(part)] = columns[0].type if columns else None
                check_width(part, columns, self.binding)
                self.strict.subquery(part, columns, scope)
            elif isinstance(part, exp.Column):
                self._column(part, scope, aliases)
                self.translator.types[id(part)] = self._column_type(part)
            elif _is_hash_of_star(part):
                self._hash_of_star(part, scope)
            elif not isinstance(part, exp.Hint):
                pending.append((part, True))
                pending += [(child, False) for child in part.iter_expressions(reverse=True)]

    def _hash_of_star(self, node: exp.Expr, scope: Scope) -> None:
        """HASH(*), whose columns' types must be known."""
        (star,) = node.expressions
        columns, _ = columns_of_star(star, scope, self.binding, merges=scope.merges)
        if columns is None:
            self._refuse(f"{node.this}(*) of columns that only Spark knows", node)
        types = tuple(column.type for _, column in columns)
        names = [f"{quote_name(alias)}.{quote_name(column.name)}" for alias, column in columns]
        try:
            template = hash_template(Call(str(node.this).lower(), types, (None,) * len(types)))
        except NotSupported as error:
            self.binding.fail(error, *span_of(node))
        self.edits.append(Edit(*place_of(node), "", tuple(filled(template, names))))
        self.translator.types[id(node)] = INT

    def _column(self, node: exp.Column, scope: Scope, aliases: frozenset[str]) -> None:
        parts = node.parts
        names = tuple(part.name.lower() for part in parts)
        if node.is_star or names == ("grouping__id",) or (len(names) == 1 and names[0] in aliases):
            return
        try:
            meaning = scope.meaning(names)
        except SemanticError as error:
            self.binding.fail(error, *span_of(node))
        self.meanings[id(node)] = meaning
        if meaning.dropped:
            self.edits.append(Edit(parts[0].meta["start"], parts[1].meta["start"], ""))
        use = meaning.relation.use
        hidden = names[meaning.used - 1]
        if hidden not in HIDDEN or use is None or meaning.relation.knows(hidden):
            return
        try:
            text = hidden_text(hidden, use, meaning.relation.alias)
        except NotSupported as error:
            self.binding.fail(error, *span_of(node))
        if text is not None:
            end = parts[meaning.used - 1].meta["end"] + 1
            self.edits.append(Edit(parts[meaning.dropped].meta["start"], end, text))

    def _column_type(self, node: exp.Column) -> Type:
        meaning = self.meanings.get(id(node))
        if meaning is None or meaning.column is None:
            return None
        kind = meaning.relation.type_of(meaning.column)
        for part in node.parts[meaning.used :]:
            inner = kind.children[0] if kind is not None and kind.kind is Kind.ARRAY else kind
            if inner is not None and inner.kind is not Kind.STRUCT:
                message = f". Operator is only supported on struct or list of struct types: {kind}"
                self.binding.fail(SemanticError(message, code=10042), *span_of(node))
            kind = field_of(kind, part.name.lower())
        return kind

    def _learn(self, condition: exp.Expr, scope: Scope) -> Predicate | None:
        """Give each table the conditions that speak of it alone; None unless all parts do."""
        sql = self.binding.text.text
        predicates = [learn(part, scope, self.meanings, sql) for part in conjuncts(condition)]
        learnt = [predicate for predicate in predicates if predicate is not None]
        return all_of(learnt) if len(learnt) == len(predicates) else None

    # -- select lists
    def _outputs(
        self,
        node: exp.Select,
        item_names: Sequence[str | None],
        scope: Scope,
        stars: dict[int, tuple[Output, ...]],
    ) -> Outputs:
        """List a select list's columns; those of each ``*`` are put into ``stars`` by its id."""
        outputs: list[Outputs] = []
        for item, name in zip(node.expressions, item_names, strict=True):
            columns: Outputs = None
            if item.is_star:
                is_numbered = has_numbered_star(node) and None not in outputs
                number = sum(len(part or ()) for part in outputs) if is_numbered else None
                of_relations, columns = self._star(item, scope, scope.merges, number)
                stars[id(item)] = of_relations or ()
            elif isinstance(item, exp.Aliases):
                self._check_aliases(item)
                columns = tuple(Output(alias.name.lower()) for alias in item.args["expressions"])
            elif name:
                origins, alias = self.strict.origins(item), alias_of(item, self.meanings)
                columns = (Output(name, self.translator.type_of(item.unalias()), origins, alias),)
            outputs.append(columns)
        return (
            None if None in outputs else tuple(output for part in outputs for output in part or ())
        )

    def _check_aliases(self, item: exp.Aliases) -> None:
        call = item.this
        if is_generator(call) and call.expressions:
            type_ = self.translator.type_of(call.expressions[0])
            types = generated_types(str(call.this), type_)
            check_aliases(call, len(item.args["expressions"]), types, self.binding)

    def _star(
        self, item: exp.Expr, scope: Scope, merges: bool, number: int | None
    ) -> tuple[tuple[Output, ...] | None, Outputs]:
        """List the columns of a ``*`` under the names of its relations, and under its own.

        These are ``_col<i>`` from a number on; None where they are the same.
        """
        selected, written = columns_of_star(item, scope, self.binding, merges=merges)
        if selected is None:
            return None, None
        columns = outputs = tuple(column._replace(alias=alias) for alias, column in selected)
        parts = [f"{quote_name(alias)}.{quote_name(column.name)}" for alias, column in selected]
        if number is not None:
            outputs = tuple(
                output._replace(name=f"_col{i}") for i, output in enumerate(columns, number)
            )
            pairs = zip(parts, outputs, strict=True)
            parts = [f"{part} AS {quote_name(output.name)}" for part, output in pairs]
        if written or self.expand_stars or number is not None:
            start, end = item.meta[RANGE]
            edit = Edit(start, end, ", ".join(parts))
            self.edits.append(edit)
            self.hive_edits.append(edit)
        return columns, outputs

    # -- errors
    def _refuse(self, feature: str, node: exp.Expr) -> NoReturn:
        self.binding.fail(NotSupported(feature), *span_of(node))
