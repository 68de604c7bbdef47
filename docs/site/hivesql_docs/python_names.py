"""The page of the Python interface: signatures and docstrings of what is public."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType

import hivesql
from hivesql import dbapi, services, streaming
from hivesql_docs.markdown import prose

_INTRODUCTION = """\
# Python

What may be imported; everything else may change. All is typed. How to use it: [Python and
notebooks](../guides/python.md), [streams](../guides/streams.md), [Airflow](../guides/airflow.md).
"""
_FUNCTIONS = (
    "connect", "register_catalog", "streaming_sink", "streaming_source", "migrate_to",
    "migrate_from",
)  # fmt: skip
_CLASSES = ("Session", "Result", "Progress", "StatementFields", "JsonLines")
_OF_STREAMS = (
    "HiveStreamingConnection", "ConnectionBuilder", "StrictDelimitedInputWriter",
    "StrictJsonWriter", "StrictRegexWriter",
)  # fmt: skip
INTERNAL = frozenset(
    f"Session.{name}"
    for name in (
        "at_close", "authorize", "beside", "execute", "keeps_keys", "run_statement", "spark_views",
        "starts_spark",
    )
)  # fmt: skip
"""Of no use to programs, or another name of what is there."""
_WIDTH = 96


def python_page() -> str:
    """Write the page: functions, classes with their methods, then the other modules."""
    parts = [_INTRODUCTION, "## hivesql\n"]
    parts += [_function(name, getattr(hivesql, name), "hivesql.") for name in _FUNCTIONS]
    for name in _CLASSES:
        parts += _class(getattr(hivesql, name))
    parts.append("Errors are classes of `hivesql` too: see [errors](errors.md).\n")
    parts += [_heading(streaming), *_module(streaming, _OF_STREAMS)]
    parts += [_heading(dbapi), *_module(dbapi, ("connect", "Connection", "Cursor"))]
    parts += [_heading(services), *_module(services, ("run_services",))]
    return "\n".join(parts)


def _heading(module: ModuleType) -> str:
    return f"## {module.__name__}\n\n{prose(inspect.getdoc(module))}\n"


def _module(module: ModuleType, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value):
            yield from _class(value)
        else:
            yield _function(name, value, f"{module.__name__}.")


def _class(cls: type) -> Iterator[str]:
    yield f"### {cls.__name__}\n\n{prose(inspect.getdoc(cls))}\n"
    for name, member in vars(cls).items():
        is_internal = name.startswith("_") or f"{cls.__name__}.{name}" in INTERNAL
        if is_internal or not _says_something(member):
            continue
        if isinstance(member, property):
            yield f"#### {cls.__name__}.{name}\n\n{prose(inspect.getdoc(member))}\n"
        else:
            function = getattr(cls, name)
            yield _function(f"{cls.__name__}.{name}", function, "", level="####")


def _says_something(member: object) -> bool:
    is_code = isinstance(member, (property, staticmethod, classmethod)) or callable(member)
    return is_code and not isinstance(member, type) and bool(inspect.getdoc(member))


def _function(name: str, function: object, module: str, *, level: str = "###") -> str:
    assert callable(function)
    drawn = _drawn(name.rpartition(".")[2], inspect.signature(function))
    return (
        f"{level} {module}{name}\n\n```python\n{drawn}\n```\n\n{prose(inspect.getdoc(function))}\n"
    )


def _drawn(name: str, signature: inspect.Signature) -> str:
    """Write a call on one line, or an argument a line where that is too long."""
    parameters = [one for key, one in signature.parameters.items() if key not in ("self", "cls")]
    written = []
    for number, parameter in enumerate(parameters):
        is_first_named = parameter.kind is parameter.KEYWORD_ONLY and not any(
            before.kind is parameter.KEYWORD_ONLY for before in parameters[:number]
        )
        written += ["*"] * is_first_named + [_parameter(parameter)]
    gives = signature.return_annotation
    end = "" if gives is signature.empty else f" -> {gives}"
    line = f"{name}({', '.join(written)}){end}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in written), f"){end}"])


def _parameter(parameter: inspect.Parameter) -> str:
    """Write a parameter with its type, which is a text, and its default."""
    is_positional = parameter.kind is parameter.VAR_POSITIONAL
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else "*" * is_positional
    written = f"{stars}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        written += f": {parameter.annotation}"
    if parameter.default is parameter.empty:
        return written
    default = "…" if callable(parameter.default) else repr(parameter.default)
    return f"{written} = {default}"
