"""Query text as sqlglot trees whose nodes know their offsets in the statement.

sqlglot is used to see the structure of a query, never to write SQL: Spark gets the user's own
text. So function calls stay as they are (no builder rewrites them), and the tokens of the slice
that is read keep their offsets in the whole statement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar

from hivesql.dialect.deep_recursion import with_room
from hivesql.dialect.edits import Span, Spans
from hivesql.dialect.hive_grammar import check_tokens, check_tree
from hivesql.dialect.nodes.constants import Members, put_constants
from hivesql.dialect.slices import BRACKETS, SPANS, Slice
from hivesql.dialect.slices import RANGE as RANGE
from hivesql.dialect.spark_differences import check_slice, tokens_in
from hivesql.dialect.sqlglot_tokens import TYPE_OF_MEMBERS, sqlglot_tokens
from hivesql.dialect.tokens import Token, at, tokenize
from hivesql.python_sqlglot import (
    Hive,
    HiveParser,
    SqlglotError,
    SqlglotParseError,
    SqlglotToken,
    TokenType,
    exp,
)
from hivesql.script import StatementText
from hivesql_planner.errors import ParseError, SemanticError

_NO_ITEM = "expected an item"
_NESTED = (TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT)
_GRAMMAR_FUNCTIONS = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "FLOOR", "CEIL",
                      "TRANSFORM")  # fmt: skip
_NOT_HIVE = (exp.Command, exp.Placeholder, exp.Parameter, exp.Lambda, exp.Array)
_AFTER_VALUE = (TokenType.DOT, TokenType.L_BRACKET)
_QUERY = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
_WORDS_OF_KEY = {TokenType.ASC, TokenType.DESC}
_END_OF_SUFFIX = {exp.DType.TINYINT: 2**7, exp.DType.SMALLINT: 2**15, exp.DType.BIGINT: 2**63}
"""The least number that is too large before each suffix."""


def _with_end(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Let what reads the arguments of a call fail where no bracket follows them."""

    def read(parser: QueryParser) -> Any:
        node = parse(parser)
        if not parser._match(TokenType.R_PAREN, advance=False):
            parser.raise_error("Expecting )")
        return node

    return read


class QueryParser(HiveParser):
    """sqlglot's parser of queries and expressions, whose nodes tell their places.

    It reads parts of one statement, whose text and tokens it is given first.
    """

    statement: StatementText
    tokens: tuple[Token, ...]
    _begun = 0
    """Where the expression that is being read begins."""

    OPTIONAL_ALIAS_TOKEN_CTE: ClassVar[bool] = False

    # Without builders every call is exp.Anonymous: same name, same arguments.
    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    ARRAY_CONSTRUCTORS: ClassVar[dict[str, type[exp.Func]]] = {}  # array(1, 2)[0] is an element
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: _with_end(parse)
        for name, parse in HiveParser.FUNCTION_PARSERS.items()
        if name in _GRAMMAR_FUNCTIONS
    }

    COLUMN_OPERATORS: ClassVar[dict[TokenType, Callable[..., Any] | None]] = {
        **HiveParser.COLUMN_OPERATORS,
        TokenType.DCOLON: lambda self, this, to: self._parse_suffix(this, to),
    }

    PRIMARY_PARSERS: ClassVar[dict[TokenType, Callable[..., Any]]] = {
        **HiveParser.PRIMARY_PARSERS,
        TYPE_OF_MEMBERS: lambda self, token: self.expression(Members(this=token.text)),
    }

    # Hive's two clauses of time travel, and nobody else's.
    VERSION_PHRASES: ClassVar[dict[tuple[str, ...], str]] = {
        ("FOR", "SYSTEM_TIME"): "TIMESTAMP",
        ("FOR", "SYSTEM_VERSION"): "VERSION",
    }

    def _parse_csv(
        self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA
    ) -> list[Any]:
        """Read what stands between commas; sqlglot's own passes over items that are not there."""
        item = parse_method()
        items = [] if item is None else [item]
        while self._match(sep):
            if item is None:
                self._fail_without_item(self._prev)
            item = parse_method()
            if item is None:
                self._fail_without_item(self._curr)
            items.append(item)
        return items

    def _fail_without_item(self, token: SqlglotToken) -> None:
        text = token.text if token else ""
        self.raise_error(f"{_NO_ITEM}, found {text or 'the end'!r}", token or self._prev)

    def _parse_value(self, values: bool = True) -> exp.Tuple | None:
        if not self._match(TokenType.L_PAREN, advance=False):
            self.raise_error("expected a row in brackets", self._curr)
        return super()._parse_value(values)

    def _parse_table_sample(self, as_modifier: bool = False) -> exp.TableSample | None:
        """TABLESAMPLE (BUCKET x OUT OF y [ON expression, …]), and sqlglot's own."""
        is_sample = self._curr.token_type == TokenType.TABLE_SAMPLE
        if is_sample and self._next.token_type != TokenType.L_PAREN:
            self.raise_error("expected ( after TABLESAMPLE")
        if not (is_sample and self._next_is_bucket()):
            return super()._parse_table_sample(as_modifier)
        self._advance(3)
        numerator = self._whole_number()
        if not self._match_text_seq("OUT", "OF"):
            self.raise_error("expected OUT OF")
        denominator = self._whole_number()
        on = self._match(TokenType.ON)
        columns = self._parse_csv(self._parse_expression) if on else []
        self._match_r_paren()
        field = (
            columns[0] if len(columns) == 1 else exp.Tuple(expressions=columns) if columns else None
        )
        return exp.TableSample(
            bucket_numerator=numerator, bucket_denominator=denominator, bucket_field=field
        )

    def _whole_number(self) -> exp.Expr:
        number = self._parse_number()
        if number is None or not number.name.isdecimal():
            self.raise_error("expected a whole number")
        assert number is not None
        return number

    def _next_is_bucket(self) -> bool:
        after = self._tokens[self._index + 1 : self._index + 3]
        return len(after) == 2 and after[0].text == "(" and after[1].text.upper() == "BUCKET"

    def _parse_transform(self) -> exp.QueryTransform:
        """TRANSFORM (…) USING '…' [AS …], whose names may stand without brackets."""
        start = self._prev.start
        inputs = self._parse_wrapped_csv(self._parse_lambda)
        before = self._parse_row_format(match_row=True)
        writer = self._parse_string() if self._match_text_seq("RECORDWRITER") else None
        if not self._match(TokenType.USING):
            self.raise_error("expected USING after TRANSFORM (…)")
        command = self._parse_string()
        schema = None
        if self._match(TokenType.ALIAS):
            if self._match(TokenType.L_PAREN, advance=False):
                schema = self._parse_schema()
            else:
                names = self._parse_csv(self._parse_field_def)
                schema = self.expression(exp.Schema(expressions=names))
        after = self._parse_row_format(match_row=True)
        reader = self._parse_string() if self._match_text_seq("RECORDREADER") else None
        transform = exp.QueryTransform(
            expressions=inputs, command_script=command, schema=schema, row_format_before=before,
            record_writer=writer, row_format_after=after, record_reader=reader,
        )  # fmt: skip
        transform.meta[RANGE] = (start, self._prev.end + 1)
        return transform

    def _parse_types(self, *arguments: Any, **named: Any) -> exp.Expr | None:
        # array(…), map(…) and struct(…) are calls; read as types they would lose their arguments.
        is_call = self._next.token_type == TokenType.L_PAREN
        if is_call and self._curr.token_type in _NESTED:
            return None
        parse = super()._parse_types
        # sqlglot would look for the types of other databases behind a name.
        named["allow_identifiers"] = False
        return with_room(lambda: parse(*arguments, **named))

    def _parse_table(self, *arguments: Any, **named: Any) -> exp.Expr | None:
        parse = super()._parse_table
        return with_room(lambda: parse(*arguments, **named))

    def _parse_expression(self) -> exp.Expr | None:
        return self._ranged(super()._parse_expression)

    def _parse_select_query(self, *arguments: Any, **named: Any) -> exp.Expr | None:
        parse = super()._parse_select_query
        return with_room(lambda: self._ranged(lambda: parse(*arguments, **named)))

    def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:
        return self._ranged(lambda: super(QueryParser, self)._parse_lambda(alias))

    def _parse_unary(self) -> exp.Expr | None:
        parse = super()._parse_unary
        return with_room(lambda: self._ranged(parse))

    def _parse_column_ops(self, this: exp.Expr | None) -> exp.Expr | None:
        # (…) of calls that the grammar knows, and literals, of which a field or element is asked.
        follows = self._curr and self._curr.token_type in _AFTER_VALUE
        if this is not None and follows and not isinstance(this, exp.Column):
            start = self._prev.start if isinstance(this, exp.Literal) else self._begun
            this.meta.setdefault(RANGE, (start, self._prev.end + 1))
        return super()._parse_column_ops(this)

    def _parse_cluster(self) -> exp.Cluster:
        self._match(TokenType.CLUSTER_BY)
        keys = self._parse_csv(lambda: self._ranged(self._parse_disjunction))
        return self.expression(exp.Cluster(expressions=keys))

    def _parse_suffix(self, number: exp.Expr, kind: exp.DataType) -> exp.Expr:
        """Make a cast of a number with a suffix, as 1L."""
        end = _END_OF_SUFFIX.get(kind.this)
        # Hive does not look at a sign: -128Y is none either.
        if end is not None and number.name.isdecimal() and int(number.name) >= end:
            span = self._begun, self._prev.end + 1
            problem = f"Invalid numerical constant '{self.statement.text[slice(*span)]}'"
            raise at(SemanticError(problem, code=10029), self.statement, *span)
        cast = self.build_cast(strict=self.STRICT_CAST, this=number, to=kind)
        cast.meta[RANGE] = (self._begun, self._prev.end + 1)
        return cast

    def _parse_range(self, this: exp.Expr | None = None, parse_is: bool = False) -> exp.Expr | None:
        start = place_of(this)[0] if this else None
        parse = super()._parse_range
        return self._ranged(lambda: parse(this, parse_is), start)

    def _parse_cte(self) -> Any:
        query = super()._parse_cte()
        if query is None:
            self.raise_error("expected AS after the name of a query")
        return query

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        # Several names are told by AS alone.
        if self._match(TokenType.L_PAREN, advance=False):
            return this
        return super()._parse_alias(this, explicit)

    def _parse_partition_by(self) -> list[exp.Expr]:
        is_here = self._match(TokenType.PARTITION_BY, advance=False)
        keys = super()._parse_partition_by()
        if is_here and not keys:
            self._fail_without_item(self._curr)
        return keys

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        low = self._parse_bitwise()
        if not self._match(TokenType.AND):
            self.raise_error("expected AND")
        return self.expression(exp.Between(this=this, low=low, high=self._parse_bitwise()))

    def _parse_window_spec(self) -> dict[str, str | exp.Expr | None]:
        """Read one end of a frame, with the word that says on which side it is."""
        before = self._prev.token_type
        if self._match(TokenType.BETWEEN, advance=False):
            self.raise_error("unexpected BETWEEN")
        spec = super()._parse_window_spec()
        if spec["side"] is None and spec["value"] != "CURRENT ROW":
            self.raise_error("expected PRECEDING or FOLLOWING")
        is_first = before is not TokenType.AND
        if is_first and (before is TokenType.BETWEEN) != bool(
            self._match(TokenType.AND, advance=False)
        ):
            self.raise_error("a frame is BETWEEN … AND …, or has one end")
        return spec

    def _parse_partition_and_order(self) -> tuple[list[exp.Expr], exp.Expr | None]:
        if self._match(TokenType.CLUSTER_BY):
            keys = self._parse_csv(self._parse_disjunction)
            if not keys:
                self._fail_without_item(self._curr)
            return keys, None
        return super()._parse_partition_and_order()

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        if alias and not self._match(TokenType.ALIAS, advance=False):
            self.raise_error("expected AS after the name of a window")
        if this is not None:
            # IF, CAST and their like, of which IGNORE NULLS or OVER may be said, know no start.
            start = this.meta.get("start", self._begun)
            this.meta[RANGE] = (start, self._prev.end + 1)
        return super()._parse_window(this, alias)

    def _parse_ordered(
        self, parse_method: Callable[..., exp.Expr | None] | None = None
    ) -> exp.Ordered | None:
        parse = super()._parse_ordered
        ordered = self._ranged(lambda: parse(parse_method))
        return ordered if isinstance(ordered, exp.Ordered) else None

    def _parse_sort(self, exp_class: Any, token: Any) -> Any:
        """SORT BY of Hive may have brackets around all of its keys; ``meta`` has their places."""
        in_brackets = token == TokenType.SORT_BY and self._try_parse(self._keys_in_brackets)
        return in_brackets or super()._parse_sort(exp_class, token)

    def _keys_in_brackets(self) -> exp.Sort | None:
        if not (self._match(TokenType.SORT_BY) and self._match(TokenType.L_PAREN)):
            return None
        opened, before = self._prev.start, self._index
        keys = self._parse_csv(self._parse_ordered)
        words = {word.token_type for word in self._tokens[before : self._index]}
        # Of one key without a word these may be the brackets of an expression: ``(a) + b``.
        if not self._match(TokenType.R_PAREN) or not (keys[1:] or words & _WORDS_OF_KEY):
            return None
        if self._match(TokenType.COMMA, advance=False):
            return None
        sort = exp.Sort(expressions=keys)
        sort.meta[BRACKETS] = (opened, self._prev.start)
        return sort

    def _ranged(
        self, parse: Callable[[], exp.Expr | None], start: int | None = None
    ) -> exp.Expr | None:
        if start is None:
            start = self._curr.start if self._curr else 0
        outer, self._begun = self._begun, start
        try:
            node = parse()
        finally:
            self._begun = outer
        if node is not None:
            node.meta[RANGE] = (start, self._prev.end + 1)
        return node

    def read_query(self, spans: Spans, prefix: str = "") -> exp.Expr:
        """Read parts of the statement, taken together, as one query; ``meta`` has the spans."""
        tree = self._read(spans, prefix)
        if not isinstance(tree, _QUERY):
            raise at(ParseError("expected a query"), self.statement, spans[0][0], spans[-1][1])
        tree.meta[SPANS] = spans
        return tree

    def read_expression(self, span: Span) -> exp.Expr:
        """Read a part of the statement as one expression."""
        if span[0] >= span[1]:
            raise at(ParseError("expected an expression"), self.statement, span[0])
        tree = self._read((span,), "SELECT ")
        only_item = (
            isinstance(tree, exp.Select)
            and len(tree.expressions) == 1
            and not any(
                value for key, value in tree.args.items() if key not in ("expressions", "kind")
            )
        )
        item: exp.Expr | None = tree.expressions[0] if only_item else None
        if item is None or isinstance(item, (exp.Alias, exp.Aliases, exp.Star)) or item.is_star:
            raise at(_not_one(), self.statement, *span)
        item.pop()
        item.meta[RANGE] = span
        return item

    def _read(self, spans: Spans, prefix: str) -> exp.Expr:
        """Read parts of the statement, the last one behind ``prefix``, and nothing else."""
        text = self.statement
        inside = tokens_in(self.tokens, spans)
        check_tokens(text, inside)
        edits = check_slice(text, inside)
        sqlglot_input = sqlglot_tokens(text.text, inside, edits)
        last = bisect_left(sqlglot_input, spans[-1][0], key=attrgetter("start")) if prefix else 0
        sqlglot_input[last:last] = _prefix_tokens(prefix, spans[-1][0])
        try:
            trees = self.parse(sqlglot_input, text.text)
        except SqlglotParseError as error:
            raise _as_parse_error(error, text) from error
        except SqlglotError as error:
            problem = ParseError(f"the query cannot be read: {error}")
            raise at(problem, text, spans[0][0], spans[-1][1]) from error
        except RecursionError:
            raise at(ParseError("the query is nested too deeply"), text, spans[0][0]) from None
        if len(trees) != 1 or trees[0] is None:
            raise at(ParseError("expected one query"), text, spans[0][0], spans[-1][1])
        _name_calls_in_full(trees[0])
        _refuse_empty_lists(trees[0], text, spans[0][0])
        check_tree(trees[0], text, spans[0][0])
        put_constants(trees[0], text.text, edits)
        return trees[0]


def place_of(node: exp.Expr) -> tuple[int, int]:
    """Start and end offset of an expression in the statement."""
    # The left part of a row of operators: from its first operand to its last.
    row: list[exp.Expr] = []
    while RANGE not in node.meta and not isinstance(node, exp.Column | exp.Identifier):
        row.append(node)
        node = node.this
    start, end = node.meta.get(RANGE) or _place_of_column(node)
    while row:
        operation = row.pop()
        if isinstance(operation, exp.In | exp.Between):
            # Only NOT, which stands in between, knows where it is.
            around = operation.parent.meta if operation.parent is not None else {}
            end = around.get(RANGE, (start, end))[1]
        elif not isinstance(operation, exp.Paren):  # sqlglot adds brackets by itself
            end = place_of(operation.expression)[1]
        # Kept, since each operator of a long row asks for the place of all that is before it.
        operation.meta[RANGE] = (start, end)
    return start, end


def _place_of_column(node: exp.Expr) -> tuple[int, int]:
    parts = node.parts if isinstance(node, exp.Column) else [node]
    return parts[0].meta["start"], parts[-1].meta["end"] + 1


def span_of(node: exp.Expr) -> tuple[int, int]:
    """Start and end offset of everything in the tree that is known to be written."""
    spans = [part.meta[RANGE] for part in node.walk() if RANGE in part.meta]
    spans += [
        (part.meta["start"], part.meta["end"] + 1) for part in node.walk() if "end" in part.meta
    ]
    return min((start for start, _ in spans), default=0), max((end for _, end in spans), default=1)


def is_join(node: exp.Subquery) -> bool:
    """Tell whether the brackets are around tables that are joined, and not around a query."""
    inside: exp.Expr = node
    while isinstance(inside, exp.Subquery):
        inside = inside.this
    return isinstance(inside, exp.Table)


class HiveStructure(Hive):
    """Hive's dialect of sqlglot, made to tell places instead of rewriting functions."""

    Parser = QueryParser


def read_query(
    text: StatementText, tokens: tuple[Token, ...], spans: Spans, prefix: str = ""
) -> Slice:
    """Read the spans, taken together, as one query."""
    return Slice(spans, _reader(text, tokens).read_query(spans, prefix), prefix)


def read_expression(text: StatementText, tokens: tuple[Token, ...], span: Span) -> Slice:
    """Read one expression."""
    return Slice((span,), _reader(text, tokens).read_expression(span))


def _reader(text: StatementText, tokens: tuple[Token, ...]) -> QueryParser:
    parser = HiveStructure().parser()
    assert isinstance(parser, QueryParser)
    parser.statement, parser.tokens = text, tokens
    return parser


def _name_calls_in_full(tree: exp.Expr) -> None:
    """Make each call of a function of a named database one node, whose name has both."""
    for dot in list(tree.find_all(exp.Dot)):
        database, call = dot.this, dot.expression
        if isinstance(database, exp.Identifier) and isinstance(call, exp.Anonymous):
            start = database.meta["start"]
            call.set("this", f"{database.name}.{call.name}")
            call.meta.update({"start": start, RANGE: (start, call.meta[RANGE][1])})
            dot.replace(call)


def _refuse_empty_lists(tree: exp.Expr, text: StatementText, start: int) -> None:
    for select in tree.find_all(exp.Select):
        if not select.expressions:
            raise at(ParseError("SELECT without anything to select"), text, start)
    for command in tree.find_all(*_NOT_HIVE):
        raise at(ParseError(f"unexpected {command.sql()!r}"), text, start)


def _prefix_tokens(prefix: str, start: int) -> list[SqlglotToken]:
    """Return the tokens of words that are read before a slice that starts there."""
    tokens = sqlglot_tokens(prefix, tokenize(StatementText(prefix))[:-1]) if prefix else []
    for token in tokens:
        token.start += start - len(prefix)
        token.end += start - len(prefix)
        token.col = token.end + 1
    return tokens


def _as_parse_error(error: SqlglotParseError, text: StatementText) -> Exception:
    first = error.errors[0]
    highlight, column = first["highlight"] or "", first["col"] or 1
    # The column is that of the token's last character.
    offset = max(column - max(len(highlight), 1), 0)
    description = first["description"] or "syntax error"
    if description.startswith("Required keyword"):
        description = "an operand is missing"
    description = description.partition(" but got <Token")[0]
    names_what_stands_there = description.startswith(_NO_ITEM)
    message = description if names_what_stands_there else f"{description} at {highlight!r}"
    problem = ParseError(message.replace(" / ", ": "))
    return at(problem, text, offset, offset + max(len(highlight), 1))


def is_constant_select(node: exp.Expr) -> bool:
    """Tell whether it is nothing but SELECT and a list of constants."""
    return (
        isinstance(node, exp.Select)
        and not any(value for key, value in node.args.items() if key != "expressions")
        and all(_is_constant(item.unalias()) for item in node.expressions)
    )


def _is_constant(node: exp.Expr) -> bool:
    while isinstance(node, (exp.Neg, exp.Paren, exp.Cast)):
        node = node.this
    return isinstance(node, (exp.Literal, exp.Null, exp.Boolean))


def _not_one() -> ParseError:
    return ParseError(
        "this is not one expression: an operator or a comma is missing, or a clause stands where "
        "it may not"
    )
