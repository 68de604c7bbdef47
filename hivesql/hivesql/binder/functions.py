"""Functions and macros of the user's own."""

from __future__ import annotations

import re

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit
from hivesql.dialect.function_names import is_hive_function
from hivesql.dialect.nodes.functions import (
    CreateMacroBody,
    DropFunctionBody,
    DropStoredFunctionBody,
    StoreFunctionBody,
)
from hivesql.dialect.tokens import Name
from hivesql.python_sqlglot import exp
from hivesql.query.checks.aggregation import check_places
from hivesql.query.scope import Output, Relation, Scope
from hivesql.query.walk import Walk
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.functions import StoredFunction, check_function_name
from hivesql_planner.statements.functions import (
    CreateMacro,
    DropFunction,
    DropStoredFunction,
    Macro,
    StoreFunction,
)


def bind_drop_function(body: DropFunctionBody, binding: Binding) -> DropFunction:
    """Bind DROP TEMPORARY FUNCTION and MACRO, which no function of Hive's own can be."""
    name = body.name.text
    if name not in binding.functions and is_hive_function(name):
        error = SemanticError(f"Cannot drop native function {name}", code=10301)
        binding.fail(error, body.name.start)
    return DropFunction(name=name, macro=body.macro)


def bind_store_function(body: StoreFunctionBody, binding: Binding) -> StoreFunction:
    """Bind CREATE FUNCTION: in the database that is named, or in the current one."""
    database = binding.check_database(body.database or Name(binding.database, body.name.start))
    binding.check_not_system(database, body.name.start)
    name = body.name.text
    try:
        check_function_name(name)
    except HiveSqlError as error:
        binding.fail(error, body.name.start)
    function = StoredFunction(
        database=database, name=name, java_class=body.java_class, resources=body.resources
    )
    if function.full_name in binding.functions:
        binding.fail(SemanticError(f"Function {name} already exists"), body.name.start)
    return StoreFunction(function=function)


def bind_drop_stored_function(body: DropStoredFunctionBody, binding: Binding) -> DropStoredFunction:
    """Bind DROP FUNCTION: no error where there is none, unless a setting says so."""
    name = body.name.text
    database = body.database.text if body.database else binding.database
    if f"{database}.{name}" not in binding.functions:
        if body.database is None and is_hive_function(name):
            error = SemanticError(f"Cannot drop native function {name}", code=10301)
            binding.fail(error, body.name.start)
        if not (body.if_exists or binding.settings.flag("hive.exec.drop.ignorenonexistent")):
            binding.fail(SemanticError(f"Invalid function {name}", code=10011), body.name.start)
    return DropStoredFunction(database=database, name=name)


# No text of a statement holds it: the script's reader refuses such characters.
_PLACE = "\x00{}\x00"


def bind_create_macro(body: CreateMacroBody, binding: Binding) -> CreateMacro:
    """Bind CREATE TEMPORARY MACRO: Spark's words with places for what a call gives."""
    names = [name.text for name, _ in body.parameters]
    if len(set(names)) < len(names):
        message = f"At least one parameter name was used more than once [{', '.join(names)}]"
        binding.fail(SemanticError(message), body.name.start)
    parameters = tuple((name.text, kind) for name, kind in body.parameters)
    part = body.body
    if part.tree.find(exp.Select) is not None:
        binding.fail(NotSupported("subqueries in macros"), *part.spans[0])
    columns = list(part.tree.find_all(exp.Column))
    used = list(dict.fromkeys(reference.parts[0].name.lower() for reference in columns))
    if set(used) != set(names):
        message = f"Expected columns [{', '.join(names)}] but found [{', '.join(sorted(used))}]"
        binding.fail(SemanticError(message), *part.spans[0])
    walk = Walk(binding)
    outputs = tuple(Output(name, kind) for name, kind in parameters)
    walk.expression(part.tree, Scope(relations=[Relation("", outputs)]), {})
    check_places([part.tree], binding)
    for column in columns:
        first = column.parts[0]
        place = _PLACE.format(names.index(first.name.lower()))
        walk.edits.append(Edit(first.meta["start"], first.meta["end"] + 1, place))
    # Texts and positions by turns.
    cut = re.split("\x00([0-9]+)\x00", walk.render(part))
    pieces = tuple(int(piece) if i % 2 else piece for i, piece in enumerate(cut))
    kind = walk.translator.type_of(part.tree)
    macro = Macro(name=body.name.text, parameters=parameters, pieces=pieces, type=kind)
    return CreateMacro(macro=macro)
