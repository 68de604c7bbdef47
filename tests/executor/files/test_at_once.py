"""Work on many files side by side."""

from __future__ import annotations

import threading

import pytest

from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.files.local import LocalFiles

FILES = LocalFiles()


def test_results_come_in_the_order_of_the_items() -> None:
    assert each_at_once(FILES, str, range(100)) == [str(number) for number in range(100)]


def test_few_local_files_need_no_threads() -> None:
    assert set(each_at_once(FILES, _thread, range(4))) == {threading.current_thread().name}


def test_the_first_error_is_raised() -> None:
    def fail(number: int) -> int:
        if number in (3, 70):
            raise ValueError(number)
        return number

    with pytest.raises(ValueError, match=r"^3$"):
        each_at_once(FILES, fail, range(100))


def test_work_that_is_part_of_such_work_starts_no_threads_of_its_own() -> None:
    def look(_: int) -> set[str]:
        return set(each_at_once(FILES, _thread, range(50)))

    assert all(len(names) == 1 for names in each_at_once(FILES, look, range(20)))


def _thread(_: int) -> str:
    return threading.current_thread().name
