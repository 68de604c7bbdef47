"""What a metastore tells that does not show its tables, as rows of Hive's tables.

Numbers by which these rows find each other are made up, so only views that show none are made of
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hivesql_executor.metastore.api import LockState, Metastore
from hivesql_executor.metastore.database.transactions.lock_rows import CODES
from hivesql_planner.compaction.queue import ENDED, KINDS, QUEUED, Compaction
from hivesql_planner.errors import DataError, NoSuchObject, NotSupported
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.system_tables.definitions import INFORMATION_SCHEMA, SYS
from hivesql_planner.system_tables.views import Stored, StoredRow, stored_tables_of

_SHOWN = {
    INFORMATION_SCHEMA: ("schemata", "tables", "views", "columns", "compactions", "locks"),
    SYS: ("compactions", "compaction_queue", "completed_compactions", "hive_locks", "locks",
          "txns"),
}  # fmt: skip
_CATALOG = ("dbs", "tbls", "sds", "columns_v2", "tbl_privs")
_KINDS = {kind: code for code, kind in KINDS.items()}
_QUEUED, _ENDED = ({state: code for code, state in states.items()} for states in (QUEUED, ENDED))


def described_rows(shown: Iterable[TableName], store: Metastore) -> Stored:
    """Return the rows that some system tables are made of; NotSupported where nobody tells them."""
    names: set[str] = set()
    for name in shown:
        if name.name not in _SHOWN[name.database]:
            raise NotSupported(f"{name} with a Hive Metastore, whose interface does not tell it")
        names.update(stored_tables_of(name))
    rows: dict[str, Sequence[StoredRow]] = {}
    if names & set(_CATALOG):
        rows |= _catalog_rows(store, with_tables=names != {"dbs"})
    if "hive_locks" in names:
        rows["hive_locks"] = _lock_rows(store)
    if "txns" in names:
        rows["txns"] = _txn_rows(store)
    if names & {"compaction_queue", "completed_compactions"}:
        rows |= _compaction_rows(store)
    return rows


def _catalog_rows(store: Metastore, *, with_tables: bool) -> Mapping[str, list[StoredRow]]:
    rows: dict[str, list[StoredRow]] = {name: [] for name in _CATALOG}
    for db_id, name in enumerate(store.databases()):
        database = store.database(name)
        rows["dbs"].append({
            "db_id": db_id, "name": name, "db_location_uri": database.location,
            "owner_name": database.owner, "owner_type": database.owner_type,
        })  # fmt: skip
        for table_name in store.tables(name) if with_tables else ():
            number = len(rows["tbls"]) + 1
            try:
                table = _table(table_name, store)
            except NoSuchObject:
                # Somebody has dropped it meanwhile.
                continue
            rows["tbls"].append({
                "tbl_id": number, "sd_id": number, "db_id": db_id, "tbl_name": table_name.name,
                "owner": table.owner if table else "",
                "owner_type": table.owner_type if table else "USER",
                "view_original_text": table.view_original if table else None,
                "view_expanded_text": table.view_text if table else None,
            })  # fmt: skip
            rows["sds"].append({"sd_id": number, "cd_id": number})
            rows["columns_v2"] += [
                {"cd_id": number, "own_cd_id": None, "column_name": column.name,
                 "type_name": str(column.type), "integer_idx": place}
                for place, column in enumerate(table.columns if table else ())
            ]  # fmt: skip
    return rows


def _table(name: TableName, store: Metastore) -> Table | None:
    """Return a table; None where it is stored as nothing here can read."""
    try:
        return store.table(name)
    except DataError:
        return None


def _lock_rows(store: Metastore) -> list[StoredRow]:
    rows: list[StoredRow] = []
    for lock in store.locks():
        blocker = (lock.blocked_by or "").partition(".")
        rows.append({
            "hl_lock_ext_id": lock.lock_id, "hl_lock_int_id": lock.internal_id,
            "hl_txnid": lock.txn_id, "hl_db": lock.database, "hl_table": lock.table,
            "hl_partition": lock.partition,
            "hl_lock_state": "a" if lock.state is LockState.ACQUIRED else "w",
            "hl_lock_type": CODES[lock.type], "hl_last_heartbeat": lock.last_heartbeat or 0,
            "hl_acquired_at": lock.acquired_at, "hl_user": lock.user, "hl_host": lock.host,
            "hl_agent_info": lock.agent_info, "hl_heartbeat_count": None,
            "hl_blockedby_ext_id": _number(blocker[0]), "hl_blockedby_int_id": _number(blocker[2]),
        })  # fmt: skip
    return rows


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None


def _txn_rows(store: Metastore) -> list[StoredRow]:
    return [
        {"txn_id": txn.txn_id, "txn_state": txn.state[0], "txn_started": txn.started,
         "txn_last_heartbeat": txn.last_heartbeat, "txn_user": txn.user, "txn_host": txn.host}
        for txn in store.transactions()
    ]  # fmt: skip


def _compaction_rows(store: Metastore) -> Mapping[str, list[StoredRow]]:
    rows: dict[str, list[StoredRow]] = {"compaction_queue": [], "completed_compactions": []}
    for compaction in store.compactions():
        if compaction.state in _QUEUED:
            rows["compaction_queue"].append(_compaction_row(compaction, "cq", _QUEUED))
        else:
            rows["completed_compactions"].append(_compaction_row(compaction, "cc", _ENDED))
    return rows


def _compaction_row(row: Compaction, prefix: str, states: Mapping[str, str]) -> StoredRow:
    values: dict[str, Any] = {
        "id": row.id, "database": row.table.database, "table": row.table.name,
        "partition": row.partition, "state": states.get(row.state), "type": _KINDS.get(row.kind),
        "worker_id": row.worker_id, "initiator_id": row.initiator_id, "pool_name": row.pool,
        "highest_write_id": row.highest_write_id, "hadoop_job_id": row.job_id,
        "error_message": row.error, "next_txn_id": row.next_txn_id, "txn_id": row.txn_id,
        "number_of_buckets": row.bucket_count,
        # Thrift tells 0 of what has not been.
        "enqueue_time": row.enqueued or None, "start": row.started or None,
        "end": row.ended or None, "commit_time": row.committed or None,
    }  # fmt: skip
    unknown = ("tblproperties", "run_as", "initiator_version", "worker_version", "cleaner_start")
    return {f"{prefix}_{key}": value for key, value in {**dict.fromkeys(unknown), **values}.items()}
