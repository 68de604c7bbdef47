"""A plan as text: exactly what run executes, the same text every time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from hivesql_planner.model.table import partition_name
from hivesql_planner.plan import (
    Change,
    ChangeBranch,
    Command,
    Insert,
    InsertBranch,
    Lock,
    Plan,
    Query,
    Scan,
    Select,
    Write,
    WriteKind,
)
from hivesql_planner.predicates.predicate import SmallChange, SmallSelect
from hivesql_planner.statements.bound import Statement, WriteDirectory

_LOCKS = "LOCK INFORMATION:"


def explain(plan: Plan) -> str:
    """The whole plan, one step a line, indented by what contains what."""
    return "\n".join(_plan_lines(plan))


def explain_locks(locks: Iterable[Lock], *, formatted: bool = False) -> str:
    """The LOCK INFORMATION block of EXPLAIN LOCKS; ``formatted`` gives Hive's JSON."""
    lines = list(map(str, locks))
    if formatted:
        # A text of a list, not a list: seen in Hive 4.1.
        return json.dumps({_LOCKS: f"[{', '.join(lines)}]"}, separators=(",", ":"))
    return "\n".join([_LOCKS, *lines])


def _plan_lines(plan: Plan) -> Iterator[str]:
    if plan.opens_txn:
        yield "TRANSACTION"
    for target in plan.targets:
        yield f"  write id in {target.table} for {target.operation.name.lower()}"
    for lock in plan.locks:
        yield f"  lock {lock}"
    match plan.body:
        case Select() as select:
            yield from _select_lines(select)
        case Insert(branches=branches, create=create):
            if create:
                yield f"CREATE TABLE {create.name}"
            for branch in branches:
                yield from _insert_lines(branch)
        case Change() as change:
            yield from _change_lines(change)
        case Command(statement=statement):
            yield from _command_lines(statement)


def _select_lines(select: Select) -> Iterator[str]:
    yield "SELECT"
    if select.small:
        yield f"  without Spark while {_little(select.small)}"
    yield from _query_lines(select.query)


def _command_lines(statement: Statement) -> Iterator[str]:
    if not isinstance(statement, WriteDirectory):
        yield f"COMMAND {type(statement).__name__}"
        return
    yield f"REPLACE {statement.format} files of {statement.path}"
    yield from _query_lines(statement.query)


def _query_lines(query: Query, indent: str = "  ") -> Iterator[str]:
    yield f"{indent}query {' '.join(query.sql.split())}"
    for source in query.sources:
        yield f"{indent}  {source.view} = {_scan_text(source.scan)}"


def _scan_text(scan: Scan) -> str:
    text = f"scan {scan.table.name}"
    if scan.changes:
        text += f" changes of {scan.changes}"
    if scan.as_of:
        text += f" as of {scan.as_of}"
    if scan.with_row_id:
        text += " with row__id"
    if scan.table.partition_columns:
        text += f" partitions {len(scan.partitions)} of {scan.partition_count}"
    if scan.where:
        text += f" search {scan.where}"
    return text


def _insert_lines(branch: InsertBranch) -> Iterator[str]:
    yield f"INSERT {_write_text(branch.write)}"
    if branch.static_partition or branch.dynamic_partition:
        keys = tuple(branch.static_partition)
        static = partition_name(keys, tuple(branch.static_partition.values())).split("/")
        spec = [part for part in static if part] if keys else []
        yield f"  partition ({', '.join([*spec, *branch.dynamic_partition])})"
    if branch.check:
        yield f"  constraint {branch.check}"
    if branch.small:
        yield f"  without Spark: rows {len(branch.small.rows)}"
    yield from _query_lines(branch.query)


def _change_lines(change: Change) -> Iterator[str]:
    yield f"CHANGE {change.target.table.name}"
    yield f"  target {change.target_alias} = {_scan_text(change.target)}"
    if change.source:
        yield f"  source {change.source_alias}"
        yield from _query_lines(change.source, "    ")
    if change.on:
        yield f"  {'on' if change.source else 'where'} {change.on}"
    for query in change.queries:
        yield f"  {query.view} = {_scan_text(query.scan)}"
    if change.check:
        yield f"  constraint {change.check}"
    if change.small:
        yield f"  without Spark while {_little(change.small)}"
    if change.cardinality_check:
        yield "  check that no target row matches twice"
    for branch in change.branches:
        yield from _branch_lines(branch)


def _little(small: SmallChange | SmallSelect) -> str:
    """What a statement without Spark reads at most."""
    what = "there are" if small.where is None else "row groups that may hold such rows have"
    more = "" if small.where else " to read"
    return f"{what} at most {small.most_bytes} bytes{more}"


def _branch_lines(branch: ChangeBranch) -> Iterator[str]:
    condition = f" and {branch.condition}" if branch.condition else ""
    yield f"  when {branch.when.value}{condition}"
    if branch.delete:
        yield f"    {_write_text(branch.delete)}"
    if branch.insert:
        yield f"    {_write_text(branch.insert)}"
        yield f"      values {', '.join(map(str, branch.values))}"


def _write_text(write: Write) -> str:
    table = write.table.name
    match write.kind:
        case WriteKind.DELTA:
            return f"delta_W_W_{write.statement_id:04d} of {table}"
        case WriteKind.DELETE_DELTA:
            return f"delete_delta_W_W_{write.statement_id:04d} of {table}"
        case WriteKind.BASE:
            return f"base_W of {table}"
        case WriteKind.FILES:
            return f"{'replace ' if write.overwrite else ''}files of {table}"
