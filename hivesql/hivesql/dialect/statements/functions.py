"""CREATE and DROP of temporary functions and macros."""

from __future__ import annotations

from typing import Literal

from hivesql.dialect.nodes.functions import CreateMacroBody, DropFunctionBody
from hivesql.dialect.statements.types import parse_type
from hivesql.dialect.tokens import Cursor, Name, at
from hivesql_planner.errors import SemanticError
from hivesql_planner.statements.functions import CreateFunction

_Kind = Literal["jar", "file", "archive"]
_KINDS: tuple[_Kind, ...] = ("jar", "file", "archive")


def parse_create_function(cursor: Cursor) -> CreateFunction:
    """TEMPORARY FUNCTION f AS 'class' [USING JAR|FILE|ARCHIVE 'place', …]."""
    cursor.expect("temporary", "function")
    name = _name(cursor)
    cursor.expect("as")
    java_class = cursor.string("the name of a class")
    resources: list[tuple[_Kind, str]] = []
    while cursor.take("using") if not resources else cursor.take(","):
        kind = next((one for one in _KINDS if cursor.take(one)), None)
        if kind is None:
            cursor.fail("expected JAR, FILE or ARCHIVE")
        resources.append((kind, cursor.location()))
    cursor.end()
    return CreateFunction(name=name.text, java_class=java_class, resources=tuple(resources))


def parse_create_macro(cursor: Cursor) -> CreateMacroBody:
    """TEMPORARY MACRO m(x type, …) expression."""
    from hivesql.dialect.structure import read_expression

    cursor.expect("temporary", "macro")
    name = cursor.name("a macro's name")
    cursor.expect("(")
    parameters: list[tuple[Name, str]] = []
    while not cursor.take(")"):
        if parameters:
            cursor.expect(",")
        parameter = cursor.name("a parameter's name")
        parameters.append((parameter, parse_type(cursor)))
    span = (cursor.peek().start, cursor.tokens[-2].end)
    cursor.position = len(cursor.tokens) - 1
    body = read_expression(cursor.text, cursor.tokens, span)
    return CreateMacroBody(name, tuple(parameters), body)


def parse_drop_function(cursor: Cursor) -> DropFunctionBody:
    """TEMPORARY FUNCTION or MACRO [IF EXISTS] f."""
    cursor.expect("temporary")
    macro = cursor.take("macro")
    if not macro:
        cursor.expect("function")
    cursor.take("if", "exists")
    name = _name(cursor) if not macro else cursor.name("a macro's name")
    cursor.end()
    return DropFunctionBody(name, macro)


def _name(cursor: Cursor) -> Name:
    name = cursor.name("a function's name")
    if cursor.at("."):
        message = "Temporary function cannot be created with a qualified name."
        raise at(SemanticError(message), cursor.text, name.start)
    return name
