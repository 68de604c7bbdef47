"""The one parser of statements: sqlglot's, with a method of ours for each kind of statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp

from hivesql.dialect.nodes.dml import DirectoryBody
from hivesql.dialect.statements.rows import ChangeStatements, QueryStatements
from hivesql.dialect.structure import HiveStructure
from hivesql.dialect.tokens import Cursor

_QUERIES = ("(", "select", "values", "with", "from", "map", "reduce")


class HiveAcidParser(ChangeStatements, QueryStatements):
    """Reads every statement that it understands; what it does not is refused, never guessed."""

    STATEMENTS: ClassVar[dict[str, Callable[[HiveAcidParser], exp.Expr | DirectoryBody]]] = {
        **dict.fromkeys(_QUERIES, QueryStatements.read_rows),
        "insert": QueryStatements.read_insert,
        "update": ChangeStatements.read_update,
        "delete": ChangeStatements.read_delete,
        "merge": ChangeStatements.read_merge,
    }

    def read_statement(self) -> exp.Expr | DirectoryBody:
        """Read a statement by its first word."""
        return self.STATEMENTS[self.peek().value](self)


class HiveStatements(HiveStructure):
    """Hive's dialect of sqlglot, whose statements are read by our methods."""

    Parser = HiveAcidParser


def parse_statement(cursor: Cursor) -> exp.Expr | DirectoryBody:
    """Read the statement that begins where the cursor is."""
    parser = HiveStatements().parser()
    assert isinstance(parser, HiveAcidParser)
    parser.begin(cursor)
    return parser.read_statement()
