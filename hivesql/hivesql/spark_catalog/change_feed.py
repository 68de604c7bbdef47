"""What a stream of a table's changes asks of the session behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from hivesql.script import StatementText
from hivesql.sessions.changes import changes_text, starting_version
from hivesql.spark_catalog.answers import SparkRequests, spark_schema
from hivesql_executor.snapshot.versions import (
    decided_writes,
    version_before_changes,
    version_with_merged,
)
from hivesql_planner.errors import DataError, SemanticError
from hivesql_planner.relations import CHANGE_COLUMNS

if TYPE_CHECKING:
    from hivesql_planner.acid.write_ids import ValidWriteIdList
    from hivesql_planner.model.table import Table, TableName

LATEST, EARLIEST = "latest", "earliest"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedOptions:
    """Where a stream starts, and the most of a batch; None for no limit.

    ``start`` is the first version that is wanted, a time, or one of the two words.
    """

    start: int | str | datetime = LATEST
    key: str | tuple[str, ...] = ()
    most_versions: int | None = None
    most_rows: int | None = None


@dataclass(slots=True)
class ChangeFeed(SparkRequests):
    """What ``ChangeSource.java`` asks.

    An offset is the version up to which changes were given, the table's id, and the version
    after which the stream began.
    """

    name: TableName
    options: FeedOptions
    columns: tuple[str, ...] = ()

    def open(self) -> str:
        """Return the stream's columns in Spark's DDL; fails where the table has no changes."""
        table = self._table()
        columns = (*table.all_columns, *CHANGE_COLUMNS)
        self.columns = tuple(column.name for column in columns)
        self.session.sql(f"EXPLAIN {self._text(0, 0)}")
        last, start = self._decided().high_watermark, self.options.start
        if isinstance(start, int) and start > last + 1:
            raise SemanticError(
                f"{self.name} has no version {start} yet: its versions go to {last}. Start with "
                f"{last + 1} or '{LATEST}' for what comes, with '{EARLIEST}' for what was"
            )
        return spark_schema(columns)

    def _answer(self, question: Mapping[str, Any], frame: Any) -> Any:
        match question["what"]:
            case "changes":
                return self._changes(question)
            case "last":
                return json.dumps(self._decided().high_watermark)
            case _:
                return json.dumps(self._offset(question))

    def _offset(self, question: Mapping[str, Any]) -> dict[str, int]:
        """Return the offset of the next batch, which is the one before where nothing is new."""
        start, table = question["start"], self._table()
        if start is None:
            begin = after = self._begin(table)
        else:
            self._check_same(table, start["table"])
            begin, after = start["begin"], start["version"]
        writes = self._decided()
        if start is not None and writes.high_watermark < after:
            raise self._made_anew(f"its versions go to {writes.high_watermark}, and not to {after}")
        last = question["last"]
        end = writes.high_watermark if last is None else min(last, writes.high_watermark)
        if question["is limited"]:
            end = self._limited(writes, after, end)
        if after < end < writes.high_watermark:
            end = version_with_merged(table, end, self.session.runtime)
        return {"begin": begin, "table": table.id, "version": max(after, end)}

    def _begin(self, table: Table) -> int:
        match self.options.start:
            case str(word):
                if word == EARLIEST:
                    return version_before_changes(table, self.session.runtime)
                return self._decided().high_watermark
            case datetime() as time:
                return starting_version(table.name, time, self.session.runtime)
            case version:
                return version - 1

    def _limited(self, writes: ValidWriteIdList, after: int, end: int) -> int:
        """Return the last version of a batch of whole versions: at least one, and few enough."""
        versions = (version for version in range(after + 1, end + 1) if writes.sees(version))
        if self.options.most_versions is not None:
            wanted = list(islice(versions, self.options.most_versions + 1))
            if len(wanted) > self.options.most_versions:
                end = wanted[-2]
        if self.options.most_rows is None or end <= after:
            return end
        from hivesql_executor.spark.scan.table_changes import count_events

        counts = count_events(self._table(), after + 1, self.session.runtime)
        rows = 0
        for version in sorted(version for version in counts if version <= end):
            rows += counts[version]
            if rows > self.options.most_rows and version > min(counts):
                return version - 1
        return end

    def _changes(self, question: Mapping[str, Any]) -> Any:
        self._check_same(self._table(), question["table id"])
        runtime = self.session.runtime
        with self.transactions.reading(question["query"], runtime) as conversation:
            text = StatementText(self._text(question["after"], question["last"]))
            session = self.session.beside(conversation)
            return session.run_statement(text, consume=lambda rows: rows).value._jdf

    def _text(self, after: int, last: int) -> str:
        return changes_text(self.name, after, last, self.options.key, self.columns)

    def _table(self) -> Table:
        return self.session.runtime.metastore.table(self.name)

    def _decided(self) -> ValidWriteIdList:
        return decided_writes(self.name, self.session.runtime)

    def _check_same(self, table: Table, table_id: int) -> None:
        if table.id != table_id:
            raise self._made_anew("it is another table of that name")

    def _made_anew(self, problem: str) -> DataError:
        return DataError(
            f"{self.name} was made anew since the stream's checkpoint: {problem}. Start the stream "
            "with a new checkpoint"
        )


def options_of(
    *,
    version: int | str | None,
    timestamp: datetime | None,
    key: str | Sequence[str],
    most_versions: int | None,
    most_rows: int | None,
) -> FeedOptions:
    """Check what a user has said of a stream; SemanticError for what means nothing."""
    if version is not None and timestamp is not None:
        raise SemanticError("a stream starts at a version or at a time, and not at both")
    is_word = version in (None, LATEST, EARLIEST)
    if not is_word and (type(version) is not int or version < 1):
        raise SemanticError(
            f"starting_version is '{LATEST}', '{EARLIEST}' or a version from 1 on, not {version!r}"
        )
    if timestamp is not None and not isinstance(timestamp, datetime):
        raise SemanticError(f"starting_timestamp is a datetime, not {timestamp!r}")
    limits = {"max_versions_per_trigger": most_versions, "max_rows_per_trigger": most_rows}
    for name, limit in limits.items():
        if limit is not None and (type(limit) is not int or limit < 1):
            raise SemanticError(f"{name} is a number from 1 on, not {limit!r}")
    start = timestamp if timestamp is not None else (version or LATEST)
    return FeedOptions(
        start=start,
        key=key if isinstance(key, str) else tuple(key),
        most_versions=most_versions,
        most_rows=most_rows,
    )
