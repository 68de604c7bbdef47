"""DESCRIBE FUNCTION, which tells what Hive's own classes say, and needs no Spark."""

from __future__ import annotations

import pytest

import hivesql


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> hivesql.Session:
    place = tmp_path_factory.mktemp("described")
    return hivesql.connect(f"sqlite:///{place}/metastore.db", str(place))


@pytest.mark.parametrize(
    ("named", "java_class", "synonyms"),
    [
        ("abs", "generic.GenericUDFAbs", ""),
        ("PI", "UDFPI", "pi"),
        ("`Pi`", "UDFPI", "pi"),
        ("'upper'", "generic.GenericUDFUpper", "ucase"),
        ("+", "generic.GenericUDFOPPlus", ""),
        ("<>", "generic.GenericUDFOPNotEqual", "!="),
        ("or", "generic.GenericUDFOPOr", ""),
        ("mid", "UDFSubstr", "substr, substring"),
        ("substr", "UDFSubstr", "substring, mid"),
        ("array_slice", "generic.GenericUDFArraySlice", ""),
        ("sum", "generic.GenericUDAFSum", ""),
        ("explode", "generic.GenericUDTFExplode", ""),
    ],
)
def test_functions_of_hive(
    session: hivesql.Session, named: str, java_class: str, synonyms: str
) -> None:
    plain = [row[0] for row in session.sql(f"DESCRIBE FUNCTION {named}").rows]
    told = [row[0] for row in session.sql(f"DESC FUNCTION EXTENDED {named}").rows]
    assert plain == told[: len(plain)] != []
    assert "_FUNC_" not in "".join(told)
    assert told[-2:] == [
        f"Function class:org.apache.hadoop.hive.ql.udf.{java_class}",
        "Function type:BUILTIN",
    ]
    assert [line for line in told if "Synonyms" in line] == (
        [f"Synonyms: {synonyms}"] if synonyms else []
    )


@pytest.mark.parametrize("name", ["case", "cast", "no_function", "array_zip"])
def test_names_that_hive_has_no_function_of(session: hivesql.Session, name: str) -> None:
    assert session.sql(f"DESCRIBE FUNCTION EXTENDED {name}").rows == [
        (f"Function '{name}' does not exist.",)
    ]
