"""CREATE, DROP and RELOAD of functions and macros."""

from __future__ import annotations

from hivesql.dialect.nodes.functions import (
    CreateMacroBody,
    DropFunctionBody,
    DropStoredFunctionBody,
    StoreFunctionBody,
)
from hivesql.dialect.statements.types import parse_type
from hivesql.dialect.tokens import Cursor, Name, at
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.functions import ResourceKind
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.statements.functions import CreateFunction, ReloadFunctions

_KINDS: tuple[ResourceKind, ...] = ("jar", "file", "archive")


def parse_create_function(cursor: Cursor) -> CreateFunction | StoreFunctionBody:
    """[TEMPORARY] FUNCTION f AS 'class' [USING JAR|FILE|ARCHIVE 'place', …]."""
    is_temporary = cursor.take("temporary")
    cursor.expect("function")
    database, name = _full_name(cursor)
    if is_temporary:
        _check_temporary(cursor, database)
    cursor.expect("as")
    java_class = cursor.string("the name of a class")
    resources: list[tuple[ResourceKind, str]] = []
    while cursor.take("using") if not resources else cursor.take(","):
        kind = next((resource_kind for resource_kind in _KINDS if cursor.take(resource_kind)), None)
        if kind is None:
            cursor.fail("expected JAR, FILE or ARCHIVE")
        resources.append((kind, cursor.location()))
    cursor.end()
    if not is_temporary:
        return StoreFunctionBody(name, database, java_class, tuple(resources))
    return CreateFunction(name=name.text, java_class=java_class, resources=tuple(resources))


def parse_create_macro(cursor: Cursor) -> CreateMacroBody:
    """TEMPORARY MACRO m(x type, …) expression."""
    from hivesql.dialect.structure import read_expression

    cursor.expect("temporary", "macro")
    name = cursor.name("a macro's name")
    cursor.expect("(")
    parameters: list[tuple[Name, HiveType]] = []
    while not cursor.take(")"):
        if parameters:
            cursor.expect(",")
        parameter = cursor.name("a parameter's name")
        parameters.append((parameter, parse_type(cursor)))
        if cursor.take("comment"):
            cursor.string("a comment")  # Hive drops it
    span = (cursor.peek().start, cursor.tokens[-2].end)
    cursor.position = len(cursor.tokens) - 1
    body = read_expression(cursor.text, cursor.tokens, span)
    return CreateMacroBody(name, tuple(parameters), body)


def parse_drop_function(cursor: Cursor) -> DropFunctionBody | DropStoredFunctionBody:
    """[TEMPORARY] FUNCTION or MACRO [IF EXISTS] f."""
    is_temporary = cursor.take("temporary")
    macro = is_temporary and cursor.take("macro")
    if not macro:
        cursor.expect("function")
    if_exists = cursor.take("if", "exists")
    if macro:
        database, name = None, cursor.name("a macro's name")
    else:
        database, name = _full_name(cursor)
    if is_temporary:
        _check_temporary(cursor, database)
    cursor.end()
    if not is_temporary:
        return DropStoredFunctionBody(name, database, if_exists)
    return DropFunctionBody(name, macro)


def parse_reload(cursor: Cursor) -> ReloadFunctions:
    """RELOAD FUNCTION, or FUNCTIONS."""
    cursor.expect("reload")
    if not cursor.take("functions"):
        cursor.expect("function")
    cursor.end()
    return ReloadFunctions()


def _full_name(cursor: Cursor) -> tuple[Name | None, Name]:
    """Read a name that may have a database, within its back quotes too."""
    name = cursor.name("a function's name")
    if cursor.take("."):
        return name, cursor.name("a function's name")
    *databases, last = name.text.split(".")
    if len(databases) > 1:
        message = f"Function name does not have correct format: {name.text}"
        raise at(SemanticError(message), cursor.text, name.start)
    return (Name(databases[0], name.start) if databases else None), Name(last, name.start)


def _check_temporary(cursor: Cursor, database: Name | None) -> None:
    if database is not None:
        message = "Temporary function cannot be created with a qualified name."
        raise at(SemanticError(message), cursor.text, database.start)
