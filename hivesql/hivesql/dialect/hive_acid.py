"""The dialect ``hive_acid``, for whoever uses sqlglot: our statements read and printed.

``sqlglot.parse_one(sql, read="hive_acid")`` gives the tree that HiveSQL itself uses of queries and
of what changes rows, and a ``Statement`` of any other. What HiveSQL does not understand is
sqlglot's ParseError, with the place: nothing becomes an opaque command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from hivesql.dialect.edits import Span, Spans
from hivesql.dialect.nodes.alter import (
    AddPartitions,
    DropPartitions,
    ExchangePartition,
    MovePartition,
    NewPartition,
    RefusedBody,
    Rename,
    RenamePartition,
    Touch,
    UpdateStatistics,
)
from hivesql.dialect.nodes.commands import Tree
from hivesql.dialect.nodes.constants import BareInterval, Default
from hivesql.dialect.nodes.databases import AlterDatabase, CreateDatabase
from hivesql.dialect.nodes.dml import MultiInsert
from hivesql.dialect.nodes.files import (
    Compact,
    Concatenate,
    ExportTable,
    ImportTable,
    Repair,
    Restore,
    SortKey,
    Truncate,
    ZOrder,
)
from hivesql.dialect.nodes.own import print_own
from hivesql.dialect.nodes.views import AlterView, PartitionedOn, Rebuild
from hivesql.dialect.slices import Slice
from hivesql.dialect.spark_differences import tokens_in
from hivesql.dialect.sqlglot_tokens import sqlglot_tokens
from hivesql.dialect.statements.parser import HiveStatements
from hivesql.dialect.statements.statement import parse
from hivesql.dialect.structure import RANGE
from hivesql.dialect.tokens import TableRef, Token, first_from, tokenize
from hivesql.python_sqlglot import (
    Hive,
    HiveGenerator,
    SqlglotParseError,
    SqlglotToken,
    TokenError,
    exp,
)
from hivesql.script import StatementText, split
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.statements.bound import FileSystemShell, SessionFiles, SetSetting

NAME = "hive_acid"
_CONSTANTS = {
    exp.DType.DATE: "DATE",
    exp.DType.TIMESTAMP: "TIMESTAMP",
    exp.DType.TIMESTAMPLTZ: "TIMESTAMPLOCALTZ",
}
_WORD_OF_NAME = re.compile(r"(?<!^)(?=[A-Z])")


class Statement(exp.Expression):
    """A statement without rows: its words in order, and between them what they are about.

    Tables, queries and expressions are sqlglot's nodes, which may be looked for and exchanged; all
    other words are ``exp.Var``. ``kind`` says which statement it is, such as ``create table``.
    """

    arg_types: ClassVar[dict[str, bool]] = {"kind": True, "expressions": True}

    @property
    def kind(self) -> str:
        """Tell which statement it is."""
        return str(self.args["kind"])

    def sql(self, dialect: Any = None, copy: bool = True, **options: Any) -> str:
        """Its text; no other dialect has it."""
        return super().sql(dialect or NAME, copy=copy, **options)


class _Tokenizer(Hive.Tokenizer):
    def tokenize(self, sql: str) -> list[SqlglotToken]:
        """Return the tokens of our own scanner."""
        try:
            tokens = tokenize(StatementText(sql), every_row=True)
        except HiveSqlError as error:
            raise TokenError(str(error)) from error
        return sqlglot_tokens(sql, tokens)


def _cast(self: HiveGenerator, node: exp.Cast) -> str:
    """Print a constant such as DATE '2020-01-01', which sqlglot takes for a cast."""
    word = _CONSTANTS.get(node.to.this) if type(node) is exp.Cast else None
    return f"{word} {self.sql(node, 'this')}" if word else self.cast_sql(node)


def _statement(self: HiveGenerator, node: Statement) -> str:
    """Its words with their blanks, and what stands between them without any."""
    parts = node.expressions
    return "".join(
        part.name if isinstance(part, exp.Var) else self.sql(part).strip() for part in parts
    )


def _concat(self: HiveGenerator, node: exp.Concat) -> str:
    """Strings that stand beside each other, which are one."""
    return " ".join(self.sql(part) for part in node.expressions)


def _insert(self: HiveGenerator, node: exp.Insert) -> str:
    """Print INSERT, with the columns behind the partition."""
    into = node.this
    columns = into.expressions if isinstance(into, exp.Schema) else ()
    parts = (
        "INSERT OVERWRITE TABLE" if node.args.get("overwrite") else "INSERT INTO",
        self.sql(into.this if columns else into),
        self.sql(node, "partition"),
        "IF NOT EXISTS" if node.args.get("exists") else "",
        f"({', '.join(map(self.sql, columns))})" if columns else "",
        self.sql(node, "expression"),
    )
    return self.prepend_ctes(node, " ".join(filter(None, parts)))


def _multi_insert(self: HiveGenerator, node: MultiInsert) -> str:
    """Print what its INSERTs share, then each."""
    inserts = " ".join(map(self.sql, node.expressions))
    return self.prepend_ctes(node, f"{self.sql(node, 'from_').strip()} {inserts}")


def _merge(self: HiveGenerator, node: exp.Merge) -> str:
    """Print MERGE, with the words that sqlglot does not know."""
    if not node.args.get("evolves"):
        return self.merge_sql(node)
    alone = node.copy()
    alone.set("with_", None)
    into = self.merge_sql(alone).removeprefix("MERGE")
    return self.prepend_ctes(node, f"MERGE WITH SCHEMA EVOLUTION{into}")


def _bare_interval(self: HiveGenerator, node: BareInterval) -> str:
    return f"{node.name} {self.sql(node, 'unit')}"


def _sort_key(self: HiveGenerator, node: SortKey) -> str:
    nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[node.args["nulls_first"]]
    return f"{self.sql(node, 'this')}{' DESC' if node.args['desc'] else ''}{nulls}"


def _properties(self: HiveGenerator, node: exp.Properties) -> str:
    pairs = (f"{self.sql(prop, 'this')} = {self.sql(prop, 'value')}" for prop in node.expressions)
    return f"({', '.join(pairs)})"


def _create_view(self: HiveGenerator, node: exp.Create) -> str:
    """Print CREATE VIEW."""
    schema = node.this if isinstance(node.this, exp.Schema) else None
    of_kind = {type(prop): prop for prop in node.args["properties"].expressions}
    on, comment = of_kind.get(PartitionedOn), of_kind.get(exp.SchemaCommentProperty)
    pairs = [prop for prop in node.args["properties"].expressions if type(prop) is exp.Property]
    parts = (
        "CREATE OR REPLACE VIEW" if node.args["replace"] else "CREATE VIEW",
        "IF NOT EXISTS" if node.args["exists"] else "",
        self.sql(schema.this if schema else node.this),
        f"({', '.join(map(self.sql, schema.expressions))})" if schema else "",
        f"COMMENT {self.sql(comment, 'this')}" if comment else "",
        f"PARTITIONED ON ({', '.join(map(self.sql, on.expressions))})" if on else "",
        f"TBLPROPERTIES {_properties(self, exp.Properties(expressions=pairs))}" if pairs else "",
        f"AS {self.sql(node, 'expression')}",
    )
    return " ".join(filter(None, parts))


_OWN = (
    AddPartitions, AlterDatabase, AlterView, Compact, Concatenate, CreateDatabase, DropPartitions,
    ExchangePartition, ExportTable, ImportTable, MovePartition, NewPartition, Rebuild, Rename,
    RenamePartition, Repair, Restore, Touch, Truncate, UpdateStatistics, ZOrder,
)  # fmt: skip


class _Generator(HiveGenerator):
    QUERY_HINTS = True
    EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[type[exp.Expr]]] = set()

    TYPE_MAPPING: ClassVar[dict[Any, str]] = {
        **HiveGenerator.TYPE_MAPPING,
        exp.DType.TIMESTAMPLTZ: "TIMESTAMP WITH LOCAL TIME ZONE",
    }

    # Hive has WINDOW and QUALIFY before DISTRIBUTE BY.
    AFTER_HAVING_MODIFIER_TRANSFORMS: ClassVar[dict[str, Callable[..., str]]] = {
        key: HiveGenerator.AFTER_HAVING_MODIFIER_TRANSFORMS[key]
        for key in ("windows", "qualify", "cluster", "distribute", "sort")
    }

    TRANSFORMS: ClassVar[dict[Any, Callable[..., str]]] = {
        # What is there for trees of other dialects would change ours: ANY would become a lambda.
        **{
            node: print_
            for node, print_ in HiveGenerator.TRANSFORMS.items()
            if node not in (exp.Select, exp.With)
        },
        Statement: _statement,
        exp.Insert: _insert,
        MultiInsert: _multi_insert,
        exp.Merge: _merge,
        Default: lambda self, node: "DEFAULT",
        BareInterval: _bare_interval,
        SortKey: _sort_key,
        exp.Properties: _properties,
        exp.Create: _create_view,
        **dict.fromkeys(_OWN, print_own),
        exp.Cast: _cast,
        exp.Concat: _concat,
        exp.National: lambda self, node: self.national_sql(node),
        exp.CurrentTimestamp: lambda self, node: "CURRENT_TIMESTAMP",
        exp.Version: lambda self, node: (
            f"FOR {'SYSTEM_TIME' if node.name == 'TIMESTAMP' else 'SYSTEM_VERSION'} "
            f"{node.text('kind')} {self.sql(node, 'expression')}"
        ),
    }


class Hive_Acid(HiveStatements):  # noqa: N801 - sqlglot finds a dialect by its class's name
    """Hive's SQL as HiveSQL takes it."""

    Tokenizer = _Tokenizer
    Generator = _Generator

    def parse(self, sql: str, **options: Any) -> list[exp.Expr | None]:
        """Each statement of a text; sqlglot's ParseError where HiveSQL's reader has one."""
        try:
            return [_tree_of(text) for text in split(sql, None, {}, reads_files=False)]
        except HiveSqlError as error:
            raise SqlglotParseError.new(
                str(error), error.message, error.line, error.column
            ) from error


def _tree_of(text: StatementText) -> exp.Expr:
    tree = parse(text, every_row=True)
    body = tree.body
    if isinstance(body, RefusedBody):
        raise body.error
    if isinstance(body, exp.Expr):
        return body
    kind = _WORD_OF_NAME.sub(" ", type(body).__name__.removesuffix("Body")).lower()
    if isinstance(body, SetSetting | SessionFiles | FileSystemShell):
        # Its words are no tokens of SQL.
        words = text.text.replace(";", r"\;")
        return Statement(kind=kind, expressions=[exp.var(words)])
    tokens = tokenize(text, every_row=True)
    nodes = list(_outermost(_nodes_in(tree.body, text, tokens)))
    for _, node in nodes:
        node.pop()
    return Statement(kind=kind, expressions=list(_parts(tree, tokens, nodes)))


_NodeAt = tuple[Span, exp.Expr]


def _nodes_in(value: Any, text: StatementText, tokens: tuple[Token, ...]) -> Iterator[_NodeAt]:
    """Yield the tables, queries and expressions of what was parsed, each with its place."""
    if isinstance(value, TableRef):
        place = (value.start, value.end)
        words = sqlglot_tokens(text.text, tokens_in(tokens, (place,)))
        names = [exp.to_identifier(word.text, quoted=text.text[word.start] == "`")
                 for word in words[::2]]  # fmt: skip
        table = exp.Table(this=names[-1], db=names[0] if len(names) > 1 else None)
        table.meta[RANGE] = place
        yield place, table
    elif isinstance(value, Slice):
        node = value.tree.args["from_"].this if value.prefix else value.tree
        yield from _apart(node, value.spans, tokens)
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item, text, tokens)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _nodes_in(getattr(value, field.name), text, tokens)


def _apart(node: exp.Expr, spans: Spans, tokens: tuple[Token, ...]) -> Iterator[_NodeAt]:
    """Yield a query with its place; WITH and FROM of their own where they stand before INSERT."""
    parts = {"with": node.args.get("with_"), "from": node.args.get("from_")}
    shared = [(span, parts.get(tokens[first_from(tokens, span[0])].value)) for span in spans[:-1]]
    if shared and (not isinstance(node, exp.Select) or any(part is None for _, part in shared)):
        return  # It stays as it is written.
    for span, part in shared:
        if part is not None:
            part.pop()
            yield span, part
    yield spans[-1], node


def _outermost(nodes: Iterator[_NodeAt]) -> Iterator[_NodeAt]:
    reached = 0
    for (start, end), node in sorted(nodes, key=lambda pair: (pair[0][0], -pair[0][1])):
        if start >= reached:
            yield (start, end), node
            reached = end


def _parts(tree: Tree, tokens: tuple[Token, ...], nodes: list[_NodeAt]) -> Iterator[exp.Expr]:
    """Yield the words of a statement without its comments, and the nodes in their places."""
    reached, words = 0, ""
    upcoming = iter(nodes)
    place, node = next(upcoming, ((len(tree.text.text), 0), None))
    inside = 0
    for token in tokens[:-1]:
        if token.start < inside:
            continue
        blank = " " if token.start > reached and reached else ""
        if node is not None and token.start >= place[0]:
            if words or blank:
                yield exp.var(words + blank)
            yield node
            words, reached = "", place[1]
            inside = place[1]
            place, node = next(upcoming, ((len(tree.text.text), 0), None))
            continue
        words, reached = f"{words}{blank}{token.text}", token.end
    if words:
        yield exp.var(words)
