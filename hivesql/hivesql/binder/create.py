"""CREATE DATABASE and TABLE with the checks Hive's metastore makes, and views with rows."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from hivesql.binder.constraints import constrained
from hivesql.binder.queries import bind_own_query
from hivesql.binder.targets import check_managed, materialized_view, named_format
from hivesql.binder.views import check_column, check_distinct, new_name, view_of
from hivesql.binding import Binding
from hivesql.dialect.nodes.ddl import CreateMaterializedBody, CreateTableBody
from hivesql.dialect.nodes.parts import name_of, properties_of, table_of
from hivesql.dialect.structure import read_query
from hivesql.dialect.tokens import Name
from hivesql.expressions.windows import AGGREGATES
from hivesql.python_sqlglot import exp
from hivesql.query.walk import bind_query
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.avro_schema import LITERAL, columns_of, parsed_schema
from hivesql_planner.model.hive_type import UNKNOWN, quote_name
from hivesql_planner.model.materialized import NEEDS_ACID, IncrementalRebuild, Materialized
from hivesql_planner.model.names import check_database_name, check_table
from hivesql_planner.model.table import (
    TEMPORARY,
    Column,
    Database,
    FileFormat,
    Table,
    TableName,
    columns_of_format,
)
from hivesql_planner.relations import Query
from hivesql_planner.statements.bound import CreateDatabase, CreateTable, InsertRows, InsertTarget

_TRANSACTIONAL = "transactional"
_KIND = "transactional_properties"
_AS_ACID = ("hive.create.as.acid", "metastore.create.as.acid")


def bind_create_table(body: CreateTableBody, binding: Binding) -> CreateTable:
    """CREATE TABLE, LIKE and AS SELECT included."""
    name = new_name(body.table.full(binding.database), body.table.start, binding)
    table = _like(body, binding, name) if body.like else _described(body, binding, name)
    rows = _rows(body, binding)
    if body.partitioned_by:
        columns = tuple(Column(key.text, UNKNOWN) for key in body.partitioned_by)
        table = replace(table, partition_columns=columns)
    _check_transactional(table, body, binding)
    try:
        check_managed(table, binding)
        check_table(table)
    except HiveSqlError as error:
        binding.fail(error, body.table.start)
    existing = _known(name, body, binding) if body.if_not_exists else None
    if existing is not None:
        return CreateTable(
            table=existing, if_not_exists=True, temporary=body.temporary, exists=True
        )  # fmt: skip
    return CreateTable(
        table=table, if_not_exists=body.if_not_exists, rows=rows, temporary=body.temporary,
        like_file=body.like_file, home=binding.catalog.home_of(table),
    )  # fmt: skip


def _known(name: TableName, body: CreateTableBody, binding: Binding) -> Table | None:
    """Find the table of IF NOT EXISTS: temporary ones and others do not see each other."""
    existing = binding.known_table(name)
    if existing is None:
        return None
    is_temporary = existing.name.database.startswith(TEMPORARY)
    return replace(existing, name=name) if is_temporary == body.temporary else None


def _rows(body: CreateTableBody, binding: Binding) -> Query | None:
    """Return the query of AS SELECT, partition columns last."""
    if body.query is None:
        return None
    if body.bucket_columns:
        error = SemanticError(
            "CREATE-TABLE-AS-SELECT does not support partitioning in the target table", code=10068
        )
        binding.fail(error, body.bucket_columns[0].start)
    bound = bind_own_query(body.query, binding)
    for column in bound.columns or ():
        check_column(Name(column.name, body.query.start), binding)
    check_distinct([Name(output.name, body.query.start) for output in bound.columns or ()], binding)
    if not body.partitioned_by:
        return bound.query(binding)
    if bound.columns is None:
        feature = "CREATE TABLE … PARTITIONED BY … AS SELECT whose columns only Spark knows"
        binding.fail(NotSupported(feature), body.partitioned_by[0].start)
    selected = [output.name for output in bound.columns]
    last = [key.text for key in body.partitioned_by]
    for key in body.partitioned_by:
        if key.text not in selected:
            error = SemanticError(f"Partition column {key.text} is not in the query", code=10002)
            binding.fail(error, key.start)
    check_distinct(body.partitioned_by, binding)
    if len(last) == len(selected):
        error = SemanticError("Too many partition columns declared")
        binding.fail(error, body.partitioned_by[0].start)
    chosen = ", ".join(
        quote_name(name) for name in [*(n for n in selected if n not in last), *last]
    )
    listed = ", ".join(quote_name(name) for name in selected)
    return bound.query(binding, f"SELECT {chosen} FROM ({bound.sql}) AS `rows`({listed})")


def _described(body: CreateTableBody, binding: Binding, name: TableName) -> Table:
    start = body.table.start
    columns = [Name(column.name, start) for column in body.columns]
    check_distinct(columns, binding)
    both = [Name(column.name, start) for column in body.partition_columns]
    for column in both:
        if column.text in {before.text for before in columns}:
            error = SemanticError(f"Column repeated in partitioning columns: {column.text}",
                                  code=10035, about=column.text)  # fmt: skip
            binding.fail(error, start)
    check_distinct(both, binding)
    if body.query is None:
        declared = {column.name for column in body.columns}
        for layout_column in (*body.bucket_columns, *body.sort_columns):
            if layout_column.text not in declared:
                error = SemanticError(f"Invalid column reference {layout_column.text}", code=10002)
                binding.fail(error, layout_column.start)
    format_ = _format(body, binding)
    table = Table(
        name=name,
        columns=_columns(body, format_, binding),
        location=body.location,
        partition_columns=body.partition_columns,
        type="EXTERNAL_TABLE" if body.external else "MANAGED_TABLE",
        format=format_,
        serde_properties=dict(body.serde_properties),
        bucket_columns=tuple(clustered.text for clustered in body.bucket_columns),
        bucket_count=body.bucket_count,
        sort_columns=tuple(sorted_by.text for sorted_by in body.sort_columns),
        sort_descending=body.sort_descending,
        skew=body.skew,
        comment=body.comment,
    )
    table = replace(table, properties=_properties(body, table, binding))
    if format_ == "regex":
        _check_regex(table, start, binding)
    new = (*body.constraints, *body.partition_constraints)
    return constrained(table, new, start, binding)


def _check_regex(table: Table, start: int, binding: Binding) -> None:
    """Refuse what RegexSerDe does: no expression, columns that are not primitive."""
    problem = None
    if "input.regex" not in table.serde_properties:
        problem = 'This table does not have serde property "input.regex"!'
    for i, column in enumerate(table.columns):
        if column.type.is_nested:
            where = f"column [{i}] named {column.name} with type {column.type}"
            problem = problem or f"{STORAGE['regex'].serde} doesn't allow {where}"
    if problem is not None:
        binding.fail(SemanticError(problem), start)


def _columns(body: CreateTableBody, format_: FileFormat, binding: Binding) -> tuple[Column, ...]:
    """Return the columns that are declared, else those of the Avro schema in the properties."""
    if format_ == "thrift":
        if body.query is not None:
            error = SemanticError("CREATE TABLE … AS SELECT: ThriftDeserializer reads alone")
            binding.fail(error, body.table.start)
        return ()  # as in Hive, the class has them, whatever is declared
    literal = {**body.properties, **body.serde_properties}.get(LITERAL)
    if format_ == "avro" and literal is not None and body.query is None:
        return columns_of(parsed_schema(literal))
    return columns_of_format(format_, body.columns)


def _like(body: CreateTableBody, binding: Binding, name: TableName) -> Table:
    assert body.like is not None
    model = binding.table(body.like, only_tells=True)
    table = replace(
        model,
        name=name,
        is_system=False,
        id=0,
        location=body.location,
        type="EXTERNAL_TABLE" if body.external else "MANAGED_TABLE",
        format=named_format(body.format, binding, body.table.start)
        if body.format
        else model.format,
        constraints=(),
        owner="",
        created_at=0,
        view_text=None,
        view_original=None,
        materialized=None,
        serde_properties=model.serde_properties if body.format is None else {},
    )
    allowed = binding.settings.text("hive.ddl.createtablelike.properties.whitelist").split(",")
    keys = tuple(map(str.strip, allowed))
    copied = {key: model.properties[key] for key in keys if key in model.properties}
    # A comment is a property as others are.
    table = replace(table, comment=body.comment or (model.comment if "comment" in keys else None))
    return replace(table, properties={**copied, **_properties(body, table, binding)})


def _format(body: CreateTableBody, binding: Binding) -> FileFormat:
    """Choose STORED AS, unless the serde says more: text that a JSON serde reads is JSON."""
    if body.serde_format is None:
        format_ = body.format or _default_format(body, binding)
        return named_format(format_, binding, body.table.start)
    if body.serde_format == "textfile" and body.format == "sequencefile":
        return body.format
    if body.serde_format == "rctext" and body.format == "rcfile":
        return body.serde_format
    if body.serde_format == "lazybinary" and body.format in ("sequencefile", "sequencebinary"):
        return "sequencebinary"
    if body.serde_format == "thrift" and body.format == "sequencefile":
        return body.serde_format
    of_text = () if body.serde_format == "thrift" else (None, "textfile")
    if body.format not in (*of_text, body.serde_format):
        feature = f"STORED AS {body.format or 'textfile'} with the SerDe of {body.serde_format}"
        binding.fail(NotSupported(feature), body.table.start)
    return body.serde_format


def _default_format(body: CreateTableBody, binding: Binding) -> FileFormat:
    """hive.default.fileformat, or what is set for managed tables."""
    key = "hive.default.fileformat.managed"
    configured = "none" if body.external else binding.settings.text(key).strip().lower()
    if configured == "none":
        key = "hive.default.fileformat"
        configured = binding.settings.text(key).strip().lower()
    format_ = next((name for name in get_args(FileFormat) if name == configured), None)
    if format_ is None:
        error = SemanticError(f"{key}={configured} is not a file format")
        binding.fail(error, body.table.start)
    return cast(FileFormat, format_)


def _properties(body: CreateTableBody, table: Table, binding: Binding) -> dict[str, str]:
    """Return the table's properties as the metastore keeps them."""
    properties = {
        (key.lower() if key.lower() in (_TRANSACTIONAL, _KIND) else key): value
        for key, value in {**_default_properties(binding), **body.properties}.items()
    }
    value = properties.get(_TRANSACTIONAL, "").strip().lower()
    if _KIND in properties and _TRANSACTIONAL not in properties:
        error = SemanticError(
            f"Cannot specify {_KIND} without {_TRANSACTIONAL}: add '{_TRANSACTIONAL}'='true' to "
            "TBLPROPERTIES"
        )
        binding.fail(error, body.table.start)
    if value not in ("", "true", "false"):
        error = SemanticError(
            f"'transactional' property of TBLPROPERTIES may only have value 'true': {table.name}",
            code=40000,
        )
        binding.fail(error, body.table.start)
    properties.pop(_TRANSACTIONAL, None)
    kind = "default" if value == "true" else None
    if not value:
        kind = _implied_kind(body, table, binding)
    if kind is not None:
        properties[_TRANSACTIONAL] = "true"
        properties[_KIND] = properties.get(_KIND, kind).strip().lower()
    properties.setdefault("bucketing_version", "2")
    buckets = table.bucket_columns
    if table.sort_columns and set(buckets) == set(table.sort_columns[: len(buckets)]):
        # What Hive notes where rows of one bucket's key lie together.
        properties.setdefault("SORTBUCKETCOLSPREFIX", "TRUE")
    if body.external:
        properties.setdefault("EXTERNAL", "TRUE")
    return properties


def _default_properties(binding: Binding) -> dict[str, str]:
    """hive.table.parameters.default: ``a=b,c=d``."""
    pairs = binding.settings.text("hive.table.parameters.default").split(",")
    parts = (pair.partition("=") for pair in pairs)
    return {key.strip(): value.strip() for key, equals, value in parts if equals and key.strip()}


def _implied_kind(body: CreateTableBody, table: Table, binding: Binding) -> str | None:
    """Tell which kind of transactional table it is without saying so by a property; None for plain.

    Full ACID is for unsorted ORC; what else is to be transactional is insert-only.
    """
    may_be_full = table.format == "orc" and not table.sort_columns
    if body.transactional:
        return "default" if may_be_full else "insert_only"
    if body.external:
        return None
    if table.is_transactional:
        # The model of LIKE.
        return "default" if may_be_full and table.is_full_acid else "insert_only"
    if body.temporary:
        return None
    if may_be_full and any(map(binding.settings.flag, _AS_ACID)):
        return "default"
    return "insert_only" if binding.settings.flag("hive.create.as.insert.only") else None


def _check_transactional(table: Table, body: CreateTableBody, binding: Binding) -> None:
    if not table.is_transactional:
        return
    text = None
    kind = table.properties[_KIND]
    if table.type == "EXTERNAL_TABLE":
        text = f"{table.name} cannot be declared transactional because it's an external table"
    elif kind not in ("default", "insert_only"):
        text = (
            f"Invalid value {kind!r} for the 'transactional_properties' of {table.name}: "
            "it may be 'default' or 'insert_only'"
        )
    elif table.is_full_acid and table.format != "orc":
        text = (
            "The table must be stored using an ACID compliant format (such as ORC): "
            f"{table.name}. Add STORED AS ORC"
        )
    elif table.is_full_acid and table.sort_columns:
        text = f"Table {table.name} cannot support full ACID functionality since it is sorted."
    if text is not None:
        binding.fail(SemanticError(text, code=40000), body.table.start)


_CHANGING = ("rand", "uuid", "current_date", "current_timestamp", "unix_timestamp", "current_user",
             "logged_in_user", "current_database", "reflect", "java_method")  # fmt: skip
"""Functions whose result is another one each time: Hive never rewrites to such a view."""


def bind_create_materialized(body: CreateMaterializedBody, binding: Binding) -> CreateTable:
    """CREATE MATERIALIZED VIEW: a table with its rows, and the text that makes them."""
    created = bind_create_table(
        replace(body.storage, format=body.storage.format or _materialized_format(body)), binding
    )
    if created.rows is None:
        return created  # IF NOT EXISTS
    table, start = created.table, body.storage.table.start
    view, sources = view_of(table.name, body.query, (), start, binding)
    if not sources:
        binding.fail(SemanticError("Materialized view must have a table defined."), start)
    rewrite = body.rewrite and not _calls_changing(body.query.tree)
    if rewrite and not all(source.is_transactional for source in sources):
        binding.fail(SemanticError(NEEDS_ACID), start)
    materialized = Materialized(
        sources={str(source.name): None for source in sources},
        rewrite=rewrite,
        incremental=_incremental(body.query.tree),
    )
    table = replace(
        table,
        type="MATERIALIZED_VIEW",
        view_text=_in_table_order(table, view),
        view_original=view.view_original,
        materialized=materialized,
    )
    return replace(created, table=table)


def _materialized_format(body: CreateMaterializedBody) -> FileFormat | None:
    """ORC (hive.materializedview.fileformat) unless a SerDe tells."""
    return None if body.storage.serde_format else "orc"


def _in_table_order(table: Table, view: Table) -> str | None:
    """Return the view's text with partition columns last, as Hive writes it."""
    last = table.partition_names
    if not last:
        return view.view_text
    names = [*(name for name in view.column_names if name not in last), *last]
    chosen = ", ".join(map(quote_name, names))
    return f"SELECT {chosen} FROM ({view.view_text}) {quote_name(table.name.name)}"


def _calls_changing(tree: exp.Expr) -> bool:
    named = (str(call.this).lower() for call in tree.find_all(exp.Anonymous))
    builtin = (call.sql_name().lower() for call in tree.find_all(exp.Func))
    return any(name in _CHANGING for name in (*named, *builtin))


_EACH_ROW = (exp.Star, exp.Literal)
"""What ``count`` is of where it counts rows."""


def _incremental(tree: exp.Expr) -> IncrementalRebuild:
    """Tell what SHOW MATERIALIZED VIEWS tells: whether Hive could rebuild it from changes."""
    ordered = (
        order for order in tree.find_all(exp.Order) if not isinstance(order.parent, exp.Window)
    )
    unsupported = (exp.SetOperation, exp.Limit, exp.Exists)
    if any(True for _ in ordered) or tree.find(*unsupported) is not None:
        return "none"
    if any(join.side or join.kind in ("SEMI", "ANTI") for join in tree.find_all(exp.Join)):
        return "none"
    if any(operator.args.get("query") for operator in tree.find_all(exp.In)):
        return "none"
    calls = [
        call
        for call in tree.find_all(exp.Anonymous)
        if str(call.this).lower() in AGGREGATES and not isinstance(call.parent, exp.Window)
    ]
    names = {str(call.this).lower() for call in calls}
    counts = any(
        str(call.this).lower() == "count" and isinstance(call.expressions[0], _EACH_ROW)
        for call in calls
        if call.expressions
    )
    additive = names <= {"count", "sum", "avg"} and tree.find(exp.Distinct) is None
    return "all" if counts and additive else "inserts"


def bind_rebuild(node: exp.Expr, binding: Binding) -> InsertRows:
    """ALTER MATERIALIZED VIEW … REBUILD: all its rows anew, from its own text."""
    ref = table_of(node.this)
    view = materialized_view(ref, binding)
    inside = binding.of_view(view, ref.start)
    query = read_query(inside.text, inside.tokens, ((0, inside.tokens[-2].end),))
    rows = bind_query(query, inside).query(inside)
    target = InsertTarget(
        table=view,
        query=rows,
        overwrite=True,
        dynamic_partition=view.partition_names,
        rebuilds=True,
    )
    return InsertRows(targets=(target,))


def bind_create_database(node: exp.Expr, binding: Binding) -> CreateDatabase:
    """CREATE DATABASE."""
    name, comment = name_of(node.this), node.args["comment"]
    binding.check_not_system(name.text, name.start)
    try:
        special = binding.settings.flag("hive.support.special.characters.tablename")
        check_database_name(name.text, special=special)
    except HiveSqlError as error:
        binding.fail(error, name.start)
    managed = node.args["managed_location"]
    database = Database(
        name=name.text, location=node.text("location"), comment=comment and comment.name,
        properties=properties_of(node.args["properties"]),
        managed_location=managed and managed.name,
    )  # fmt: skip
    return CreateDatabase(
        database=database, if_not_exists=node.args["exists"],
        home=binding.catalog.database_home(database),
        exists=binding.known_database(database.name) is not None,
    )  # fmt: skip
