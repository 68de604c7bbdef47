"""Entries of a Hive Metastore's notification log: for copies of tables, and of writes."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hivesql_executor.metastore.hms.client import CATALOG
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.model.table import TableName
from hivesql_planner.write_history import TableWrite, unknown_counts

_KINDS = {kind.value: kind for kind in EventKind if kind is not EventKind.OTHER} | {
    "ALTER_PARTITIONS": EventKind.ALTER_PARTITION
}
_OF_TRANSACTIONS = (EventKind.OPEN_TXN, EventKind.ALLOC_WRITE_ID, EventKind.COMMIT_TXN,
                    EventKind.ABORT_TXN)  # fmt: skip
# They leave descriptions and partitions as they are.
_HARMLESS = frozenset({
    "INSERT", "ACID_WRITE_EVENT", "BATCH_ACID_WRITE_EVENT", "RELOAD", "LOAD_PARTITION_DONE",
    "UPDATE_TBL_COL_STAT_EVENT", "DELETE_TBL_COL_STAT_EVENT", "UPDATE_PART_COL_STAT_EVENT",
    "UPDATE_PART_COL_STAT_EVENT_BATCH", "DELETE_PART_COL_STAT_EVENT", "CREATE_FUNCTION",
    "DROP_FUNCTION", "CREATE_ISCHEMA", "ALTER_ISCHEMA", "DROP_ISCHEMA", "ADD_SCHEMA_VERSION",
    "ALTER_SCHEMA_VERSION", "DROP_SCHEMA_VERSION",
})  # fmt: skip
_FOREIGN_KEY = "ADD_FOREIGNKEY"
# Numbers of SQLForeignKey's fields: database and table of the child.
_CHILD = ("4", "5")


def read_event(notification: Any) -> Event | None:
    """Return the event of a NotificationEvent; None when its message cannot be read.

    Whatever is not known to leave tables as they are is a change of the table it names.
    """
    try:
        return _read(notification)
    except (ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, zlib.error):
        return None


def _read(notification: Any) -> Event:
    kind = _kind(notification)
    if kind in _OF_TRANSACTIONS:
        return _of_transactions(notification.eventId, kind, _message(notification))
    if notification.catName not in (None, "", CATALOG):
        kind = EventKind.OTHER
    database = (notification.dbName or "").lower()
    table = TableName(database, notification.tableName.lower()) if notification.tableName else None
    renamed_to = None
    if notification.eventType == _FOREIGN_KEY:
        # It is filed under the parent, and changes the child.
        table = _child(_message(notification))
    elif notification.eventType == EventKind.ALTER_TABLE.value:
        # It is filed under the new name, and its message under the old one.
        message, after = _message(notification), table
        table = TableName(message["db"].lower(), message["table"].lower())
        renamed_to = after if after != table else None
    return Event(
        id=notification.eventId,
        kind=kind,
        database=database,
        table=table,
        renamed_to=renamed_to,
        tells_writes=False,
    )


def _kind(notification: Any) -> EventKind:
    if (kind := _KINDS.get(notification.eventType)) is not None:
        return kind
    if notification.eventType in _HARMLESS or not notification.dbName:
        return EventKind.OTHER
    return EventKind.ALTER_TABLE if notification.tableName else EventKind.ALTER_DATABASE


def _of_transactions(event_id: int, kind: EventKind, message: Mapping[str, Any]) -> Event:
    if kind is EventKind.ALLOC_WRITE_ID:
        table = TableName(message["dbName"].lower(), message["tableName"].lower())
        writes = zip(message["txnIdList"], message["writeIdList"], strict=True)
        return Event(
            id=event_id, kind=kind, database=table.database, table=table, writes=tuple(writes)
        )
    if kind is EventKind.OPEN_TXN:
        listed = message.get("txnIds")
        txn_ids = listed or range(message["fromTxnId"], message["toTxnId"] + 1)
        return Event(id=event_id, kind=kind, txn_ids=tuple(txn_ids))
    return Event(id=event_id, kind=kind, txn_ids=(message["txnid"],))


def _child(message: Mapping[str, Any]) -> TableName:
    key = json.loads(message["foreignKeyListJson"][0])
    database, name = (key[field]["str"].lower() for field in _CHILD)
    return TableName(database, name)


def _message(notification: Any) -> Mapping[str, Any]:
    text = notification.message
    if (notification.messageFormat or "").startswith("gzip"):
        text = gzip.decompress(base64.b64decode(text))
    message: Mapping[str, Any] = json.loads(text)
    return message


@dataclass(slots=True)
class WritesOfLog:
    """Writes of the tables that are there, as events tell of them in their order."""

    writes: list[TableWrite] = field(default_factory=list)
    times: dict[int, int] = field(default_factory=dict)
    """When a transaction was committed, in milliseconds since the epoch."""

    def follow(self, event: Event, time: int) -> None:
        """Take in an event, and when it was."""
        match event.kind:
            case EventKind.ALLOC_WRITE_ID if event.table is not None:
                table = event.table
                # A transaction that had to read anew has got another one.
                again = {txn_id for txn_id, _ in event.writes}
                self._forget(lambda write: write.table == table and write.txn_id in again)
                self.writes += (
                    TableWrite(
                        table=table, write_id=write_id, operation="WRITE",
                        counts=unknown_counts(), txn_id=txn_id,
                    )
                    for txn_id, write_id in event.writes
                )  # fmt: skip
            case EventKind.COMMIT_TXN:
                self.times.update(dict.fromkeys(event.txn_ids, time))
            case EventKind.ALTER_TABLE if event.table and event.renamed_to:
                self._rename(event.table, event.renamed_to)
            case EventKind.DROP_TABLE | EventKind.CREATE_TABLE:
                self._forget(lambda write: write.table == event.table)
            case EventKind.DROP_DATABASE:
                self._forget(lambda write: write.table.database == event.database)

    def committed(self) -> list[TableWrite]:
        """Return those whose transaction was committed, the latest first."""
        done = [
            replace(write, committed=self.times[write.txn_id])
            for write in self.writes
            if write.txn_id in self.times
        ]
        return sorted(done, key=lambda write: (write.committed, write.txn_id), reverse=True)

    def _rename(self, old: TableName, new: TableName) -> None:
        self.writes = [
            replace(write, table=new) if write.table == old else write for write in self.writes
        ]

    def _forget(self, is_gone: Callable[[TableWrite], bool]) -> None:
        self.writes = [write for write in self.writes if not is_gone(write)]
