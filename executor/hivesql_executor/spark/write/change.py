"""UPDATE, DELETE and MERGE as one stream of rows: who dies, who is born, in one Spark job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from hivesql_executor.spark.nanoseconds.changes import Texts, nanosecond_structs
from hivesql_executor.spark.nanoseconds.columns import TEXTS
from hivesql_executor.spark.scan.partition_columns import text_columns
from hivesql_executor.spark.steps import Step, after
from hivesql_executor.spark.write.constraints import enforce_check
from hivesql_executor.spark.write.merge_source import Joined
from hivesql_executor.spark.write.write import NO_BRANCH, partition_text
from hivesql_planner.errors import CardinalityViolation, matched_twice
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table
from hivesql_planner.plan import Change, ChangeBranch, When
from hivesql_planner.predicates.predicate import OldValue
from hivesql_planner.rewrite.change import new_rows_branch

ROW_ID_TYPE = "struct<writeid:bigint,bucketid:int,rowid:bigint>"
_MATCHES = "matches:"
"""A column of the source that tells its rows from none; no column of Hive has a colon."""
# AcidWriter.java raises it.
_CARDINALITY = "Cardinality Violation in Merge statement: "


def changed_rows(change: Change, join: Joined, texts: Texts) -> DataFrame:
    """Rows ``(branch, row__id, row, p0…)`` for ``write_change``, with TEXTS where it is needed.

    ``branch`` is an index into the change's branches, or NO_BRANCH.
    ``join.target`` has the table's columns, ``row__id``, the texts of its partitions and of times;
    ``texts`` tells of the source's times. Every
    matched row is looked at once, so a condition that is not deterministic still gives a delete and
    an insert for the same rows.
    """
    target = join.target
    nanoseconds = nanosecond_structs(change, target, texts)
    (branch, *others) = change.branches
    if change.source is None and nanoseconds[0] is None and not others and not branch.moves:
        return enforce_check(after(target, *_steps(change, branch)), change.check)
    # Where rows without a row of the source are looked at, a full join would sort all of the table.
    apart = change.has(When.NOT_MATCHED_BY_SOURCE)
    new = [clause for clause in change.branches if apart and clause.when is When.NOT_MATCHED]
    old = [clause for clause in change.branches if clause not in new]
    chosen = _chosen(change, nanoseconds, old)
    if change.cardinality_check:
        # As in Hive, matches count that no WHEN takes.
        chosen = [*chosen, _untaken(change, nanoseconds)]
    rows = _made(_joined(change, join), chosen)
    if new:
        matches = _source_with_matches(change, join)
        rows = rows.unionAll(_made(matches, _chosen(change, nanoseconds, new)))
    return enforce_check(rows, change.check)


def _made(joined: DataFrame, chosen: _Chosen) -> DataFrame:
    """Return what the branches make of joined rows."""
    (condition, made), *others = chosen
    if others or len(made) > 1:
        return joined.select(f.inline(_rows_of_branch(chosen)))
    rows = joined if condition is None else joined.where(condition)
    return rows.select(*made[0])


def _untaken(change: Change, nanoseconds: Sequence[Column | None]) -> tuple[Column, list[_Row]]:
    """Return what becomes of a matched row that no branch takes: its id alone, of no branch."""
    unchanged = ChangeBranch(when=When.MATCHED)
    row = _changed_row(change, unchanged, NO_BRANCH, nanoseconds[0])
    return f.expr(_is_of(change, When.MATCHED)), [row]


def _steps(change: Change, branch: ChangeBranch) -> list[Step]:
    """Return an UPDATE or DELETE of one table."""
    steps: list[Step] = [("alias", change.target_alias)]
    if change.on is not None:
        steps.append(("where", change.on.sql))
    row_id, texts = _old_row(change)
    row = _new_row(change.target.table, branch)
    columns = {"branch": "0", "row__id": row_id, "row": row}
    columns |= {f"p{i}": text for i, text in enumerate(texts)}
    return [*steps, ("select", [f"{text} as {quote_name(name)}" for name, text in columns.items()])]


def _joined(change: Change, joined: Joined) -> DataFrame:
    if change.by_row_id:
        return joined.target
    target = joined.target.alias(change.target_alias)
    if joined.source is None:
        return target.where(f.expr(change.on.sql)) if change.on else target
    assert change.on is not None
    assert change.source_alias is not None
    condition = f.expr(change.on.sql)
    source = joined.source.alias(change.source_alias)
    if change.has(When.NOT_MATCHED_BY_SOURCE):
        source = joined.source.withColumn(_MATCHES, f.lit(True)).alias(change.source_alias)
        return target.join(source, condition, "left")
    if change.deletes_matched and not change.cardinality_check:
        # Once, however many rows of the source match it.
        return target.join(source, condition, "left_semi")
    if not change.has(When.NOT_MATCHED):
        return target.join(source, condition, "inner")
    return _source_with_matches(change, joined)


def _source_with_matches(change: Change, joined: Joined) -> DataFrame:
    """Return the source's rows, each with those of the target that it matches, or with NULLs."""
    assert change.on is not None
    assert change.source_alias is not None
    assert joined.source is not None
    target = joined.target.alias(change.target_alias)
    source = joined.source.alias(change.source_alias)
    condition = f.expr(change.on.sql)
    if joined.narrow:
        return source.join(target, condition, "left")
    # The outer join keeps source rows, so Spark could only broadcast the big side. Reducing the
    # target to the rows that match anything first lets the small side be broadcast.
    candidates = target.join(source, condition, "left_semi").alias(change.target_alias)
    return source.join(candidates, condition, "left")


def cardinality_violation(error: Exception) -> CardinalityViolation | None:
    """Return the user's error, when that is what made the job fail, else None."""
    text = str(error)
    start = text.find(_CARDINALITY)
    if start < 0:
        return None
    return matched_twice(text[start + len(_CARDINALITY) : text.find("]", start) + 1])


_Row = Sequence[Column]
_Chosen = Sequence[tuple[Column | None, list[_Row]]]
"""When each branch takes a row (None: always), and what it makes of it."""


def _rows_of_branch(chosen: _Chosen) -> Column:
    """Make an array of what the first branch that takes a joined row makes of it; NULL if none."""
    ((condition, rows), *others) = chosen
    chain = f.when(f.lit(True) if condition is None else condition, _structs(rows))
    for condition, rows in others:
        assert condition is not None
        # CASE takes the next WHEN when a condition is NULL: an unknown condition is not true.
        chain = chain.when(condition, _structs(rows))
    return chain


def _structs(rows: Sequence[_Row]) -> Column:
    return f.array(*(f.struct(*row) for row in rows))


def _chosen(
    change: Change, nanoseconds: Sequence[Column | None], wanted: Sequence[ChangeBranch]
) -> _Chosen:
    return [
        (_taken(change, branch), _rows_of(change, number, texts))
        for number, (branch, texts) in enumerate(zip(change.branches, nanoseconds, strict=True))
        if branch in wanted
    ]


def _rows_of(change: Change, number: int, nanoseconds: Column | None) -> list[_Row]:
    """Return what a branch makes of a row: one, or the old one and the new one apart."""
    branch = change.branches[number]
    if not branch.moves:
        return [_changed_row(change, branch, number, nanoseconds)]
    old = replace(branch, insert=None, values=())
    new_number = new_rows_branch(change, number)
    return [
        _changed_row(change, old, number, nanoseconds),
        _changed_row(change, branch, new_number, nanoseconds),
    ]


def _taken(change: Change, branch: ChangeBranch) -> Column | None:
    if change.source is None and branch.condition is None:
        return None
    matches = f.expr(_is_of(change, branch.when))
    return matches & f.expr(branch.condition.sql) if branch.condition else matches


def _is_of(change: Change, when: When) -> str:
    """Return the condition that tells which joined rows are matched and which are not."""
    is_target = f"{quote_name(change.target_alias)}.row__id"
    is_source = f"{quote_name(change.source_alias or '')}.{quote_name(_MATCHES)}"
    match when:
        case When.NOT_MATCHED:
            return f"{is_target} is null"
        case When.NOT_MATCHED_BY_SOURCE:
            return f"{is_source} is null"
        case When.MATCHED if change.has(When.NOT_MATCHED_BY_SOURCE):
            return f"{is_target} is not null and {is_source} is not null"
        case When.MATCHED:
            return f"{is_target} is not null"


def _changed_row(
    change: Change, branch: ChangeBranch, number: int, nanoseconds: Column | None
) -> _Row:
    """Return a number for the branch, the old row's id, the new row, and where it is."""
    table = change.target.table
    is_new = branch.insert is not None and (branch.when is When.NOT_MATCHED or branch.moves)
    row_id, old_texts = _old_row(change)
    texts = [f.expr(text) for text in old_texts]
    if is_new:
        row_id = f"cast(null as {ROW_ID_TYPE})"
        values = branch.values[len(table.columns) :]
        texts = [
            old if isinstance(value.meaning, OldValue) and value.meaning.column == column.name
            else partition_text(f.expr(value.sql), column.type, change.default_partition)
            for value, column, old in zip(values, table.partition_columns, texts, strict=True)
        ]  # fmt: skip
    if nanoseconds is not None and branch.insert is None:
        nanoseconds = f.when(f.lit(False), nanoseconds)
    return (
        f.lit(number).alias("branch"),
        f.expr(row_id).alias("row__id"),
        f.expr(_new_row(table, branch)).alias("row"),
        *([] if nanoseconds is None else [nanoseconds.alias(TEXTS)]),
        *(text.alias(f"p{i}") for i, text in enumerate(texts)),
    )


def _old_row(change: Change) -> tuple[str, list[str]]:
    """Return the row id of a matched row, and the texts of its partition's values."""
    alias = change.target_alias
    names = text_columns(change.target.table)
    of = quote_name(alias)
    return f"cast({of}.row__id as {ROW_ID_TYPE})", [f"{of}.{quote_name(name)}" for name in names]


def _new_row(table: Table, branch: ChangeBranch) -> str:
    if branch.insert is None:
        return f"cast(null as {struct_ddl(table)})"
    # A value may end in a comment.
    fields = ", ".join(
        f"cast(({value.sql}\n) as {column.type.spark}) as {quote_name(column.name)}"
        for value, column in zip(branch.values, table.columns, strict=False)
    )
    return f"cast(struct({fields}) as {struct_ddl(table)})"


def struct_ddl(table: Table) -> str:
    """Return the type of the ``row`` column."""
    fields = ",".join(f"{quote_name(c.name)}:{c.type.spark}" for c in table.columns)
    return f"struct<{fields}>"
