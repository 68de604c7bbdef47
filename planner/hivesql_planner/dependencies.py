"""EXPLAIN DEPENDENCY: which tables, views and partitions a statement reads, as Hive's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from hivesql_planner.errors import NotSupported
from hivesql_planner.model.table import TableName, partition_name
from hivesql_planner.plan import Body, Change, Insert, Select
from hivesql_planner.relations import Scan
from hivesql_planner.transactional_plans import scans

_NO_TABLE = {"tablename": "_dummy_database@_dummy_table", "tabletype": "MANAGED_TABLE"}
"""What a query without tables reads, in Hive."""


def explain_dependencies(body: Body) -> str:
    """Return Hive's JSON; NotSupported for statements that read no rows."""
    if not isinstance(body, (Select, Insert, Change)):
        raise NotSupported(
            "EXPLAIN DEPENDENCY of a statement that is no query, INSERT, UPDATE, DELETE, MERGE or "
            "CREATE TABLE … AS"
        )
    read = [scan for scan in _in_order(body) if not scan.table.is_frame]
    members = {
        "input_tables": _inputs(read) or [_NO_TABLE],
        "input_partitions": [{"partitionName": name} for name in dict.fromkeys(_partitions(read))],
    }
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def _in_order(body: Body) -> Iterable[Scan]:
    """Tell the target of a MERGE behind its source, as Hive."""
    read = list(scans(body))
    return [*read[1:], read[0]] if isinstance(body, Change) and body.source else read


def _inputs(read: Iterable[Scan]) -> list[dict[str, Any]]:
    """Tell what the text names, then what its views read, level by level."""
    types: dict[TableName, str] = {}
    parents: dict[TableName, list[TableName]] = {}
    depths: dict[TableName, int] = {}
    for scan in read:
        views = tuple(view.name for view in scan.views)
        for depth, name in enumerate((*views, scan.table.name)):
            types.setdefault(name, "VIRTUAL_VIEW")
            depths[name] = min(depth, depths.get(name, depth))
            through = parents.setdefault(name, [])
            if depth and views[depth - 1] not in through:
                through.append(views[depth - 1])
        types[scan.table.name] = scan.table.type
    return [
        {
            "tablename": _called(name),
            "tabletype": types[name],
            **({"tableParents": f"[{', '.join(map(_called, parents[name]))}]"}
               if parents[name] else {}),
        }
        for name in sorted(types, key=lambda name: depths[name])
    ]  # fmt: skip


def _partitions(read: Iterable[Scan]) -> Iterator[str]:
    for scan in read:
        for partition in scan.partitions:
            spec = partition_name(scan.table.partition_names, partition.values)
            yield f"{_called(scan.table.name)}@{spec}"


def _called(name: TableName) -> str:
    return f"{name.database}@{name.name}"
