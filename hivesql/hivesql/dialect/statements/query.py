"""Queries and the INSERTs around them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from hivesql.dialect.edits import Span, Spans
from hivesql.dialect.nodes.dml import DirectoryBody, InsertBody, InsertBranch, QueryBody
from hivesql.dialect.slices import Slice
from hivesql.dialect.statements.clauses import parse_partition
from hivesql.dialect.statements.storage import parse_file_format, parse_row_format
from hivesql.dialect.structure import RANGE, is_constant_select, read_query
from hivesql.dialect.tokens import Cursor, Kind, Name


def parse_query(cursor: Cursor) -> QueryBody:
    """SELECT, VALUES, WITH … SELECT, FROM … SELECT up to the end."""
    return QueryBody(rest_as_query(cursor))


def rest_as_query(cursor: Cursor) -> Slice:
    """Everything up to the end as one query."""
    start = cursor.peek().start
    if cursor.at_end:
        cursor.fail("expected a query")
    cursor.position = len(cursor.tokens) - 1
    span = (start, cursor.tokens[-2].end)
    return read_query(cursor.text, cursor.tokens, (span,))


def parse_insert(cursor: Cursor) -> InsertBody | DirectoryBody:
    """INSERT, WITH … INSERT, and FROM … INSERT … INSERT …."""
    shared: Spans = ()
    if cursor.at("with"):
        shared += (_with(cursor),)
    has_from = cursor.at("from")
    if has_from:
        start = cursor.peek().start
        shared += ((start, cursor.find("insert")),)
    if cursor.at("insert", "overwrite", "directory") or cursor.at("insert", "overwrite", "local"):
        return _directory(cursor, shared, many=has_from)
    branches = []
    while cursor.at("insert"):
        branches.append(_branch(cursor, shared, many=has_from))
        if not has_from:
            break
    cursor.end()
    return InsertBody(tuple(branches))


def _directory(cursor: Cursor, shared: Spans, *, many: bool) -> DirectoryBody:
    """INSERT OVERWRITE [LOCAL] DIRECTORY '…' [ROW FORMAT …] [STORED AS …] query."""
    cursor.expect("insert", "overwrite")
    local = cursor.take("local")
    cursor.expect("directory")
    start = cursor.peek()
    path = cursor.location()
    with_rows = cursor.take("row", "format")
    by_serde, properties = parse_row_format(cursor) if with_rows else (None, {})
    stored = parse_file_format(cursor) if cursor.take("stored", "as") else "textfile"
    query, _ = _insert_query(cursor, shared, many=many)
    if cursor.at("insert"):
        cursor.refuse("INSERT OVERWRITE DIRECTORY beside other INSERTs")
    cursor.end()
    return DirectoryBody(
        path=path, path_start=start.start, local=local, format=by_serde or stored,
        serde_properties=properties, query=query,
    )  # fmt: skip


def _with(cursor: Cursor) -> tuple[int, int]:
    start = cursor.expect("with").start
    return start, cursor.find("insert", "from")


def _branch(cursor: Cursor, shared: Spans, *, many: bool) -> InsertBranch:
    cursor.expect("insert")
    overwrite = cursor.take("overwrite")
    if not overwrite:
        cursor.expect("into")
    elif not any(cursor.at(word) for word in ("table", "directory", "local")):
        cursor.fail("expected TABLE")
    if overwrite and (cursor.at("directory") or cursor.at("local", "directory")):
        cursor.refuse("INSERT OVERWRITE DIRECTORY beside other INSERTs")
    cursor.take("table")
    table = cursor.table()
    partition = parse_partition(cursor) if cursor.at("partition") else None
    if_not_exists = False
    if cursor.at("if"):
        if not overwrite:
            cursor.fail("IF NOT EXISTS needs OVERWRITE")
        cursor.expect("if", "not", "exists")
        if_not_exists = True
    columns: tuple[Name, ...] | None = None
    if cursor.at("(") and cursor.peek(1).is_name:
        if overwrite:
            cursor.fail("INSERT OVERWRITE takes no list of columns")
        columns = cursor.names()
    query, unions = _insert_query(cursor, shared, many=many)
    return InsertBranch(table, overwrite, partition, columns, if_not_exists, query, unions)


def _insert_query(cursor: Cursor, shared: Spans, *, many: bool) -> tuple[Slice, tuple[Slice, ...]]:
    """Return the query, and those that Hive writes one after the other where it is a UNION ALL.

    As in Hive, all branches that are nothing but constants are one, the last.
    """
    token = cursor.peek()
    if token.is_("with"):
        cursor.fail("WITH goes before INSERT")
    allowed = ("select",) if many else ("select", "values", "from", "(")
    if token.kind is Kind.WORD and token.value in ("map", "reduce"):
        cursor.refuse("MAP and REDUCE (SELECT TRANSFORM does the same)")
    if token.value not in allowed or token.kind in (Kind.STRING, Kind.QUOTED):
        cursor.fail("expected SELECT" if many else "expected VALUES or a query")
    starts = [token.start]
    pieces: list[tuple[int, int]] = []
    joints = [token.start]
    while True:
        end = cursor.find("union", "insert" if many else "union")
        if not cursor.at("union", "all"):
            if not cursor.at("union"):
                break
            cursor.next()
            starts.clear()
            continue
        pieces += [(starts[-1], end)] if starts else []
        joints.append(cursor.expect("union", "all").start)
        starts += [cursor.peek().start] if starts else []
    pieces += [(starts[-1], end)] if starts else []
    query = read_query(cursor.text, cursor.tokens, (*shared, (token.start, end)))
    branches = _union_all(query.tree)
    if len(pieces) != len(branches) or len(branches) < 2:
        return query, ()
    constant = [i for i, tree in enumerate(branches) if is_constant_select(tree)]
    if len(constant) == len(branches):
        return query, ()
    apart = frozenset(constant) if len(constant) > 1 else frozenset()
    parts = list(zip(pieces, branches, strict=True))
    found = [_branch_of(cursor, shared, *part) for i, part in enumerate(parts) if i not in apart]
    if apart:
        spans = _joined(apart, pieces, joints)
        found.append(read_query(cursor.text, cursor.tokens, (*shared, *spans)))
    return query, tuple(found)


def _joined(chosen: frozenset[int], pieces: Sequence[Span], joints: Sequence[int]) -> Spans:
    """Return the chosen pieces as one query; ``joints`` are where UNION ALL stands before each."""
    spans: list[Span] = []
    for i in sorted(chosen):
        if i - 1 in chosen:
            spans[-1] = (spans[-1][0], pieces[i][1])
        else:
            spans.append((joints[i] if spans else pieces[i][0], pieces[i][1]))
    return tuple(spans)


def _branch_of(cursor: Cursor, shared: Spans, piece: tuple[int, int], tree: exp.Expr) -> Slice:
    """Give one branch of a UNION ALL; its tree is the whole where it needs nothing before it."""
    if shared or tree.meta.get(RANGE) != piece:
        return read_query(cursor.text, cursor.tokens, (*shared, piece))
    return Slice((piece,), tree)


def _union_all(tree: exp.Expr) -> list[exp.Expr]:
    """List the branches if it is UNION ALL all the way down, and nothing applies to the whole."""
    over_all = ("order", "limit", "offset", "sort", "distribute", "cluster")
    branches: list[exp.Expr] = []
    left = [tree]
    while left:
        one = left.pop()
        if not isinstance(one, exp.Union):
            branches.append(one)
        elif one.args.get("distinct") or any(one.args.get(key) for key in over_all):
            return []
        else:
            left += [one.right, one.left]
    has_others = any(isinstance(one, exp.SetOperation) for one in branches)
    return [] if has_others else branches
