"""Names that constraints get, against those that real Hive 4.1 made."""

from __future__ import annotations

import pytest

from hivesql_planner.model.constraints import with_constraints
from hivesql_planner.model.hive_type import HiveType
from hivesql_planner.model.table import Column, Constraint, Table, TableName

PARENT = TableName("default", "pa")
# The table, the constraint, and the first two parts of Hive's name; the third is the time there.
NAMES = [
    ("nd", Constraint(kind="default", columns=("a",), text="127Y"), "dc_253064739"),
    ("nd", Constraint(kind="default", columns=("b",), text="32767S"), "dc_253988260"),
    ("pa", Constraint(kind="primary key", columns=("i", "j"), enabled=False), "pk_9832490"),
    ("pa", Constraint(kind="unique", columns=("k",), enabled=False), "uk_11684337"),
    ("ch", Constraint(kind="foreign key", columns=("c", "d"), enabled=False, parent=PARENT,
                      parent_columns=("i", "j")), "fk_237776125"),
    ("ch", Constraint(kind="not null", columns=("a",)), "nn_201432177"),
    ("ch", Constraint(kind="check", columns=("b",), text="b > 0"), "dc_202345747"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "constraint", "begins"), NAMES)
def test_names_are_hashed_as_in_hive(name: str, constraint: Constraint, begins: str) -> None:
    table = Table(
        name=TableName("default", name),
        columns=tuple(Column(one, HiveType.parse("int")) for one in "abcdijk"),
        location="/w",
    )
    [named] = with_constraints(table, (constraint,)).constraints
    assert named.name == f"{begins}_0_0"


def test_a_second_constraint_of_the_same_kind_and_column_gets_the_next_number() -> None:
    checks = [Constraint(kind="check", columns=("b",), text=text) for text in ("b > 0", "b < 9")]
    table = Table(
        name=TableName("default", "ch"),
        columns=(Column("b", HiveType.parse("int")),),
        location="/w",
    )
    names = [one.name for one in with_constraints(table, checks).constraints]
    assert names == ["dc_202345747_0_0", "dc_202345747_0_1"]
