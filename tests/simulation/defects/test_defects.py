"""Every known defect that is put back is found, and within a few cases."""

from __future__ import annotations

import pytest

from simulation.defects.of_stores import DEFECTS_OF_STORES
from simulation.defects.of_tables import DEFECTS_OF_TABLES
from simulation.defects.of_transactions import DEFECTS, Defect
from simulation.running import find
from simulation.world import House

# Clients that die leave open what they had open.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
MOST_CASES = 25
"""When the product changes, another one is the first that finds a defect."""


@pytest.mark.parametrize(
    "defect",
    (*DEFECTS, *DEFECTS_OF_TABLES, *DEFECTS_OF_STORES),
    ids=lambda defect: defect.name.replace(" ", "-"),
)
def test_a_defect_that_is_put_back_is_found(defect: Defect, house: House) -> None:
    with defect.put_back():
        found = find(house, defect.cases(MOST_CASES))
    assert found is not None, f"{MOST_CASES} cases find nothing"
    assert found.wrong is not None
    assert defect.shows in found.wrong
