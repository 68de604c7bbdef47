"""SHOW FUNCTIONS and DESCRIBE FUNCTION."""

from __future__ import annotations

from dataclasses import replace

from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.show.hive_descriptions import Described, described_functions
from hivesql_executor.statements.show.tables import matching
from hivesql_planner.statements.bound import Show
from hivesql_planner.statements.functions import Macro, OwnFunction

_MACRO = "org.apache.hadoop.hive.ql.udf.generic.GenericUDFMacro"


def show_functions(statement: Show, runtime: Runtime) -> Outcome:
    """Return the functions that queries may call."""
    names = matching(statement.names or (), statement.pattern, stars=False)
    return Outcome.of_table(["tab_name"], names)


def describe_function(statement: Show, runtime: Runtime) -> Outcome:
    """Tell of a function what Hive says of it, or its own class."""
    name = statement.key or ""
    if runtime.settings.text("hive.support.quoted.identifiers").strip().lower() != "none":
        name = name.replace("`", "")
    described = described_functions().get(name.lower())
    if statement.function is not None:
        own = _described(statement.function, runtime)
        is_stored = isinstance(statement.function, OwnFunction) and statement.function.is_stored
        if is_stored:
            own = replace(own, names=(*own.names, statement.function.name))
        type_ = "PERSISTENT" if is_stored else "TEMPORARY"
        lines = _describe_function(name, own, extended=statement.extended, type_=type_)
    elif described is not None:
        lines = _describe_function(name, described, extended=statement.extended)
    else:
        lines = [f"Function '{name}' does not exist."]
    rows = [(line,) for text in lines for line in text.split("\n")]
    return Outcome.of_table(["tab_name"], rows)


def _described(own: OwnFunction | Macro, runtime: Runtime) -> Described:
    """Tell what a function of the user's own says of itself, and of which names of Hive it is."""
    if isinstance(own, Macro):
        return Described(_MACRO, "", "", ())
    builtins = described_functions().values()
    builtin = next(
        (candidate for candidate in builtins if candidate.java_class == own.java_class), None
    )
    if builtin is not None:
        return builtin
    from hivesql_executor.spark.functions import describe_class

    return Described(own.java_class, *describe_class(runtime.spark(), own.java_class), ())


def _describe_function(
    name: str, described: Described, *, extended: bool, type_: str = "BUILTIN"
) -> list[str]:
    if described.usage:
        lines = [described.usage.replace("_FUNC_", name)]
    else:
        lines = [f"There is no documentation for function '{name}'"]
    if extended:
        synonyms = [other for other in described.names if other != name]
        if described.usage and synonyms:
            lines.append(f"Synonyms: {', '.join(synonyms)}")
        if described.details:
            lines.append(described.details.replace("_FUNC_", name))
        lines += [f"Function class:{described.java_class}", f"Function type:{type_}"]
    return lines
