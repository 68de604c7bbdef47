"""UPDATE, DELETE and MERGE: Hive's checks in Hive's order, then the expressions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from hivesql.binder.constraints import converted, default_value, enforced, value
from hivesql.binder.targets import require_emptied
from hivesql.binding import Binding
from hivesql.dialect.edits import Edit
from hivesql.dialect.nodes.parts import name_of, names_of, slice_of, table_of
from hivesql.dialect.slices import RANGE, SPANS, Slice
from hivesql.dialect.statements.rows import SOURCE
from hivesql.dialect.structure import place_of
from hivesql.dialect.tokens import Name, TableRef
from hivesql.expressions.session_zone import check_zone_of
from hivesql.python_sqlglot import exp
from hivesql.query.joins import joining_of, membership_of, with_meaning
from hivesql.query.meaning.learning import QUERIES, column_meant, learn
from hivesql.query.meaning.predicates import all_of, conjuncts
from hivesql.query.scope import Relation, Scope, TableUse, outputs_of
from hivesql.query.strict_checks import check_filtered, traced
from hivesql.query.walk import Walk
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import INTERVALS, UNKNOWN, Kind, quote_name
from hivesql_planner.model.table import Column, Table
from hivesql_planner.relations import Expr, OfSource, Query, Source
from hivesql_planner.settings.transaction_keys import DB_TXN_MANAGER, DUMMY_TXN_MANAGER
from hivesql_planner.statements.bound import (
    DeleteRows,
    MergeClause,
    MergeRows,
    TruncateTable,
    UpdateRows,
)
from hivesql_planner.statements.convert import widen


def bind_update(node: exp.Expr, binding: Binding) -> UpdateRows | MergeRows:
    """UPDATE, and UPDATE … FROM, a MERGE with one clause."""
    if node.args.get("from_") is not None:
        when = exp.When(matched=True, then=exp.Update(expressions=node.expressions))
        bound = _bind_joined(
            node, node.args["from_"].this, node.args["where"].this, [when], binding
        )
        return replace(bound, operation="UPDATE")
    ref = table_of(node.this)
    table = _changeable(ref, binding, node)
    walk, scope, target = _of_target(table, table.name.name, binding)
    target.start = ref.start
    assignments = _assigned(node, table, walk, scope)
    where = _condition(node, walk, scope)
    check_filtered((target, *walk.uses), binding)
    return UpdateRows(
        target=target.scan(binding),
        alias=table.name.name,
        assignments=assignments,
        where=where,
        check=enforced(table, binding),
        subqueries=_sources(walk.uses, binding),
    )


def bind_delete(node: exp.Expr, binding: Binding) -> DeleteRows | MergeRows | TruncateTable:
    """DELETE, and DELETE … USING, a MERGE with one clause that several rows may match.

    Without WHERE it is in Hive TRUNCATE, and so here where no rows can be deleted one by one.
    """
    if node.args.get("using"):
        (source,), when = node.args["using"], exp.When(matched=True, then=exp.var("DELETE"))
        bound = _bind_joined(node, source, node.args["where"].this, [when], binding)
        return replace(bound, operation="DELETE")
    ref = table_of(node.this)
    _check_manager(ref, binding)
    table = binding.table(ref)
    is_view = table.is_view or table.is_materialized_view
    if node.args.get("where") is None and not (table.is_full_acid or is_view):
        require_emptied(table, ref.start, binding)
        return TruncateTable(table=table)
    table = _changeable(ref, binding)
    walk, scope, target = _of_target(table, table.name.name, binding)
    target.start = ref.start
    where = _condition(node, walk, scope)
    # Without WHERE nothing is read.
    check_filtered((target, *walk.uses) if where is not None else (), binding)
    return DeleteRows(
        target=target.scan(binding),
        alias=table.name.name,
        where=where,
        subqueries=_sources(walk.uses, binding),
    )


def _assignments(update: exp.Expr) -> list[tuple[Name, Slice]]:
    return [
        (name_of(assignment.this.this), slice_of(assignment.expression))
        for assignment in update.expressions
    ]


def _assigned(update: exp.Expr, table: Table, walk: Walk, scope: Scope) -> dict[str, Expr]:
    """Bind each column's new value; of several for a column Hive takes the last one."""
    return {
        name.text: value(part, name.text, table, walk, scope) for name, part in _assignments(update)
    }


def _check_manager(ref: TableRef, binding: Binding) -> None:
    """Refuse changes without transactions, before Hive looks at what kind the table is of."""
    if binding.settings.text("hive.txn.manager") == DUMMY_TXN_MANAGER:
        message = (
            "Attempt to do update or delete using transaction manager that does not support "
            f"these operations. Set hive.txn.manager={DB_TXN_MANAGER}"
        )
        binding.fail(SemanticError(message, code=10294), ref.start)


def _changeable(ref: TableRef, binding: Binding, *updates: exp.Expr) -> Table:
    """Return the table; as in Hive, its columns are looked for before its kind is looked at."""
    _check_manager(ref, binding)
    table = binding.table(ref)
    check_zone_of(table, ref.start, binding)
    if not (table.is_view or table.is_materialized_view):
        for update in updates:
            _check_assigned(update, table, binding)
    _check_changeable(table, ref, binding)
    return table


def _check_changeable(table: Table, ref: TableRef, binding: Binding) -> None:
    if table.is_view or table.is_materialized_view:
        text, code = f"You cannot update or delete records in a view: {table.name}", 10402
    elif not table.is_transactional:
        text = (
            f"Attempt to do update or delete on table {table.name} that is not transactional. "
            "Create it with TBLPROPERTIES ('transactional'='true')"
        )
        code = 10297
    elif table.is_insert_only:
        text = (
            f"Attempt to do update or delete on table {table.name} that is insert-only "
            "transactional"
        )
        code = 10414
    else:
        return
    binding.fail(SemanticError(text, code=code), ref.start)


def _of_target(table: Table, alias: str, binding: Binding) -> tuple[Walk, Scope, TableUse]:
    use = TableUse(table, binding.view_name(table.name), with_row_id=True)
    columns = traced(outputs_of(table), use)
    return Walk(binding), Scope(relations=[Relation(alias, columns, use)]), use


def _condition(node: exp.Expr, walk: Walk, scope: Scope) -> Expr | None:
    where = node.args.get("where")
    if where is None:
        return None
    condition = walk.expr(slice_of(where.this), scope)
    sql = walk.binding.text.text
    parts = [
        learn(conjunct, scope, walk.meanings, sql, only=scope.relations[0])
        for conjunct in conjuncts(where.this)
    ]
    walk.strict.filter(where.this)
    learnt = [predicate for predicate in parts if predicate is not None]
    if len(learnt) == len(parts):
        return replace(condition, meaning=all_of(learnt))
    if len(learnt) == len(parts) - 1:
        (asking,) = (
            part for part, predicate in zip(conjuncts(where.this), parts, strict=True)
            if predicate is None
        )  # fmt: skip
        return replace(condition, meaning=membership_of(asking, learnt, walk, scope))
    return condition


def _sources(uses: Sequence[TableUse], binding: Binding) -> tuple[Source, ...]:
    return tuple(use.source(binding) for use in uses)


def _check_assigned(update: exp.Expr, table: Table, binding: Binding) -> None:
    names = dict.fromkeys((*table.column_names, *table.partition_names))
    for name, _ in _assignments(update):
        column = name.text
        if column not in names:
            error = SemanticError(
                f'Invalid target column name "{column}" in SET clause. Table "{table.name}" has '
                f"{', '.join(names)}",
                code=10408,
                choices=names,
            )
            binding.fail(error, name.start)


def bind_merge(node: exp.Expr, binding: Binding) -> MergeRows:
    """MERGE."""
    return _bind_joined(
        node, node.args["using"], node.args["on"], node.args["whens"].expressions, binding
    )


def _bind_joined(
    node: exp.Expr, using: exp.Expr, on_tree: exp.Expr, whens: Sequence[exp.Expr], binding: Binding
) -> MergeRows:
    """Bind what joins the table of a statement with a source of rows."""
    ref = table_of(node.this)
    table = _merge_target(ref, whens, binding)
    alias, source_alias = node.this.alias_or_name.lower(), _alias_of(using)
    if alias == source_alias.text:
        error = SemanticError(f"target and source are both called {alias}", code=10008)
        binding.fail(error, source_alias.start)
    walk, scope, target = _of_target(table, alias, binding)
    target.start = ref.start
    source = _source_of(using, node.args.get("with_"))
    source_uses = _bind_source(source, source_alias, walk, scope)
    added: tuple[Column, ...] = ()
    narrow: tuple[Column, ...] = ()
    if node.args.get("evolves"):
        added = _added(table, whens, scope.relations[1], binding)
        wide = _widened(table, whens, scope.relations[1])
        narrow = tuple(column for column in table.columns if column.name in wide)
        columns = tuple(wide.get(column.name, column) for column in table.columns)
        target.table = table = replace(table, columns=columns + added)
        scope.relations[0].columns = traced(outputs_of(table), target)
    condition = slice_of(on_tree)
    on = walk.expr(condition, scope)
    on = replace(on, meaning=joining_of(condition.tree, walk, scope))
    if not any(map(_is_by_source, whens)):
        for conjunct in conjuncts(condition.tree):
            # A target row that fails a part of ON matches nothing, so it need not be read.
            learn(conjunct, scope, walk.meanings, binding.text.text, only=scope.relations[0])
    mentions = _mentions(condition, walk, scope.relations[0])
    walk.strict.merge(condition.tree, scope.relations[0])
    equated = _equated(condition.tree, table, walk, scope)
    may_lack = bool(node.args.get("evolves"))
    clauses = tuple(_clause(when, table, equated, walk, scope, may_lack=may_lack) for when in whens)
    if not mentions and any(clause.kind == "insert" for clause in clauses):
        error = SemanticError(
            f"No columns from target table '{table.name.name}' found in ON clause of MERGE, "
            "which WHEN NOT MATCHED needs",
            code=10149,
        )
        binding.fail(error, condition.start, condition.end)
    check_filtered((target, *walk.uses), binding)
    return MergeRows(
        target=target.scan(binding),
        alias=alias,
        source=_source_query(source, source_uses, scope.relations[1], walk),
        source_alias=source_alias.text,
        on=on,
        clauses=clauses,
        added=added,
        narrow=narrow,
        check=enforced(table, binding),
        on_mentions_target=mentions,
        subqueries=_sources(walk.uses[len(source_uses) :], binding),
    )


def _source_query(part: Slice, uses: Sequence[TableUse], source: Relation, walk: Walk) -> Query:
    """Return the source as a query."""
    query = Query(sql=walk.render(part), sources=_sources(uses, walk.binding))
    if source.columns is None:
        return query
    columns = (Column(output.name, output.type or UNKNOWN) for output in source.columns)
    return with_meaning(query, part, tuple(columns), walk)


def _alias_of(source: exp.Expr) -> Name:
    alias = source.args.get("alias")
    return name_of(alias.this if alias is not None else source.this)


def _source_of(using: exp.Expr, shared: exp.Expr | None) -> Slice:
    """Return the source of MERGE as a query of its own; ``shared`` is the WITH before MERGE."""
    query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=using), with_=shared)
    return Slice(using.meta[SPANS], query, SOURCE)


def _kind(when: exp.Expr) -> Literal["update", "delete", "insert"]:
    then = when.args["then"]
    if isinstance(then, exp.Insert):
        return "insert"
    return "update" if isinstance(then, exp.Update) else "delete"


def _merge_target(ref: TableRef, whens: Sequence[exp.Expr], binding: Binding) -> Table:
    _check_manager(ref, binding)
    table = binding.table(ref)
    check_zone_of(table, ref.start, binding)
    changes = [when for when in whens if _kind(when) != "insert"]
    matched = [when for when in changes if not _is_by_source(when)]
    if not (table.is_view or table.is_materialized_view):
        for when in changes:
            if _star(when.args["then"]) is None:
                _check_assigned(when.args["then"], table, binding)
    if changes:
        _check_changeable(table, ref, binding)
    elif table.is_view or table.is_materialized_view or not table.is_full_acid:
        # An inserting MERGE reads the target's row ids all the same.
        _check_changeable(table, ref, binding)
    for name, group in (
        ("MATCHED", matched),
        ("NOT MATCHED", [when for when in whens if when not in changes]),
        ("NOT MATCHED BY SOURCE", [when for when in changes if when not in matched]),
    ):
        for when, after in pairwise(group):
            if when.args.get("condition") is None:
                error = _never_taken(name, when, after)
                binding.fail(error, *(when if error.code == 10404 else after).meta[RANGE])
    return table


def _never_taken(name: str, when: exp.Expr, after: exp.Expr) -> SemanticError:
    """Return the error of a clause behind one that takes every row, as Hive words it."""
    kinds = [_kind(when), _kind(after)]
    if name == "MATCHED" and kinds[0] != kinds[1]:
        return SemanticError(
            'MERGE statement with both UPDATE and DELETE clauses requires "AND <boolean>" on '
            "the 1st WHEN MATCHED clause",
            code=10404,
        )
    code = {"delete": 10405, "update": 10406}.get(kinds[0]) if name == "MATCHED" else None
    return SemanticError(
        f"MERGE statement can have at most 1 WHEN {name} ... {kinds[0].upper()} clause without "
        '"AND <boolean>", as the last one: no row is left for this one',
        code=code,
    )


def _is_by_source(when: exp.Expr) -> bool:
    return bool(when.args.get("source"))


def _star(then: exp.Expr) -> exp.Star | None:
    """Return the * of UPDATE SET * or INSERT *; None where columns are named."""
    item = then.this if isinstance(then, exp.Insert) else next(iter(then.expressions), None)
    return item if isinstance(item, exp.Star) else None


def _bind_source(part: Slice, alias: Name, walk: Walk, scope: Scope) -> list[TableUse]:
    columns = walk.query(part.tree, {}, None)
    uses = list(walk.uses)
    table, use = part.tree.args["from_"].this, None
    is_shared = part.tree.args.get("with_") is not None
    if isinstance(table, exp.Table) and len(uses) == 1 and not is_shared:
        ref = table_of(table)
        database = ref.database.text if ref.database else None
        is_view = (
            not ref.catalog
            and walk.binding.readable(ref.full("").name, database, ref.start).is_view
        )
        use = None if is_view else uses[0]
    scope.relations.append(Relation(alias.text, columns, use))
    return uses


def _added(
    table: Table, whens: Sequence[exp.Expr], source: Relation, binding: Binding
) -> tuple[Column, ...]:
    """Return the columns of the source that the table lacks, if a clause takes all by ``*``."""
    stars = [star for when in whens if (star := _star(when.args["then"])) is not None]
    if not stars:
        return ()
    place = stars[0].meta[RANGE]
    if source.columns is None:
        feature = f"WITH SCHEMA EVOLUTION where only Spark knows the columns of {source.alias}"
        binding.fail(NotSupported(feature), *place)
    names = {column.name for column in table.all_columns}
    added: dict[str, Column] = {}
    for output in source.columns:
        if output.name in names:
            continue
        if output.twin or output.name in added:
            name = output.twin or output.name
            error = SemanticError(f"{source.alias} has two columns {name}", code=10036)
            binding.fail(error, *place)
        if output.type is None or output.type.holds(Kind.VOID):
            error = SemanticError(
                f"{table.name} cannot get the column {output.name} of {source.alias}, whose type "
                "is not known: CAST it",
                code=10305,
            )
            binding.fail(error, *place)
        if output.type.holds(*INTERVALS, Kind.OTHER):
            error = SemanticError(
                f"{table.name} cannot get the column {output.name} of {source.alias}: no table "
                f"can have {output.type}. CAST it to STRING",
                code=40000,
            )
            binding.fail(error, *place)
        added[output.name] = Column(output.name, output.type)
    return tuple(added.values())


def _widened(table: Table, whens: Sequence[exp.Expr], source: Relation) -> dict[str, Column]:
    """Return columns of the table with the types that values of the source's need in a ``*``.

    Not those that say where rows lie: they would be looked for elsewhere.
    """
    if all(_star(when.args["then"]) is None for when in whens):
        return {}
    types = {output.name: output.type for output in source.columns or ()}
    wide = {}
    for column in table.columns:
        other = types.get(column.name)
        if other is not None and column.name not in table.bucket_columns:
            wider = widen(column.type, other)
            if wider != column.type:
                wide[column.name] = replace(column, type=wider)
    return wide


def _mentions(part: Slice, walk: Walk, target: Relation) -> bool:
    meanings: Mapping[int, object] = walk.meanings
    return any(
        getattr(meanings.get(id(column)), "relation", None) is target
        for column in part.tree.find_all(exp.Column)
    )


def _equated(condition: exp.Expr, table: Table, walk: Walk, scope: Scope) -> set[str]:
    """Return the table's columns that ON compares with the source's of their names and types."""
    target, source = scope.relations
    types = {output.name: output.type for output in source.columns or ()}
    own = {column.name: column.type for column in table.all_columns}
    equated = set()
    for conjunct in conjuncts(condition):
        if not isinstance(conjunct, exp.EQ):
            continue
        sides = {
            relation.alias: column_meant(side, walk.meanings, relation)
            for side in (conjunct.this, conjunct.expression)
            for relation in (target, source)
            if isinstance(side, exp.Column) and column_meant(side, walk.meanings, relation)
        }
        name = sides.get(target.alias)
        if name is not None and sides.get(source.alias) == name and own[name] == types.get(name):
            equated.add(name)
    return equated


def _from_source(
    star: exp.Expr, table: Table, skipped: Collection[str], walk: Walk, scope: Scope,
    *, may_lack: bool,
) -> dict[str, Expr]:  # fmt: skip
    """Return what ``*`` assigns: each column the source's of its name, but for those skipped.

    Columns that the source lacks are left out if it ``may_lack`` any.
    """
    source = scope.relations[1]
    place, columns = star.meta[RANGE], source.columns
    types = {output.name: output.type for output in columns or ()}
    values = {}
    for column in table.all_columns:
        if column.name in skipped:
            continue
        if columns is not None and column.name not in types:
            if may_lack:
                continue
            error = SemanticError(
                f"* takes each column of {table.name} from that of its name, and {source.alias} "
                f"has no {column.name}: name the columns",
                code=10004,
            )
            walk.binding.fail(error, *place)
        value_of_source = Expr(f"{quote_name(source.alias)}.{quote_name(column.name)}")
        of_type = types.get(column.name)
        written = converted(value_of_source, of_type, column, place, walk.binding)
        of = None if columns is None else column.name
        of_source = OfSource(column=of, is_converted=written is not value_of_source, type=of_type)
        values[column.name] = replace(written, meaning=of_source)
    return values


def _name_target(part: exp.Expr, target: Relation, walk: Walk) -> None:
    """Put the table's name before its columns: the source may have some of the same names."""
    inside = part.walk(prune=lambda node: isinstance(node, QUERIES))
    columns = [column for column in inside if isinstance(column, exp.Column)]
    places = [
        place_of(column)
        for column in columns
        if len(column.parts) == 1 or column.parts[0].name.lower() != target.alias
    ]
    # First, so that they are inside of what else becomes of a column.
    walk.edits[:0] = [Edit(*place, "", (f"{quote_name(target.alias)}.", place)) for place in places]


def _clause(
    when: exp.Expr, table: Table, equated: Collection[str], walk: Walk, scope: Scope,
    *, may_lack: bool,
) -> MergeClause:  # fmt: skip
    """Bind a WHEN clause; of ``equated`` columns both sides have the same value in matched rows.

    The source ``may_lack`` columns that ``*`` would take of it.
    """
    and_condition, then, kind = when.args.get("condition"), when.args["then"], _kind(when)
    star = _star(then)
    by_source = _is_by_source(when)
    if by_source:
        # There is no row of the source to speak of.
        scope = Scope(relations=scope.relations[:1])
        parts = [and_condition, *(assigned.expression for assigned in then.expressions)]
        for part in filter(None, parts):
            _name_target(part, scope.relations[0], walk)
    condition: Expr | None = None
    if and_condition is not None:
        condition = walk.expr(slice_of(and_condition), scope)
        condition = replace(condition, meaning=joining_of(and_condition, walk, scope))
    if kind == "delete":
        return MergeClause(kind=kind, condition=condition, by_source=by_source)
    if kind == "update":
        if star is not None:
            # A row is not moved to where it is.
            placing = {*table.partition_names, *table.bucket_columns}.intersection(equated)
            assigned = _from_source(star, table, placing, walk, scope, may_lack=may_lack)
        else:
            assigned = _assigned(then, table, walk, scope)
        return MergeClause(
            kind=kind, condition=condition, assignments=assigned, by_source=by_source
        )
    names = [column.name for column in table.all_columns]
    if star is not None:
        values = _from_source(star, table, (), walk, scope, may_lack=may_lack)
    else:
        columns = _insert_columns(then, names, table, walk.binding)
        values = {
            name: value(slice_of(expression), name, table, walk, scope)
            for name, expression in zip(columns, then.expression.expressions, strict=True)
        }
    return MergeClause(
        kind=kind,
        condition=condition,
        values=tuple(
            values[name] if name in values else default_value(table, name, walk.binding)
            for name in names
        ),
    )


def _insert_columns(
    insert: exp.Expr, names: list[str], table: Table, binding: Binding
) -> list[str]:
    columns = names_of(insert.this.expressions) if insert.this else None
    listed = names if columns is None else [column.text for column in columns]
    for column in columns or ():
        if column.text not in names or listed.count(column.text) > 1:
            why = "is given twice" if column.text in names else f"is not a column of {table.name}"
            code = 10036 if column.text in names else 10004
            error = SemanticError(f"'{column.text}' in the INSERT of MERGE {why}", code=code)
            binding.fail(error, column.start)
    values = insert.expression.expressions
    if len(listed) != len(values):
        error = SemanticError(
            "Cannot insert into target table because column number/types are different "
            f"'{table.name.name}': {len(listed)} columns, {len(values)} values",
            code=10044,
        )
        binding.fail(error, slice_of(values[0]).start, slice_of(values[-1]).end)
    return listed
