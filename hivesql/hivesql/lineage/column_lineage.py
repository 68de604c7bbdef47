"""Which columns of which tables the written columns were made from, by sqlglot's lineage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import parse_one
from sqlglot.errors import SqlglotError
from sqlglot.lineage import lineage
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope, traverse_scope
from sqlglot.schema import MappingSchema

from hivesql.dialect.hive_acid import NAME, Statement
from hivesql.dialect.nodes.dml import MultiInsert, inserts_of, query_of
from hivesql.python_sqlglot import exp
from hivesql_planner.model.table import Table, TableName


@dataclass(frozen=True, slots=True, order=True)
class ColumnSource:
    """A column of a table or view that another column was made from."""

    table: str
    column: str


ColumnSources = dict[TableName, dict[str, set[ColumnSource]]]
"""For each table that is written, by column."""


def trace_columns(
    sql: str, read: Iterable[Table], written: Iterable[Table], views: Iterable[Table] = ()
) -> ColumnSources:
    """Return what the columns that a statement writes were made from.

    Empty where it cannot be told: other statements than INSERT, UPDATE, MERGE and CREATE TABLE …
    AS, and two tables of one name where a statement leaves out the database. ``views`` are those
    through which tables are read: what they are made of is told, and not they.
    """
    try:
        return _Trace([*read], [*written], [*views]).of(parse_one(sql, read=NAME))
    except SqlglotError:
        return {}


def lineage_json(
    sql: str, database: str, read: Iterable[Table], written: Iterable[Table],
    views: Iterable[Table] = (),
) -> str:  # fmt: skip
    """Return what a statement's columns were made from, as Hive's LineageLogger writes it.

    ``database`` is the session's. Empty where ``trace_columns`` tells nothing.
    """
    traced = trace_columns(sql, read, written, views)
    numbers: dict[str, int] = {}

    def number(table: object, column: str) -> int:
        return numbers.setdefault(f"{table}.{column}", len(numbers))

    targets = [
        (number(table, column), sources)
        for table, columns in traced.items()
        for column, sources in columns.items()
    ]
    if not targets:
        return ""
    edges = [
        {
            "sources": [number(source.table, source.column) for source in sorted(sources)],
            "targets": [target],
            "edgeType": "PROJECTION",
        }
        for target, sources in targets
    ]
    vertices = [
        {"id": index, "vertexType": "COLUMN", "vertexId": name} for name, index in numbers.items()
    ]
    return json.dumps(
        {
            "version": "1.0", "engine": "spark", "database": database, "queryText": sql,
            "edges": edges, "vertices": vertices,
        },
        ensure_ascii=False, separators=(",", ":"),
    )  # fmt: skip


@dataclass(slots=True)
class _Trace:
    read: list[Table]
    written: list[Table]
    views: list[Table]
    schema: MappingSchema = field(init=False)
    """Of all tables: built once, for each of a statement's queries."""

    def __post_init__(self) -> None:
        databases: dict[str, Any] = {}
        for table in (*self.read, *self.written):
            columns = {column.name: str(column.type) for column in table.all_columns}
            if not columns:
                continue  # it is made of a query, whose columns become its own
            databases.setdefault(table.name.database, {})[table.name.name] = columns
        self.schema = MappingSchema(databases, dialect=NAME)

    def of(self, tree: exp.Expr) -> ColumnSources:
        """Trace what a statement's tree writes."""
        traced: ColumnSources = {}
        for target, values in self._writes(tree):
            columns = traced.setdefault(target.name, {})
            for name, sources in values:
                columns.setdefault(name, set()).update(sources)
        return traced

    def _writes(
        self, tree: exp.Expr
    ) -> Iterable[tuple[Table, Iterable[tuple[str, set[ColumnSource]]]]]:
        if isinstance(tree, (exp.Insert, MultiInsert)):
            for insert in inserts_of(tree):
                target = self._table(insert.find(exp.Table))
                if target is not None and isinstance(insert.expression, exp.Query):
                    names = _written_columns(insert, target)
                    yield target, zip(names, self._sources(query_of(insert)), strict=False)
        elif isinstance(tree, Statement):
            queries = [part for part in tree.expressions if isinstance(part, exp.Query)]
            for target in self.written if queries else ():
                labels, sources = self._traced(queries[0])
                names = [*target.column_names, *target.partition_names] or labels
                yield target, zip(names, sources, strict=False)
        elif isinstance(tree, (exp.Update, exp.Merge)) and len(self.written) == 1:
            for changed, query in _changes(tree, self.written[0]):
                yield self.written[0], zip(changed, self._sources(query), strict=False)

    def _sources(self, query: exp.Expr) -> list[set[ColumnSource]]:
        """Return the sources of each column that a query gives."""
        return self._traced(query)[1]

    def _traced(self, query: exp.Expr) -> tuple[list[str], list[set[ColumnSource]]]:
        """Return the names of the columns that a query gives, as Hive has them, and the sources."""
        query = query.copy()
        while self._expand_views(query):
            pass
        for part in query.find_all(exp.Identifier):
            # In Hive no case counts, between backticks either.
            part.set("this", part.name.lower())
        for scope in traverse_scope(query):
            for source in scope.sources.values():
                if isinstance(source, exp.Table) and (known := self._table(source)) is not None:
                    source.set("db", exp.to_identifier(known.name.database))
        query = qualify(
            query, schema=self.schema, dialect=NAME, validate_qualify_columns=False, identify=False
        )
        items = query.selects if isinstance(query, exp.Query) else []
        if any(item.is_star for item in items):
            return [], []  # of what is unknown here: which columns stand where cannot be told
        labels = [re.sub("^_col_(?=[0-9]+$)", "_c", item.alias_or_name) for item in items]
        names = [f"_{i}" for i in range(len(items))]
        for name, item in zip(names, items, strict=True):
            item.set("alias", exp.to_identifier(name))
        whole = build_scope(query)
        nodes = (lineage(name, query, self.schema, dialect=NAME, scope=whole) for name in names)
        return labels, [
            {
                ColumnSource(f"{leaf.source.db}.{leaf.source.name}", exp.to_column(leaf.name).name)
                for leaf in node.walk()
                if not leaf.downstream and isinstance(leaf.source, exp.Table) and leaf.source.db
            }
            for node in nodes
        ]

    def _expand_views(self, query: exp.Expr) -> bool:
        """Put their queries in the place of views; whether there were any."""
        named = [
            (source, view)
            for scope in traverse_scope(query)
            for source in scope.sources.values()
            if isinstance(source, exp.Table)
            and (view := self._table(source)) is not None
            and view in self.views
        ]
        for source, view in named:
            columns = [exp.to_identifier(column.name) for column in view.all_columns]
            alias = exp.TableAlias(this=exp.to_identifier(source.alias_or_name), columns=columns)
            inner = parse_one(view.view_text or "", read=NAME)
            source.replace(exp.Subquery(this=inner, alias=alias))
        return bool(named)

    def _table(self, node: exp.Table | None) -> Table | None:
        """Return the table that a statement names; None where it is unknown or may be two."""
        if node is None:
            return None
        named = {
            table.name: table
            for table in (*self.read, *self.written, *self.views)
            if table.name.name == node.name.lower() and node.db.lower() in ("", table.name.database)
        }
        return next(iter(named.values())) if len(named) == 1 else None


def _written_columns(insert: exp.Expr, target: Table) -> list[str]:
    """Return the target's columns in the order in which the query gives their values."""
    into, partition = insert.this, insert.args.get("partition")
    listed = [item.name.lower() for item in into.expressions] if into.key == "schema" else []
    keys = partition.expressions if partition is not None else ()
    fixed = {item.this.name.lower() for item in keys if isinstance(item, exp.EQ)}
    names = listed or target.column_names
    return [*names, *(n for n in target.partition_names if n not in fixed and n not in listed)]


def _changes(
    tree: exp.Update | exp.Merge, target: Table
) -> Iterable[tuple[Sequence[str], exp.Select]]:
    """Yield the columns that the parts of an UPDATE or MERGE set, and a query of their values."""
    if isinstance(tree, exp.Update):
        from_ = tree.args.get("from_")
        rows = exp.select().from_(tree.this)
        yield _assigned(tree, rows.join(from_.this, join_type="cross") if from_ else rows)
        return
    source = tree.args["using"]
    rows = exp.select().from_(tree.this).join(source, on=tree.args["on"])
    if (with_ := tree.args.get("with_")) is not None:
        rows.set("with_", with_)
    own = [*target.column_names, *target.partition_names]
    of_source = {name: exp.column(name, source.alias_or_name) for name in own}
    for when in tree.args["whens"].expressions:
        then = when.args["then"]
        if isinstance(then, exp.Update):
            yield _assigned(then, rows, of_source)
        elif isinstance(then, exp.Insert) and isinstance(then.expression, exp.Tuple):
            listed = [item.name.lower() for item in then.this.expressions] if then.this else own
            yield listed, rows.select(*then.expression.expressions)
        elif isinstance(then, exp.Insert):
            yield own, rows.select(*of_source.values())


def _assigned(
    update: exp.Expr, rows: exp.Select, every: Mapping[str, exp.Expr] | None = None
) -> tuple[Sequence[str], exp.Select]:
    """Return the columns of SET and a query of their values; ``every`` is what ``*`` stands for."""
    values = {
        item.this.name.lower(): item.expression
        for item in update.expressions
        if isinstance(item, exp.EQ)
    } or (every or {})
    return list(values), rows.select(*values.values())
