"""SELECT TRANSFORM (…) USING 'program': rows through a program on the workers, which Spark runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit
from hivesql.dialect.structure import place_of, span_of
from hivesql.dialect.tokens import Kind, Token
from hivesql.python_sqlglot import exp
from hivesql.query.scope import Output
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.delimited_text import NULL
from hivesql_planner.model.hive_type import STRING, HiveType

_KNOWN = frozenset(
    f"org.apache.hadoop.hive.{name}"
    for name in ("serde2.lazy.LazySimpleSerDe", "serde2.DelimitedJSONSerDe",
                 "ql.exec.TextRecordReader", "ql.exec.TextRecordWriter")
)  # fmt: skip
# Where ADD FILE puts files: Spark names it last on the PATH of programs. Hive starts them there.
_TO_FILES = 'cd "${PATH##*:}"'
_CLASSES = ("serde", "recordreader", "recordwriter")
_REFUSED = ("escaped", "serdeproperties")


def transform_of(select: exp.Select) -> exp.QueryTransform | None:
    """Return the program of a SELECT; None where it has none."""
    first = select.expressions[0]
    return first if isinstance(first, exp.QueryTransform) else None


def transform_outputs(node: exp.QueryTransform, binding: Binding) -> tuple[Output, ...]:
    """Tell what a program gives: texts, unless AS has types."""
    schema = node.args.get("schema")
    if schema is None:
        return (Output("key", STRING), Output("value", STRING))
    outputs: list[Output] = []
    for column in schema.expressions:
        if any(before.name == column.name.lower() for before in outputs):
            error = SemanticError(f"Column alias already exists: {column.name.lower()}", code=10074)
            binding.fail(error, *span_of(column))
        kind = column.args.get("kind") if isinstance(column, exp.ColumnDef) else None
        type_ = HiveType.parse(kind.sql("hive")) if kind is not None else STRING
        if type_.is_nested:
            feature = f"columns of type {type_} that a program gives"
            binding.fail(NotSupported(feature), *span_of(column))
        outputs.append(Output(column.name.lower(), type_))
    return tuple(outputs)


def transform_edits(node: exp.QueryTransform, binding: Binding) -> Iterator[Edit]:
    """Say how rows are lines of text as Hive does: to Spark, tabs are nothing special.

    Raises NotSupported at what Spark cannot do: other SerDes, readers and writers of records.
    """
    start, end = place_of(node)
    tokens = [token for token in binding.tokens if start <= token.start < end]
    depth, using = 0, 0
    for i, token in enumerate(tokens):
        depth += token.is_("(") - token.is_(")")
        if token.is_("using") and not depth:
            using = i
            break
    # What is between the arguments and USING, and what follows the names of columns.
    opened = max((span_of(value)[1] for value in node.expressions), default=start)
    first = next(
        (i for i in range(using) if tokens[i].start >= opened and not tokens[i].is_(")")), using
    )
    before = tokens[first:using]
    ends = (
        i for i in range(using + 1, len(tokens))
        if tokens[i].is_("recordreader")
        or (tokens[i].is_("row") and i + 1 < len(tokens) and tokens[i + 1].is_("format"))
    )  # fmt: skip
    last = next(ends, len(tokens))
    behind = tokens[first - 1].end
    yield Edit(behind, tokens[using].start, _format(before, binding))
    command = tokens[using + 1]
    words = shlex.join(_split_command(command.text[1:-1]))
    yield Edit(command.start, command.end, _quoted(f"{_TO_FILES} && exec {words}"))
    if node.args.get("schema") is not None:
        yield Edit(tokens[last - 1].end, end, _format(tokens[last:], binding, r"{0}"))
        return
    # All behind the first field is the value.
    rows = _format(tokens[last:], binding, r"{0}(?<=^[^{0}]{{0,999999}}{0})")
    yield Edit(tokens[last - 1].end, end, f" AS (key STRING, value STRING){rows}")


def _format(tokens: Sequence[Token], binding: Binding, cut: str | None = None) -> str:
    """Write Spark's ROW FORMAT for one of Hive.

    Spark cuts what a program writes by a regular expression: ``cut``, with ``{0}`` for what stands
    between fields. None for rows that the program reads.
    """
    formats = {"fields": "\t", "null": NULL}
    for i, token in enumerate(tokens):
        named = next(
            (following for following in tokens[i + 1 :] if following.kind is Kind.STRING), None
        )
        if token.value in _CLASSES and named is not None and named.value not in _KNOWN:
            feature = f"{token.text.upper()} '{named.value}' of a program"
            binding.fail(NotSupported(feature), named.start, named.end)
        if token.value in _REFUSED or (token.is_("lines") and named and named.value != "\n"):
            feature = f"{token.text.upper()} in the ROW FORMAT of a program"
            binding.fail(NotSupported(feature), token.start, token.end)
        if token.value in formats and named is not None:
            formats[token.value] = named.value
    fields = formats["fields"]
    if cut is not None:
        fields = cut.format(re.sub(r"([^\w\s])", r"\\\1", fields))
    return (
        f" ROW FORMAT DELIMITED FIELDS TERMINATED BY {_quoted(fields)} "
        f"NULL DEFINED AS {_quoted(formats['null'])} "
    )


def _split_command(command: str) -> list[str]:
    """Cut a command as Hive does, which starts no shell and knows no backslashes."""
    words, word, quote = [], "", ""
    for character in command + " ":
        if character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        elif character == " " and not quote:
            words += [word] if word else []
            word = ""
        else:
            word += character
    return [*words, word.rstrip(" ")] if word.rstrip(" ") else words


def _quoted(text: str) -> str:
    return (
        "'"
        + "".join(
            character if character.isalnum() else f"\\u{ord(character):04x}" for character in text
        )
        + "'"
    )
