"""Whether rows of a file are read one by one or in whole columns."""

import pytest

from hivesql_executor.local.fitting import are_quick


@pytest.mark.parametrize(
    ("runs", "rows", "expected"),
    [
        pytest.param(((7, 1),), 100_000, True, id="one row of many"),
        pytest.param(((7, 1),), 10_000, False, id="one row of few"),
        pytest.param(tuple((i * 1_000, 1) for i in range(100)), 100_000, False, id="many jumps"),
        # Every hundredth row: with what lies between them they are one run.
        pytest.param(((7, 99_901),), 100_000, False, id="one run of nearly all rows"),
        pytest.param(((0, 10_000),), 100_000, True, id="one run of a tenth"),
        pytest.param((), 100_000, True, id="no row"),
    ],
)
def test_runs_are_read_where_the_whole_costs_more(
    runs: tuple[tuple[int, int], ...], rows: int, expected: bool
) -> None:
    assert are_quick(runs, rows) is expected
