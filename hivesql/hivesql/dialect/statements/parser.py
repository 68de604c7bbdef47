"""The one parser of statements: sqlglot's, with a method of ours for each kind of statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from hivesql.dialect.nodes.commands import Body
from hivesql.dialect.statements.load import FileStatements
from hivesql.dialect.statements.rows import ChangeStatements, QueryStatements
from hivesql.dialect.structure import HiveStructure
from hivesql.dialect.tokens import Cursor

_QUERIES = ("(", "select", "values", "with", "from", "map", "reduce")


class HiveAcidParser(ChangeStatements, QueryStatements, FileStatements):
    """Reads every statement that it understands; what it does not is refused, never guessed."""

    def read_with(self) -> Body:
        """Read what begins with WITH: a query, an INSERT or a MERGE."""
        return self.read_merge() if self.merges() else self.read_rows()

    def read_alter(self) -> Body:
        """ALTER of what we know."""
        # Imported late: what only changes of definitions need.
        from hivesql.dialect.statements.alter import parse_alter

        return parse_alter(self)

    def read_create(self) -> Body:
        """CREATE of what we know."""
        # Imported late, as above.
        from hivesql.dialect.statements.tables import parse_create

        return parse_create(self)

    STATEMENTS: ClassVar[dict[str, Callable[[HiveAcidParser], Body]]] = {
        **dict.fromkeys(_QUERIES, QueryStatements.read_rows),
        "with": read_with,
        "insert": QueryStatements.read_insert,
        "update": ChangeStatements.read_update,
        "delete": ChangeStatements.read_delete,
        "merge": ChangeStatements.read_merge,
        "load": FileStatements.read_load,
        "export": FileStatements.read_export,
        "import": FileStatements.read_import,
        "msck": FileStatements.read_repair,
        "analyze": FileStatements.read_analyze,
        "restore": FileStatements.read_restore,
        "truncate": FileStatements.read_truncate,
        "alter": read_alter,
        "create": read_create,
    }

    def read_statement(self) -> Body:
        """Read a statement by its first word."""
        return self.STATEMENTS[self.peek().value](self)


class HiveStatements(HiveStructure):
    """Hive's dialect of sqlglot, whose statements are read by our methods."""

    Parser = HiveAcidParser


def parse_statement(cursor: Cursor) -> Body:
    """Read the statement that begins where the cursor is."""
    parser = HiveStatements().parser()
    assert isinstance(parser, HiveAcidParser)
    parser.begin(cursor)
    return parser.read_statement()
