"""The page of errors: the classes, then Hive's codes with cause and remedy."""

from __future__ import annotations

import inspect

from hivesql_docs.error_codes import ErrorCode, error_codes
from hivesql_docs.error_notes import CAUSES, REMEDIES
from hivesql_docs.markdown import code, plain, prose, table
from hivesql_planner import errors

_SHOWN = 3
_INTRODUCTION = """\
# Errors

Every error is a `hivesql.HiveSqlError` with `message`, `code` (Hive's, or None), `file`, `line`,
`column` and `retryable`, and pickles. `Class(…).retryable` tells whether the same statement may
succeed when it is run again. What to do about states rather than statements stands in
[recover](../guides/recover.md). From the command line, errors go to standard error, and the exit
code is 2.
"""


def errors_page() -> str:
    """Write the page; a cause or remedy of a code that nothing raises any more is an error."""
    codes = error_codes()
    outdated = sorted({*CAUSES, *REMEDIES} - codes.keys())
    if outdated:
        raise LookupError(f"hivesql_docs.error_notes: nothing raises {outdated}")
    classes = [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.HiveSqlError)
    ]
    rows = (
        (code(kind.__name__), code(kind.__mro__[1].__name__), "yes" if kind.retryable else "",
         prose(inspect.getdoc(kind)).partition("\n")[0])
        for kind in classes
    )  # fmt: skip
    return "\n".join(
        [
            _INTRODUCTION,
            "## Classes\n",
            table(("class", "is a", "run again", "meaning"), rows),
            "## Codes\n",
            "`…` stands for a name or a value.\n",
            table(("code", "class", "cause", "what helps"), map(_row, codes.items())),
        ]
    )


def _row(item: tuple[int, ErrorCode]) -> tuple[str, str, str, str]:
    number, error = item
    messages = [plain(message) for message in error.messages[:_SHOWN]]
    if number in CAUSES:
        messages.insert(0, CAUSES[number])
    if len(error.messages) > _SHOWN:
        messages.append("and others")
    classes = ", ".join(code(name) for name in sorted(error.classes) if name)
    return (
        str(number),
        classes or code("SemanticError"),
        "\n".join(messages),
        REMEDIES.get(number, ""),
    )
