"""INSERT and multi-insert: the query in the table's column order, the partitions it goes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hivesql.binder.constraints import defaults_of_values, enforced, inserted_default
from hivesql.binder.targets import check_lengths, written_value
from hivesql.binding import Binding
from hivesql.dialect.edits import Span, Spans
from hivesql.dialect.nodes.dml import inserts_of, query_of
from hivesql.dialect.nodes.parts import names_of, partition_of, slice_of, table_of
from hivesql.dialect.slices import RANGE, PartitionItems, Slice
from hivesql.dialect.structure import is_constant_select, read_query
from hivesql.dialect.tokens import Cursor, Name, TableRef, first_from
from hivesql.expressions.session_zone import check_zone_of
from hivesql.python_sqlglot import exp
from hivesql.query.meaning.rows import Row, rows_of
from hivesql.query.scope import BoundQuery, Output
from hivesql.query.walk import bind_query
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.conversions import check_assignment
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Partition, Table
from hivesql_planner.predicates.predicate import Constant
from hivesql_planner.relations import Expr, Query
from hivesql_planner.statements.bound import InsertRows, InsertTarget


def bind_insert(node: exp.Expr, binding: Binding) -> InsertRows:
    """Bind every branch; two write the same place only where their rows tell partitions apart."""
    targets = []
    places: dict[object, InsertTarget] = {}
    for insert in inserts_of(node):
        target = _target(insert, binding)
        place = (target.table.name, tuple(sorted(target.static_partition.items())))
        first = places.setdefault(place, target)
        # As Hive: whether two overwrites meet in a partition is known when they have run.
        apart = target.dynamic_partition and first.overwrite == target.overwrite
        if first is not target and not apart:
            name = target.table.name
            error = SemanticError(f"The same output cannot be present multiple times: {name}",
                                  code=10087)  # fmt: skip
            binding.fail(error, _table(insert).start)
        targets.append(target)
    return InsertRows(targets=tuple(targets))


def _table(insert: exp.Expr) -> TableRef:
    return table_of(insert.this.this if isinstance(insert.this, exp.Schema) else insert.this)


def _columns(insert: exp.Expr) -> tuple[Name, ...] | None:
    return names_of(insert.this.expressions) if isinstance(insert.this, exp.Schema) else None


def _target(insert: exp.Expr, binding: Binding) -> InsertTarget:
    ref, partition, columns = (
        _table(insert),
        partition_of(insert.args["partition"]),
        _columns(insert),
    )
    table = binding.table(ref)
    check_zone_of(table, ref.start, binding)
    binding = replace(binding, gives_write_id=table.is_transactional)
    if table.is_view or table.is_materialized_view:
        error = SemanticError(f"A view cannot be used as target table for an INSERT: {table.name}",
                              code=10090)  # fmt: skip
        binding.fail(error, ref.start)
    if table.type == "EXTERNAL_TABLE" and not binding.settings.flag(
        "hive.insert.into.external.tables"
    ):
        what = f"Inserting into a external table is not allowed {table.name.name}"
        binding.fail(SemanticError(what, code=10071), ref.start)
    static, dynamic = _partition(ref, partition, table, binding)
    names = (*table.column_names, *dynamic)
    _check_columns(columns, table, names, binding)
    if insert.args["exists"] and dynamic:
        error = SemanticError("Dynamic partitions do not support IF NOT EXISTS", code=10127)
        binding.fail(error, ref.start)
    query = slice_of(query_of(insert))
    return InsertTarget(
        table=table,
        query=_query(query, columns, table, names, binding),
        overwrite=insert.args["overwrite"],
        static_partition=static,
        dynamic_partition=dynamic,
        if_not_exists=insert.args["exists"],
        check=enforced(table, binding),
        union_branches=tuple(
            _query(part, columns, table, names, binding) for part in union_branches(query, binding)
        ),
        partition=_existing(table, static, binding) if static and not dynamic else None,
    )


def _partition(
    ref: TableRef, partition: PartitionItems | None, table: Table, binding: Binding
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Split static values and dynamic columns; without a PARTITION clause all are dynamic."""
    names = table.partition_names
    if partition is None:
        static: dict[str, str | None] = {}
        dynamic = names
    else:
        values = binding.partition_values(table, partition)
        key_names = {item.key.text for item in partition}
        missing = [name for name in names if name not in key_names]
        if missing:
            error = SemanticError(
                f"Need to specify partition columns because the destination table is "
                f"partitioned: {', '.join(missing)} missing",
                # Hive takes the last of those that have no value for the parent of what is missing.
                code=10006 if len(values) == len(key_names) else 10094,
            )
            binding.fail(error, partition[0].key.start, partition[-1].end)
        static = {
            column.name: written_value(column, values[column.name], partition, binding)
            for column in table.partition_columns
            if column.name in values
        }
        dynamic = tuple(name for name in names if name not in values)
        check_lengths(tuple(static), tuple(static.values()), partition, binding)
    if dynamic:
        start = partition[0].key.start if partition else ref.start
        _check_dynamic(start, names, static, binding)
    return static, dynamic


def _check_dynamic(
    start: int, names: tuple[str, ...], static: dict[str, str | None], binding: Binding
) -> None:
    if names[: len(static)] != tuple(static):
        text = "Partition columns in the partition clause: a dynamic one comes before a static one"
        binding.fail(SemanticError(text, code=10094), start)
    if not binding.settings.flag("hive.exec.dynamic.partition"):
        text = (
            "Dynamic partition is disabled. Either enable it by setting "
            "hive.exec.dynamic.partition=true or specify partition column values"
        )
        binding.fail(SemanticError(text, code=10095), start)
    mode = binding.settings.text("hive.exec.dynamic.partition.mode").strip().lower()
    if mode == "strict" and not static:
        text = (
            "Dynamic partition strict mode requires at least one static partition column. "
            "To turn this off set hive.exec.dynamic.partition.mode=nonstrict"
        )
        binding.fail(SemanticError(text, code=10096), start)


def _existing(table: Table, static: dict[str, str | None], binding: Binding) -> Partition | None:
    values = [static[name] for name in table.partition_names]
    return binding.catalog.partition(table.name, values)


def _check_columns(
    columns: tuple[Name, ...] | None, table: Table, names: tuple[str, ...], binding: Binding
) -> None:
    listed: set[str] = set()
    for column in columns or ():
        if column.text not in names:
            error = SemanticError(
                f"'{column.text}' in insert schema specification is not found among regular "
                f"columns of {table.name} nor dynamic partition columns.",
                code=10004,
                choices=names,
            )
            binding.fail(error, column.start)
        if column.text in listed:
            error = SemanticError(f"Duplicate column name {column.text}", code=10036)
            binding.fail(error, column.start)
        listed.add(column.text)


def _query(
    part: Slice,
    listed: tuple[Name, ...] | None,
    table: Table,
    names: tuple[str, ...],
    binding: Binding,
) -> Query:
    target_columns = names if listed is None else [column.text for column in listed]
    values = defaults_of_values(part, target_columns, table, binding)
    bound = bind_query(
        part, binding, defaults={start: value.sql for start, value in values.items()}
    )
    expected = len(names) if listed is None else len(listed)
    if bound.columns is not None and len(bound.columns) != expected:
        what = "values" if isinstance(part.tree, exp.Values) else "columns"
        error = SemanticError(
            "Cannot insert into target table because column number/types are different "
            f"'{table.name.name}': it takes {expected} {what} here and is given "
            f"{len(bound.columns)}.",
            code=10044,
        )
        binding.fail(error, *part.spans[-1])
    _check_types(bound, target_columns, part, table, binding)
    rows = _rows(part, table, values, binding)
    if listed is None:
        return replace(bound.query(binding), rows=rows)
    defaults = {
        name: inserted_default(table, name, binding) for name in names if name not in target_columns
    }
    types = {
        column.text: output.type
        for column, output in zip(listed, bound.columns or (), strict=False)
    }
    columns = tuple(Output(name, types.get(name)) for name in names)
    texts = {name: value.sql for name, value in defaults.items()}
    query = bound.query(binding, _in_table_order(bound, listed, names, texts), columns)
    return replace(query, rows=_rows_in_order(rows, target_columns, names, defaults))


def _rows(
    part: Slice, table: Table, defaults: Mapping[int, Expr], binding: Binding
) -> tuple[Row, ...] | None:
    """Return the rows that stand in the text, where they are written or measured without Spark."""
    length = sum(end - start for start, end in part.spans)
    is_small = length <= binding.settings.integer("hivesql.local.max.bytes")
    is_measured = binding.settings.flag("hive.stats.column.autogather")
    is_wanted = is_small and (table.is_full_acid or is_measured)
    return rows_of(part, binding, defaults) if is_wanted else None


def _rows_in_order(
    rows: tuple[Row, ...] | None,
    column_names: Sequence[str],
    names: Sequence[str],
    defaults: Mapping[str, Expr],
) -> tuple[Row, ...] | None:
    """Return the rows in the table's order, with the default values of columns without one."""
    meanings = [expression.meaning for expression in defaults.values()]
    if rows is None or any(len(row) != len(column_names) for row in rows):
        return None
    if not all(isinstance(meaning, Constant) for meaning in meanings):
        return None
    fixed = {
        name: expression.meaning.value
        for name, expression in defaults.items()
        if isinstance(expression.meaning, Constant)
    }
    places = {name: i for i, name in enumerate(column_names)}
    return tuple(
        tuple(row[places[name]] if name in places else fixed[name] for name in names)
        for row in rows
    )


def _check_types(
    bound: BoundQuery, column_names: Sequence[str], part: Slice, table: Table, binding: Binding
) -> None:
    """Refuse what Hive does not convert; where only Spark knows the type it is found out later."""
    strict = binding.settings.flag("hive.strict.timestamp.conversion")
    types = {column.name: column.type for column in table.all_columns}
    for column, name in zip(bound.columns or (), column_names, strict=False):
        try:
            check_assignment(column.type, types[name], strict=strict)
        except SemanticError as error:
            binding.fail(error, *part.spans[0])


def _in_table_order(
    bound: BoundQuery,
    columns: tuple[Name, ...],
    names: tuple[str, ...],
    defaults: Mapping[str, str],
) -> str:
    place = {column.text: f"`c{i}`" for i, column in enumerate(columns)}
    place = {**defaults, **place}
    chosen = ", ".join(f"{place[name]} AS {quote_name(name)}" for name in names)
    listed = ", ".join(place[column.text] for column in columns)
    return f"SELECT {chosen} FROM ({bound.sql}) AS `rows`({listed})"


def union_branches(query: Slice, binding: Binding) -> tuple[Slice, ...]:
    """Return what Hive writes one after the other where a query is nothing but UNION ALL.

    As in Hive, all branches that are nothing but constants are one, the last.
    """
    branches = _union_all(query.tree)
    if len(branches) < 2:
        return ()
    *shared, text_span = query.spans
    pieces, joints = _pieces(text_span, binding)
    constant = [i for i, tree in enumerate(branches) if is_constant_select(tree)]
    if len(constant) == len(branches) or len(pieces) != len(branches):
        return ()
    apart = frozenset(constant) if len(constant) > 1 else frozenset()
    parts = list(zip(pieces, branches, strict=True))
    slices = [
        _union_branch((*shared, piece), tree, binding)
        for i, (piece, tree) in enumerate(parts)
        if i not in apart
    ]
    if apart:
        spans = _joined(apart, pieces, joints)
        slices.append(read_query(binding.text, binding.tokens, (*shared, *spans)))
    return tuple(slices)


def _pieces(span: Span, binding: Binding) -> tuple[list[Span], list[int]]:
    """Return where each operand of the outermost UNION ALLs is, and the words before each."""
    start, end = span
    cursor = Cursor(binding.text, binding.tokens)
    cursor.position = first_from(cursor.tokens, start)
    pieces, joints = [], [start]
    while True:
        union_start = cursor.find("union")
        pieces.append((start, min(union_start, end)))
        if cursor.peek().start >= end:
            return pieces, joints
        joints.append(cursor.expect("union", "all").start)
        start = cursor.peek().start


def _joined(chosen: frozenset[int], pieces: Sequence[Span], joints: Sequence[int]) -> Spans:
    """Return the chosen pieces as one query; ``joints`` are where UNION ALL stands before each."""
    spans: list[Span] = []
    for i in sorted(chosen):
        if i - 1 in chosen:
            spans[-1] = (spans[-1][0], pieces[i][1])
        else:
            spans.append((joints[i] if spans else pieces[i][0], pieces[i][1]))
    return tuple(spans)


def _union_branch(spans: Spans, tree: exp.Expr, binding: Binding) -> Slice:
    """Give one branch of a UNION ALL; its tree is the whole where it needs nothing before it."""
    if len(spans) > 1 or tree.meta.get(RANGE) != spans[0]:
        return read_query(binding.text, binding.tokens, spans)
    return Slice(spans, tree)


def _union_all(tree: exp.Expr) -> list[exp.Expr]:
    """List the branches if it is UNION ALL all the way down, and nothing applies to the whole."""
    over_all = ("order", "limit", "offset", "sort", "distribute", "cluster")
    branches: list[exp.Expr] = []
    pending = [tree]
    while pending:
        operand = pending.pop()
        if not isinstance(operand, exp.Union):
            branches.append(operand)
        elif operand.args.get("distinct") or any(operand.args.get(key) for key in over_all):
            return []
        else:
            pending += [operand.right, operand.left]
    has_others = any(isinstance(branch, exp.SetOperation) for branch in branches)
    return [] if has_others else branches
