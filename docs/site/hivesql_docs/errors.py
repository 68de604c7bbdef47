"""The page of errors: the classes, then Hive's codes with cause and remedy."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from hivesql_docs.error_codes import ErrorCode, error_codes
from hivesql_docs.markdown import code, plain, prose, table
from hivesql_planner import errors
from hivesql_planner.error_help import HELP, OF_CLASSES

_SHOWN = 3
# What guides say of a state that a code tells of.
_PAGES: Mapping[int, str] = {
    10104: "../guides/recover.md#a-statement-waits-for-a-lock",
    10262: "../guides/recover.md#a-transaction-was-lost",
    10263: "../guides/recover.md#a-write-conflict",
    10280: "../guides/recover.md#the-metastore-does-not-answer",
    10297: "../concepts.md#kinds-of-tables",
    10307: "../guides/recover.md#a-statement-waits-for-a-lock",
    10327: "../guides/operate.md#retention",
    10414: "../concepts.md#kinds-of-tables",
}
_INTRODUCTION = """\
# Errors

Every error is a `hivesql.HiveSqlError` with `message`, `code` (Hive's, or None), `file`, `line`,
`column` and `retryable`, and pickles. Where the message, which is Hive's, does not say what to do,
`remedy` does: the command line prints it below the message, Python below the traceback.
`Class(…).retryable` tells whether the same statement may succeed when it is run again. What to do
about states rather than statements stands in [recover](../guides/recover.md). From the command
line, errors go to standard error, and the exit code is 2.
"""


def errors_page() -> str:
    """Write the classes, then the codes in their order."""
    rows = (
        (code(kind.__name__), code(kind.__mro__[1].__name__), "yes" if kind.retryable else "",
         prose(inspect.getdoc(kind)).partition("\n")[0], _remedy_of_class(kind))
        for kind in error_classes()
    )  # fmt: skip
    return "\n".join(
        [
            _INTRODUCTION,
            "## Classes\n",
            table(("class", "is a", "run again", "meaning", "what helps"), rows),
            "## Codes\n",
            "`…` stands for a name or a value.\n",
            table(
                ("code", "class", "cause", "what helps", "messages"),
                map(_row, error_codes().items()),
            ),
        ]
    )


def error_classes() -> list[type[errors.HiveSqlError]]:
    """List all classes of errors."""
    return [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.HiveSqlError)
    ]


def _remedy_of_class(kind: type[errors.HiveSqlError]) -> str:
    if kind.__name__ in OF_CLASSES:
        return OF_CLASSES[kind.__name__]
    return f"see {kind.code}" if kind.code else ""


def _row(item: tuple[int, ErrorCode]) -> tuple[str, str, str, str, str]:
    number, error = item
    messages = [plain(message) for message in error.messages[:_SHOWN]]
    if len(error.messages) > _SHOWN:
        messages.append("and others")
    classes = ", ".join(code(name) for name in sorted(error.classes) if name)
    cause, remedy = HELP[number]
    if number in _PAGES:
        remedy += f"; [more]({_PAGES[number]})"
    return str(number), classes or code("SemanticError"), cause, remedy, "\n".join(messages)
