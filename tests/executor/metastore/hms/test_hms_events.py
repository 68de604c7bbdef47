"""Entries of a Hive Metastore's notification log, as Hive 3.1.3 and 4.1 wrote them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.events import read_event
from hivesql_planner.cache.events import Event, EventKind
from hivesql_planner.model.table import TableName

T, U = TableName("default", "t"), TableName("default", "u")
COMMITTED = (
    "H4sIAAAAAAAA/2XMwQrCMBAE0H+Zcy7ViJg/8KR38bBttrCSxpBsqyD+u6mFInjbeTPsC/qM4uEaA5WBi9KQatof"
    "dtvGWrsxKJwnznDAckvH5yyxk0Rh0UcW5aMvcJfmauBJqaXCc4bnnsagqF41zBjHEAwSZRWVe1zl25/a2//kF3tZ"
    "n7w/f8JmQr4AAAA="
)
ALLOCATED = (
    "H4sIAAAAAAAA/6tWKk4tKkstUrJSUtIBszOTUwOKMvOSMwsScyCiKUl+ibmpQHZKalpiaU4JUKgkMSknFSoK5lfk"
    "eab4ZBaXKFlFG8XqKJUXZZakooiUZOamFpck5hYoWRmaW5oaG5oAQS0A+55OXH8AAAA="
)
GZIP, PLAIN = "gzip(json-2.0)", "json-0.2"
CHILD = json.dumps(
    {"1": {"str": "default"}, "2": {"str": "u"}, "4": {"str": "default"}, "5": {"str": "t"}}
)


def change(kind: EventKind, table: TableName | None = T, **fields: Any) -> Event:
    return Event(id=9, kind=kind, database="default", table=table, tells_writes=False, **fields)


CASES: list[tuple[str, str | None, str | None, str, str, Event | None]] = [
    ("OPEN_TXN", None, None, PLAIN, '{"txnIds":null,"fromTxnId":2,"toTxnId":4}',
     Event(id=9, kind=EventKind.OPEN_TXN, txn_ids=(2, 3, 4))),
    ("OPEN_TXN", None, None, PLAIN, '{"txnIds":[5,7]}',
     Event(id=9, kind=EventKind.OPEN_TXN, txn_ids=(5, 7))),
    ("COMMIT_TXN", None, None, GZIP, COMMITTED,
     Event(id=9, kind=EventKind.COMMIT_TXN, txn_ids=(1,))),
    ("ABORT_TXN", None, " ", PLAIN, '{"txnid":3,"timestamp":1}',
     Event(id=9, kind=EventKind.ABORT_TXN, txn_ids=(3,))),
    ("ALLOC_WRITE_ID_EVENT", "default", None, GZIP, ALLOCATED,
     Event(id=9, kind=EventKind.ALLOC_WRITE_ID, database="default", table=T, writes=((2, 2),))),
    ("CREATE_TABLE", "default", "T", PLAIN, "{}", change(EventKind.CREATE_TABLE)),
    ("DROP_TABLE", "default", "t", PLAIN, "", change(EventKind.DROP_TABLE)),
    ("ALTER_TABLE", "default", "t", PLAIN, '{"db":"default","table":"t"}',
     change(EventKind.ALTER_TABLE)),
    ("ALTER_TABLE", "default", "u", PLAIN, '{"db":"default","table":"t"}',
     change(EventKind.ALTER_TABLE, renamed_to=U)),
    ("ALTER_PARTITIONS", "default", "t", GZIP, "", change(EventKind.ALTER_PARTITION)),
    ("ADD_FOREIGNKEY", "default", "u", PLAIN, json.dumps({"foreignKeyListJson": [CHILD]}),
     change(EventKind.ALTER_TABLE)),
    ("DROP_CONSTRAINT", "default", "t", PLAIN, "", change(EventKind.ALTER_TABLE)),
    ("OF_A_LATER_HIVE", "default", "t", PLAIN, "", change(EventKind.ALTER_TABLE)),
    ("OF_A_LATER_HIVE", "default", None, PLAIN, "", change(EventKind.ALTER_DATABASE, None)),
    ("OF_A_LATER_HIVE", None, None, PLAIN, "",
     Event(id=9, kind=EventKind.OTHER, tells_writes=False)),
    ("INSERT", "default", "t", PLAIN, "", change(EventKind.OTHER)),
    ("COMMIT_TXN", None, None, "later", COMMITTED, None),
    ("COMMIT_TXN", None, None, GZIP, COMMITTED[:40], None),
    ("ALTER_TABLE", "default", "t", PLAIN, "[1]", None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "database", "table", "format", "message", "expected"), CASES)
def test_entries(
    kind: str, database: str | None, table: str | None, format: str, message: str,
    expected: Event | None,
) -> None:  # fmt: skip
    fields = {"dbName": database, "tableName": table, "messageFormat": format, "catName": "hive"}
    found = idl().NotificationEvent(
        eventId=9, eventTime=0, eventType=kind, message=message, **fields
    )
    assert read_event(found) == expected


def test_another_catalog() -> None:
    found = idl().NotificationEvent(
        eventId=9, eventType="DROP_TABLE", dbName="default", tableName="t", catName="spark"
    )
    event = read_event(found)
    assert event is not None
    assert event.kind is EventKind.OTHER
