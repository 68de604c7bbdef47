"""INSERT and multi-insert: the query in the table's column order, the partitions it goes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from hivesql.binder.constraints import default_sql, defaults_of_values, enforced
from hivesql.binder.targets import check_lengths, written_value
from hivesql.binding import Binding
from hivesql.dialect.nodes.dml import InsertBody, InsertBranch
from hivesql.dialect.slices import Slice
from hivesql.dialect.tokens import Name
from hivesql.dialect.value_types import normal
from hivesql.expressions.session_zone import check_zone_of
from hivesql.query.scope import Output
from hivesql.query.walk import BoundQuery, bind_query
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.conversions import check_conversion
from hivesql_planner.model.table import Partition, Table
from hivesql_planner.relations import Query
from hivesql_planner.statements.bound import InsertRows, InsertTarget


def bind_insert(body: InsertBody, binding: Binding) -> InsertRows:
    """Bind every branch; two write the same place only where their rows tell partitions apart."""
    targets = []
    places: dict[object, InsertTarget] = {}
    for branch in body.branches:
        target = _target(branch, binding)
        place = (target.table.name, tuple(sorted(target.static_partition.items())))
        first = places.setdefault(place, target)
        # As Hive: whether two overwrites meet in a partition is known when they have run.
        apart = target.dynamic_partition and first.overwrite == target.overwrite
        if first is not target and not apart:
            name = target.table.name
            error = SemanticError(f"The same output cannot be present multiple times: {name}",
                                  code=10087)  # fmt: skip
            binding.fail(error, branch.table.start)
        targets.append(target)
    return InsertRows(targets=tuple(targets))


def _target(branch: InsertBranch, binding: Binding) -> InsertTarget:
    table = binding.table(branch.table)
    check_zone_of(table, branch.table.start, binding)
    if table.is_view or table.is_materialized_view:
        error = SemanticError(f"A view cannot be used as target table for an INSERT: {table.name}",
                              code=10090)  # fmt: skip
        binding.fail(error, branch.table.start)
    if table.type == "EXTERNAL_TABLE" and not binding.settings.flag(
        "hive.insert.into.external.tables"
    ):
        what = f"Inserting into a external table is not allowed {table.name.name}"
        binding.fail(SemanticError(what, code=10071), branch.table.start)
    static, dynamic = _partition(branch, table, binding)
    names = (*table.column_names, *dynamic)
    _check_columns(branch, table, names, binding)
    if branch.if_not_exists and dynamic:
        error = SemanticError("Dynamic partitions do not support IF NOT EXISTS", code=10127)
        binding.fail(error, branch.table.start)
    return InsertTarget(
        table=table,
        query=_query(branch.query, branch, table, names, binding),
        overwrite=branch.overwrite,
        static_partition=static,
        dynamic_partition=dynamic,
        if_not_exists=branch.if_not_exists,
        check=enforced(table, binding),
        union_branches=tuple(_query(part, branch, table, names, binding) for part in branch.unions),
        partition=_existing(table, static, binding) if static and not dynamic else None,
    )


def _partition(
    branch: InsertBranch, table: Table, binding: Binding
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Split static values and dynamic columns; without a PARTITION clause all are dynamic."""
    names = table.partition_names
    if branch.partition is None:
        static: dict[str, str | None] = {}
        dynamic = names
    else:
        found = binding.partition_values(table, branch.partition)
        given = {item.key.text for item in branch.partition}
        missing = [name for name in names if name not in given]
        if missing:
            error = SemanticError(
                f"Need to specify partition columns because the destination table is "
                f"partitioned: {', '.join(missing)} missing",
                code=10006,
            )
            binding.fail(error, branch.partition[0].key.start, branch.partition[-1].end)
        static = {
            column.name: written_value(column, found[column.name], branch.partition, binding)
            for column in table.partition_columns
            if column.name in found
        }
        dynamic = tuple(name for name in names if name not in found)
        check_lengths(tuple(static), tuple(static.values()), branch.partition, binding)
    if dynamic:
        _check_dynamic(branch, names, static, binding)
    return static, dynamic


def _check_dynamic(
    branch: InsertBranch,
    names: tuple[str, ...],
    static: dict[str, str | None],
    binding: Binding,
) -> None:
    start = branch.partition[0].key.start if branch.partition else branch.table.start
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
    branch: InsertBranch, table: Table, names: tuple[str, ...], binding: Binding
) -> None:
    seen: set[str] = set()
    for column in branch.columns or ():
        if column.text not in names:
            error = SemanticError(
                f"'{column.text}' in insert schema specification is not found among regular "
                f"columns of {table.name} nor dynamic partition columns.",
                code=10004,
            )
            binding.fail(error, column.start)
        if column.text in seen:
            error = SemanticError(f"Duplicate column name {column.text}", code=10036)
            binding.fail(error, column.start)
        seen.add(column.text)
    missing = [name for name in names[len(table.columns) :] if name not in seen]
    if branch.columns is not None and missing:
        error = SemanticError(f"the dynamic partition column {missing[0]} is not in the column "
                              "list", code=10044)  # fmt: skip
        binding.fail(error, branch.columns[0].start)


def _query(
    part: Slice, branch: InsertBranch, table: Table, names: tuple[str, ...], binding: Binding
) -> Query:
    given = names if branch.columns is None else [column.text for column in branch.columns]
    bound = bind_query(part, binding, defaults=defaults_of_values(part, given, table, binding))
    expected = len(names) if branch.columns is None else len(branch.columns)
    if bound.columns is not None and len(bound.columns) != expected:
        what = "values" if isinstance(part.tree, exp.Values) else "columns"
        error = SemanticError(
            "Cannot insert into target table because column number/types are different "
            f"'{table.name.name}': it takes {expected} {what} here and is given "
            f"{len(bound.columns)}.",
            code=10044,
        )
        binding.fail(error, *part.spans[-1])
    _check_types(bound, given, part, table, binding)
    if branch.columns is None:
        return bound.query(binding)
    defaults = {name: default_sql(table, name, binding) for name in names if name not in given}
    types = {
        column.text: one.type
        for column, one in zip(branch.columns, bound.columns or (), strict=False)
    }
    columns = tuple(Output(name, types.get(name)) for name in names)
    return bound.query(binding, _in_table_order(bound, branch.columns, names, defaults), columns)


def _check_types(
    bound: BoundQuery, given: Sequence[str], part: Slice, table: Table, binding: Binding
) -> None:
    """Refuse what Hive does not convert; where only Spark knows the type it is found out later."""
    strict = binding.settings.flag("hive.strict.timestamp.conversion")
    types = {column.name: column.type for column in table.all_columns}
    for column, name in zip(bound.columns or (), given, strict=False):
        try:
            check_conversion(normal(column.type or ""), types[name], strict=strict)
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
    chosen = ", ".join(f"{place[name]} AS `{name}`" for name in names)
    listed = ", ".join(place[column.text] for column in columns)
    return f"SELECT {chosen} FROM ({bound.sql}) AS `rows`({listed})"
