"""The examples of the reference of functions give what stands beside them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hivesql
from hivesql.dialect.function_names import listed_functions
from hivesql.rendering.hive_text import with_hive_types
from hivesql_docs.function_examples import explain_function, function_examples
from hivesql_docs.functions import functions_page
from hivesql_executor.statements.show.hive_descriptions import described_functions
from hivesql_repl.output.formats import to_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = function_examples()
AT_ONCE = 40
"""So many examples are asked for by one query, as each takes Spark a while."""


def test_each_function_has_a_call_a_meaning_and_an_example() -> None:
    described = described_functions()
    assert sorted(EXAMPLES.keys() ^ {*listed_functions()}) == []
    texts = {name: explain_function(name, described.get(name)) for name in EXAMPLES}
    assert [name for name, (call, meaning) in texts.items() if not (call and meaning)] == []
    page = functions_page()
    assert [name for name, example in EXAMPLES.items() if not example.answer] == []
    assert page.count("\n| `") == len(EXAMPLES)


def is_of_one_value(name: str) -> bool:
    """Tell whether an example may stand beside others in a list of values."""
    function = described_functions().get(name)
    gives_rows = function is not None and "GenericUDTF" in function.java_class
    return not gives_rows and " FROM TABLE(" not in EXAMPLES[name].statement


def answer_of(result: hivesql.Result) -> list[list[str]]:
    rows = with_hive_types(result.types, result.rows)
    text = to_text("tsv2", result.columns, rows)
    return list(csv.reader(io.StringIO(text), delimiter="\t"))[1:]


def answers(session: hivesql.Session) -> Mapping[str, str]:
    """Run all examples but INSERTs."""
    given: dict[str, str] = {}
    queries = [name for name, (text, _) in EXAMPLES.items() if text.startswith("SELECT ")]
    alone = [name for name in queries if is_of_one_value(name)]
    for start in range(0, len(alone), AT_ONCE):
        names = alone[start : start + AT_ONCE]
        values = [EXAMPLES[name].statement.removeprefix("SELECT ") for name in names]
        (row,) = answer_of(session.sql(f"SELECT {', '.join(values)}"))
        given |= dict(zip(names, row, strict=True))
    for name in queries:
        if name not in given:
            rows = answer_of(session.sql(EXAMPLES[name].statement))
            given[name] = "; ".join(map(", ".join, rows))
    return given


@pytest.mark.spark
@pytest.mark.slow
def test_examples_give_what_the_page_says(spark: SparkSession, tmp_path: Path) -> None:
    place = (f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse"))
    with hivesql.connect(*place, spark=spark) as session:
        given = answers(session)
        inserts = EXAMPLES.keys() - given.keys()
        session.sql(
            "CREATE TABLE t (id BIGINT, what STRING) STORED AS ORC "
            "TBLPROPERTIES ('transactional'='true')"
        )
        for name in inserts:
            affected = session.sql(EXAMPLES[name].statement).affected
            given = {**given, name: f"{affected} row"}
    assert {name: (text, answer) for name, (text, answer) in EXAMPLES.items()
            if answer != given[name]} == {}, given  # fmt: skip
