"""Tables of which a query sees the deleted rows too, by a property of theirs or in FROM."""

from __future__ import annotations

from itertools import islice

from hivesql.binding import Binding
from hivesql.dialect.tokens import first_from
from hivesql_planner.model.table import Table

_PROPERTY = "acid.fetch.deleted.rows"


def shows_deleted(binding: Binding, table: Table, end: int) -> bool:
    """Tell whether a query sees a full ACID table's deleted rows; its name ends at ``end``."""
    if not table.is_full_acid:
        return False
    value = table.properties.get(_PROPERTY, "")
    tokens = binding.tokens
    first = first_from(tokens, end)
    if tokens[first].is_("("):
        # Properties stand in brackets behind the name: 'key' = 'value', …
        for key, _, wanted in zip(*(islice(tokens, first + i, None) for i in (1, 2, 3)),
                                  strict=False):  # fmt: skip
            if key.is_(")"):
                break
            if key.value.lower() == _PROPERTY:
                value = wanted.value
    return value.lower() == "true"
