"""Whether a table's files are what its catalog and its directories say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hivesql_executor.checks.check_events import event_findings
from hivesql_executor.checks.event_check import EventCheck
from hivesql_executor.checks.finding import Finding
from hivesql_executor.checks.inspect import file_facts
from hivesql_executor.files.api import Files
from hivesql_executor.orc.hidden_deltas import hidden_deltas
from hivesql_executor.orc.tail import cached_tail
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.listing import acid_state, check_versions, table_roots
from hivesql_executor.snapshot.partition_files import PartitionFiles
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.layout import (
    VERSION_FILE,
    AcidDirectory,
    DirectoryKind,
    is_hidden,
    parse_bucket_file,
    parse_directory,
)
from hivesql_planner.acid.snapshot import AcidState, FileStatus
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError, SemanticError
from hivesql_planner.model.table import Partition, Table, TableName

_OLDER_CATALOG = (
    "if an older metastore was restored, put the warehouse of the same moment in place before "
    "anybody writes, or later writes are mixed with these files"
)
_BASE, _DELETES = DirectoryKind.BASE, DirectoryKind.DELETE_DELTA


def check_table(name: TableName, runtime: Runtime) -> tuple[Finding, ...]:
    """Everything that is wrong with a transactional table's files; () when nothing is.

    Reads every footer and, of a full ACID table, the row ids of every row. Changes nothing.
    """
    store = runtime.metastore
    table = store.table(name)
    if not table.is_transactional:
        raise SemanticError(f"{name} is not transactional: there is nothing to check")
    partitions = store.partitions(name) if table.partition_columns else ()
    return tuple(_findings(table, partitions, runtime))


def find_orphans(name: TableName, runtime: Runtime) -> Iterator[Finding]:
    """Yield the directories of a transactional table that nobody reads and no cleaner removes.

    Lists directories, and opens no file.
    """
    store = runtime.metastore
    table = store.table(name)
    partitions = store.partitions(name) if table.partition_columns else ()
    txns = store.valid_txns()
    visible = store.valid_write_ids(txns, (name,))[name]
    yield from _orphans(table, partitions, runtime.files(table.location))
    for _, location in table_roots(table, partitions):
        yield from _leftovers(table, location, visible, txns, runtime)


def _findings(table: Table, partitions: Sequence[Partition], runtime: Runtime) -> Iterator[Finding]:
    store, files = runtime.metastore, runtime.files(table.location)
    stated = _known_counts(table, partitions, runtime)
    txns = store.valid_txns()
    visible = store.valid_write_ids(txns, (table.name,))[table.name]
    yield from _orphans(table, partitions, files)
    parts: list[PartitionFiles] = []
    for partition, location in table_roots(table, partitions):
        try:
            yield from _leftovers(table, location, visible, txns, runtime)
            state = acid_state(files, location, visible, txns)
            insert_only = table.is_insert_only
            chosen = files_to_read(state, visible, insert_only=insert_only, location=location)
        except DataError as error:
            yield Finding(location, error.message)
            continue
        yield from _versions(files, location, state)
        if table.is_full_acid:
            yield from _unmarked(files, location, state)
            yield from (
                Finding(f"{location}/{hidden.name}", hidden.problem)
                for hidden in hidden_deltas(files, location, state)
            )
            yield from _foreign_write_ids(table.name, location, state, runtime)
        parts.append(PartitionFiles(partition=partition, location=location, files=chosen))
        yield from _expected_buckets(table, location, state)
    counts: dict[str, int] = {}
    if table.is_full_acid:
        yield from event_findings(EventCheck(table, parts, visible, runtime, counts))
    else:
        for part in parts:
            yield from _plain_findings(table, part, files, counts)
    if stated and stated == _known_counts(table, partitions, runtime):
        yield from _lost_rows(stated, counts)


def _plain_findings(
    table: Table, part: PartitionFiles, files: Files, counts: dict[str, int]
) -> Iterator[Finding]:
    # Imported late: tables with row ids need nothing of Spark's to be checked.
    from hivesql_executor.spark.formats.text_tables import skipped_lines

    stored = table.stored_as(part.partition)
    rows: list[int | None] = []
    for data in part.files.data:
        path = f"{part.location}/{data.path}"
        fact = file_facts(files, stored, path, FileStatus(data.path, data.length))
        # The lines of compressed text are not counted.
        rows.append(None if "." in data.path.rpartition("/")[2] else fact.rows)
        if fact.problem is not None:
            yield Finding(path, fact.problem)
    if None not in rows and not any(skipped_lines(stored)):
        counts[part.location] = sum(filter(None, rows))


def _known_counts(
    table: Table, partitions: Sequence[Partition], runtime: Runtime
) -> dict[str, int]:
    """By location, the rows that accurate statistics tell of."""
    counts = {}
    for partition, location in table_roots(table, partitions):
        statistics = runtime.metastore.statistics(
            table.name, partition.values if partition else None
        )
        # Other programs put files into plain tables that are empty to the catalog.
        is_known = table.is_transactional or statistics.rows != 0
        if is_known and statistics.is_accurate and statistics.rows is not None:
            counts[location] = statistics.rows
    return counts


def _lost_rows(stated: Mapping[str, int], counts: Mapping[str, int]) -> Iterator[Finding]:
    """Nothing else may tell that a whole file is not there any more."""
    for location, rows in counts.items():
        if stated.get(location, rows) != rows:
            expected = stated[location]
            less, more = "a data file may be missing", "deletes may be missing, or rows twice here"
            yield Finding(
                location,
                f"the catalog's statistics tell of {expected} rows, and there are {rows}: "
                f"{less if rows < expected else more}. If all is well, ANALYZE TABLE counts anew",
            )


def _versions(files: Files, location: str, state: AcidState) -> Iterator[Finding]:
    for entry in state.directories:
        try:
            check_versions(files, location, AcidState(deltas=(entry,)))
        except DataError as error:
            yield Finding(f"{location}/{entry.name}", error.message)


def _unmarked(files: Files, location: str, state: AcidState) -> Iterator[Finding]:
    """Directories with one of the version file and the data files, which come together."""
    deleted = {entry.directory[1:3] for entry in state.deltas if entry.directory.kind is _DELETES}
    for entry in state.directories:
        names = {file.path.rpartition("/")[2] for file in entry.files}
        place = f"{location}/{entry.name}"
        # A DELETE of Hive 3 leaves such a directory beside that of its deletes, and a compaction
        # of rows that are all deleted leaves such a base; statistics tell of rows that are lost.
        is_compacted_base = entry.directory.kind is _BASE and entry.directory.visibility_txn > 0
        is_empty = entry.directory[1:3] in deleted or is_compacted_base
        if names == {VERSION_FILE} and not is_empty:
            yield Finding(place, "holds no data file, though one was begun: it may be missing")
        if VERSION_FILE not in names and any(
            _has_events(files, location, file) for file in entry.files
        ):
            yield Finding(place, f"has no {VERSION_FILE}, which every writer of events leaves")


def _foreign_write_ids(
    name: TableName, location: str, state: AcidState, runtime: Runtime
) -> Iterator[Finding]:
    """Streaming batches between whose write ids somebody else's lie, as far as is known.

    A batch's transactions are opened together, and their write ids are in the same order.
    """
    for entry in state.deltas:
        low, high = entry.directory[1:3]
        if not entry.directory.may_grow:
            continue
        owners = runtime.metastore.owners_of_write_ids(name, low, high)
        first, last = owners.get(low), owners.get(high)
        if first is None or last is None:
            continue
        foreign = {write_id: txn for write_id, txn in owners.items() if not first <= txn <= last}
        if foreign:
            writes = ", ".join(
                f"{write_id} (transaction {txn})" for write_id, txn in sorted(foreign.items())
            )
            yield Finding(
                f"{location}/{entry.name}",
                f"spans write ids that are not its batch's: {writes}. Readers leave out what was "
                "written here under them, Hive too",
            )


def _has_events(files: Files, location: str, file: FileStatus) -> bool:
    if parse_bucket_file(file.path.rpartition("/")[2]) is None:
        return False
    try:
        return cached_tail(files, f"{location}/{file.path}", file.length).rows > 0
    except DataError:
        return False


def _expected_buckets(table: Table, location: str, state: AcidState) -> Iterator[Finding]:
    if not table.is_bucketed or table.is_insert_only:
        return
    chosen = files_to_read(state, ValidWriteIdList(2**63 - 1), keep_deletes=True)
    named = [(file.path, file.bucket) for file in chosen.data]
    named += [(file.path, file.bucket) for file in chosen.deletes]
    for path, bucket in named:
        if bucket >= table.bucket_count:
            yield Finding(
                f"{location}/{path}",
                f"the table has {table.bucket_count} buckets: there is none of this number",
            )


def _leftovers(
    table: Table, location: str, visible: ValidWriteIdList, txns: ValidTxnList, runtime: Runtime
) -> Iterator[Finding]:
    """Directories that no reader will ever take and no cleaner removes, or that hold nothing."""
    files = runtime.files(location)
    filled = {file.path.partition("/")[0] for file in files.list(location)}
    for name in files.all_directories(location):
        path = f"{location}/{name}"
        directory = parse_directory(name)
        if is_hidden(name):
            yield Finding(path, "left over by a write, unless one is running now")
        elif directory and _is_unknown(_first_unknown(directory), table, visible, runtime):
            highest = visible.high_watermark
            problem = f"the catalog knows no write above {highest} of this table; {_OLDER_CATALOG}"
            yield Finding(path, problem, is_newer=True)
        elif directory and _is_later(directory.visibility_txn, txns, runtime):
            problem = f"was compacted by transaction {directory.visibility_txn}, which the catalog "
            yield Finding(path, f"{problem}does not know; {_OLDER_CATALOG}", is_newer=True)
        elif directory and name not in filled and files.has_directories:
            # Elsewhere Hadoop leaves a marker where it has removed the last file.
            yield Finding(path, "holds no file: it was never written, or its files are missing")


def _is_unknown(write_id: int, table: Table, visible: ValidWriteIdList, runtime: Runtime) -> bool:
    """Tell whether the catalog has never given a write id.

    A list ends at its first open or aborted write where no later one is committed.
    """
    highest = visible.high_watermark
    if write_id <= highest:
        return False
    owners = runtime.metastore.owners_of_write_ids(table.name, highest, write_id)
    is_cut_off = highest in visible.exceptions
    return write_id not in owners and not (is_cut_off and highest not in owners)


def _is_later(txn_id: int, txns: ValidTxnList, runtime: Runtime) -> bool:
    """Tell whether the catalog has never given a transaction's id, not even since it was asked."""
    later = txn_id > txns.high_watermark
    return later and txn_id > runtime.metastore.valid_txns().high_watermark


def _first_unknown(directory: AcidDirectory) -> int:
    """Allow for transactions at a streaming batch's end that were rolled back and forgotten."""
    return directory.min_write_id if directory.may_grow else directory.max_write_id


def _orphans(table: Table, partitions: Sequence[Partition], files: Files) -> Iterator[Finding]:
    """Directories that look like partitions, but are none in the catalog."""
    locations = {partition.location for partition in partitions}
    level = [table.location]
    for name in table.partition_names:
        below = []
        for place in level:
            below += [
                f"{place}/{directory}" for directory in files.all_directories(place)
                if directory.lower().startswith(f"{name}=")
            ]  # fmt: skip
        level = below
    for place in level if table.partition_columns else ():
        if place not in locations and files.list(place):
            yield Finding(place, "the catalog has no such partition: its rows are not read")
