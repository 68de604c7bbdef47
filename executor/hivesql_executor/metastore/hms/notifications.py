"""The notification log of a Hive Metastore, and tables together with their write ids."""

from __future__ import annotations

import getpass
from collections.abc import Collection, Mapping
from dataclasses import replace

from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.compactions import CompactionCalls
from hivesql_executor.metastore.hms.constraints import fetch_constraints, in_order
from hivesql_executor.metastore.hms.events import read_event
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.cache.events import LogPage
from hivesql_planner.errors import ExecutionError, NotSupported
from hivesql_planner.model.table import ConstraintKind, Table, TableName

# Entries of partitions may be long.
_PAGE = 500
_LISTENERS = "hive.metastore.transactional.event.listeners"
_LISTENER = "org.apache.hive.hcatalog.listener.DbNotificationListener"
_CACHE = "hivesql.metastore.cache with this Hive Metastore"


class NotificationCalls(CompactionCalls):
    """Calls of NotificationSource over Thrift."""

    @property
    def changes_are_writes(self) -> bool:
        """False: Hive 3, and clients that are not Hive, change tables without a write id."""
        return False

    def keep_log(self) -> int:
        """Give the id of the latest event; NotSupported where the site keeps no log or hides it."""
        listeners = self._client.call("get_config_value", _LISTENERS, "", again=True)
        if _LISTENER.rpartition(".")[2] not in listeners:
            raise NotSupported(
                f"{_CACHE}: it keeps no notification log. Set {_LISTENERS} to {_LISTENER} in its "
                "hive-site.xml and restart it, or set hivesql.metastore.cache=false"
            )
        try:
            return self._latest()
        except ExecutionError as error:
            if error.code is not None:
                raise
            user = getpass.getuser()
            raise NotSupported(
                f"{_CACHE}: it does not show its notification log to {user} ({error}). Set "
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
        request = idl().NotificationEventRequest(lastEvent=last, maxEvents=_PAGE)
        notifications = self._client.call("get_next_notification", request, again=True).events
        read = map(read_event, notifications)
        events = tuple(event for event in read if event is not None)
        return LogPage(
            events=events,
            latest=max([latest, *(notification.eventId for notification in notifications)]),
        )

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
