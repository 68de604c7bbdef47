"""Statements that reach for the server's own machine, which are not its clients' business."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from hivesql.dialect.tokens import Kind, at, tokenize
from hivesql.script import (
    StatementText,
    check_length,
    is_processor,
    refuse_semicolon,
    split,
    split_key,
)
from hivesql_planner.errors import NotSupported, ParseError, SemanticError
from hivesql_planner.settings.file_system_keys import spark_name
from hivesql_planner.statements.bound import (
    Explain,
    FileSystemShell,
    SessionFiles,
    SetSetting,
    Statement,
    WriteDirectory,
)
from hivesql_planner.statements.ddl import LoadData
from hivesql_planner.statements.functions import CreateFunction, StoreFunction

_PROGRAMS = frozenset({"transform", "reflect", "reflect2", "java_method", "in_file"})
_QUOTED = "hive.support.quoted.identifiers"
_OF_SPARK = "spark."
_OF_QUERIES = "spark.sql."
_OF_CLASSES = ("spark.sql.catalog.", "spark.sql.extensions", "spark.sql.hive.metastore.")
_WHY = "in a server: it would reach its own machine (hivesql serve --allow-local allows it)"


def statement_of(
    text: str, variables: Mapping[str, str], *, most_characters: int, allow_local: bool = False
) -> StatementText:
    """Return the one statement of a text, with its variables; ParseError for none or several."""
    check_length(len(text), most_characters)
    refuse_semicolon(text)
    seen = variables if allow_local else _OwnVariables(variables)
    statements = split(text, None, seen, reads_files=allow_local, most_characters=most_characters)
    statement = next(statements, None)
    # The rest of what is refused anyhow is not read.
    if statement is None or next(statements, None) is not None:
        what = "no statement" if statement is None else "several statements"
        raise ParseError(f"{what} in a text that must be one statement")
    if not allow_local and not is_processor(statement.text, 0):
        _refuse_programs(statement)
    return statement


class _OwnVariables(Mapping[str, str]):
    """A session's variables, without the environment of the server's process."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def __getitem__(self, key: str) -> str:
        if key not in self._variables and key.startswith(("env:", "system:")):
            return f"${{{key}}}"
        return self._variables[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def _refuse_programs(statement: StatementText) -> None:
    """Refuse TRANSFORM, MAP and REDUCE, and functions that call Java or read any file."""
    lowered = statement.text.lower()
    if not any(name in lowered for name in (*_PROGRAMS, "using")):
        return
    tokens = tokenize(statement)
    for token, following in pairwise(tokens):
        name = token.value.lower()
        if name in _PROGRAMS and following.is_("("):
            raise at(NotSupported(f"{name} {_WHY}"), statement, token.start)
        if token.is_("using") and following.kind is Kind.STRING:
            raise at(NotSupported(f"a program {_WHY}"), statement, token.start)


def refuse_local(statement: Statement) -> Statement:
    """Return a bound statement that stays within the warehouse; NotSupported for others."""
    match statement:
        case Explain(statement=inner):
            refuse_local(inner)
        case SessionFiles(action="add" | "delete", kind=kind):
            raise NotSupported(f"ADD and DELETE {kind.upper()} {_WHY}")
        case FileSystemShell():
            raise NotSupported(f"DFS {_WHY}")
        case CreateFunction() | StoreFunction():
            raise NotSupported(f"CREATE FUNCTION {_WHY}")
        case LoadData(local=True):
            raise NotSupported(f"LOAD DATA LOCAL {_WHY}")
        case WriteDirectory(local=True):
            raise NotSupported(f"INSERT OVERWRITE LOCAL DIRECTORY {_WHY}")
        case SetSetting(key=str(key), value=value):
            check_setting(key, value)
    return statement


def check_setting(key: str, value: str | None) -> None:
    """SemanticError for settings that are the server's; None where the value is asked for."""
    space, name = split_key(key)
    if value is None:
        if space in ("env", "system"):
            raise SemanticError(f"{key} {_WHY}")
        return
    if name == _QUOTED and value.strip().lower() == "none" and space != "hivevar":
        raise SemanticError(
            f"Cannot modify {key} at runtime to {value}: regular expressions of columns may take "
            "for ever, while nobody else is answered (hivesql serve --allow-local allows it)"
        )
    of_spark = spark_name(name)
    if not of_spark.startswith(_OF_SPARK):
        return
    if not of_spark.startswith(_OF_QUERIES) or of_spark.startswith(_OF_CLASSES):
        raise SemanticError(
            f"Cannot modify {key} at runtime: it is about the Spark of all sessions, and given "
            "when the server starts (hivesql serve --hiveconf)"
        )
