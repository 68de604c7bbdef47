"""The rows of ``sys`` and ``information_schema``, made of the tables of a Hive metastore.

What Hive has as views over ``sys`` are functions here: over few rows a job of Spark's would take
longer than all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from typing import Any

from hivesql_planner.compaction.queue import ENDED, KINDS, QUEUED
from hivesql_planner.model.names import split_names
from hivesql_planner.model.privileges import Principal
from hivesql_planner.model.table import TEMPORARY, Table, TableName
from hivesql_planner.system_tables.definitions import INFORMATION_SCHEMA

StoredRow = Mapping[str, Any]
Stored = Mapping[str, Sequence[StoredRow]]
"""Rows of a metastore's tables, tables and columns by Hive's names in lower case."""
Row = tuple[Any, ...]

_CATALOG = "default"
"""What Hive calls its only catalog here."""
_SIZED = re.compile(r"^(?:var)?char\s*\(\s*(\d+)\s*\)$")
_DECIMAL = re.compile(r"^(?:decimal|numeric)\s*\(\s*(\d+)(?:\s*,\s*(\d+))?")
_DIGITS = {"bigint": "19", "int": "10", "smallint": "5", "tinyint": "3"}
_BITS = {"float": "23", "double": "53"}
_FRACTIONS = {"date": 0, "timestamp": 9}
_TXN_STATES = {"o": "open", "a": "aborted", "c": "commited"}  # as Hive writes it
_TXN_TYPES = (
    "DEFAULT", "REPL_CREATED", "READ_ONLY", "COMPACTION", "MATER_VIEW_REBUILD", "SOFT_DELETE",
    "REBALANCE_COMPACTION",
)  # fmt: skip
_OPERATIONS = {"s": "SELECT", "i": "INSERT", "u": "UPDATE", "d": "DELETE", "c": "COMPACT"}
_LOCK_STATES = {"a": "acquired", "w": "waiting"}
_LOCK_TYPES = {"e": "exclusive", "x": "excl_write", "r": "shared_read", "w": "shared_write"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """For whom rows are made: whose privileges count (None: all rows), and which clock is read."""

    holders: frozenset[Principal] | None = None
    zone: tzinfo = timezone.utc

    def clock(self, millis: int | None) -> str | None:
        """Write a moment as Hive's from_unixtime does."""
        if millis is None:
            return None
        return datetime.fromtimestamp(millis // 1000, self.zone).strftime("%Y-%m-%d %H:%M:%S")


_Make = Callable[[Stored, Viewer], Iterable[StoredRow]]


@dataclass(frozen=True, slots=True)
class _Named:
    """A table or view of a database that nobody hides, and the two rows that tell of it."""

    database: StoredRow
    table: StoredRow

    @property
    def names(self) -> StoredRow:
        """Name it as ``information_schema`` does."""
        return {
            "table_catalog": _CATALOG,
            "table_schema": self.database["name"],
            "table_name": self.table["tbl_name"],
        }

    @property
    def is_view(self) -> bool:
        """Tell whether Hive calls it one there: it has a text, as materialized views have."""
        return bool(self.view_text)

    @property
    def view_text(self) -> str | None:
        """Return its query as its user wrote it, or else with full names; None of a table."""
        text = self.table["view_original_text"] or self.table["view_expanded_text"]
        return None if text is None else str(text)


def stored_tables_of(name: TableName) -> tuple[str, ...]:
    """Name the metastore's tables that the rows of a system table are made of."""
    made = _MADE.get(name)
    return (name.name,) if made is None else made[0]


def system_rows(table: Table, stored: Stored, viewer: Viewer) -> list[Row]:
    """Return the rows of a system table, in the order of its columns; what is not known is NULL."""
    made = _MADE.get(table.name)
    rows = stored[table.name.name] if made is None else made[1](stored, viewer)
    names = table.column_names
    return [tuple(row.get(name) for name in names) for row in rows]


# -- who may see what
def _visible(stored: Stored, viewer: Viewer) -> Iterator[_Named]:
    """Yield the tables and views that may be read, as ``information_schema`` has them."""
    databases = {row["db_id"]: row for row in _databases(stored)}
    holders = viewer.holders
    granted = {
        row["tbl_id"]
        for row in (stored["tbl_privs"] if holders is not None else ())
        if row["tbl_priv"] == "SELECT" and _grantee(row) in (holders or ())
    }
    for row in stored["tbls"]:
        database = databases.get(row["db_id"])
        if database is None:
            continue
        if holders is None or row["tbl_id"] in granted or _owner(row, "owner") in holders:
            yield _Named(database, row)


def _databases(stored: Stored) -> Iterator[StoredRow]:
    return (row for row in stored["dbs"] if not row["name"].startswith(TEMPORARY))


def _grantee(row: StoredRow) -> Principal:
    return Principal(row["principal_name"], row["principal_type"])


def _owner(row: StoredRow, name: str) -> Principal | None:
    return Principal(row[name], row.get("owner_type") or "USER") if row[name] else None


def _visible_names(stored: Stored, viewer: Viewer) -> set[tuple[str, str]]:
    return {(named.database["name"], named.table["tbl_name"]) for named in _visible(stored, viewer)}


# -- information_schema
def _schemata(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    reached = {named.database["db_id"] for named in _visible(stored, viewer)}
    for row in _databases(stored):
        holders = viewer.holders
        if holders is None or row["db_id"] in reached or _owner(row, "owner_name") in holders:
            yield {
                "catalog_name": _CATALOG,
                "schema_name": row["name"],
                "schema_owner": row["owner_name"],
                "sql_path": row["db_location_uri"],
            }


def _tables(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    for named in _visible(stored, viewer):
        yield {
            **named.names,
            "table_type": "VIEW" if named.is_view else "BASE_TABLE",
            "is_insertable_into": "NO" if named.is_view else "YES",
            "is_typed": "NO",
        }


def _views(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    changes = ("is_updatable", "is_insertable_into", "is_trigger_updatable",
               "is_trigger_deletable", "is_trigger_insertable_into")  # fmt: skip
    for named in _visible(stored, viewer):
        if named.is_view:
            text = {"view_definition": named.view_text}
            yield {**named.names, **text, **dict.fromkeys(changes, False)}


def _columns(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    """Tell the columns of the files, as Hive's view does: those of partitions are not there."""
    described = {row["sd_id"]: row["cd_id"] for row in stored["sds"]}
    columns: dict[int, list[StoredRow]] = {}
    for row in stored["columns_v2"]:
        columns.setdefault(row["cd_id"], []).append(row)
    for named in _visible(stored, viewer):
        of_table = columns.get(described.get(named.table["sd_id"], 0), ())
        for row in sorted(of_table, key=lambda row: row["integer_idx"]):
            yield {
                **named.names,
                "column_name": row["column_name"],
                "ordinal_position": row["integer_idx"],
                "is_nullable": "YES",
                "dtd_identifier": row.get("own_cd_id", row["cd_id"]),
                "is_self_referencing": "NO",
                "is_identity": "NO",
                "is_generated": "NEVER",
                "is_system_time_period_start": "NO",
                "is_system_time_period_end": "NO",
                "is_updatable": "YES",
                **_measures(row["type_name"]),
            }


def _measures(type_name: str) -> StoredRow:
    """Tell lengths and digits of a type, as Hive's view reads them off its name."""
    lower = type_name.lower()
    sized, decimal = _SIZED.match(lower), _DECIMAL.match(lower)
    length = int(sized[1]) if sized else None
    digits = decimal[1] if decimal else _DIGITS.get(lower) or _BITS.get(lower)
    radix = None if digits is None else 2 if lower in _BITS else 10
    return {
        "data_type": type_name,
        "declared_data_type": type_name,
        "character_maximum_length": length,
        "character_octet_length": length,
        "numeric_precision": digits,
        "declared_numeric_precision": digits,
        "numeric_precision_radix": radix,
        # So says Hive's view.
        "declared_numeric_scale": None if decimal else radix,
        "numeric_scale": decimal[2] if decimal else None,
        "datetime_precision": _FRACTIONS.get(lower),
    }


def _table_privileges(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    named_by_id = {named.table["tbl_id"]: named for named in _visible(stored, viewer)}
    for row in stored["tbl_privs"]:
        named = named_by_id.get(row["tbl_id"])
        if named is None or (viewer.holders is not None and _grantee(row) not in viewer.holders):
            continue
        yield {
            **named.names,
            "grantor": row["grantor"],
            "grantee": row["principal_name"],
            "privilege_type": row["tbl_priv"],
            "is_grantable": "YES" if row["grant_option"] else "NO",
            "with_hierarchy": "NO",
        }


def _compactions_seen(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    seen = _visible_names(stored, viewer)
    rows = _compactions(stored, viewer)
    return (row for row in rows if (row["c_database"], row["c_table"]) in seen)


def _transactions_seen(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    seen = _visible_names(stored, viewer)
    rows = _transactions(stored, viewer)
    return (row for row in rows if (row.get("tc_database"), row.get("tc_table")) in seen)


def _locks_seen(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    seen = _visible_names(stored, viewer)
    return (row for row in _locks(stored, viewer) if (row["db"], row["table"]) in seen)


# -- views of sys
def _compactions(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    for prefix, table, states in (
        ("cc", "completed_compactions", ENDED), ("cq", "compaction_queue", QUEUED),
    ):  # fmt: skip
        for stored_row in stored[table]:
            row = {key.removeprefix(f"{prefix}_"): value for key, value in stored_row.items()}
            yield _compaction(row, states, viewer)


def _compaction(row: StoredRow, states: Mapping[str, str], viewer: Viewer) -> StoredRow:
    ended, buckets = row.get("end"), row["number_of_buckets"]
    worker_host, worker = _host_and_thread(row["worker_id"])
    initiator_host, initiator = _host_and_thread(row["initiator_id"])
    same = (
        "id", "database", "table", "partition", "worker_version", "hadoop_job_id", "run_as",
        "error_message", "next_txn_id", "txn_id", "highest_write_id", "initiator_version",
        "tblproperties",
    )  # fmt: skip
    clocks = {
        key: viewer.clock(row.get(key))
        for key in ("enqueue_time", "start", "commit_time", "cleaner_start")
    }
    return {
        **{f"c_{key}": row[key] for key in same},
        **{f"c_{key}": text for key, text in clocks.items()},
        "c_catalog": _CATALOG,
        "c_type": KINDS.get(row["type"], "UNKNOWN"),
        "c_state": states.get(row["state"], "UNKNOWN"),
        "c_duration": None if ended is None or row["start"] is None else str(ended - row["start"]),
        "c_worker_host": worker_host,
        "c_worker_id": worker,
        "c_initiator_host": initiator_host,
        "c_initiator_id": initiator,
        "c_pool_name": row["pool_name"] or "default",
        "c_number_of_buckets": None if buckets is None else str(buckets),
    }


def _host_and_thread(name: str | None) -> tuple[str | None, str | None]:
    """Cut ``<host>-<thread>`` as SHOW COMPACTIONS does: hosts may have dashes."""
    if name is None:
        return None, None
    host, dash, thread = name.rpartition("-")
    return (host, thread) if dash else (name, name)


def _transactions(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    components: dict[int, dict[Row, StoredRow]] = {}
    for row in stored["txn_components"]:
        components.setdefault(row["tc_txnid"], {})[tuple(row.values())] = row
    for row in stored["txns"]:
        number = row["txn_type"]
        of_txn = {
            **{key: row[f"txn_{key}"] for key in
               ("user", "host", "agent_info", "meta_info", "heartbeat_count")},
            "txn_id": row["txn_id"],
            "state": _TXN_STATES.get(row["txn_state"], "UNKNOWN"),
            "started": viewer.clock(row["txn_started"]),
            "last_heartbeat": viewer.clock(row["txn_last_heartbeat"]),
            "type": _TXN_TYPES[number] if number in range(len(_TXN_TYPES)) else None,
        }  # fmt: skip
        for component in components.get(row["txn_id"], {}).values() or [{}]:
            operation = _OPERATIONS.get(component.get("tc_operation_type", ""))
            yield {**of_txn, **component, "tc_operation_type": operation}


def _locks(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    for row in stored["hive_locks"]:
        yield {
            **{key.removeprefix("hl_"): value for key, value in row.items()},
            "lock_state": _LOCK_STATES.get(row["hl_lock_state"]),
            "lock_type": _LOCK_TYPES.get(row["hl_lock_type"]),
            # Hive's view takes milliseconds for seconds.
            "last_heartbeat": viewer.clock(row["hl_last_heartbeat"] or None),
            "acquired_at": viewer.clock(row["hl_acquired_at"]),
        }


_BASICS = {
    "COLUMN_STATS_ACCURATE": "column_stats_accurate", "numFiles": "num_files",
    "numRows": "num_rows", "rawDataSize": "raw_data_size", "totalSize": "total_size",
    "transient_lastDdlTime": "transient_last_ddl_time",
}  # fmt: skip


def _basics(parameters: str, owner: str) -> _Make:
    def rows(stored: Stored, viewer: Viewer) -> Iterable[StoredRow]:
        by_owner: dict[int, dict[str, Any]] = {}
        for row in stored[parameters]:
            known = by_owner.setdefault(row[owner], {owner: row[owner]})
            if row["param_key"] in _BASICS:
                known[_BASICS[row["param_key"]]] = row["param_value"]
        return by_owner.values()

    return rows


def _version(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    """Tell the release whose tables these are."""
    yield {
        "ver_id": 1,
        "schema_version": "4.1.0",
        "version_comment": "Hive release version 4.1.0",
    }


# -- what our metastore keeps in columns of its own
def _column_statistics(statistics: str) -> _Make:
    def rows(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
        return (_measured(row) for row in stored[statistics])

    return rows


def _measured(row: StoredRow) -> StoredRow:
    kind = str(row["column_type"]).lower()
    low, high = row["low_value"], row["high_value"]
    if kind.startswith("decimal"):
        ends = {"big_decimal_low_value": low, "big_decimal_high_value": high}
    elif kind in _BITS:
        ends = {"double_low_value": _number(low), "double_high_value": _number(high)}
    else:
        ends = {"long_low_value": _whole(low), "long_high_value": _whole(high)}
    return {**row, **ends, "engine": "hive"}


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _whole(text: str | None) -> int | None:
    """Read a whole number; days or seconds since 1970 of a date or time; None of all else."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text[:26].strip()).replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    seconds = int((moment - datetime.fromtimestamp(0, timezone.utc)).total_seconds() // 1)
    return seconds // 86400 if len(text) == 10 else seconds


def _key_constraints(stored: Stored, viewer: Viewer) -> Iterator[StoredRow]:
    """Tell one row of each column of a constraint; the parent is who has the key, as in Hive."""
    databases = {row["db_id"]: row["name"] for row in stored["dbs"]}
    described = {row["sd_id"]: row["cd_id"] for row in stored["sds"]}
    places = {(row["cd_id"], row["column_name"]): row["integer_idx"]
              for row in stored["columns_v2"]}  # fmt: skip
    ids = {f"{databases.get(row['db_id'])}.{row['tbl_name']}": row["tbl_id"]
           for row in stored["tbls"]}  # fmt: skip
    cds = {row["tbl_id"]: described.get(row["sd_id"]) for row in stored["tbls"]}

    def side(which: str, table_id: int | None, column: str) -> StoredRow:
        cd_id = cds.get(table_id or 0)
        return {f"{which}_tbl_id": table_id, f"{which}_cd_id": cd_id,
                f"{which}_integer_idx": places.get((cd_id or 0, column))}  # fmt: skip

    for row in stored["key_constraints"]:
        columns = split_names(row["column_names"])
        others = split_names(row["referenced_columns"])
        for position, column in enumerate(columns or [""], 1):
            ends = side("parent", row["parent_tbl_id"], column)
            if row["referenced_table"]:
                other = others[position - 1] if position <= len(others) else ""
                parent = ids.get(row["referenced_table"])
                child = side("child", row["parent_tbl_id"], column)
                ends = {**child, **side("parent", parent, other)}
            yield {
                **ends,
                "position": position,
                "constraint_name": row["constraint_name"],
                "constraint_type": str(row["constraint_type"]),
                "enable_validate_rely": row["enable_validate_rely"],
                "default_value": row["default_value"] or None,
            }


def _nothing(stored: Stored, viewer: Viewer) -> Iterable[StoredRow]:
    return ()


_OF_TABLES = ("dbs", "tbls", "tbl_privs")
_OF_COMPACTIONS = ("compaction_queue", "completed_compactions")
_OF_TXNS = ("txns", "txn_components")
_OF_COLUMNS = ("sds", "columns_v2")
_MADE: Mapping[TableName, tuple[tuple[str, ...], _Make]] = {
    **{TableName(INFORMATION_SCHEMA, name): made for name, made in {
        "schemata": (_OF_TABLES, _schemata),
        "tables": (_OF_TABLES, _tables),
        "views": (_OF_TABLES, _views),
        "columns": ((*_OF_TABLES, *_OF_COLUMNS), _columns),
        "table_privileges": (_OF_TABLES, _table_privileges),
        # Hive's SQL-standard mode has none of columns, either.
        "column_privileges": ((), _nothing),
        "compactions": ((*_OF_TABLES, *_OF_COMPACTIONS), _compactions_seen),
        "transactions": ((*_OF_TABLES, *_OF_TXNS), _transactions_seen),
        "locks": ((*_OF_TABLES, "hive_locks"), _locks_seen),
        "scheduled_queries": ((), _nothing),
        "scheduled_executions": ((), _nothing),
    }.items()},
    **{TableName("sys", name): made for name, made in {
        "compactions": (_OF_COMPACTIONS, _compactions),
        "transactions": (_OF_TXNS, _transactions),
        "locks": (("hive_locks",), _locks),
        "table_stats_view": (("table_params",), _basics("table_params", "tbl_id")),
        "partition_stats_view": (("partition_params",), _basics("partition_params", "part_id")),
        "version": ((), _version),
        "db_version": (("version",), lambda stored, viewer: stored["version"]),
        "tab_col_stats": (("tab_col_stats",), _column_statistics("tab_col_stats")),
        "part_col_stats": (("part_col_stats",), _column_statistics("part_col_stats")),
        "key_constraints": (("dbs", "tbls", *_OF_COLUMNS, "key_constraints"), _key_constraints),
        "scheduled_queries": ((), _nothing),
        "scheduled_executions": ((), _nothing),
    }.items()},
}  # fmt: skip
"""Tables that are none of the metastore's: what they are made of, and how."""
