"""The notification log of a Hive Metastore, and tables together with their write ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hivesql_executor.hadoop_user import hadoop_user
from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.compactions import CompactionCalls
from hivesql_executor.metastore.hms.constraints import fetch_constraints, in_order
from hivesql_executor.metastore.hms.events import WritesOfLog, read_event
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.cache.events import LogPage
from hivesql_planner.errors import ExecutionError, NotSupported
from hivesql_planner.model.table import ConstraintKind, Table, TableName

if TYPE_CHECKING:
    from hivesql_planner.write_history import TableWrite

# Entries of partitions may be long.
_PAGE = 500
_LISTENERS = "hive.metastore.transactional.event.listeners"
_LISTENER = "org.apache.hive.hcatalog.listener.DbNotificationListener"
_CACHE = "hivesql.metastore.cache with this Hive Metastore"
_HISTORY = "DESCRIBE HISTORY and SHOW HISTORY with this Hive Metastore"


class NotificationCalls(CompactionCalls):
    """Calls of NotificationSource over Thrift."""

    @property
    def changes_are_writes(self) -> bool:
        """False: Hive 3, and clients that are not Hive, change tables without a write id."""
        return False

    def keep_log(self) -> int:
        """Give the id of the latest event; NotSupported where the site keeps no log or hides it."""
        return self._require_log(_CACHE, ", or set hivesql.metastore.cache=false")

    def _require_log(self, what: str, instead: str = "") -> int:
        listeners = self._client.call("get_config_value", _LISTENERS, "", again=True)
        if _LISTENER.rpartition(".")[2] not in listeners:
            raise NotSupported(
                f"{what}: it keeps no notification log. Set {_LISTENERS} to {_LISTENER} in its "
                f"hive-site.xml and restart it{instead}"
            )
        try:
            return self._latest()
        except ExecutionError as error:
            if error.code is not None:
                raise
            user = hadoop_user()
            raise NotSupported(
                f"{what}: it does not show its notification log to {user} ({error}). Set "
                f"hadoop.proxyuser.{user}.hosts=* there, or "
                "hive.metastore.event.db.notification.api.auth=false"
            ) from error

    def events_after(self, last: int) -> LogPage:
        """Return the first events after an id, and the latest id.

        What cannot be read is left out, so that it is missed as if it had been purged.
        """
        latest = self._latest()
        if latest <= last:
            return LogPage(events=(), latest=latest)
        notifications = self._notifications(last)
        read = map(read_event, notifications)
        events = tuple(event for event in read if event is not None)
        return LogPage(
            events=events,
            latest=max([latest, *(notification.eventId for notification in notifications)]),
        )

    def writes(
        self, *, table: TableName | None = None, database: str | None = None,
        limit: int | None = None,
    ) -> tuple[TableWrite, ...]:  # fmt: skip
        """Return committed writes as far as the notification log goes back, the latest first.

        It tells write id, transaction and time; neither who wrote, nor what, nor how much.
        """
        self._require_log(_HISTORY)
        writes = WritesOfLog()
        last = 0
        while notifications := self._notifications(last):
            for notification in notifications:
                if (event := read_event(notification)) is not None:
                    writes.follow(event, notification.eventTime * 1000)
            last = max(notification.eventId for notification in notifications)
        wanted = (
            write
            for write in writes.committed()
            if (table is None or write.table == table.lower())
            and (database is None or write.table.database == database.lower())
        )
        return tuple(islice(wanted, limit))

    def _notifications(self, last: int) -> Sequence[Any]:
        """Return the first events after an id."""
        request = idl().NotificationEventRequest(lastEvent=last, maxEvents=_PAGE)
        events: Sequence[Any] = self._client.call(
            "get_next_notification", request, again=True
        ).events
        return events

    def writes_of(self, txn_id: int) -> frozenset[tuple[TableName, int]]:
        """None: no call tells them. Copies of those tables equal no reader's list any more."""
        return frozenset()

    def completed(self, table: Table) -> Table:
        """Return the copy with those constraints read anew of which the log may keep quiet.

        Hive 3 tells no default and check constraints; a foreign key goes with its parent table.
        """
        quiet: tuple[ConstraintKind, ...] = ("default", "check") if self._client.is_old else ()
        if any(constraint.kind == "foreign key" for constraint in table.constraints):
            quiet += ("foreign key",)
        if not quiet:
            return table
        now = fetch_constraints(self._client, table.name, quiet)
        declared = (constraint for constraint in table.constraints if constraint.kind not in quiet)
        return replace(table, constraints=in_order((*declared, *now)))

    def described(self, name: TableName) -> tuple[Table, ValidWriteIdList | None]:
        """Return the table, and its write ids as they were before it was read."""
        visible = self.valid_write_ids(self.valid_txns(), [name])[name]
        table = self.table(name)
        return table, visible if table.is_transactional else None

    def table_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, tuple[int, ValidWriteIdList]]:
        """Return the id and the valid write ids of each table; Hive 3 has no ids, so they are 0."""
        lists = self.valid_write_ids(txns, tables)
        return {name: (self._plain_table(name.lower()).id, lists[name]) for name in tables}

    def purge_events(self, seconds: float) -> int:
        """None: the metastore purges its log itself."""
        return 0

    def _latest(self) -> int:
        return int(self._client.call("get_current_notificationEventId", again=True).eventId)
