"""Statement text to trees: what is not fully understood is refused, never guessed."""

from __future__ import annotations

from collections.abc import Callable

from hivesql.dialect.nodes.commands import Body, ExplainBody, Style, Tree
from hivesql.dialect.statements.clauses import refuse_statement
from hivesql.dialect.statements.commands import (
    KINDS,
    parse_abort,
    parse_begin,
    parse_describe,
    parse_dfs,
    parse_end,
    parse_files,
    parse_kill,
    parse_lock,
    parse_set,
    parse_show,
    parse_start,
    parse_use,
)
from hivesql.dialect.tokens import Cursor, Kind, at, tokenize
from hivesql.script import StatementText
from hivesql_planner.errors import NotSupported, ParseError

_REFUSED = {
    "repl": "REPL",
    "optimize": "OPTIMIZE TABLE",
    "prepare": "PREPARE",
    "execute": "EXECUTE",
}
# What Hive's command processors take never reaches its SQL grammar, so it is not tokenized here.
_CLIENT = {
    "source": "SOURCE",
    "compile": "COMPILE",
    "crypto": "CRYPTO",
    "erasure": "ERASURE",
    "llap": "LLAP",
    "process": "PROCESS",
    "quit": "QUIT",
    "exit": "EXIT",
}
_ROWS = frozenset({"select", "values", "with", "from", "map", "reduce"})
_BY_SQLGLOT = frozenset(
    {"alter", "analyze", "create", "delete", "export", "import", "insert", "load", "merge", "msck",
     "restore", "truncate", "update"}
)  # fmt: skip
_STYLES: tuple[Style, ...] = ("extended", "formatted", "locks", "dependency", "analyze")
_EXPLAIN_REFUSED = {
    "authorization", "cbo", "debug", "ast", "vectorization", "reoptimization",
    "ddl", "logical", "abstract", "rewrite", "start", "begin", "commit", "rollback", "lock",
    "unlock",
}  # fmt: skip


def parse(text: StatementText, *, every_row: bool = False) -> Tree:
    """Parse one statement; long rows of constants only where ``every_row`` is wanted.

    Raises ParseError at the offending token, or NotSupported with the feature's name.
    """
    words = text.text.split(None, 2)
    first = words[0].lower() if words else ""
    second = words[1].lower() if len(words) > 1 else ""
    if first.startswith("!"):
        raise at(NotSupported(f"the client command {words[0]}"), text, 0)
    if first in _CLIENT:
        raise at(NotSupported(_CLIENT[first]), text, 0)
    if first == "dfs":
        return Tree(text, parse_dfs(text))
    if first in ("add", "list", "delete") and second in KINDS:
        return Tree(text, parse_files(text))
    if first in ("set", "reset") and (first, second) != ("set", "role"):
        return Tree(text, parse_set(text))
    cursor = Cursor(text, tokenize(text, every_row=every_row))
    try:
        body = _body(cursor)
    except RecursionError:
        raise at(ParseError("the statement is nested too deeply"), text, 0) from None
    return Tree(text, body)


def _body(cursor: Cursor) -> Body:
    token = cursor.peek()
    if token.is_("(") or token.value in _ROWS:
        from hivesql.dialect.statements.parser import parse_statement

        return parse_statement(cursor)
    if token.kind is not Kind.WORD:
        cursor.fail("expected a statement")
    if token.value in _REFUSED:
        cursor.refuse(_REFUSED[token.value])
    if token.value == "explain":
        return _explain(cursor)
    refuse_statement(cursor)
    parse_words = _STATEMENTS.get(token.value)
    if parse_words is None:
        parse_words = _parser_of(token.value)
    if parse_words is None:
        cursor.fail("expected a statement")
    return parse_words(cursor)


def _parser_of(word: str) -> Callable[[Cursor], Body] | None:
    """Tell how to read a statement that most sessions do not have.

    Each is imported by itself: many need sqlglot, which takes longer to import than most commands
    to answer.
    """
    match word:
        case _ if word in _BY_SQLGLOT:
            from hivesql.dialect.statements.parser import parse_statement

            return parse_statement
        case "drop":
            from hivesql.dialect.statements.drop import parse_drop

            return parse_drop
        case "grant":
            from hivesql.dialect.statements.authorization import parse_grant

            return parse_grant
        case "revoke":
            from hivesql.dialect.statements.authorization import parse_revoke

            return parse_revoke
        case "set":
            from hivesql.dialect.statements.authorization import parse_set_role

            return parse_set_role
        case "reload":
            from hivesql.dialect.statements.functions import parse_reload

            return parse_reload
    return None


def _explain(cursor: Cursor) -> ExplainBody:
    cursor.expect("explain")
    if cursor.at("explain"):
        cursor.fail("expected a statement")
    start, styles = cursor.peek(), set[Style]()
    while not cursor.at("analyze", "table"):
        taken = next(filter(cursor.take, _STYLES), None)
        if taken is None:
            break
        styles.add(taken)
    token = cursor.peek()
    if token.value in _EXPLAIN_REFUSED:
        cursor.refuse(f"EXPLAIN {token.text.upper()}")
    if styles == {"formatted", "locks"}:
        return ExplainBody(_body(cursor), "formatted locks")
    if len(styles) > 1:
        written = " ".join(style.upper() for style in _STYLES if style in styles)
        cursor.refuse(f"EXPLAIN {written}", start)
    return ExplainBody(_body(cursor), next(iter(styles), ""))


_STATEMENTS: dict[str, Callable[[Cursor], Body]] = {
    "use": parse_use,
    "show": parse_show,
    "describe": parse_describe,
    "desc": parse_describe,
    "abort": parse_abort,
    "kill": parse_kill,
    "start": parse_start,
    "begin": parse_begin,
    "commit": parse_end,
    "rollback": parse_end,
    "lock": parse_lock,
    "unlock": parse_lock,
}
