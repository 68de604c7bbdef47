"""UPDATE, DELETE and MERGE as one stream of events: who dies, who is born, in one Spark job."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from hivesql_executor.spark.checks import held
from hivesql_executor.spark.fine_change import Texts, fine_structs
from hivesql_executor.spark.nanoseconds import FINE
from hivesql_executor.spark.placed import text_columns
from hivesql_executor.spark.types import spark_type
from hivesql_executor.spark.write import partition_text
from hivesql_planner.errors import CardinalityViolation
from hivesql_planner.plan import Change, ChangeBranch, When
from hivesql_planner.rewrite.change import change_writes
from hivesql_planner.table import Table

ROW_ID_TYPE = "struct<writeid:bigint,bucketid:int,rowid:bigint>"
_CARDINALITY = "Cardinality Violation in Merge statement: "
_MARK = "__source_row"
_ROW_ID_PARTS = ("writeid", "bucketid", "rowid")


def change_events(
    change: Change, target: DataFrame, source: DataFrame | None, texts: Texts
) -> DataFrame:
    """Rows ``(branch, row__id, row, p0…)`` for ``write_change``, with FINE where it is needed.

    ``target`` has the table's columns, ``row__id``, its partitions' texts and fine columns;
    ``texts`` tells of the source's times. Every
    matched row is looked at once, so a condition that is not deterministic still gives a delete and
    an insert for the same rows.
    """
    joined = _joined(change, target, source)
    if change.cardinality_check:
        joined = _refuse_double_matches(change, joined)
    chosen = _events_by_branch(change, fine_structs(change, target, texts))
    if len(chosen) == 1 and len(chosen[0][1]) == 1:
        ((taken, (event,)),) = chosen
        rows = joined if taken is None else joined.where(taken)
        return held(rows.select(*event), change.check)
    return held(joined.select(f.inline(_events_of_row(chosen))), change.check)


def _joined(change: Change, target: DataFrame, source: DataFrame | None) -> DataFrame:
    alias = change.target_alias
    target = target.alias(alias)
    if source is None:
        return target.where(f.expr(change.on.sql)) if change.on else target
    assert change.on is not None
    assert change.source_alias is not None
    condition = f.expr(change.on.sql)
    if not any(branch.when is When.NOT_MATCHED for branch in change.branches):
        return target.join(source.alias(change.source_alias), condition, "inner")
    # The outer join keeps source rows, so Spark could only broadcast the big side. Reducing the
    # target to the rows that match anything first lets the small side be broadcast.
    source = source.alias(change.source_alias)
    candidates = target.join(source, condition, "left_semi").alias(alias)
    return source.join(candidates, condition, "left")


def _refuse_double_matches(change: Change, joined: DataFrame) -> DataFrame:
    """Raise while running when two source rows satisfy ON for one target row.

    As in Hive, rows count that no WHEN clause would take.
    """
    alias = change.target_alias
    row_id = f"`{alias}`.row__id"
    table = change.target.table
    # Source rows without a match share no key: each is a group of its own.
    alone = f.when(f.expr(f"{row_id} is null"), f.monotonically_increasing_id()).otherwise(f.lit(0))
    marked = joined.select("*", alone.alias(_MARK))
    keys = [f.expr(f"{row_id}.{part}") for part in _ROW_ID_PARTS]
    keys += [f.expr(f"`{alias}`.`{name}`") for name in text_columns(table)]
    counted = marked.select(
        "*", f.count(f.lit(1)).over(Window.partitionBy(*keys, f.col(_MARK))).alias("__matches")
    )
    text = f.concat(
        f.lit(_CARDINALITY + "["),
        f.concat_ws(", ", *(key.cast("string") for key in keys)),
        f.lit("]"),
    )
    return counted.where(
        f.when(f.col("__matches") > 1, f.raise_error(text).cast("boolean")).otherwise(f.lit(True))
    )


def cardinality_violation(error: Exception) -> CardinalityViolation | None:
    """The user's error, when that is what made the job fail."""
    text = str(error)
    start = text.find(_CARDINALITY)
    if start < 0:
        return None
    found = text[start : text.find("]", start) + 1]
    return CardinalityViolation(
        f"{found}: two source rows match one target row (row id and partition shown). "
        "Make the source unique on the ON condition; nothing was changed"
    )


_Event = Sequence[Column]
_Chosen = Sequence[tuple[Column | None, Sequence[_Event]]]
"""When each branch takes a row (None: always), and the events that it makes of it."""


def _events_of_row(chosen: _Chosen) -> Column:
    """The array of events that one joined row makes; NULL when no branch takes it."""
    ((taken, events), *others) = chosen
    if taken is None:
        return _array(events)
    found = f.when(taken, _array(events))
    for taken, events in others:
        assert taken is not None
        # CASE takes the next WHEN when a condition is NULL: an unknown condition is not true.
        found = found.when(taken, _array(events))
    return found


def _array(events: Sequence[_Event]) -> Column:
    return f.array(*(f.struct(*event) for event in events))


def _events_by_branch(change: Change, fine: Sequence[Column | None]) -> _Chosen:
    indexes = {write.statement_id: i for i, write in enumerate(change_writes(change))}
    chosen: list[tuple[Column | None, Sequence[_Event]]] = []
    for branch, texts in zip(change.branches, fine, strict=True):
        events = _branch_events(change, branch, indexes, texts)
        chosen.append((_taken(change, branch), events))
    return chosen


def _taken(change: Change, branch: ChangeBranch) -> Column | None:
    if change.source is None and branch.condition is None:
        return None
    unknown = "is not null" if branch.when is When.MATCHED else "is null"
    taken = f.expr(f"`{change.target_alias}`.row__id {unknown}")
    return taken & f.expr(branch.condition.sql) if branch.condition else taken


def _branch_events(
    change: Change, branch: ChangeBranch, indexes: dict[int, int], fine: Column | None
) -> list[_Event]:
    table, alias = change.target.table, change.target_alias
    row_type = struct_ddl(table)
    if branch.when is When.MATCHED:
        row_id = f.expr(f"cast(`{alias}`.row__id as {ROW_ID_TYPE})")
        texts = [f.expr(f"`{alias}`.`{name}`") for name in text_columns(table)]
    else:
        row_id = f.expr(f"cast(null as {ROW_ID_TYPE})")
        values = branch.values[len(table.columns) :]
        texts = [
            partition_text(f.expr(value.sql), column.type)
            for value, column in zip(values, table.partition_columns, strict=True)
        ]
    events: list[_Event] = []
    if branch.delete:
        empty = f.expr(f"cast(null as {row_type})")
        no_texts = None if fine is None else f.when(f.lit(False), fine)
        events.append(_event(indexes[branch.delete.statement_id], row_id, empty, no_texts, texts))
    if branch.insert:
        # One text, since Python asks the JVM several times for every column; a value may end in a
        # comment.
        fields = ", ".join(
            f"cast(({value.sql}\n) as {spark_type(column.type)}) as `{column.name}`"
            for value, column in zip(branch.values, table.columns, strict=False)
        )
        row = f.expr(f"cast(struct({fields}) as {row_type})")
        events.append(_event(indexes[branch.insert.statement_id], row_id, row, fine, texts))
    return events


def _event(
    index: int, row_id: Column, row: Column, fine: Column | None, partition: list[Column]
) -> _Event:
    return (
        f.lit(index).alias("branch"),
        row_id.alias("row__id"),
        row.alias("row"),
        *([] if fine is None else [fine.alias(FINE)]),
        *(text.alias(f"p{i}") for i, text in enumerate(partition)),
    )


def struct_ddl(table: Table) -> str:
    """The type of the ``row`` column."""
    fields = ",".join(f"`{c.name}`:{spark_type(c.type)}" for c in table.columns)
    return f"struct<{fields}>"
