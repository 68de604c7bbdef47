"""UPDATE, DELETE and MERGE: Hive's checks in Hive's order, then the expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from hivesql.binder.constraints import default_sql, enforced, value
from hivesql.binding import Binding
from hivesql.dialect.nodes.dml import DeleteBody, MergeBody, UpdateBody, WhenBody
from hivesql.dialect.slices import Slice
from hivesql.dialect.tokens import Name, TableRef
from hivesql.expressions.session_zone import check_zone_of
from hivesql.query.filters.pruning import conjuncts
from hivesql.query.learning import learn
from hivesql.query.scope import Relation, Scope, TableUse, outputs_of
from hivesql.query.strict_checks import check_filtered, traced
from hivesql.query.walk import Walk
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import Table
from hivesql_planner.relations import Expr, Query, Source
from hivesql_planner.statements.bound import DeleteRows, MergeClause, MergeRows, UpdateRows


def bind_update(body: UpdateBody, binding: Binding) -> UpdateRows:
    """UPDATE."""
    table = _changeable(body.table, binding)
    _check_assigned(body.assignments, table, binding)
    walk, scope, target = _of_target(table, table.name.name, binding)
    target.start = body.table.start
    assignments = _assigned(body.assignments, table, walk, scope)
    where = _condition(body.where, walk, scope)
    check_filtered((target, *walk.uses), binding)
    return UpdateRows(
        target=target.scan(binding),
        alias=table.name.name,
        assignments=assignments,
        where=where,
        check=enforced(table, binding),
        subqueries=_sources(walk.uses, binding),
    )


def bind_delete(body: DeleteBody, binding: Binding) -> DeleteRows:
    """DELETE."""
    table = _changeable(body.table, binding)
    walk, scope, target = _of_target(table, table.name.name, binding)
    target.start = body.table.start
    where = _condition(body.where, walk, scope)
    # Without WHERE nothing is read.
    check_filtered((target, *walk.uses) if body.where else (), binding)
    return DeleteRows(
        target=target.scan(binding),
        alias=table.name.name,
        where=where,
        subqueries=_sources(walk.uses, binding),
    )


def _assigned(
    assignments: tuple[tuple[Name, Slice], ...], table: Table, walk: Walk, scope: Scope
) -> dict[str, Expr]:
    return {name.text: value(part, name.text, table, walk, scope) for name, part in assignments}


def _changeable(ref: TableRef, binding: Binding) -> Table:
    table = binding.table(ref)
    check_zone_of(table, ref.start, binding)
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


def _condition(part: Slice | None, walk: Walk, scope: Scope) -> Expr | None:
    if part is None:
        return None
    found = walk.expr(part, scope)
    for one in conjuncts(part.tree):
        learn(one, scope, walk.meanings, only=scope.relations[0])
    walk.strict.filter(part.tree)
    return found


def _sources(uses: Sequence[TableUse], binding: Binding) -> tuple[Source, ...]:
    return tuple(use.source(binding) for use in uses)


def _check_assigned(
    assignments: tuple[tuple[Name, Slice], ...], table: Table, binding: Binding
) -> None:
    seen: set[str] = set()
    for name, _ in assignments:
        column = name.text
        if column in table.partition_names:
            error = SemanticError(
                f"Updating values of partition columns is not supported: {column}", code=10292
            )
        elif column in table.bucket_columns:
            error = SemanticError(
                f"Updating values of bucketing columns is not supported. Column {column}.",
                code=10302,
            )
        elif column not in table.column_names:
            error = SemanticError(
                f'Invalid target column name "{column}" in SET clause. Table "{table.name}" has '
                f"{', '.join(table.column_names)}",
                code=10408,
            )
        elif column in seen:
            error = SemanticError(f"Duplicate column name {column} in SET", code=10036)
        else:
            seen.add(column)
            continue
        binding.fail(error, name.start)


def bind_merge(body: MergeBody, binding: Binding) -> MergeRows:
    """MERGE."""
    table = _merge_target(body, binding)
    alias = (body.alias or body.table.name).text
    if alias == body.source_alias.text:
        error = SemanticError(f"target and source of MERGE are both called {alias}", code=10008)
        binding.fail(error, body.source_alias.start)
    walk, scope, target = _of_target(table, alias, binding)
    target.start = body.table.start
    source_uses = _bind_source(body, walk, scope)
    on = walk.expr(body.on, scope)
    for one in conjuncts(body.on.tree):
        # A target row that fails a part of ON matches nothing, so it need not be read.
        learn(one, scope, walk.meanings, only=scope.relations[0])
    mentions = _mentions(body.on, walk, scope.relations[0])
    walk.strict.merge(body.on.tree, scope.relations[0])
    clauses = tuple(_clause(clause, table, walk, scope) for clause in body.clauses)
    if not mentions and any(clause.kind == "insert" for clause in clauses):
        error = SemanticError(
            f"No columns from target table '{table.name.name}' found in ON clause of MERGE, "
            "which WHEN NOT MATCHED needs",
            code=10149,
        )
        binding.fail(error, body.on.start, body.on.end)
    check_filtered((target, *walk.uses), binding)
    source_sql = walk.render(body.source)
    return MergeRows(
        target=target.scan(binding),
        alias=alias,
        source=Query(sql=source_sql, sources=_sources(source_uses, binding)),
        source_alias=body.source_alias.text,
        on=on,
        clauses=clauses,
        check=enforced(table, binding),
        on_mentions_target=mentions,
        subqueries=_sources(walk.uses[len(source_uses) :], binding),
    )


def _merge_target(body: MergeBody, binding: Binding) -> Table:
    table = binding.table(body.table)
    check_zone_of(table, body.table.start, binding)
    changes = [clause for clause in body.clauses if clause.kind != "insert"]
    if changes:
        _check_changeable(table, body.table, binding)
    elif table.is_view or table.is_materialized_view or not table.is_full_acid:
        # An inserting MERGE reads the target's row ids all the same.
        _check_changeable(table, body.table, binding)
    for kind, code in (("delete", 10405), ("update", 10406)):
        of_kind = [clause for clause in changes if clause.kind == kind]
        if len(of_kind) > 1:
            error = SemanticError(
                f"MERGE statement can have at most 1 WHEN MATCHED ... {kind.upper()} clause",
                code=code,
            )
            binding.fail(error, of_kind[1].start, of_kind[1].end)
    if len(changes) > 1 and changes[0].condition is None:
        error = SemanticError(
            'MERGE statement with both UPDATE and DELETE clauses requires "AND <boolean>" on '
            "the 1st WHEN MATCHED clause",
            code=10404,
        )
        binding.fail(error, changes[0].start, changes[0].end)
    for clause in changes:
        _check_assigned(clause.assignments, table, binding)
    return table


def _bind_source(body: MergeBody, walk: Walk, scope: Scope) -> list[TableUse]:
    columns = walk.query(body.source.tree, {}, None)
    uses = list(walk.uses)
    ref, use = body.source_table, None
    if ref is not None and len(uses) == 1:
        database = ref.database.text if ref.database else None
        is_view = (
            not ref.catalog and walk.binding.readable(ref.name.text, database, ref.start).is_view
        )
        use = None if is_view else uses[0]
    scope.relations.append(Relation(body.source_alias.text, columns, use))
    return uses


def _mentions(part: Slice, walk: Walk, target: Relation) -> bool:
    meanings: Mapping[int, object] = walk.meanings
    return any(
        getattr(meanings.get(id(column)), "relation", None) is target
        for column in part.tree.find_all(exp.Column)
    )


def _clause(clause: WhenBody, table: Table, walk: Walk, scope: Scope) -> MergeClause:
    condition = walk.expr(clause.condition, scope) if clause.condition else None
    if clause.kind == "delete":
        return MergeClause(kind="delete", condition=condition)
    if clause.kind == "update":
        assigned = _assigned(clause.assignments, table, walk, scope)
        return MergeClause(kind="update", condition=condition, assignments=assigned)
    names = [column.name for column in table.all_columns]
    given = _insert_columns(clause, names, table, walk.binding)
    values = {
        name: value(part, name, table, walk, scope)
        for name, part in zip(given, clause.values, strict=True)
    }
    return MergeClause(
        kind="insert",
        condition=condition,
        values=tuple(
            values[name] if name in values else Expr(default_sql(table, name, walk.binding))
            for name in names
        ),
    )


def _insert_columns(
    clause: WhenBody, names: list[str], table: Table, binding: Binding
) -> list[str]:
    given = names if clause.columns is None else [column.text for column in clause.columns]
    for column in clause.columns or ():
        if column.text not in names or given.count(column.text) > 1:
            why = "is given twice" if column.text in names else f"is not a column of {table.name}"
            code = 10036 if column.text in names else 10004
            error = SemanticError(f"'{column.text}' in the INSERT of MERGE {why}", code=code)
            binding.fail(error, column.start)
    if len(given) != len(clause.values):
        error = SemanticError(
            "Cannot insert into target table because column number/types are different "
            f"'{table.name.name}': {len(given)} columns, {len(clause.values)} values",
            code=10044,
        )
        binding.fail(error, clause.values[0].start, clause.values[-1].end)
    return given
