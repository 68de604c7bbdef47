"""Statistics that writes keep in a Hive Metastore, which itself judges whether they still hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hivesql_executor.metastore.hms.partitions import PartitionCalls
from hivesql_executor.metastore.hms.tables import read_partition
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.statistics import (
    ACCURATE,
    BASICS,
    Statistics,
    StatisticsChange,
    changed,
    combined,
    read_basics,
    written_basics,
)
from hivesql_planner.model.table import TableName, partition_name

_CHUNK = 500
Changes = Mapping[str | None, StatisticsChange]


class StatisticsCalls(PartitionCalls):
    """What commits do to statistics.

    They are changed before the commit, as by Hive, under the transaction's write id: should it
    abort, nobody calls them accurate. The list of committed writes goes along, fetched before the
    numbers: where somebody else's numbers are not covered by it, the metastore calls the new ones
    not accurate.
    """

    measures_columns = False

    def __init__(self) -> None:
        self._created: dict[int, set[tuple[TableName, str]]] = defaultdict(set)

    def valid_txns(self, txn_id: int = 0) -> ValidTxnList:
        """Tell what the transaction sees."""
        raise NotImplementedError

    def valid_write_ids(
        self, txns: ValidTxnList, tables: Collection[TableName]
    ) -> Mapping[TableName, ValidWriteIdList]:
        """Tell what the list of transactions means in each table."""
        raise NotImplementedError

    def _note_created(self, txn_id: int, name: TableName, names: Collection[str]) -> None:
        self._created[txn_id].update((name, key) for key in names)

    def count_changes(self, changes: Collection[StatisticsChange]) -> None:
        """Add what was written outside of transactions to what is known."""
        self._count_all(0, changes, {}, {})

    def _count_all(
        self,
        txn_id: int,
        changes: Collection[StatisticsChange],
        written: Mapping[TableName, Collection[str]],
        write_ids: Mapping[TableName, int],
    ) -> None:
        """Count ``changes``; whatever else was ``written`` is not called accurate any more."""
        changes_by_table: dict[TableName, dict[str | None, StatisticsChange]] = defaultdict(dict)
        for (name, partition), counted in combined(changes).items():
            if (name, partition) in self._created.get(txn_id, ()):
                counted = replace(counted, replaces=True)
            changes_by_table[name][partition] = counted
        if self._client.is_old:
            # Hive 3 does not compare write ids, so that nothing can be kept accurate there.
            written = {name: [*names] for name, names in written.items()} | {
                name: [key for key in units if key] for name, units in changes_by_table.items()
            }
            changes_by_table = defaultdict(dict)
        for name in sorted({*changes_by_table, *written}):
            try:
                if name in changes_by_table:
                    units = {
                        key: change
                        for key, change in changes_by_table[name].items()
                        if not change.is_nothing
                    }
                    self._change(name, units, write_ids.get(name, 0))
                else:
                    self._mark_inaccurate(name, list(written[name]), write_ids.get(name, 0))
            except NoSuchObject:
                continue

    def _change(self, name: TableName, changes: Changes, write_id: int) -> None:
        if not changes:
            return
        state = self._state(name, write_id)
        if None in changes:
            answer = self._fetch_table(name)
            _count(answer, changes[None], write_id)
            self._send_table(name, answer, {}, **state)
            return
        table = self._plain_table(name)
        for answer in self._named(name, [key for key in changes if key is not None]):
            for partition in answer:
                unit = partition_name(
                    table.partition_names, read_partition(partition, table).values
                )
                if unit in changes:
                    _count(partition, changes[unit], write_id)
            self._send_partitions(name, answer, **state)

    def _mark_inaccurate(self, name: TableName, names: list[str], write_id: int) -> None:
        state = self._state(name, write_id)
        table = self._fetch_table(name)
        if (table.parameters or {}).pop(ACCURATE, None) is not None:
            table.writeId = write_id
            self._send_table(name, table, {}, **state)
        for answers in self._named(name, names):
            marked = [answer for answer in answers if (answer.parameters or {}).pop(ACCURATE, None)]
            for answer in marked:
                answer.writeId = write_id
            if marked:
                self._send_partitions(name, marked, **state)

    def _state(self, name: TableName, write_id: int) -> dict[str, Any]:
        if not write_id:
            return {}
        valid = self.valid_write_ids(self.valid_txns(), [name])[name].format()
        return {"writeId": write_id, "validWriteIdList": valid}

    def _named(self, name: TableName, names: list[str]) -> Iterator[list[Any]]:
        for start in range(0, len(names), _CHUNK):
            chunk = names[start : start + _CHUNK]
            place = (name.database, name.name)
            if answers := self._client.call("get_partitions_by_names", *place, chunk, again=True):
                yield list(answers)


def _count(owner: Any, change: StatisticsChange, write_id: int) -> None:
    """Put the new numbers into a table or partition of the Thrift interface."""
    parameters = dict(owner.parameters or {})
    # Numbers of a later write may count what ours replaces, or replace what ours counts.
    in_order = not write_id or (owner.writeId or 0) <= write_id
    numbers: Statistics = changed(read_basics(parameters), change, in_order=in_order)
    for key in (*BASICS, ACCURATE):
        parameters.pop(key, None)
    owner.parameters = parameters | written_basics(numbers)
    if write_id:
        owner.writeId = write_id
