"""Texts of the times that an UPDATE or MERGE writes as they are: see ``nanoseconds``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from hivesql_executor.spark.nanoseconds.columns import as_text, is_instant_inside, nanosecond_column
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.plan import Change, ChangeBranch

Texts = Mapping[str, tuple[str, str]]
"""Of columns of a MERGE's source: their Spark type, and the column with their texts."""
_REFERENCE = re.compile(r"(?:`?(\w+)`?\s*\.\s*)?`?(\w+)`?")


def nanosecond_structs(change: Change, target: DataFrame, source: Texts) -> list[Column | None]:
    """For each branch the struct TEXTS of its rows, all of one type; None where nothing has texts.

    ``target`` has the columns of nanoseconds of the scan.
    """
    columns = change.target.table.columns
    texts_of_branches = [
        [_text(change, branch, i, target, source) for i in range(len(columns))]
        for branch in change.branches
    ]
    carried = [
        i for i in range(len(columns)) if any(texts[i] is not None for texts in texts_of_branches)
    ]

    def struct(texts: Sequence[str | None]) -> Column:
        return f.struct(
            *(
                f.expr(texts[i] or "NULL")
                .cast(as_text(columns[i].type).spark)
                .alias(columns[i].name)
                for i in carried
            )
        )

    return [struct(texts) if carried else None for texts in texts_of_branches]


def _text(
    change: Change, branch: ChangeBranch, place: int, target: DataFrame, source: Texts
) -> str | None:
    """Tell where the text of a branch's value is, when this is a column as it stands."""
    if branch.insert is None:
        return None
    reference = _REFERENCE.fullmatch(branch.values[place].sql.strip())
    column = change.target.table.columns[place]
    if reference is None or is_instant_inside(column.type):
        return None
    alias, name = (reference[1] or "").lower(), reference[2].lower()
    names = change.target.table.column_names
    if alias in ("", change.target_alias.lower()) and name in names:
        other = names.index(name)
        if change.target.table.columns[other].type == column.type:
            text = nanosecond_column(other)
            return (
                f"{quote_name(change.target_alias)}.{quote_name(text)}"
                if text in target.columns
                else None
            )
    if alias in ("", (change.source_alias or "").lower()) and name in source:
        kind, text = source[name]
        return (
            f"{quote_name(change.source_alias or '')}.{quote_name(text)}"
            if kind == column.type.spark
            else None
        )
    return None
