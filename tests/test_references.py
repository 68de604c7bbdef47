"""The references that are made from the code: each entry says all that a reader looks for."""

from __future__ import annotations

import pickle

import pytest

from hivesql_docs.error_codes import error_codes
from hivesql_docs.errors import error_classes
from hivesql_planner import errors
from hivesql_planner.error_help import HELP, OBVIOUS, OF_CLASSES


def test_each_code_has_a_cause_and_a_remedy() -> None:
    """Both ways: what nothing raises any more has no line."""
    assert sorted(error_codes().keys() ^ HELP.keys()) == []
    assert [code for code, texts in HELP.items() if not all(texts)] == []
    assert list(HELP) == sorted(HELP)
    assert OBVIOUS <= HELP.keys()


def test_each_class_has_a_remedy_or_a_code_that_has() -> None:
    without = [kind for kind in error_classes() if not kind.code and not kind.__subclasses__()]
    assert [kind.__name__ for kind in without if kind.__name__ not in OF_CLASSES] == []
    assert OF_CLASSES.keys() <= vars(errors).keys()


@pytest.mark.parametrize("code", HELP)
def test_an_error_says_what_helps_in_its_message_or_in_a_note(code: int) -> None:
    error = errors.SemanticError("Invalid", code=code)
    notes = getattr(error, "__notes__", [])
    assert notes == ([] if code in OBVIOUS else [HELP[code].remedy.replace("`", "")])
    assert error.remedy == next(iter(notes), None)
    assert getattr(pickle.loads(pickle.dumps(error)), "__notes__", []) == notes
