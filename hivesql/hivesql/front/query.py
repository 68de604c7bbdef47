"""Queries: names looked up, views put in, everything else left in the user's own words.

sqlglot tells what the names in a query are; the text that Spark gets is the user's, with only these
tokens exchanged. So function names, literals and hints reach Spark exactly as written.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from hivesql.front.binding import Binding
from hivesql.front.lexer import line_and_column, place_error, tokenize
from hivesql.front.prune import columns_of, conjuncts, prune, search_text
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, ParseError
from hivesql_planner.plan import Expr, Query, Source
from hivesql_planner.table import Table, TableName

# sqlglot logs what it falls back on; a fallback is an error here.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
ROW_ID = "row__id"
_VIRTUAL = ("input__file__name", "block__offset__inside__file", "row__is__deleted")
_MAX_VIEW_DEPTH = 50


@dataclass(slots=True)
class Names:
    """View names given out within one statement; each reference of a table has its own."""

    taken: set[str] = field(default_factory=set)

    def give(self, table: Table) -> str:
        """A free name: the table's own if possible."""
        name, number = table.name.name, 1
        while name in self.taken:
            number += 1
            name = f"{table.name.name}__{number}"
        self.taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def bind_query(text: str, binding: Binding, names: Names, *, view_depth: int = 0) -> Query:
    """A SELECT, VALUES, WITH … or set operation as Spark SQL over views of its tables.

    Errors are placed within ``text``.
    """
    tree = _parse(text)
    if not isinstance(tree, (exp.Query, exp.Values)):
        raise place_error(ParseError("expected a query"), text, 0)
    _refuse_unsupported(tree, text)
    sql, sources = _exchange(text, tree, binding, names, view_depth)
    return Query(sql=sql, sources=tuple(sources))


def bind_expression(text: str, binding: Binding, names: Names) -> tuple[Expr, list[Source]]:
    """A scalar expression; tables of its subqueries become sources."""
    prefix = "SELECT "
    tree = _parse(prefix + text, shift=len(prefix))
    if not isinstance(tree, exp.Select) or set(filter(tree.args.get, tree.args)) != {"expressions"}:
        raise place_error(ParseError("expected an expression"), text, 0)
    if len(tree.expressions) != 1 or isinstance(tree.expressions[0], exp.Alias):
        raise place_error(ParseError(f"expected one expression, found {text!r}"), text, 0)
    sql, sources = _exchange(prefix + text, tree, binding, names, 0)
    return Expr(sql[len(prefix) :]), sources


def parse_condition(text: str) -> exp.Expr:
    """A condition's tree, for pruning."""
    tree = _parse(f"SELECT {text}", shift=7)
    found: exp.Expr = tree.expressions[0]
    return found


def _parse(text: str, *, shift: int = 0) -> exp.Expr:
    try:
        trees = sqlglot.parse(text, read="hive", error_level=ErrorLevel.IMMEDIATE)
    except SqlglotError as error:
        details = getattr(error, "errors", None) or [{}]
        line, column = details[0].get("line"), details[0].get("col")
        near = details[0].get("highlight") or ""
        problem = ParseError(
            f"{details[0].get('description') or error}{f': {near!r}' if near else ''}"
        )
        if line and column:
            lines = text.splitlines(keepends=True)
            offset = sum(map(len, lines[: line - 1])) + max(0, column - max(1, len(near)))
            raise place_error(problem, text[shift:], max(0, offset - shift)) from error
        raise problem from error
    if len(trees) != 1 or trees[0] is None:
        raise place_error(ParseError("expected one query"), text, 0)
    return trees[0]


def _refuse_unsupported(tree: exp.Expr, text: str) -> None:
    for node in tree.find_all(exp.Command):
        raise place_error(ParseError(f"not understood: {node.sql()[:40]!r}"), text, 0)
    for column in tree.find_all(exp.Column):
        if column.name.lower() in _VIRTUAL:
            raise NotSupported(f"virtual column {column.name.upper()}")


def _span(node: exp.Expr) -> tuple[int, int]:
    """Offsets of a node that carries its place; the end is exclusive."""
    return node.meta["start"], node.meta["end"] + 1


def _exchange(
    text: str, tree: exp.Expr, binding: Binding, names: Names, view_depth: int
) -> tuple[str, list[Source]]:
    edits: list[_Edit] = []
    sources: list[Source] = []
    with_row_id: set[int] = set()
    references = [t for t in tree.find_all(exp.Table) if _is_base(t)]
    references.sort(key=lambda t: _span(t.parts[0])[0])
    wanted = _row_id_qualifiers(tree)
    tables: dict[int, Table] = {}
    for reference in references:
        tables[id(reference)] = _look_up(reference, text, binding)
    for reference in references:
        table = tables[id(reference)]
        start, end = _span(reference.parts[0])[0], _span(reference.parts[-1])[1]
        if table.is_view:
            sql, inner = _view(table, binding, names, view_depth)
            sources += inner
            alias = "" if reference.alias else f" AS `{table.name.name}`"
            edits.append(_Edit(start, end, f"({sql}){alias}"))
            continue
        has_id = table.is_full_acid and (None in wanted or _called(reference) in wanted)
        if has_id:
            with_row_id.add(id(reference))
        view = names.give(table)
        renamed = view != table.name.name or view_depth
        alias = f" AS `{table.name.name}`" if renamed and not reference.alias else ""
        edits.append(_Edit(start, end, f"`{view}`{alias}"))
        sources.append(_source(view, table, reference, binding, has_id=has_id))
    if wanted and not with_row_id and not _row_id_from_subquery(tree):
        raise NoSuchObject(
            "Invalid column reference ROW__ID: only tables with full ACID have row ids", code=10004
        )
    edits += _unqualified(tree, tables.values())
    edits += _starred(tree, with_row_id)
    for edit in sorted(edits, key=lambda one: one.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text, sources


def _called(reference: exp.Table) -> str:
    return str(reference.alias_or_name).lower()


def _is_base(table: exp.Table) -> bool:
    """False for names that a WITH clause defines, and for table functions."""
    if not isinstance(table.this, exp.Identifier):
        return False
    if table.args.get("db"):
        return True
    name = table.name.lower()
    child: exp.Expr = table
    parent = table.parent
    while parent is not None:
        clause = parent.args.get("with_") or parent.args.get("with")
        if clause is not None:
            visible = list(clause.expressions)
            if child is clause:
                # Inside the WITH itself only the definitions before this one are visible.
                inside = next(i for i, cte in enumerate(visible) if _contains(cte, table))
                visible = visible[:inside]
            if any(cte.alias.lower() == name for cte in visible):
                return False
        child, parent = parent, parent.parent
    return True


def _contains(ancestor: exp.Expr, node: exp.Expr) -> bool:
    current: exp.Expr | None = node
    while current is not None:
        if current is ancestor:
            return True
        current = current.parent
    return False


def _look_up(reference: exp.Table, text: str, binding: Binding) -> Table:
    database = str(reference.db or binding.database).lower()
    try:
        if reference.catalog:
            raise NotSupported(f"a table name of three parts: {reference.sql('hive')}")
        return binding.catalog.table(TableName(database, reference.name.lower()))
    except HiveSqlError as error:
        raise error.at(None, *line_and_column(text, _span(reference.parts[0])[0])) from None


def _view(table: Table, binding: Binding, names: Names, depth: int) -> tuple[str, Sequence[Source]]:
    if depth >= _MAX_VIEW_DEPTH:
        raise NotSupported(
            f"views nested deeper than {_MAX_VIEW_DEPTH}: is {table.name} recursive?"
        )
    inner = Binding(binding.catalog, table.name.database, binding.settings)
    # Names of the outer query (its WITH clause) must not capture the view's tables.
    names.taken.add(table.name.name)
    query = bind_query(table.view_text or "", inner, names, view_depth=depth + 1)
    columns = ", ".join(f"`{name}`" for name in table.column_names)
    if columns:
        return f"SELECT * FROM ({query.sql}) AS `{table.name.name}`({columns})", query.sources
    return query.sql, query.sources


def _source(
    view: str, table: Table, reference: exp.Table, binding: Binding, *, has_id: bool
) -> Source:
    where = list(_conditions(reference, table))
    known = binding.catalog.partitions(table.name) if table.partition_columns else ()
    return Source(
        view=view,
        scan=binding.scan(
            table,
            partitions=prune(table, known, where),
            with_row_id=has_id,
            where=search_text(table, where) if table.is_full_acid else None,
        ),
    )


def _conditions(reference: exp.Table, table: Table) -> Iterator[exp.Expr]:
    """Conjuncts of the WHERE around a table that speak of this table alone."""
    select = reference.find_ancestor(exp.Select)
    if select is None or select.args.get("where") is None:
        return
    joins = select.args.get("joins") or []
    direct = reference.parent is select.args.get("from_") or reference.parent in joins
    outer = any(join.side for join in joins) or any(
        join.kind not in ("", "INNER", "CROSS") for join in joins
    )
    if not direct or outer:
        return
    alone = not joins and not select.args.get("laterals")
    called, own = _called(reference), {column.name for column in table.all_columns}
    for condition in conjuncts(select.args["where"].this):
        if condition.find(exp.Query) or not columns_of(condition) <= own:
            continue
        qualifiers = {column.table.lower() for column in condition.find_all(exp.Column)}
        if qualifiers <= ({called, ""} if alone else {called}):
            yield condition


def _row_id_qualifiers(tree: exp.Expr) -> set[str | None]:
    """Qualifiers with which ROW__ID is mentioned; None for a bare one."""
    found: set[str | None] = set()
    for column in tree.find_all(exp.Column):
        parts = [part.name.lower() for part in column.parts]
        if ROW_ID in parts:
            at = parts.index(ROW_ID)
            found.add(parts[at - 1] if at else None)
    return found


def _row_id_from_subquery(tree: exp.Expr) -> bool:
    return any(node.alias.lower() == ROW_ID for node in tree.find_all(exp.Alias))


def _unqualified(tree: exp.Expr, tables: Iterable[Table]) -> Iterator[_Edit]:
    """Columns written ``db.t.c`` lose their database: Spark knows the views only as ``t``."""
    databases = {table.name.database for table in tables}
    for column in tree.find_all(exp.Column):
        database = column.args.get("db")
        is_struct = column.table.lower() == ROW_ID
        if database is None or is_struct or database.name.lower() not in databases:
            continue
        start, _ = _span(database)
        following, _ = _span(column.args["table"])
        yield _Edit(start, following, "")


def _starred(tree: exp.Expr, with_row_id: set[int]) -> Iterator[_Edit]:
    """``*`` over a view that also has ROW__ID must not show it."""
    for select in tree.find_all(exp.Select):
        source = select.args.get("from_")
        joined = [join.this for join in select.args.get("joins") or []]
        direct = ([source.this] if source else []) + joined
        numbered = {_called(t) for t in direct if id(t) in with_row_id}
        for item in select.expressions:
            is_star = isinstance(item, exp.Star)
            is_qualified = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
            if (is_star and numbered) or (is_qualified and item.table.lower() in numbered):
                star = item if is_star else item.this
                _, end = _span(star)
                yield _Edit(end, end, f" EXCEPT ({ROW_ID})")


def split_union_all(text: str) -> list[str]:
    """The branches of a top-level UNION ALL of plain queries; the whole text when it is not one."""
    depth, cuts = 0, []
    tokens = tokenize(text)
    for i, token in enumerate(tokens):
        word = token.upper or token.text
        depth += (word in "([") - (word in ")]") if len(word) == 1 else 0
        if depth:
            continue
        if word == "UNION" and i + 1 < len(tokens) and tokens[i + 1].upper == "ALL":
            cuts.append((token.start, tokens[i + 1].end))
        elif word in ("UNION", "INTERSECT", "EXCEPT", "MINUS", "WITH", "ORDER", "LIMIT", "SORT",
                      "CLUSTER", "DISTRIBUTE"):  # fmt: skip
            return [text]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
