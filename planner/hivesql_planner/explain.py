"""A plan as text: exactly what run executes, the same text every time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from hivesql_planner.definitions.describe import (
    Description,
    describe_new_table,
    describe_steps,
)
from hivesql_planner.definitions.steps import Definition
from hivesql_planner.few_rows import SmallMerge
from hivesql_planner.locks.lock import Lock
from hivesql_planner.model.table import SPARK_VIEWS, Column, Table, TableName, partition_name
from hivesql_planner.plan import (
    Change,
    ChangeBranch,
    Command,
    Insert,
    InsertBranch,
    Plan,
    Select,
    When,
    Write,
    WriteKind,
)
from hivesql_planner.planning import plan
from hivesql_planner.predicates.predicate import SmallChange, SmallSelect
from hivesql_planner.predicates.search_text import search_of
from hivesql_planner.relations import Expr, Query, Scan
from hivesql_planner.settings.settings import Settings
from hivesql_planner.statements.bound import Statement
from hivesql_planner.transactional_plans import choose_locks

_LOCKS = "LOCK INFORMATION:"


def explain(plan: Plan) -> str:
    """Return the whole plan, one step a line, indented by what contains what."""
    return "\n".join(_plan_lines(plan))


def explain_locks(locks: Iterable[Lock], *, formatted: bool = False) -> str:
    """Return the LOCK INFORMATION block of EXPLAIN LOCKS; ``formatted`` gives Hive's JSON."""
    lines = list(map(str, locks))
    if formatted:
        # A text of a list, not a list: seen in Hive 4.1.
        return json.dumps({_LOCKS: f"[{', '.join(lines)}]"}, separators=(",", ":"))
    return "\n".join([_LOCKS, *lines])


def _plan_lines(plan: Plan) -> Iterator[str]:
    yield from _guard_lines(plan)
    match plan.body:
        case Select() as select:
            yield from _select_lines(select)
        case Insert() as insert:
            yield from _inserting_lines(insert)
        case Change() as change:
            yield from _change_lines(change)
        case Definition() as definition:
            for description in describe_steps(definition):
                yield from _described_lines(description)
        case Command(statement=statement):
            yield from _command_lines(statement)


def _guard_lines(plan: Plan) -> Iterator[str]:
    if plan.opens_txn:
        yield "TRANSACTION"
    for target in plan.targets:
        yield f"  write id in {target.table} for {target.operation.name.lower()}"
    for lock in plan.locks:
        yield f"  lock {lock}"
    for object_lock in plan.object_locks:
        yield f"LOCK {object_lock}"


def _inserting_lines(insert: Insert) -> Iterator[str]:
    if insert.create:
        yield from _described_lines(describe_new_table(insert.create))
    for branch in insert.branches:
        yield from _insert_lines(branch)


def _described_lines(description: Description) -> Iterator[str]:
    yield f"{description.action} {description.of}".rstrip()
    for key, text in description.details.items():
        yield f"  {key} {text}"


def _select_lines(select: Select) -> Iterator[str]:
    yield "SELECT"
    if select.small and not _reads_files(select.small, select.query):
        yield "  without Spark"
    elif select.small:
        yield f"  without Spark while {_little(select.small)}"
    yield from _query_lines(select.query)


def _reads_files(small: SmallSelect, query: Query) -> bool:
    """Tell whether there are bytes to read: the metastore answers of itself, LIMIT 0 of nothing."""
    return small.limit != 0 and not all(source.scan.table.is_system for source in query.sources)


def _command_lines(statement: Statement) -> Iterator[str]:
    # Imported late: queries are explain_in_style more often.
    from hivesql_planner.definitions.describe_command import describe_command

    description = describe_command(statement)
    if description is None:
        yield f"COMMAND {type(statement).__name__}"
        return
    yield from _described_lines(description)
    query = getattr(statement, "query", None)
    if isinstance(query, Query):
        yield from _query_lines(query)


def _query_lines(query: Query, indent: str = "  ") -> Iterator[str]:
    yield f"{indent}query {' '.join(query.sql.split())}"
    for source in query.sources:
        yield f"{indent}  {source.view} = {_scan_text(source.scan)}"


def _scan_text(scan: Scan) -> str:
    if scan.table.in_spark:
        what = f"{scan.table.in_spark} {scan.table.name.name}"
        return f"{what}, which Spark reads outside of all locks"
    if scan.table.is_system:
        return f"{scan.table.name}, which the metastore tells, outside of all locks"
    text = f"scan {scan.table.name}"
    if scan.changes:
        text += f" changes of {scan.changes}"
    if scan.restores:
        text += " gone since then," if scan.as_of else f" newer than {scan.restores}"
    if scan.as_of:
        text += f" as of {scan.as_of}"
    hidden = {
        "row__id": scan.with_row_id,
        "input__file__name": scan.with_file_name,
        "block__offset__inside__file": scan.with_line_offset,
        "deleted rows": scan.with_deleted,
    }
    text += "".join(f" with {name}" for name, is_read in hidden.items() if is_read)
    if scan.table.partition_columns:
        text += f" partitions {len(scan.partitions)} of {scan.partition_count}"
    if searched := search_of(scan.table, scan.where):
        text += f" search {searched}"
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
    by_keys = not (change.queries or change.by_row_id or change.has(When.NOT_MATCHED_BY_SOURCE))
    if change.source and change.on and by_keys:
        yield "  target by the keys of the source, which is computed once"
    for query in change.queries:
        yield f"  {query.view} = {_scan_text(query.scan)}"
    yield from _column_lines(change)
    if change.check:
        yield f"  constraint {change.check}"
    if few := change.merge or change.small:
        yield f"  without Spark while {_little(few)}"
    if change.cardinality_check:
        yield "  check that no target row matches twice"
    for branch in change.branches:
        yield from _branch_lines(branch)


def _little(small: SmallChange | SmallSelect | SmallMerge) -> str:
    """Tell what a statement without Spark reads at most."""
    if isinstance(small, SmallMerge):
        rows = "" if small.rows else f"the source has at most {small.most_rows} rows and "
        return f"{rows}row groups that may match have at most {small.most_matching_bytes} bytes"
    what = "there are" if small.where is None else "row groups that may hold such rows have"
    more = "" if small.where else " to read"
    return f"{what} at most {small.most_bytes} bytes{more}"


def _column_lines(change: Change) -> Iterator[str]:
    if change.added:
        columns = ", ".join(f"{column.name} {column.type}" for column in change.added)
        yield f"  add columns {columns}"
    for old, new in _widened(change):
        yield f"  change column {old.name} from {old.type} to {new.type}"


def _widened(change: Change) -> list[tuple[Column, Column]]:
    """Pair columns that get other types with what they become."""
    columns = {column.name: column for column in change.target.table.columns}
    return [(old, columns[old.name]) for old in change.narrow]


def _branch_lines(branch: ChangeBranch) -> Iterator[str]:
    condition = f" and {branch.condition}" if branch.condition else ""
    moves = ", to another partition or bucket" if branch.moves else ""
    yield f"  when {branch.when.value}{condition}{moves}"
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


_Json = dict[str, Any]


def explain_in_style(statement: Statement, style: str, settings: Settings) -> str:
    """Tell what EXPLAIN answers in one of its styles; ``locks`` may go with ``formatted``."""
    if style.endswith("locks"):
        return explain_locks(choose_locks(statement, settings), formatted=style != "locks")
    if style == "dependency":
        from hivesql_planner.dependencies import explain_dependencies

        return explain_dependencies(plan(statement, settings).body)
    tell = {"extended": explain_extended, "formatted": explain_formatted}.get(style, explain)
    return tell(plan(statement, settings))


def explain_extended(decided: Plan) -> str:
    """Print the plan, then of every table what it is, where it lies, which partitions are read."""
    lines = [explain(decided)]
    read = {scan.table.name: scan for scan in _scans(decided)}
    tables: dict[TableName, Table] = {name: scan.table for name, scan in read.items()}
    tables |= {write.table.name: write.table for write in _writes(decided)}
    if tables:
        lines.append("TABLES")
    for name in sorted(tables, key=str):
        table = tables[name]
        if table.is_system:
            lines.append(f"  {name} of the metastore")
            continue
        if table.in_spark:
            lines.append(f"  {name.name} {table.in_spark} of Spark")
            continue
        lines.append(f"  {name} {_kind(table)}, {table.format}, {table.location or 'new'}")
        if table.bucket_columns:
            columns = ", ".join(table.bucket_columns)
            lines.append(f"    clustered by ({columns}) into {table.bucket_count} buckets")
        for partition in read[name].partitions if name in read else ():
            spec = partition_name(table.partition_names, partition.values)
            lines.append(f"    partition {spec} {partition.location}")
    return "\n".join(lines)


def explain_formatted(decided: Plan) -> str:
    """Return the plan as JSON on one line."""
    members = {
        "transaction": decided.opens_txn,
        "writeIds": [
            {"table": str(target.table), "operation": target.operation.name.lower()}
            for target in decided.targets
        ],
        "locks": [_lock(lock) for lock in decided.locks],
        "objectLocks": [str(lock) for lock in decided.object_locks],
        **_body(decided),
    }
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def _kind(table: Table) -> str:
    if table.is_transactional:
        return "full ACID" if table.is_full_acid else "insert-only"
    return "not transactional"


def _queries(decided: Plan) -> Iterator[Query]:
    match decided.body:
        case Select(query=query):
            yield query
        case Insert(branches=branches):
            yield from (branch.query for branch in branches)
        case Change(source=source) if source is not None:
            yield source


def _scans(decided: Plan) -> Iterator[Scan]:
    for query in _queries(decided):
        yield from (source.scan for source in query.sources)
    if isinstance(decided.body, Change):
        yield decided.body.target
        yield from (source.scan for source in decided.body.queries)


def _writes(decided: Plan) -> Iterator[Write]:
    match decided.body:
        case Insert(branches=branches):
            yield from (branch.write for branch in branches)
        case Change(branches=clauses):
            for clause in clauses:
                yield from filter(None, (clause.delete, clause.insert))


def _lock(lock: Lock) -> _Json:
    names = {"database": lock.database, "table": lock.table, "partition": lock.partition}
    return {"type": str(lock.type), **{key: name for key, name in names.items() if name}}


def _body(decided: Plan) -> _Json:
    match decided.body:
        case Select(query=query, small=small):
            is_limited = small and _reads_files(small, query)
            most = {"mostBytes": small.most_bytes} if small and is_limited else {}
            without_spark = {"withoutSpark": most} if small else {}
            return {"select": _query(query) | without_spark}
        case Insert(branches=branches, create=create):
            creation = {"create": _described(describe_new_table(create))} if create else {}
            return {**creation, "insert": [_branch(branch) for branch in branches]}
        case Change() as change:
            return {"change": _change(change)}
        case Definition() as definition:
            return {
                "steps": [_described(description) for description in describe_steps(definition)]
            }
        case Command(statement=statement):
            from hivesql_planner.definitions.describe_command import describe_command

            told_command = describe_command(statement)
            if told_command is None:
                return {"command": type(statement).__name__}
            return {"steps": [_described(told_command)]}


def _described(description: Description) -> _Json:
    action = description.action.lower()
    return {"action": action, "of": description.of} | {
        _camel(key): text for key, text in description.details.items()
    }


def _camel(text: str) -> str:
    first, *rest = text.split()
    return first + "".join(map(str.capitalize, rest))


def _query(query: Query) -> _Json:
    return {
        "sql": query.sql,
        "scans": [{"view": source.view, **_scan(source.scan)} for source in query.sources],
    }


def _scan(scan: Scan) -> _Json:
    if scan.table.in_spark:
        kind = "sparkView" if scan.table.name.database == SPARK_VIEWS else "sparkTable"
        return {kind: scan.table.name.name}
    members: _Json = {"table": str(scan.table.name)}
    names = scan.table.partition_names
    if names:
        members["partitions"] = [
            partition_name(names, partition.values) for partition in scan.partitions
        ]
        members["partitionCount"] = scan.partition_count
    if scan.with_row_id:
        members["rowId"] = True
    if scan.with_file_name:
        members["fileName"] = True
    if scan.with_line_offset:
        members["lineOffset"] = True
    if scan.with_deleted:
        members["deletedRows"] = True
    optional = {
        "search": search_of(scan.table, scan.where),
        "asOf": scan.as_of,
        "changes": scan.changes,
    }
    return members | {key: str(value) for key, value in optional.items() if value}


def _write(write: Write) -> _Json:
    members = {"directory": write.kind.value, "table": str(write.table.name)}
    more = {"overwrite": True} if write.overwrite else {}
    return {**members, "statementId": write.statement_id, **more}


def _branch(branch: InsertBranch) -> _Json:
    members: _Json = {"write": _write(branch.write), "query": _query(branch.query)}
    if branch.static_partition:
        members["partition"] = dict(branch.static_partition)
    if branch.dynamic_partition:
        members["dynamicPartition"] = list(branch.dynamic_partition)
    if branch.small:
        members["withoutSpark"] = {"rows": len(branch.small.rows)}
    return members | _texts(constraint=branch.check)


def _change(change: Change) -> _Json:
    members: _Json = {"target": {"alias": change.target_alias, **_scan(change.target)}}
    if change.source:
        members["source"] = {"alias": change.source_alias, **_query(change.source)}
    members |= _texts(on=change.on, constraint=change.check)
    if change.queries:
        members["scans"] = [
            {"view": source.view, **_scan(source.scan)} for source in change.queries
        ]
    if change.added:
        members["addColumns"] = {column.name: str(column.type) for column in change.added}
    if change.narrow:
        members["changeColumns"] = {old.name: str(new.type) for old, new in _widened(change)}
    if change.small:
        members["withoutSpark"] = {"mostBytes": change.small.most_bytes}
    if change.merge:
        few = change.merge
        members["withoutSpark"] = {
            "mostBytes": few.most_matching_bytes, "mostRowsOfSource": few.most_rows
        }  # fmt: skip
    if change.cardinality_check:
        members["cardinalityCheck"] = True
    return {**members, "branches": [_clause(branch) for branch in change.branches]}


def _clause(branch: ChangeBranch) -> _Json:
    members: _Json = {"when": branch.when.value}
    members |= _texts(condition=branch.condition)
    if branch.moves:
        members["moves"] = True
    if branch.delete:
        members["delete"] = _write(branch.delete)
    if branch.insert:
        members["insert"] = _write(branch.insert)
        members["values"] = [str(value) for value in branch.values]
    return members


def _texts(**expressions: Expr | None) -> _Json:
    return {key: str(value) for key, value in expressions.items() if value}
