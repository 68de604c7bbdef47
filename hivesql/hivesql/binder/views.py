"""Views: their columns and the text that means the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, apply_edits
from hivesql.dialect.nodes.parts import name_of, names_of, properties_of, slice_of, table_of
from hivesql.dialect.nodes.views import PartitionedOn
from hivesql.dialect.slices import Slice
from hivesql.dialect.spark_differences import tokens_in
from hivesql.dialect.tokens import Kind, Name
from hivesql.python_sqlglot import exp
from hivesql.query.scope import BoundQuery
from hivesql.query.walk import bind_query
from hivesql_planner.errors import HiveSqlError, SemanticError
from hivesql_planner.model.hive_type import UNKNOWN, quote_name
from hivesql_planner.model.names import check_column_name
from hivesql_planner.model.table import TEMPORARY, Column, Table, TableName
from hivesql_planner.statements.bound import CreateView


def new_name(name: TableName, start: int, binding: Binding) -> TableName:
    """Return a name in a database that exists."""
    binding.check_new_name(name, start)
    binding.check_database(Name(name.database, start))
    return name


def check_column(name: Name, binding: Binding) -> None:
    """Fail at a column's name that Hive refuses."""
    try:
        check_column_name(name.text)
    except HiveSqlError as error:
        binding.fail(error, name.start)


def check_distinct(names: Iterable[Name], binding: Binding) -> None:
    """Fail at a column that is named twice."""
    names_before: set[str] = set()
    for name in names:
        if name.text in names_before:
            error = SemanticError(
                f"Duplicate column name: {name.text}", code=10036, about=name.text
            )
            binding.fail(error, name.start)
        names_before.add(name.text)


def bind_create_view(node: exp.Expr, binding: Binding) -> CreateView:
    """CREATE VIEW: its text with full table names, so that it means the same everywhere."""
    schema = node.this if isinstance(node.this, exp.Schema) else None
    ref = table_of(schema.this if schema else node.this)
    name = new_name(ref.full(binding.database), ref.start, binding)
    columns = tuple(_column(column) for column in schema.expressions) if schema else ()
    table, reads = view_of(name, slice_of(node.expression), columns, ref.start, binding)
    view_properties = node.args["properties"].expressions
    pairs = exp.Properties(
        expressions=[prop.copy() for prop in view_properties if type(prop) is exp.Property]
    )
    comment = next(
        (prop.name for prop in view_properties if isinstance(prop, exp.SchemaCommentProperty)), None
    )
    on = next(
        (names_of(prop.expressions) for prop in view_properties if isinstance(prop, PartitionedOn)),
        (),
    )
    properties = {"bucketing_version": "2", **properties_of(pairs)}
    table = _partitioned(replace(table, properties=properties, comment=comment), on, binding)
    existing = binding.known_table(name)
    if existing is not None and existing.name != name:
        existing = None  # a temporary table, which views do not see
    or_replace = node.args["replace"]
    if existing is not None and or_replace:
        _check_replaced(existing, table, ref.start, binding)
    return CreateView(
        table=table,
        if_not_exists=node.args["exists"],
        or_replace=or_replace,
        known=existing,
        reads=reads,
    )


def _column(node: exp.Expr) -> tuple[Name, str | None]:
    """Return a column that a view names, and its comment."""
    comments = [constraint.args["kind"].name for constraint in node.args["constraints"]]
    return name_of(node.this), comments[0] if comments else None


def _check_replaced(existing: Table, view: Table, start: int, binding: Binding) -> None:
    """Refuse to make a view of what is none, or of one whose partitions would not fit."""
    if not existing.is_view:
        binding.fail(SemanticError(f"{view.name} is a table, not a view", code=10218), start)
    changes = existing.partition_names != view.partition_names
    if changes and binding.catalog.partition_count(view.name):
        error = SemanticError(
            f"Cannot replace a view with CREATE VIEW or REPLACE VIEW or ALTER VIEW AS SELECT "
            f"if the view has partitions: {view.name}. Drop them first",
            code=10217,
        )
        binding.fail(error, start)


def _renamed(bound: BoundQuery, columns: tuple[Column, ...], view: TableName) -> str:
    """Name the columns in a view's text: whoever reads it alone finds the same names."""
    if bound.columns is None:
        return bound.hive
    pairs = zip(bound.columns, columns, strict=True)
    items = ", ".join(
        f"{quote_name(output.name)} AS {quote_name(new.name)}" for output, new in pairs
    )
    return f"SELECT {items} FROM ({bound.hive}) {quote_name(view.name)}"


def _original(query: Slice, binding: Binding) -> str:
    """Return the query as it is written, but for the quotes of names, which Hive leaves out."""
    unquoted = [
        Edit(token.start, token.end, token.text[1:-1].replace("``", "`"))
        for token in tokens_in(binding.tokens, query.spans)
        if token.kind is Kind.QUOTED
    ]
    return apply_edits(binding.text.text, query.spans, unquoted)


def _partitioned(view: Table, on: tuple[Name, ...], binding: Binding) -> Table:
    """Make the view whose last columns are its partitions'; SemanticError 10092, 10093."""
    if not on:
        return view
    names = [key.text for key in on]
    if list(view.column_names[-len(names) :]) != names:
        error = SemanticError(
            "Rightmost columns in view output do not match PARTITIONED ON clause", code=10093
        )
        binding.fail(error, on[0].start)
    if len(names) == len(view.columns):
        error = SemanticError(
            "At least one non-partitioning column must be present in view", code=10092
        )
        binding.fail(error, on[0].start)
    columns, partitions = view.columns[: -len(names)], view.columns[-len(names) :]
    return replace(view, columns=columns, partition_columns=partitions)


def view_of(
    name: TableName,
    query: Slice,
    column_names: tuple[tuple[Name, str | None], ...],
    start: int,
    binding: Binding,
) -> tuple[Table, tuple[Table, ...]]:
    """Make a query's view, and the tables it reads; ``column_names`` renames its columns."""
    bound = bind_query(query, replace(binding, defined_view=name), expand_stars=True)
    outputs = bound.columns
    if column_names and outputs is not None and len(outputs) != len(column_names):
        error = SemanticError(
            f"The number of columns produced by the SELECT clause ({len(outputs)}) does not match "
            f"the number of column names specified by CREATE VIEW ({len(column_names)})",
            code=10089,
        )
        binding.fail(error, column_names[0][0].start)
    for view_column, _ in column_names:
        check_column(view_column, binding)
    check_distinct((Name(output.twin or output.name, start) for output in outputs or ()), binding)
    if column_names:
        types = (
            [output.type or UNKNOWN for output in outputs]
            if outputs
            else [UNKNOWN] * len(column_names)
        )
        columns = tuple(
            Column(view_column.text, type_, comment)
            for (view_column, comment), type_ in zip(column_names, types, strict=True)
        )
    else:
        columns = tuple(Column(output.name, output.type or UNKNOWN) for output in outputs or ())
    check_distinct((Name(column.name, start) for column in columns), binding)
    view = Table(
        name=name,
        columns=columns,
        location="",
        type="VIRTUAL_VIEW",
        format="textfile",
        view_text=_renamed(bound, columns, name) if column_names else bound.hive,
        view_original=_original(query, binding),
    )
    reads = tuple(dict.fromkeys(source.scan.table for source in bound.query(binding).sources))
    for table in reads:
        if table.name.database.startswith(TEMPORARY) or table.in_spark:
            what = f"{table.in_spark} of Spark" if table.in_spark else "temporary table"
            error = SemanticError(f"View definition references {what} {table.name.name}")
            binding.fail(error, start)
        if table.is_materialized_view:
            error = SemanticError(f"View definition references materialized view {table.name}")
            binding.fail(error, start)
    return view, reads
