"""Partitions and statistics in a Hive Metastore."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from hivesql_executor.metastore.hms.catalog import lower
from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.functions import FunctionCalls
from hivesql_executor.metastore.hms.tables import (
    read_partition,
    read_table,
    write_partition,
    written_values,
)
from hivesql_planner.errors import ExecutionError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.statistics import ACCURATE, Statistics, read_basics, written_basics
from hivesql_planner.model.table import Partition, Table, TableName, partition_name
from hivesql_planner.predicates.partitions import PartitionTest


def partition_filter(table: Table, tests: Sequence[PartitionTest]) -> str:
    """Return the text of the tests that the metastore can make; empty when there is none."""
    texts = (_text(table.partition_names[test.position], test) for test in tests)
    return " and ".join(text for text in texts if text)


def _text(name: str, test: PartitionTest) -> str:
    if not name.isidentifier() or any(char in value for value in test.values for char in '"\\'):
        return ""
    if test.kind == "text" and test.operator != "=":
        # The metastore's database may order texts as a language does.
        return ""
    values = test.values if test.kind == "integer" else [f'"{value}"' for value in test.values]
    if test.operator == "=" and test.kind != "text":
        # Equality would compare texts, and 05 is 5.
        either = [f"({name} >= {value} and {name} <= {value})" for value in values]
    else:
        either = [f"{name} {test.operator} {value}" for value in values]
    return f"({' or '.join(either)})"


_ALL = -1
# Thrift messages have a limit, and the metastore builds one SQL statement for each call.
_CHUNK = 500
_ATTEMPTS = 10


class PartitionCalls(FunctionCalls):
    """Calls of Metastore about partitions and statistics."""

    def partitions(
        self, name: TableName, tests: Sequence[PartitionTest] = ()
    ) -> tuple[Partition, ...]:
        """Give the partitions that pass the tests which the metastore can make, by name."""
        name = lower(name)
        table = self._plain_table(name)
        answers = self._fetch_partitions(name, partition_filter(table, tests))
        read = (read_partition(answer, table) for answer in answers)
        return tuple(
            sorted(
                read, key=lambda partition: partition_name(table.partition_names, partition.values)
            )
        )

    def partition_count(self, name: TableName) -> int:
        """Tell how many partitions a table has."""
        name = lower(name)
        names = self._client.call("get_partition_names", name.database, name.name, _ALL, again=True)
        return len(names)

    def foreign_partitions(self, name: TableName) -> tuple[Partition, ...]:
        """Return the partitions that do not live, or are not stored, as a new one would be."""
        table = self._plain_table(lower(name))
        return tuple(
            partition
            for partition in self.partitions(name)
            if partition.storage or partition.location != table.home_of(partition.values)
        )

    def partition(self, name: TableName, values: Sequence[str | None]) -> Partition | None:
        """Return the partition with these values, or None."""
        name = lower(name)
        table = self._plain_table(name)
        answer = self._fetch_partition(name, values)
        return None if answer is None else read_partition(answer, table)

    def add_partitions(
        self, name: TableName, partitions: Collection[Partition], *, if_not_exists: bool = False,
        txn_id: int = 0, for_rows: bool = False,
    ) -> None:  # fmt: skip
        """Add partitions; those without a location live under the table."""
        name = lower(name)
        table = self._plain_table(name)
        ordered = list(partitions)
        for start in range(0, len(ordered), _CHUNK):
            chunk = ordered[start : start + _CHUNK]
            request = idl().AddPartitionsRequest(
                dbName=name.database,
                tblName=name.name,
                parts=[write_partition(partition, table) for partition in chunk],
                ifNotExists=if_not_exists,
                needResult=for_rows,
            )
            answer = self._client.call("add_partitions_req", request, again=if_not_exists)
            if for_rows:
                keys = table.partition_names
                added = [read_partition(part, table) for part in answer.partitions or ()]
                names = [partition_name(keys, partition.values) for partition in added]
                self._note_created(txn_id, name, names)

    def _note_created(self, txn_id: int, name: TableName, names: Collection[str]) -> None:
        raise NotImplementedError

    def drop_partitions(
        self, name: TableName, values: Collection[tuple[str | None, ...]], *, txn_id: int = 0
    ) -> None:
        """Drop partitions with their write history; files stay."""
        name = lower(name)
        wire, table = idl(), self._plain_table(name)
        names = [partition_name(table.partition_names, key_values) for key_values in values]
        for start in range(0, len(names), _CHUNK):
            request = wire.DropPartitionsRequest(
                dbName=name.database,
                tblName=name.name,
                parts=wire.RequestPartsSpec(names=names[start : start + _CHUNK]),
                deleteData=False,
                ifExists=False,
                needResult=False,
            )
            self._client.call("drop_partitions_req", request)

    def alter_partition(
        self, name: TableName, values: Sequence[str | None], partition: Partition, *,
        txn_id: int = 0,
    ) -> None:  # fmt: skip
        """Give the partition with these values other values or another location.

        Other values make it a new partition that takes over the old one's parameters: the
        metastore's own renaming would move the directory, which has moved already.
        """
        name = lower(name)
        table = self._plain_table(name)
        current = self._fetch_partition(name, values)
        if current is None:
            old = partition_name(table.partition_names, values)
            raise NoSuchObject(f"Partition not found: {name} {old}", code=10006)
        if tuple(values) == partition.values:
            self._send_partitions(name, [write_partition(partition, table, current)])
            return
        if self._fetch_partition(name, partition.values) is not None:
            to = partition_name(table.partition_names, partition.values)
            raise SemanticError(f"Partition already exists: {name} {to}", code=10118)
        request = idl().AddPartitionsRequest(
            dbName=name.database,
            tblName=name.name,
            parts=[write_partition(partition, table, current)],
            ifNotExists=False,
            needResult=False,
        )
        self._client.call("add_partitions_req", request)
        self.drop_partitions(name, [tuple(values)])

    def exchange_partitions(
        self, source: TableName, target: TableName, partitions: Collection[Partition], *,
        txn_id: int = 0,
    ) -> None:  # fmt: skip
        """Add partitions to one table at their new locations, then drop them from another."""
        self.add_partitions(target, partitions)
        self.drop_partitions(source, [partition.values for partition in partitions])

    def put_statistics(self, name: TableName, statistics: Collection[Statistics]) -> None:
        """Store rows, files and bytes, but for those that Hive keeps accurate itself."""
        name = lower(name)
        if any(entry.columns for entry in statistics):
            raise NotSupported("statistics of columns with a Hive Metastore")
        changed = []
        for numbers in statistics:
            owner = self._owner(name, numbers.values)
            parameters = dict(owner.parameters or {})
            if ACCURATE in parameters and not numbers.is_stated:
                continue
            parameters.pop(ACCURATE, None)
            owner.parameters = parameters | written_basics(replace(numbers, is_accurate=False))
            if numbers.values is None:
                self._send_table(name, owner, {})
            else:
                changed.append(owner)
        if changed:
            self._send_partitions(name, changed)

    def statistics(self, name: TableName, values: Sequence[str | None] | None = None) -> Statistics:
        """Rows, files and bytes of a table, or of the partition with these values."""
        basics = read_basics(self._owner(lower(name), values).parameters or {})
        return replace(basics, values=None if values is None else tuple(values))

    def _owner(self, name: TableName, values: Sequence[str | None] | None) -> Any:
        if values is None:
            return self._fetch_table(name)
        answer = self._fetch_partition(name, values)
        if answer is None:
            key = partition_name(self._plain_table(name).partition_names, values)
            raise NoSuchObject(f"Partition not found: {name} {key}", code=10006)
        return answer

    def _plain_table(self, name: TableName) -> Table:
        """Return the table without its constraints, which are a call of their own."""
        return read_table(self._fetch_table(name), ())

    def _fetch_partition(self, name: TableName, values: Sequence[str | None]) -> Any | None:
        try:
            answer = self._client.call(
                "get_partition", name.database, name.name, written_values(values), again=True
            )
        except NoSuchObject:
            return None
        return answer if answer.sd is not None else None

    def _fetch_partitions(self, name: TableName, filter_text: str) -> list[Any]:
        """Partitions with their storage.

        The metastore looks for both one after the other: one that is dropped in between comes
        without storage, and then all are asked for anew.
        """
        for _ in range(_ATTEMPTS):
            answers = self._ask_partitions(name, filter_text)
            if all(answer.sd is not None for answer in answers):
                return answers
        raise ExecutionError(
            f"partitions of {name} were dropped each time they were read. Run the statement again"
        )

    def _ask_partitions(self, name: TableName, filter_text: str) -> list[Any]:
        place = (name.database, name.name)
        if filter_text:
            try:
                return list(
                    self._client.call(
                        "get_partitions_by_filter", *place, filter_text, _ALL, again=True
                    )
                )
            except ExecutionError as error:
                if error.code is not None:
                    raise
                # One value that is not of its column's type makes every test of it fail there.
        return list(self._client.call("get_partitions", *place, _ALL, again=True))

    def _send_partitions(self, name: TableName, partitions: list[Any], **more: Any) -> None:
        wire = idl()
        environment = wire.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
        if self._client.is_old:
            self._client.call(
                "alter_partitions_with_environment_context",
                name.database,
                name.name,
                partitions,
                environment,
            )
            return
        request = wire.AlterPartitionsRequest(
            dbName=name.database,
            tableName=name.name,
            partitions=partitions,
            environmentContext=environment,
            **more,
        )
        self._client.call("alter_partitions_req", request)

    def _move_partitions(self, name: TableName, old: str, new: str) -> None:
        table = self._plain_table(name)
        moved = []
        for answer in self._client.call(
            "get_partitions", name.database, name.name, _ALL, again=True
        ):
            partition = read_partition(answer, table)
            if partition.location.startswith(f"{old}/"):
                place = replace(partition, location=new + partition.location[len(old) :])
                moved.append(write_partition(place, table, answer))
        for start in range(0, len(moved), _CHUNK):
            self._send_partitions(name, moved[start : start + _CHUNK])
