"""The log begins while others write: whoever comes after its beginning finds it."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import Connection

from hivesql_executor.metastore.database import notification_log
from hivesql_executor.metastore.database.metastore import DatabaseMetastore


@pytest.mark.databases("postgres", "mariadb")
def test_a_writer_that_waits_for_the_beginning_is_logged(metastore_url: str) -> None:
    store = DatabaseMetastore.open(metastore_url, "/wh")
    begun, go = threading.Event(), threading.Event()

    def begin(db: Connection) -> int:
        found = notification_log.keep_log(db)
        begun.set()
        go.wait(10)
        return found

    keeper = threading.Thread(target=lambda: store._write(begin))
    keeper.start()
    begun.wait(10)
    writer = threading.Thread(target=lambda: store.open_txns(1, "ann", "here"))
    writer.start()
    writer.join(1)
    assert writer.is_alive()
    go.set()
    writer.join()
    keeper.join()
    assert len(store.events_after(0).events) == 1
    store.close()
