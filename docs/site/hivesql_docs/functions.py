"""The page of functions: what SHOW FUNCTIONS lists and DESCRIBE FUNCTION says."""

from __future__ import annotations

from hivesql.dialect.function_names import REFUSED, listed_functions
from hivesql_docs.function_examples import explain_function, function_examples
from hivesql_docs.markdown import code, plain, table
from hivesql_executor.statements.show.hive_descriptions import described_functions

_INTRODUCTION = """\
# Functions

Hive 4.1's functions and operators that queries may call, as `SHOW FUNCTIONS` lists them.
`DESCRIBE FUNCTION EXTENDED name` says more. The examples run as they stand here; `;` stands between
the rows of an answer. A function of your own is a Java class:
see `CREATE FUNCTION` in the [statements](../sql.md#functions-and-files). What differs from Hive
stands in the [limits](../LIMITS.md).
"""


def functions_page() -> str:
    """Write the functions in the order of their names, then those that are refused."""
    described, examples = described_functions(), function_examples()
    rows = []
    for name in listed_functions():
        function = described.get(name)
        signature, meaning = explain_function(name, function)
        others = [other for other in function.names if other != name] if function else []
        example = examples[name]
        shown = f"{code(example.statement)}\n{code(example.answer)}"
        called = ", ".join(map(code, others))
        rows.append((code(name), code(signature), plain(meaning), shown, called))
    refused = ", ".join(map(code, sorted(REFUSED)))
    return "\n".join(
        [
            _INTRODUCTION,
            table(("name", "call", "meaning", "example", "also called"), rows),
            f"## Refused\n\n{refused}; sketches (`ds_…`) and geometry (`st_…`).\n",
        ]
    )
