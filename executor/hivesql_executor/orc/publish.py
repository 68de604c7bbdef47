"""From a staging directory to ACID directories: name, amend, move."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.api import Files
from hivesql_executor.files.at_once import each_at_once
from hivesql_executor.files.staging import sync_published
from hivesql_executor.orc.row_counts import row_count
from hivesql_executor.orc.tail import amend
from hivesql_executor.orc.tail_bytes import StoredType
from hivesql_executor.orc.types import stored_types
from hivesql_executor.orc.uploaded_rows import (
    UploadedFile,
    complete_counted,
    count_waiting,
    plain_types,
)
from hivesql_executor.snapshot.partition_files import EventFile
from hivesql_executor.tracing import span
from hivesql_executor.transactions.owned_places import require_own_places
from hivesql_planner.acid.layout import (
    VERSION_FILE,
    VERSION_TEXT,
    base_name,
    bucket_file_name,
    delete_delta_name,
    delta_name,
    is_hidden,
    parse_directory,
)
from hivesql_planner.errors import ExecutionError, NotSupported
from hivesql_planner.model.statistics import ColumnStatistics, Measuring
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Table,
    check_partition_name,
    parse_partition_name,
    partition_name,
)
from hivesql_planner.plan import Write, WriteKind
from hivesql_planner.settings.compression import Compression

if TYPE_CHECKING:
    from hivesql_executor.files.uploads import Upload, Uploads
    from hivesql_executor.transactions.file_changes import BegunWrite, FileChanges
    from hivesql_planner.acid.snapshot import FileStatus

_PART = re.compile(r"part-(\d+)-")
ESCAPE = "\uffff"
"""Stands in names of Spark's writers before what these cannot hold: ``0`` for NUL, itself."""
_ESCAPED = re.compile(f"{ESCAPE}(.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A published file: absolute path, ``k=v`` name of its partition, rows and bytes."""

    path: str
    partition: str | None
    kind: WriteKind
    statement_id: int
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A finished staging directory and where its files belong."""

    writes: tuple[Write, ...]
    write_id: int
    staging: str
    static_partition: Mapping[str, str | None]
    dynamic_partition: tuple[str, ...]
    locations: Mapping[str, str]
    changes: FileChanges
    """Where is noted what is made and moved."""
    unlike: frozenset[str] = frozenset()
    """Names of partitions that are stored otherwise than what was written."""
    measuring: Measuring = Measuring()  # noqa: RUF009 - frozen
    """Of what statistics are gathered as rows are written."""
    default_partition: str = DEFAULT_PARTITION
    """The value of dynamic partitions of rows that have none."""
    compression: Compression | None = None
    """Of new files of containers."""
    by_spark: bool = True
    """Whether tasks of Spark write the files, which may upload them."""

    @property
    def table(self) -> Table:
        """The table of all its writes."""
        return self.writes[0].table


@dataclass(frozen=True, slots=True, kw_only=True)
class _Staged:
    path: str
    length: int
    writer: int
    partition: str | None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """Files of a table without row ids, their paths below the staging directory.

    ``uploaded`` has those that were never there, by what their paths would have been; ``places``
    where those lie that are called otherwise there.
    """

    statuses: tuple[FileStatus, ...]
    uploaded: Mapping[str, UploadedFile] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    """Of those that were counted, and are as they shall be."""


Measured = Mapping[str | None, tuple[ColumnStatistics, ...]]
"""Columns of the rows of each partition; under None those of all rows, which are in one place."""


@dataclass(frozen=True, slots=True)
class StagedRows:
    """What was staged and waits to be published: none of it, and nothing else, was read since."""

    publication: Publication
    files: Files
    staged: Sequence[EventFile] | ListedFiles
    columns: Measured = field(default_factory=dict)
    """What was measured of the rows' columns."""
    waiting: dict[str, Upload] = field(default_factory=dict)
    """Uploads that are not completed, by the files' paths."""

    def partitions(self) -> set[str | None]:
        """Name the partitions that rows are staged for; None for a table without partitions."""
        publication = self.publication
        if isinstance(self.staged, ListedFiles):
            return {staged.partition for staged in _staged(publication, self.staged)}
        return {named_partition(publication, file.keys) for file in self.staged}

    def publish(self) -> tuple[WrittenFile, ...]:
        """Move every file to its place; ExecutionError rather than overwrite anything."""
        with span("publish"):
            if isinstance(self.staged, ListedFiles):
                published = tuple(
                    _publish_plain(self.publication, self.staged, self.files, self.waiting)
                )
            else:
                published = tuple(
                    _publish_events(self.publication, self.staged, self.files, self.waiting)
                )
        hit_failpoint(FailPoint.ROWS_PUBLISHED)
        return published

    def discard(self) -> None:
        """Remove the staging directory, with whatever is left in it; give up what waits."""
        _discard(self.publication, self.files, self.waiting)


def _discard(publication: Publication, files: Files, waiting: dict[str, Upload]) -> None:
    if not publication.by_spark:
        if files.has_directories:
            files.delete(publication.staging)
        return
    table = publication.table
    if not table.is_transactional and not files.has_directories:
        return  # It goes with what else the statement has noted.
    uploads = files.uploads(table.location) if table.is_transactional else None
    if uploads is None:
        files.delete(publication.staging)
    elif waiting:
        uploads.abort([*waiting.items()])
        waiting.clear()


def stage_rows(
    publication: Publication,
    files: Files,
    write: Callable[[], Sequence[EventFile] | ListedFiles],
) -> StagedRows:
    """Let files be written into the staging directory, which is removed where that fails.

    Or let them be uploaded: what waits is given up where that fails.
    """
    waiting: dict[str, Upload] = {}
    try:
        with span("jobs"):
            staged = write()
        if isinstance(staged, ListedFiles):
            waiting |= {file.path: file.upload for file in staged.uploaded.values()}
        else:
            waiting |= {file.name: file.upload for file in staged if file.upload}
        hit_failpoint(FailPoint.ROWS_STAGED)
        # Files that were published would wait for the cleaner.
        publication.changes.runtime.check_cancelled()
        # From here on whoever cleans up after us takes what is staged before he forgets us.
        publication.changes.require_alive()
    except BaseException:
        _discard(publication, files, waiting)
        publication.changes.remove_unnamed(publication.table.location)
        raise
    return StagedRows(publication, files, staged, waiting=waiting)


def publish_events(
    publication: Publication, files: Files, write: Callable[[], Sequence[EventFile]]
) -> tuple[WrittenFile, ...]:
    """Stage files of events and publish them; the staging directory is always removed."""
    staged = stage_rows(publication, files, write)
    try:
        return staged.publish()
    finally:
        staged.discard()


def row_types(table: Table) -> dict[int, StoredType]:
    """Tell what Arrow calls otherwise in the table's ACID files, where ``row`` is type 6."""
    return stored_types((column.type for column in table.columns), 7)


def _staged(publication: Publication, listed: ListedFiles) -> Iterator[_Staged]:
    for status in listed.statuses:
        *folders, name = status.path.split("/")
        part = _PART.match(name)
        if part is None:
            raise ExecutionError(f"unexpected staged file {status.path}")
        keys = parse_partition_name("/".join(folders)) if folders else ()
        writer: str | None = part[1]
        if publication.table.is_bucketed and keys:
            writer, keys = keys[0], keys[1:]
        keys = tuple(key if key is None else _ESCAPED.sub(_meant, key) for key in keys)
        yield _Staged(
            path=listed.places.get(status.path, f"{publication.staging}/{status.path}"),
            length=status.length,
            writer=int(writer or 0),
            partition=named_partition(publication, keys),
            rows=listed.rows.get(status.path),
        )


def _meant(escaped: re.Match[str]) -> str:
    return "\0" if escaped[1] == "0" else escaped[1]


def named_partition(publication: Publication, keys: Sequence[str | None]) -> str | None:
    """Return the partition's name, of the texts of its dynamic columns; None without partitions."""
    table, dynamic = publication.table, publication.dynamic_partition
    if not table.partition_columns:
        return None
    values = dict(publication.static_partition)
    values.update(zip(dynamic, keys, strict=True))
    name = partition_name(table.partition_names, [values[key] for key in table.partition_names])
    check_partition_name(name)
    return name


def _home(publication: Publication, partition: str | None) -> str:
    table = publication.table
    if partition is None:
        return table.location
    return publication.locations.get(partition, f"{table.location}/{partition}")


def _directory(publication: Publication, write: Write, partition: str | None) -> str:
    home = _home(publication, partition)
    if write.kind is WriteKind.FILES:
        return home
    return f"{home}/{write_directory(write, publication.write_id)}"


def write_directory(write: Write, write_id: int) -> str:
    """Return the name of a write's ACID directory."""
    match write.kind:
        case WriteKind.BASE:
            return base_name(write_id)
        case WriteKind.DELETE_DELTA:
            return delete_delta_name(write_id, write.statement_id)
        case _:
            return delta_name(write_id, write.statement_id)


def _publish_events(
    publication: Publication,
    staged: Sequence[EventFile],
    files: Files,
    waiting: dict[str, Upload],
) -> Iterator[WrittenFile]:
    # All before the first file moves: some may be refused.
    partitions = [named_partition(publication, file.keys) for file in staged]
    directories = [
        _directory(publication, publication.writes[file.write], partition)
        for file, partition in zip(staged, partitions, strict=True)
    ]
    _check_unused(publication, dict.fromkeys(directories), files)
    _note_new_homes(publication, dict.fromkeys(directories), files)
    with publication.changes.removing_on_failure(publication.table.location) as begun:
        if waiting:
            _complete(staged, directories, publication, files, begun, waiting)
        contents = {
            f"{directory}/{bucket_file_name(file.writer)}": file.content
            for file, directory in zip(staged, directories, strict=True)
            if file.content
        }
        if contents:
            _begin_all(files, dict.fromkeys(directories), begun, publication.write_id)
            # Nobody but us writes here; one may come and be told to have failed.
            begun.files += contents
            each_at_once(files, lambda path: files.write(path, contents[path]), [*contents])
        for file, partition, directory in zip(staged, partitions, directories, strict=True):
            write = publication.writes[file.write]
            target = f"{directory}/{bucket_file_name(file.writer)}"
            if not file.upload and not file.content:
                if directory not in begun.directories:
                    _begin(files, directory, begun, publication.write_id)
                files.rename(f"{publication.staging}/{file.name}", target)
                begun.files.append(target)
            hit_failpoint(FailPoint.FILE_PUBLISHED)
            yield WrittenFile(
                path=target,
                partition=partition,
                kind=write.kind,
                statement_id=write.statement_id,
                rows=file.rows,
                bytes=file.bytes,
            )
        sync_published(files, begun.files, publication.table.location)


def _complete(
    staged: Sequence[EventFile],
    directories: Sequence[str],
    publication: Publication,
    files: Files,
    begun: BegunWrite,
    waiting: dict[str, Upload],
) -> None:
    """Let all uploaded files be seen, each in its directory, which is begun first."""
    targets = {
        f"{directory}/{bucket_file_name(file.writer)}"
        for file, directory in zip(staged, directories, strict=True)
    }
    uploads = _uploads_to(targets, publication, files, waiting)
    _begin_all(files, dict.fromkeys(directories), begun, publication.write_id)
    # Should one fail, those that came already go again.
    begun.files += targets
    uploads.complete([*waiting.items()])
    waiting.clear()


def _uploads_to(
    targets: Collection[str], publication: Publication, files: Files, waiting: Mapping[str, Upload]
) -> Uploads:
    """Return what completes the uploads; ExecutionError where tasks called places otherwise."""
    uploads = files.uploads(publication.table.location)
    if uploads is None or {*targets} != waiting.keys():
        raise ExecutionError(
            f"tasks uploaded {min(waiting)} and others, {len(waiting)} files, where {min(targets)} "
            f"and others, {len(targets)} files, belong. Run the statement again, and report it"
        )
    return uploads


def _check_unused(publication: Publication, directories: Iterable[str], files: Files) -> None:
    """Raise when files of another writer are there under this write's id; only for its first.

    So it is after an older backup of the metastore was restored: readers would mix both.
    In object stores, where listing costs a request, whoever writes the same file fails.
    """
    first = min(write.statement_id for write in publication.writes) <= 0
    if not first or not files.has_directories:
        return
    for home in dict.fromkeys(directory.rpartition("/")[0] for directory in directories):
        for name in files.all_directories(home):
            directory = parse_directory(name)
            if directory is not None and directory.holds(publication.write_id):
                raise _used(f"{home}/{name}", publication.write_id)


def _used(directory: str, write_id: int) -> ExecutionError:
    return ExecutionError(
        f"{directory} has files of write {write_id}, an id that the metastore has just given to "
        "this statement: another writer used it, or an older metastore was restored, which hivesql "
        "doctor tells. Nothing was written. Put the metastore and the warehouse of one moment in "
        "place; where no older one was restored, run the statement again"
    )


def _note_new_homes(publication: Publication, directories: Iterable[str], files: Files) -> None:
    """Note the partitions' directories that will be made, and what is the first in them.

    Who dies before the first file leaves directories that no cleaner could tell from a user's.
    """
    if not publication.table.partition_columns or not files.has_directories:
        return
    homes = {directory: directory.rpartition("/")[0] for directory in directories}
    there = {home: files.exists(home) for home in set(homes.values())}
    publication.changes.foresee([directory for directory, home in homes.items() if not there[home]])


def _begin_all(files: Files, directories: Iterable[str], begun: BegunWrite, write_id: int) -> None:
    """Begin all directories of which none is begun yet: stores are asked side by side."""
    missing = [directory for directory in directories if directory not in begun.directories]
    each_at_once(files, lambda directory: _begin(files, directory, begun, write_id), missing)


def _begin(files: Files, directory: str, begun: BegunWrite, write_id: int) -> None:
    """Put the version file first: no reader ever sees data without it."""
    if files.has_directories and files.exists(directory):
        raise _used(directory, write_id)
    begun.directories[directory] = None
    if files.has_directories:
        files.make_directories(directory)
    # Fails where there is one already, of another writer of this write id.
    version = f"{directory}/{VERSION_FILE}"
    files.write(version, VERSION_TEXT)
    begun.files.append(version)


def _publish_plain(
    publication: Publication, listed: ListedFiles, files: Files, waiting: dict[str, Upload]
) -> Iterator[WrittenFile]:
    (write,) = publication.writes
    by_directory: dict[str, list[_Staged]] = defaultdict(list)
    for staged in _staged(publication, listed):
        directory = _directory(publication, write, staged.partition)
        if staged.partition in publication.unlike and directory not in by_directory:
            _check_unlike(write, staged.partition, directory, files)
        by_directory[directory].append(staged)
    if write.overwrite and not publication.dynamic_partition:
        # No rows, and therefore no file of any bucket, take the place of what is there too.
        by_directory[_directory(publication, write, named_partition(publication, ()))] += []
    if write.kind is WriteKind.FILES:
        runtime = publication.changes.runtime
        require_own_places(write.table, [*by_directory], runtime, replaces=write.overwrite)
    else:
        _check_unused(publication, by_directory, files)
        _note_new_homes(publication, by_directory, files)
    with publication.changes.removing_on_failure(publication.table.location) as begun:
        if listed.uploaded:
            yield from _complete_plain(by_directory, listed, publication, files, begun, waiting)
            return
        for directory, group in by_directory.items():
            yield from _publish_directory(directory, group, publication, files, begun)
        sync_published(files, begun.files, publication.table.location)


def _complete_plain(
    by_directory: Mapping[str, Sequence[_Staged]],
    listed: ListedFiles,
    publication: Publication,
    files: Files,
    begun: BegunWrite,
    waiting: dict[str, Upload],
) -> Iterator[WrittenFile]:
    """Let uploaded files be seen in the directories of a write, where all names are free.

    Those that were told whole are counted and amended before they are anywhere.
    """
    (write,) = publication.writes
    table, home = write.table, publication.staging
    targets = {
        f"{directory}/{_free_name(staged.writer, set())}": (
            staged, listed.uploaded[staged.path.removeprefix(f"{home}/")]
        )
        for directory, group in by_directory.items()
        for staged in group
    }  # fmt: skip
    uploads = _uploads_to(targets, publication, files, waiting)
    even_empty = write.kind is WriteKind.BASE
    rows = count_waiting(
        [uploaded for _, uploaded in targets.values()], waiting, table, uploads,
        even_empty=even_empty,
    )  # fmt: skip
    begun.directories |= dict.fromkeys(by_directory)
    # Should one fail, those that came already go again.
    begun.files += waiting
    lengths = {path: staged.length for path, (staged, _) in targets.items()}
    completed = complete_counted(
        waiting, lengths, rows, table, files, uploads, even_empty=even_empty
    )
    for path, count, length in completed:
        hit_failpoint(FailPoint.FILE_PUBLISHED)
        yield WrittenFile(
            path=path,
            partition=targets[path][0].partition,
            kind=write.kind,
            statement_id=write.statement_id,
            rows=count,
            bytes=length,
        )


def _publish_directory(
    directory: str,
    group: Sequence[_Staged],
    publication: Publication,
    files: Files,
    begun: BegunWrite,
) -> Iterator[WrittenFile]:
    (write,) = publication.writes
    done = each_at_once(files, lambda staged: _finish(staged, write, files), group)
    finished = [file for file in done if file]
    # Names of files that are replaced are not used again: somebody may remember those files.
    listed = files.list(directory)
    names = {status.path.rpartition("/")[2] for status in listed}
    if write.kind is WriteKind.FILES:
        publication.changes.make([directory])
        if write.overwrite:
            publication.changes.empty(directory, listed)
    else:
        begun.directories[directory] = None
    if finished or write.kind is WriteKind.FILES:
        # A delta without files would be one whose files are lost.
        yield from _place(finished, directory, names, publication, files, begun)


def _finish(staged: _Staged, write: Write, files: Files) -> _Staged | None:
    """Amend a staged file; None for one without rows that nobody misses."""
    if staged.rows is not None:
        return staged
    rows = row_count(files, staged.path, staged.length, write.table.format)
    if rows == 0 and write.kind is not WriteKind.BASE:
        return None
    if types := plain_types(write.table):
        amend(files, staged.path, {}, types=types)
        staged = replace(staged, length=files.size(staged.path))
    return replace(staged, rows=rows)


def _place(
    group: Sequence[_Staged],
    directory: str,
    names: set[str],
    publication: Publication,
    files: Files,
    begun: BegunWrite,
) -> Iterator[WrittenFile]:
    """Move files under names that are free; a name may be taken again until it is used."""
    (write,) = publication.writes
    changes = publication.changes if write.kind is WriteKind.FILES else None
    files.make_directories(directory)
    waiting = {staged.path: staged for staged in group}
    while waiting:
        pairs = []
        for path, staged in waiting.items():
            name = _free_name(staged.writer, names)
            names.add(name)
            pairs.append((path, f"{directory}/{name}"))
        unmoved = dict(changes.bring(pairs) if changes else _move(pairs, files, begun))
        for path, target in pairs:
            if path not in unmoved:
                staged = waiting.pop(path)
                yield WrittenFile(
                    path=target,
                    partition=staged.partition,
                    kind=write.kind,
                    statement_id=write.statement_id,
                    rows=staged.rows or 0,
                    bytes=staged.length,
                )


def _move(
    pairs: Sequence[tuple[str, str]], files: Files, begun: BegunWrite
) -> list[tuple[str, str]]:
    """Move into a directory of the write's own, where no name is taken by others."""
    for source, target in pairs:
        files.rename(source, target)
        begun.files.append(target)
    return []


def _check_unlike(write: Write, partition: str | None, directory: str, files: Files) -> None:
    """Hive would write all the same, and could not read what is there already."""
    if write.table.is_transactional or (not write.overwrite and _has_data(directory, files)):
        how = "INSERT OVERWRITE" if write.kind is WriteKind.BASE else "INSERT INTO"
        raise NotSupported(
            f"{how} {write.table.name}: {partition} is stored otherwise than its table says now. "
            "ALTER TABLE … PARTITION … SET FILEFORMAT or SERDEPROPERTIES makes them agree"
        )


def _has_data(directory: str, files: Files) -> bool:
    return any(not is_hidden(status.path.rpartition("/")[2]) for status in files.list(directory))


def _free_name(writer: int, names: set[str]) -> str:
    name, copies = f"{writer:06d}_0", 0
    while name in names:
        copies += 1
        name = f"{writer:06d}_0_copy_{copies}"
    return name
