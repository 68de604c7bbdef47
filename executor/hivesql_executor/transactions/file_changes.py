"""Files outside of ACID directories: what a statement does to them is right once it commits.

Each change is noted in the metastore before it is made. Until the commit the note says how to undo
it, afterwards what is left to delete: whoever reaps the transaction of a process that died does so.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from hivesql_executor.beats import repeat_beside
from hivesql_executor.failpoints import FailPoint, hit_failpoint
from hivesql_executor.files.staging import sync_published
from hivesql_executor.metastore.file_moves import BegunMoves, Move, MoveKind, decide_remedy
from hivesql_executor.transactions.reaper import HIDDEN, entries, is_same, left_to_reaper, mend
from hivesql_planner.definitions.places import directories_above
from hivesql_planner.errors import CommitUnknown, ExecutionError, HiveSqlError
from hivesql_planner.older_python import add_note

if TYPE_CHECKING:
    from hivesql_executor.files.api import Files
    from hivesql_executor.runtime import Runtime
    from hivesql_planner.acid.snapshot import FileStatus
    from hivesql_planner.model.statistics import StatisticsChange
    from hivesql_planner.model.table import Table


@dataclass(slots=True)
class BegunWrite:
    """The ACID directories that a write puts files into, and the files.

    Only files that came into being by it are its own: another may have made a directory of that
    name before.
    """

    directories: dict[str, None] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


@dataclass
class FileChanges:
    """The changes of one transaction (0: of a statement without one), in their order."""

    runtime: Runtime
    txn_id: int
    noted: list[Move] = field(default_factory=list)
    unnoted: list[Move] = field(default_factory=list)
    """Those of them that the metastore does not know."""
    arrived: dict[Move, int] = field(default_factory=dict)
    """When the files that were brought had been modified: by that they are told from others'."""
    counted: list[StatisticsChange] = field(default_factory=list)
    """What a statement without a transaction does to what is known of tables."""
    key: str = ""
    all_came: bool = False
    """Whether all files had come while the note was ours: whoever takes it later does the rest."""
    left: BegunMoves | None = None
    """What could not be put back, where no metastore has a note of it: nobody else tries again."""
    renewed: float = 0.0
    """When the note, or the transaction, was last known to be young, by the runtime's clock."""
    _end_renewing: Callable[[], None] | None = None
    """Ends what shows, while a query runs, that a statement without a transaction is alive."""

    _forgetting: Lock = field(default_factory=Lock)
    """Held by whoever changes what is noted, where several move files at once."""

    def __bool__(self) -> bool:
        return bool(self.noted)

    def work_aside(self, path: str, *, lasts: bool = True) -> None:
        """Note a directory of the statement's own, which goes in any case.

        Those above it come with it, and go when we fail, where nothing was put in. ``lasts``: from
        now on somebody has to show that a statement without a transaction is alive.
        """
        above = path.rstrip("/").rpartition("/")[0]
        parents = making_moves(missing_directories([above], self.runtime))
        aside = Move(source="", target=path, kind=MoveKind.ASIDE)
        if self.txn_id or not lasts:
            self._note([*parents, aside])
            return
        # Not with what waits to be noted: a table that is born must not be taken for lost while
        # others may write there, and only what is noted of a transaction keeps them out.
        self._tell([*parents, aside])
        self.noted += [*parents, aside]
        if self._end_renewing is None:
            self._end_renewing = self._begin_renewing()

    def fill(self, table: Table, *, is_new: bool) -> None:
        """Note a table whose rows are to come; ``is_new``: its directory is its own."""
        filled = Move(source="", target=table.location, kind=MoveKind.FILLED)
        born = Move(
            source=str(table.name), target=table.location, table_id=table.id, kind=MoveKind.BORN
        )
        self._note([filled, born] if is_new else [born], lasts=True)

    def make(self, directories: Sequence[str]) -> None:
        """Make directories that are missing, for which the catalog will have a name."""
        missing = missing_directories(directories, self.runtime)
        if missing:
            self._note(making_moves(missing))
        for path in missing:
            self.runtime.files(path).make_directories(path)

    def foresee(self, directories: Sequence[str]) -> None:
        """Note directories that come with files; those that are empty when we fail go again."""
        if directories:
            self._note(making_moves(missing_directories(directories, self.runtime)))

    def empty(self, location: str, listed: Sequence[FileStatus] | None = None) -> None:
        """Hide every file of a directory, or those of them that were ``listed``."""
        files = self.runtime.files(location)
        doomed = files.list(location) if listed is None else listed
        if not doomed:
            return
        hidden = f"{location}/{HIDDEN}{uuid.uuid4().hex[:8]}"
        self._note([Move(source=location, target=hidden, kind=MoveKind.EMPTIED)])
        if files.has_directories:
            for status in doomed:
                self._renew()
                files.rename(f"{location}/{status.path}", f"{hidden}/{status.path}")
        else:
            with self._renewing():
                files.hide(location, doomed, hidden)
        hit_failpoint(FailPoint.FILES_HIDDEN)

    def bring(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Move files to where they are wanted; those are left and returned whose place is taken."""
        moves = [Move(source=old, target=new, kind=MoveKind.BROUGHT) for old, new in pairs]
        self._note(moves)
        files = self.runtime.files(moves[0].target) if moves else None
        if files is None or files.has_directories:
            came = [self._bring(move) for move in moves]
        else:
            # Imported late: most statements move nothing.
            from hivesql_executor.files.at_once import each_at_once

            with self._renewing():
                came = each_at_once(files, self._bring, moves)
        unmoved = [pair for pair, is_here in zip(pairs, came, strict=True) if not is_here]
        _sync_arrived([new for old, new in pairs if (old, new) not in unmoved], self.runtime)
        return unmoved

    def _bring(self, move: Move) -> bool:
        """Move a file; False where another has the place."""
        files = self.runtime.files(move.target)
        if files.has_directories:
            self._renew()
        try:
            # Its number is asked before: should we hang after the move, another's may be there.
            self.arrived[move] = files.bring(move.source, move.target)
        except ExecutionError:
            if not files.exists(move.source) or not files.exists(move.target):
                raise
            if is_same(files, move.source, move.target):
                # Ours, under both names: brought again, its rows would be there twice.
                raise
            # It is somebody else's, and must not be taken for ours.
            with self._forgetting:
                self.runtime.metastore.forget_moves(self.key, move.target)
                self.noted.remove(move)
                if {*self.noted} <= {*self.unnoted}:
                    self.key = ""
            is_here = False
        else:
            is_here = True
        hit_failpoint(FailPoint.FILE_PUBLISHED)
        return is_here

    def copy(self, sources: Sequence[str], directory: str, files: Files) -> list[str]:
        """Copy files to where they can be brought into a directory; the copies, in that order.

        ``files`` reaches both places. Some are copied at a time.
        """
        aside = f"{directory}/.hive-staging_hivesql_{uuid.uuid4().hex}"
        self.work_aside(aside, lasts=False)
        copies = [f"{aside}/{n}/{path.rpartition('/')[2]}" for n, path in enumerate(sources)]

        def copy(pair: tuple[str, str]) -> None:
            self.runtime.check_cancelled()
            files.copy(*pair)

        if sources:
            # Imported late: most statements copy nothing.
            from hivesql_executor.files.at_once import each_at_once

            with self._renewing():
                each_at_once(files, copy, [*zip(sources, copies, strict=True)])
        return copies

    def finish(self) -> None:
        """Delete what is not needed any more, now that all of it is right."""
        self._stop_renewing()
        if not self.noted:
            return
        with left_to_reaper("what the statement replaced is not deleted yet", self.runtime):
            mend(self._begun(committed=True), self.runtime, is_done=True)
        self.noted, self.unnoted, self.key = [], [], ""

    def undo(self, error: BaseException | None) -> None:
        """Put everything back, after an error if any; what cannot be is told, and left to others.

        Whoever reaps next tries again; ``left`` is what only this process knows of.
        """
        self._stop_renewing()
        if not self.noted:
            return
        try:
            self._mend()
        except Exception as second:  # noqa: BLE001 - the first error is the one to report
            note = f"files are not put back yet: {second}"
            if not self.key:
                self.left = self._begun(committed=False)
            if error is not None:
                add_note(error, note)
            else:
                self.runtime.notify(f"{note}. The next statement tries again")
        self.noted, self.unnoted, self.key = [], [], ""

    def _mend(self) -> None:
        begun = self._begun(committed=False)
        if self.key:
            # Whoever took us for dead has put back what was noted: another's files may be in
            # its place now.
            noted = self.runtime.metastore.noted_moves(self.key)
            if noted is None and not self.all_came:
                self._give_back()
                noted = self._note_again()
            unnoted = [pair for pair in begun.moves if pair[0] in self.unnoted]
            begun = BegunMoves(
                # What another has taken is its to forget, when it has undone it.
                key=noted.key if noted else "",
                moves=(*unnoted, *(noted.moves if noted else ())),
            )
        mend(begun, self.runtime)

    def _note_again(self) -> BegunMoves | None:
        """Tell what to do with hidden files, and directories of ours, that may have come later."""
        kinds = (MoveKind.EMPTIED, MoveKind.ASIDE, MoveKind.MADE)
        late = [move for move in self.noted if move.kind in kinds and move not in self.unnoted]
        store = self.runtime.metastore
        return store.noted_moves(store.note_moves(0, late)) if late else None

    def _give_back(self) -> None:
        """Take what came after somebody had taken us for dead, and had put the rest back."""
        asides = tuple(f"{noted.target}/" for noted in self.noted if noted.kind is MoveKind.ASIDE)
        for move, modified in self.arrived.items():
            files = self.runtime.files(move.target)
            if not files.exists(move.target) or files.modified(move.target) != modified:
                continue
            if move.source.startswith(asides) or files.exists(move.source):
                files.delete(move.target)
            else:
                files.rename(move.target, move.source)

    @contextmanager
    def removing_on_failure(self, location: str) -> Iterator[BegunWrite]:
        """Let a write note in the block what it has begun; remove that when it fails.

        A writer that hung may have been taken for dead, and its write cleaned up and forgotten:
        what it leaves then counts as committed, and a base, even an empty one, hides all rows
        before it. ``location`` is the table's, and may be another table's by then.
        """
        begun = BegunWrite()
        try:
            yield begun
            # Where nothing staged can be taken from it, such as in an object store, it could write
            # all after that, and would be told by nobody.
            self.require_alive()
        except BaseException:
            files = self.runtime.files(location)
            for path in reversed(begun.files):
                with suppress(Exception):
                    files.delete(path)
            # In object stores Hadoop's S3A leaves a marker where it has removed the last file.
            for directory in begun.directories:
                with suppress(Exception):
                    files.remove_if_empty(directory)
            self.remove_unnamed(location, begun.directories)
            raise

    def remove_unnamed(self, location: str, removed: Collection[str] = ()) -> None:
        """Remove empty directories around what was removed, up to the table's, that nobody names.

        A writer that hung makes the directories of a table, or partition, again that was dropped
        meanwhile. Failures are left alone: the error that brought us here is the one to report.
        """
        homes = dict.fromkeys([location])
        for directory in removed:
            above = []
            home = directory.rpartition("/")[0]
            while home.startswith(f"{location}/"):
                above.append(home)
                home = home.rpartition("/")[0]
            homes |= dict.fromkeys(reversed(above))
        with suppress(Exception):
            files = self.runtime.files(location)
            if not files.has_directories:
                return
            if any(files.exists(home) and not entries(files, home) for home in homes):
                store = self.runtime.metastore
                noted = store.noted_moves(store.note_moves(0, making_moves([*homes])))
                if noted is not None:
                    mend(noted, self.runtime)

    @contextmanager
    def emptying(self, directories: Sequence[str]) -> Iterator[None]:
        """Remove directories, the lowest last, that are empty after the block and nobody names."""
        if directories:
            self._note(making_moves(directories))
        yield
        if directories:
            self._mend()

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Decide by the end of the block, where no commit does; with that, count."""
        try:
            yield
            is_counted = self._settle()
        except BaseException as error:
            self.undo(error)
            raise
        self.finish()
        if self.counted and not is_counted:
            self.runtime.metastore.count_changes(self.counted)

    def _settle(self) -> bool:
        """Decide that all of it is right; CommitUnknown where nobody can tell any more.

        False where nothing is noted, and nothing counted with it.
        """
        if not self.key:
            return False
        store = self.runtime.metastore
        self.all_came = store.noted_moves(self.key) is not None
        try:
            is_settled = self.all_came and store.settle_moves(self.key, self.counted)
        except CommitUnknown as unknown:
            # Settling twice is harmless. Where nothing is noted any more, another has undone it
            # or, if it was settled, has finished it: then its files are committed.
            try:
                is_settled = store.settle_moves(self.key, self.counted)
            except HiveSqlError as error:
                raise unknown from error
            if not is_settled:
                raise
        if not is_settled:
            raise ExecutionError(
                "the statement took so long between two files that it was taken for dead, and its "
                "files were put back. Run it again"
            )
        return True

    def _note(self, moves: Sequence[Move], *, lasts: bool = False) -> None:
        """Note what comes next.

        What ``lasts`` for as long as a query runs is noted of transactions alone: nobody could
        tell later whether a statement without one still runs. There it is noted with what comes
        next, so that whoever undoes that finds all of it.
        """
        if not moves:
            return
        if self.txn_id or not lasts:
            self._tell([*self.unnoted, *moves])
            self.unnoted = []
        else:
            self.unnoted += moves
        self.noted += moves

    def _tell(self, moves: Sequence[Move]) -> None:
        self.key = self.runtime.metastore.note_moves(self.txn_id, moves, self.key)
        self.renewed = self.runtime.clock.monotonic()

    def require_alive(self) -> None:
        """Raise TransactionLost where the transaction was taken for dead while we hung."""
        if self.txn_id and self._is_silent():
            self.runtime.metastore.heartbeat(self.txn_id)
            self.renewed = self.runtime.clock.monotonic()

    def _renew(self) -> None:
        """Show now and then that a statement without a transaction is alive."""
        if not self.txn_id and self._is_silent():
            self.runtime.metastore.renew_moves(self.key)
            self.renewed = self.runtime.clock.monotonic()

    @contextmanager
    def _renewing(self) -> Iterator[None]:
        """Show all the time that a statement without a transaction is alive."""
        if self.txn_id or not self.key:
            yield
            return

        end = self._begin_renewing()
        try:
            yield
        finally:
            end()
            self.renewed = self.runtime.clock.monotonic()

    def _begin_renewing(self) -> Callable[[], None]:
        def renew() -> bool:
            # What fails once is tried again, and whoever has taken the note tells it later.
            with suppress(Exception):
                self.runtime.metastore.renew_moves(self.key)
            return True

        return repeat_beside(self._seconds_of_silence(), renew, "hivesql-renew")

    def _stop_renewing(self) -> None:
        if self._end_renewing is not None:
            self._end_renewing()
            self._end_renewing = None

    def _is_silent(self) -> bool:
        return self.runtime.clock.monotonic() - self.renewed > self._seconds_of_silence()

    def _seconds_of_silence(self) -> float:
        return self.runtime.settings.seconds("hive.txn.timeout") / 4

    def _begun(self, *, committed: bool) -> BegunMoves:
        remedies = tuple(
            (move, decide_remedy(move, named=committed, owned=True, committed=committed))
            for move in self.noted
        )
        return BegunMoves(key=self.key, moves=remedies)


def missing_directories(directories: Sequence[str], runtime: Runtime) -> list[str]:
    """Return the directories that are not there, and those above them, the highest first.

    None in object stores, where a directory comes and goes with its files.
    """
    missing: dict[str, None] = {}
    for directory in directories:
        above, files = [], runtime.files(directory)
        if not files.has_directories:
            continue
        # Only the host, or bucket, of a URI Hadoop takes for no path.
        for path in (directory.rstrip("/"), *directories_above(directory)[:-1]):
            if files.exists(path):
                break
            above.append(path)
        missing |= dict.fromkeys(reversed(above))
    return list(missing)


def making_moves(directories: Sequence[str]) -> list[Move]:
    """Tell what to note of directories that are made."""
    return [Move(source="", target=path, kind=MoveKind.MADE) for path in directories]


def _sync_arrived(paths: Sequence[str], runtime: Runtime) -> None:
    """Bring files down to the disk, with their directories and these directories' names."""
    by_place: dict[str, list[str]] = {}
    for path in paths:
        by_place.setdefault(path.rsplit("/", 2)[0], []).append(path)
    for place, arrived in by_place.items():
        sync_published(runtime.files(place), arrived, place)
