"""What is remembered of directories never hides what a fresh look would see."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import hivesql
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.runtime import Runtime
from hivesql_executor.snapshot.known_listings import Listed, forget_listings
from hivesql_executor.snapshot.listing import acid_state, scan_files
from hivesql_planner.acid.files_to_read import FilesToRead, files_to_read
from hivesql_planner.acid.layout import VERSION_FILE, base_name, delete_delta_name, delta_name
from hivesql_planner.acid.snapshot import FileStatus
from hivesql_planner.acid.write_ids import ValidTxnList, ValidWriteIdList
from hivesql_planner.errors import DataError
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.relations import Scan
from hivesql_planner.settings.settings import Settings
from tables import make_table

SEEDS = 25
STEPS = 60


@dataclass(frozen=True)
class CountedFiles(LocalFiles):
    """Local files, and the directories in a table that were listed."""

    few_directories = -1
    listed: list[str] = field(default_factory=list, hash=False, compare=False)

    def list(self, location: str, only: Sequence[str] | None = None) -> tuple[FileStatus, ...]:
        self.listed.extend(only or ())
        return super().list(location, only)


@dataclass
class Writers:
    """Writers, compactors and a cleaner at work on one table, and what a reader may see."""

    home: Path
    chance: random.Random
    table: Table
    calm: bool = False
    """Whether nobody leaves what is no directory of one write, a base or a compaction."""
    txn: int = 0
    write: int = 0
    open: dict[int, str] = field(default_factory=dict)
    aborted: set[int] = field(default_factory=set)
    open_txns: set[int] = field(default_factory=set)
    earlier: list[tuple[ValidWriteIdList, ValidTxnList]] = field(default_factory=list)
    """What readers that began before see, who are still there."""

    @property
    def visible(self) -> ValidWriteIdList:
        return ValidWriteIdList(self.write, frozenset(self.open), frozenset(self.aborted))

    @property
    def txns(self) -> ValidTxnList:
        return ValidTxnList(self.txn, frozenset(self.open_txns))

    def step(self) -> None:
        """Let somebody do something."""
        steps = [self.begin, self.begin, self.add_file, self.commit, self.commit, self.commit]
        steps += [self.abort, self.compact, self.end_compaction, self.clean, self.stay_behind]
        if not self.calm:
            again = [self.make_again] * (self.chance.random() < 0.2)
            steps += [self.flush, self.leave_original, *again]
        self.chance.choice(steps)()
        self.earlier.append((self.visible, self.txns))

    def snapshots(self) -> list[tuple[ValidWriteIdList, ValidTxnList]]:
        """What some readers see: those that begin now, and one that began before."""
        now = self.visible, self.txns
        return self.chance.choice([[now], [now, now], [self.chance.choice(self.earlier), now]])

    @property
    def last(self) -> str:
        """The directory of the last write."""
        return max(path.name for path in self.home.iterdir())

    def _put(self, name: str) -> None:
        directory = self.home / name
        directory.mkdir(parents=True, exist_ok=True)
        (directory / VERSION_FILE).write_text("2")
        bucket = directory / f"bucket_0000{self.chance.randrange(2)}_{self.chance.randrange(9)}"
        bucket.write_bytes(b"x" * self.chance.randrange(1, 40))

    def begin(self) -> None:
        """Begin a write: its directory may be there before its files, and before its commit."""
        self.txn, self.write = self.txn + 1, self.write + 1
        name = self.chance.choice([delta_name, delete_delta_name])(self.write, 0)
        self.open[self.write] = base_name(self.write) if self.chance.random() < 0.1 else name
        if self.chance.random() < 0.7:
            self._put(self.open[self.write])

    def add_file(self) -> None:
        if self.open:
            self._put(self.chance.choice([*self.open.values()]))

    def commit(self) -> None:
        if self.open:
            write = self.chance.choice([*self.open])
            self._put(self.open.pop(write))

    def abort(self) -> None:
        if self.open:
            write = self.chance.choice([*self.open])
            self.aborted.add(write)
            del self.open[write]

    def stay_behind(self) -> None:
        """A writer that was taken for dead goes on."""
        if self.aborted:
            self._put(delta_name(self.chance.choice([*self.aborted]), 0))

    def compact(self) -> None:
        """Write a compaction, which is seen when its transaction has committed."""
        last = min([*self.open, self.write + 1]) - 1
        if last > 0:
            self.txn += 1
            kinds = [f"base_{last:07}", f"delta_0000001_{last:07}"]
            self._put(f"{self.chance.choice(kinds)}_v{self.txn:07}")
            self.open_txns.add(self.txn)

    def end_compaction(self) -> None:
        self.open_txns -= {min(self.open_txns, default=0)}

    def flush(self) -> None:
        """A streaming writer's batch of two writes grows."""
        place = self.home / "delta_0000001_0000002"
        place.mkdir(parents=True, exist_ok=True)
        with (place / "bucket_00000").open("ab") as file:
            file.write(b"x" * 5)
        if not (place / "bucket_00000_flush_length").exists() or self.chance.random() < 0.5:
            length = (place / "bucket_00000").stat().st_size
            with (place / "bucket_00000_flush_length").open("ab") as file:
                file.write(length.to_bytes(8, "big"))

    def leave_original(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.chance.choice([self.home / "000000_0", self.home / "000001_0"]).write_bytes(
            b"x" * self.chance.randrange(1, 9)
        )

    def clean(self) -> None:
        """Remove what no reader that begins now needs."""
        state = acid_state(LocalFiles(), str(self.home), self.visible, self.txns)
        for name in (*state.obsolete, *state.aborted):
            place = self.home / name
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        held = {path.name for path in self.home.glob("*")} if self.home.exists() else set()
        names = [(write, delta_name(write, 0)) for write in self.aborted]
        self.aborted -= {write for write, name in names if name not in held}

    def make_again(self) -> None:
        """Drop the table and make it again in the same place, where writes begin anew."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.write, self.open, self.aborted = 0, {}, set()
        self.earlier.clear()
        self.table = replace(self.table, id=self.table.id + 1)


def no_spark() -> None:
    raise AssertionError("choosing files starts no Spark")


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    forget_listings()
    store = DatabaseMetastore.open(f"sqlite:///{tmp_path}/metastore.db", str(tmp_path))
    store.close()
    files = CountedFiles()
    return Runtime(metastore=store, spark=no_spark, files=lambda _: files)  # type: ignore[arg-type, return-value]


def of_warm(
    writers: Writers,
    runtime: Runtime,
    visible: ValidWriteIdList | None = None,
    txns: ValidTxnList | None = None,
) -> FilesToRead | str:
    visible, txns = visible or writers.visible, txns or writers.txns
    try:
        (part,) = scan_files(Scan(table=writers.table), visible, txns, runtime)
    except DataError as error:
        return str(error)
    return part.files


def of_fresh(
    writers: Writers, visible: ValidWriteIdList | None = None, txns: ValidTxnList | None = None
) -> FilesToRead | str:
    visible, home = visible or writers.visible, str(writers.home)
    try:
        state = acid_state(LocalFiles(), home, visible, txns or writers.txns)
        return files_to_read(state, visible, location=home)
    except DataError as error:
        return str(error)


@pytest.mark.parametrize(
    ("most", "calm"), [(100_000, False), (100_000, True), (25, False), (0, False)]
)
def test_who_remembers_chooses_what_a_fresh_look_chooses(
    tmp_path: Path, runtime: Runtime, most: int, calm: bool
) -> None:
    settings = Settings.of({"hivesql.listing.max.files": str(most)})
    runtime = runtime.with_settings(settings)
    for seed in range(SEEDS):
        home = tmp_path / f"t{seed}"
        writers = Writers(home, random.Random(seed), replace(make_table(home), id=1), calm=calm)
        for number in range(STEPS):
            writers.step()
            for visible, txns in writers.snapshots():
                warm = of_warm(writers, runtime, visible, txns)
                assert warm == of_fresh(writers, visible, txns), (seed, number)


def test_nothing_is_listed_twice(tmp_path: Path, runtime: Runtime) -> None:
    writers = Writers(tmp_path / "t", random.Random(1), replace(make_table(tmp_path / "t"), id=1))
    files = runtime.files("")
    assert isinstance(files, CountedFiles)
    for _ in range(20):
        writers.begin()
        writers.commit()
        for _ in range(3):
            of_warm(writers, runtime)
    assert sorted(files.listed) == sorted({path.name for path in writers.home.iterdir()})


def test_after_a_commit_it_is_chosen_among_what_came_since_alone(
    tmp_path: Path, runtime: Runtime
) -> None:
    home = tmp_path / "t"
    writers = Writers(home, random.Random(1), replace(make_table(home), id=1))
    for number in range(20):
        writers.write += 1
        name = (delete_delta_name if number % 3 == 2 else delta_name)(writers.write, 0)
        writers._put(name)
        if number == 0:
            of_warm(writers, runtime)
            continue
        visible, txns = writers.visible, writers.txns
        looked: list[str] = []

        def choose(
            statuses: Sequence[FileStatus],
            visible: ValidWriteIdList = visible,
            txns: ValidTxnList = txns,
            looked: list[str] = looked,
        ) -> FilesToRead:
            looked += (status.path.partition("/")[0] for status in statuses)
            state = acid_state(LocalFiles(), str(home), visible, txns, listing=statuses)
            return files_to_read(state, visible, keep_deletes=True, location=str(home))

        listed = Listed(runtime.files(""), writers.table, str(home), 100)
        chosen = listed.extend_choice(visible, txns, choose, insert_only=False)
        assert chosen == of_fresh(writers) == of_warm(writers, runtime)
        assert set(looked) == {name}


def test_a_directory_that_others_are_writing_is_listed_until_they_have_committed(
    tmp_path: Path, runtime: Runtime
) -> None:
    writers = Writers(tmp_path / "t", random.Random(1), replace(make_table(tmp_path / "t"), id=1))
    writers._put(delta_name(1, 0))
    writers.write, writers.open = 1, {1: delta_name(1, 0)}
    files = runtime.files("")
    assert isinstance(files, CountedFiles)
    for _ in range(3):
        assert of_warm(writers, runtime) == FilesToRead()
    writers.commit()
    for _ in range(3):
        assert of_warm(writers, runtime) == of_fresh(writers) != FilesToRead()
    assert files.listed == [delta_name(1, 0)] * 4


def test_what_was_put_in_another_place_and_brought_back_is_listed_anew(
    tmp_path: Path, runtime: Runtime
) -> None:
    """As by who restores a directory from elsewhere."""
    writers = Writers(tmp_path / "t", random.Random(1), replace(make_table(tmp_path / "t"), id=1))
    writers.begin()
    writers.commit()
    of_warm(writers, runtime)
    (place,) = writers.home.iterdir()
    place.rename(tmp_path / "elsewhere")
    writers._put(place.name)
    (place / "bucket_00000_0").write_bytes(b"others")
    assert of_warm(writers, runtime) == of_fresh(writers)


def test_few_directories_are_looked_at_each_time(tmp_path: Path, runtime: Runtime) -> None:
    """Whoever damages or mends a file of a small table by hand is seen at once."""
    writers = Writers(tmp_path / "t", random.Random(1), replace(make_table(tmp_path / "t"), id=1))
    runtime = replace(runtime, files=lambda _: LocalFiles())
    for count in (LocalFiles.few_directories, 1):
        for _ in range(count):
            writers.begin()
            writers.commit()
        of_warm(writers, runtime)
        (writers.home / writers.last / "bucket_00000_99").write_bytes(b"put by hand")
        assert (of_warm(writers, runtime) == of_fresh(writers)) is (count > 1)


def test_who_mends_a_file_after_an_error_is_seen(tmp_path: Path) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", f"{tmp_path}/warehouse") as session:
        session.sql("CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        count = LocalFiles.few_directories + 1
        for number in range(count):
            session.sql(f"INSERT INTO t VALUES ({number})")
        home = Path(session.runtime.metastore.table(TableName("default", "t")).location)
        damaged = next((home / delta_name(count, 0)).glob("bucket_*"))
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:50])
        with pytest.raises(DataError, match="not a readable ORC file"):
            session.sql("SELECT a FROM t")
        damaged.write_bytes(whole)
        assert len(session.sql("SELECT a FROM t").rows) == count


def test_memory_is_bounded(tmp_path: Path, runtime: Runtime) -> None:
    """Of tables that do not fit, those that were used last are remembered."""
    runtime = runtime.with_settings(Settings.of({"hivesql.listing.max.files": "10"}))
    files = runtime.files("")
    assert isinstance(files, CountedFiles)
    tables = [
        Writers(tmp_path / f"t{i}", random.Random(i), replace(make_table(tmp_path / f"t{i}"), id=i))
        for i in range(4)
    ]
    for writers in tables:
        writers._put(delta_name(1, 0))
        writers.write = 1
        of_warm(writers, runtime)
    files.listed.clear()
    for writers in reversed(tables):
        of_warm(writers, runtime)
    assert 0 < len(files.listed) < len(tables)
