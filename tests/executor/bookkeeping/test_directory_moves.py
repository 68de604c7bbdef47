"""Directories follow their catalog entries, or stay when those stay."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event, select, text
from sqlalchemy.exc import OperationalError

import hivesql
from acid_files import tree
from hivesql_executor.bookkeeping.directory_moves import CatalogPlaces, hiding, making, placing
from hivesql_executor.files.local import LocalFiles
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.transactions.moves import moves as noted_moves
from hivesql_executor.metastore.file_moves import Move
from hivesql_executor.runtime import Clock, Runtime
from hivesql_executor.transactions.file_changes import FileChanges
from hivesql_executor.transactions.reaper import abort, mend, reap
from hivesql_executor.transactions.transaction import open_transaction, roll_back
from hivesql_planner.errors import CommitUnknown, ExecutionError, NoSuchObject, TransactionLost
from hivesql_planner.model.statistics import StatisticsChange
from hivesql_planner.model.table import Column, Partition, Table, TableName
from hivesql_planner.settings.settings import Settings
from interruption import Cut, Death, Steps, interrupted, lose_answer
from waiting import wait_until

T = TableName("default", "t")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a/x", "b/y"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(name, encoding="utf-8")
    return tmp_path


@pytest.fixture
def runtime(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A metastore with a table in the directory ``a``."""
    store = DatabaseMetastore.open(f"sqlite:///{tmp_path_factory.mktemp('store')}/m.db", str(root))
    store.create_table(Table(name=T, columns=(Column.of("x", "int"),), location=f"{root}/a"))
    yield Runtime(
        metastore=store,
        spark=lambda: pytest.fail("needs no Spark"),
        files=lambda location: LocalFiles(),
    )
    store.close()


def test_directories_go_where_the_catalog_says(root: Path, runtime: Runtime) -> None:
    """A block may fail before its change of the catalog, and after it: a lost answer, Ctrl-C."""
    store = runtime.metastore
    table = store.table(T)
    renamed = replace(table, name=TableName("default", "u"), location=f"{root}/c")
    hidden, moved = [hiding(f"{root}/a", table.id)], [Move(source=f"{root}/a", target=f"{root}/c")]
    for moves in (hidden, moved):
        with pytest.raises(KeyboardInterrupt), placing(moves, runtime, 0, look=CatalogPlaces):
            assert not (root / "a").exists()
            raise KeyboardInterrupt
        assert tree(root) == ["a/x", "b/y"]
    with pytest.raises(KeyboardInterrupt), placing(moved, runtime, 0, look=CatalogPlaces):
        store.alter_table(T, renamed)
        raise KeyboardInterrupt
    assert tree(root) == ["b/y", "c/x"]
    with (
        pytest.raises(KeyboardInterrupt),
        placing([hiding(f"{root}/c", table.id)], runtime, 0, look=CatalogPlaces),
    ):
        store.drop_table(renamed.name)
        raise KeyboardInterrupt
    assert tree(root) == ["b/y"]
    assert store.lost_moves(-1) == ()
    assert not list(root.glob(".hivesql*"))


def test_what_stays_is_deleted_once_its_table_is_dropped(root: Path, runtime: Runtime) -> None:
    """As in object stores; and not where the catalog names the place again."""
    store = runtime.metastore
    table = store.table(T)
    move = hiding(f"{root}/a", table.id, stays=True)
    with pytest.raises(KeyboardInterrupt), placing([move], runtime, 0, look=CatalogPlaces):
        assert tree(root) == ["a/x", "b/y"]
        raise KeyboardInterrupt
    assert tree(root) == ["a/x", "b/y"]
    with pytest.raises(KeyboardInterrupt), placing([move], runtime, 0, look=CatalogPlaces):
        store.drop_table(T)
        store.create_table(replace(table, id=0))
        raise KeyboardInterrupt
    assert tree(root) == ["a/x", "b/y"]
    with placing(
        [hiding(f"{root}/a", store.table(T).id, stays=True)], runtime, 0, look=CatalogPlaces
    ):
        store.drop_table(T)
    assert tree(root) == ["b/y"]
    assert store.lost_moves(-1) == ()


def test_what_another_has_deleted_is_not_deleted_again(root: Path, runtime: Runtime) -> None:
    """A process hangs after the change of the catalog, until a new table is in the place."""
    store, place = runtime.metastore, f"{root}/a"
    table = store.table(T)
    with placing([hiding(place, table.id, stays=True)], runtime, 0, look=CatalogPlaces):
        store.drop_table(T)
        for begun in store.lost_moves(-1):
            mend(begun, runtime)
        assert tree(root) == ["b/y"]
        with ThreadPoolExecutor() as another:
            another.submit(store.create_table, replace(table, id=0)).result()
        (root / "a").mkdir()
        (root / "a/new").write_text("a new row", encoding="utf-8")
    assert tree(root) == ["a/new", "b/y"]


def test_what_cannot_be_mended_is_left_for_the_next(root: Path, runtime: Runtime) -> None:
    told: list[str] = []
    impatient = Settings.of({"hive.txn.timeout": "0s"})
    runtime = replace(runtime, settings=impatient, notify=told.append)
    move = hiding(f"{root}/a", runtime.metastore.table(T).id)
    (txn_id, _) = runtime.metastore.open_txns(2, "ann", "here")
    runtime.metastore.note_moves(txn_id, [move])
    runtime.files("").rename(move.source, move.target)
    (root / "a").mkdir()
    (root / "a" / "x").write_text("somebody else's")
    time.sleep(0.01)
    reap(runtime)
    assert "not mended yet" in told[0]
    # Until the rows are back nobody else may write in their place.
    assert open_ids(runtime) == [txn_id]
    (last,) = runtime.metastore.open_txns(1, "ann", "here")
    with pytest.raises(ExecutionError, match=f"transaction {txn_id} is not aborted: .* put back"):
        abort([txn_id, last], "by hand", runtime)
    assert open_ids(runtime) == [txn_id]
    (root / "a" / "x").unlink()
    reap(runtime)
    assert tree(root) == ["a/x", "b/y"]
    assert open_ids(runtime) == []
    assert len(told) == 1
    # ROLLBACK has no error of its own to tell it by.
    changes = FileChanges(runtime, 0)
    changes.empty(f"{root}/a")
    (root / "a" / "x").write_text("somebody else's")
    changes.undo(None)
    assert "files are not put back yet" in told[1]
    (root / "a" / "x").unlink()
    reap(runtime)
    assert tree(root) == ["a/x", "b/y"]


class SlowFiles(LocalFiles):
    """Local files, of which each copy waits for what ``during`` does."""

    def __init__(self, during: Callable[[], object]) -> None:
        super().__init__()
        self.during = during

    def copy(self, source: str, target: str) -> None:
        super().copy(source, target)
        self.during()


def test_what_died_among_its_copies_leaves_nothing(root: Path, runtime: Runtime) -> None:
    def die() -> None:
        raise KeyboardInterrupt

    changes = FileChanges(runtime, 0)
    with pytest.raises(KeyboardInterrupt):
        changes.copy([f"{root}/a/x"], f"{root}/b/new", SlowFiles(die))
    assert len(tree(root)) == 3
    impatient = Settings.of({"hive.txn.timeout": "-1s"})
    reap(replace(runtime, settings=impatient))
    assert tree(root) == ["a/x", "b/y"]
    assert not (root / "b" / "new").exists()


def test_whoever_copies_for_long_is_alive(root: Path, runtime: Runtime) -> None:
    """Without a transaction, of which a heartbeat would tell."""
    patient = replace(runtime, settings=Settings.of({"hive.txn.timeout": "400ms"}))

    def noted_at() -> int:
        engine = runtime.metastore._rdbms._engine  # type: ignore[attr-defined]
        with engine.connect() as db:
            return int(db.scalar(text("SELECT max(STARTED_AT) FROM HIVESQL_MOVES")))

    def look() -> None:
        first = noted_at()
        wait_until(lambda: noted_at() > first)

    changes = FileChanges(patient, 0)
    with changes.deciding():
        copies = changes.copy([f"{root}/a/x"], f"{root}/b/new", SlowFiles(look))
        changes.bring([(copies[0], f"{root}/b/new/x")])
    assert tree(root) == ["a/x", "b/new/x", "b/y"]


def test_a_table_is_locked_until_its_files_are_back(root: Path, runtime: Runtime) -> None:
    """A statement fails, and what it has moved cannot be put back until somebody makes room."""
    runtime = replace(runtime, settings=Settings.of({"hive.txn.timeout": "3s"}))
    opened, error = open_transaction(runtime), ExecutionError("the statement failed")
    move = Move(source=f"{root}/a", target=f"{root}/c")
    with pytest.raises(ExecutionError), placing([move], runtime, opened.id, look=CatalogPlaces):
        (root / "a").mkdir()
        (root / "a" / "z").write_text("somebody else's")
        raise error
    roll_back(opened, runtime, error, may_have_moved=True)
    assert f"transaction {opened.id} could not be aborted either" in str(error.__notes__)
    assert open_ids(runtime) == [opened.id]
    (root / "a" / "z").unlink()
    (root / "a").rmdir()
    wait_until(lambda: not open_ids(runtime))
    assert tree(root) == ["a/x", "b/y"]


def open_ids(runtime: Runtime) -> list[int]:
    """Return which transactions are open."""
    return [txn.txn_id for txn in runtime.metastore.transactions() if txn.state == "open"]


def test_only_directories_that_were_made_and_are_empty_go_again(
    root: Path, runtime: Runtime
) -> None:
    wanted = [f"{root}/a/x", f"{root}/new/deep", f"{root}/b"]
    with pytest.raises(ExecutionError, match="a/x cannot be made"), making(wanted, runtime, 0):
        pytest.fail("there is a file")
    with pytest.raises(KeyboardInterrupt), making(wanted[1:], runtime, 0):
        assert (root / "new" / "deep").is_dir()
        raise KeyboardInterrupt
    assert sorted(path.name for path in root.iterdir()) == ["a", "b"]
    with pytest.raises(KeyboardInterrupt), making(wanted[1:], runtime, 0):
        (root / "new" / "mine").write_text("")
        raise KeyboardInterrupt
    assert tree(root) == ["a/x", "b/y", "new/mine"]
    assert runtime.metastore.lost_moves(-1) == ()


def test_files_of_others_are_never_taken_for_ours(root: Path, runtime: Runtime) -> None:
    """A name that was free when it was chosen may be taken when the file comes."""
    changes = FileChanges(runtime, 0)
    pairs = [(f"{root}/a/x", f"{root}/b/z"), (f"{root}/b/y", f"{root}/c/w")]
    (root / "b" / "z").write_text("theirs")
    with pytest.raises(KeyboardInterrupt), changes.deciding():
        assert changes.bring(pairs) == pairs[:1]
        assert tree(root) == ["a/x", "b/z", "c/w"]
        raise KeyboardInterrupt
    assert tree(root) == ["a/x", "b/y", "b/z"]
    with changes.deciding():
        changes.empty(f"{root}/b")
        assert LocalFiles().list(f"{root}/b") == ()
    assert tree(root) == ["a/x"]
    assert not list(root.rglob(".h*"))
    assert runtime.metastore.lost_moves(-1) == ()


def test_who_is_taken_for_dead_says_so(root: Path, runtime: Runtime) -> None:
    """A statement without a transaction shows that it lives, and notices that nobody saw it."""
    times = iter(range(0, 10_000, 100))
    slow = replace(runtime, clock=Clock(monotonic=lambda: next(times)))
    impatient = replace(runtime, settings=Settings.of({"hive.txn.timeout": "0s"}))
    changes = FileChanges(slow, 0)
    with pytest.raises(ExecutionError, match="taken for dead"), changes.deciding():
        changes.work_aside(f"{root}/a")
        assert changes.bring([(f"{root}/b/y", f"{root}/c")]) == []
        time.sleep(0.01)
        assert runtime.metastore.lost_moves(3600) == ()
        reap(impatient)
        # Where it worked is noted with what it brought, and goes as well.
        assert tree(root) == ["b/y"]
    assert tree(root) == ["b/y"]


def times_of_notes(runtime: Runtime) -> list[int]:
    store = runtime.metastore
    query = select(noted_moves.c.started)
    return list(store._rdbms.read(lambda db: db.scalars(query).all()))  # type: ignore[attr-defined]


def test_where_a_query_works_without_a_transaction(root: Path, runtime: Runtime) -> None:
    """As long as it lives it shows so; where it works goes after its death, but no new table."""
    quick = replace(runtime, settings=Settings.of({"hive.txn.timeout": "1s"}))
    changes = FileChanges(quick, 0)
    changes.fill(runtime.metastore.table(T), is_new=False)
    changes.work_aside(f"{root}/a/.aside")
    (root / "a" / ".aside").mkdir()
    (before,) = times_of_notes(runtime)
    wait_until(lambda: times_of_notes(runtime) > [before])
    assert runtime.metastore.lost_moves(3600) == ()
    # It dies.
    assert changes._end_renewing is not None
    changes._end_renewing()
    reap(replace(runtime, settings=Settings.of({"hive.txn.timeout": "-1s"})))
    assert tree(root) == ["a/x", "b/y"]
    assert not (root / "a" / ".aside").exists()
    assert runtime.metastore.table(T)
    # Unless it only hung: then it says so, brings nothing, and takes its table back itself.
    with pytest.raises(TransactionLost, match="taken for dead"):
        changes.bring([(f"{root}/b/y", f"{root}/a/y")])
    changes.undo(None)
    assert tree(root) == ["a/x", "b/y"]
    with pytest.raises(NoSuchObject):
        runtime.metastore.table(T)


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "not settled"])
@pytest.mark.parametrize("meanwhile", ["nothing", "reaped", "taken"])
def test_a_decision_whose_answer_is_lost(
    root: Path, runtime: Runtime, *, settled: bool, meanwhile: str
) -> None:
    """It is asked for again; another may have come first, and what it did stays."""
    store = runtime.metastore
    engine = store._rdbms._engine  # type: ignore[attr-defined]
    other = DatabaseMetastore.open(engine.url.render_as_string(), str(root))
    impatient = Settings.of({"hive.txn.timeout": "-1s"})
    reaper = replace(runtime, metastore=other, settings=impatient)
    deeds = {"nothing": int, "reaped": lambda: reap(reaper), "taken": lambda: other.lost_moves(-1)}
    changes = FileChanges(runtime, 0)
    is_known = meanwhile == "nothing" or (settled and meanwhile == "taken")
    with nullcontext() if is_known else pytest.raises(CommitUnknown), changes.deciding():
        changes.work_aside(f"{root}/a/.aside")
        (root / "a" / ".aside").mkdir()
        (root / "a" / ".aside" / "new").write_text("new")
        changes.empty(f"{root}/a")
        changes.bring([(f"{root}/a/.aside/new", f"{root}/a/z"), (f"{root}/b/y", f"{root}/a/y")])
        lose_answer(engine, after=settled, then=deeds[meanwhile])
    # Who took it may have died since.
    reap(reaper)
    other.close()
    assert tree(root) == (["a/y", "a/z"] if is_known or settled else ["a/x", "b/y"])
    assert not list(root.rglob(".*"))
    assert store.lost_moves(-1) == ()


def test_a_decision_that_nobody_answers(root: Path, runtime: Runtime) -> None:
    for settled in (True, False):
        changes = FileChanges(runtime, 0)
        with pytest.raises(CommitUnknown), changes.deciding():
            changes.bring([(f"{root}/b/y", f"{root}/a/y")])
            lose_answer(runtime.metastore._rdbms._engine, after=settled, times=2)  # type: ignore[attr-defined]
        assert tree(root) == (["a/x", "a/y"] if settled else ["a/x", "b/y"])
        (root / "a" / "y").rename(root / "b" / "y") if settled else None


@pytest.mark.parametrize("cut", [Cut.DIES, Cut.UNANSWERED])
def test_numbers_change_with_the_files(root: Path, runtime: Runtime, cut: Cut) -> None:
    """Nobody, such as Hive's count(*), reads numbers of the files before as accurate ones."""
    store = runtime.metastore
    impatient = replace(runtime, settings=Settings.of({"hive.txn.timeout": "-1s"}))
    loaded = StatisticsChange(table=T, rows=2, files=1, bytes=3)
    arrived = set()
    steps = Steps(cut=cut, at=0)
    while steps.at == 0 or steps.happened:
        store.count_changes([StatisticsChange(table=T, replaces=True)])
        steps = Steps(cut=cut, at=steps.at + 1)
        changes = FileChanges(runtime, 0, counted=[loaded])
        with suppress(Death, OSError, CommitUnknown), interrupted(steps), changes.deciding():
            changes.bring([(f"{root}/b/y", f"{root}/a/y")])
        reap(impatient)
        known, is_there = store.statistics(T), (root / "a" / "y").exists()
        where = f"{cut} at step {steps.at} of {steps.taken}"
        assert (known.rows, known.is_accurate) == (2 if is_there else 0, True), where
        arrived.add(is_there)
        if is_there:
            (root / "a" / "y").rename(root / "b" / "y")
    assert arrived == {True, False}


def test_directories_above_what_is_worked_in_go_with_it(root: Path, runtime: Runtime) -> None:
    changes = FileChanges(runtime, runtime.metastore.open_txns(1, "ann", "here")[0])
    changes.work_aside(f"{root}/new/deep/.aside")
    (root / "new" / "deep" / ".aside" / "staged").mkdir(parents=True)
    changes.undo(None)
    assert sorted(path.name for path in root.iterdir()) == ["a", "b"]


def test_who_is_taken_for_dead_changes_nothing_any_more(root: Path, runtime: Runtime) -> None:
    """One that was only slow: between the look of whoever reaps and its deeds, and afterwards."""
    store, told = runtime.metastore, "taken for dead|heartbeat time-out"
    table = store.table(T)
    moved = replace(table, name=TableName("default", "u"), location=f"{root}/c")
    changes: dict[str, Callable[[], object]] = {
        "drop": lambda: store.drop_table(T),
        "rename": lambda: store.alter_table(T, moved),
        "create": lambda: store.create_table(replace(moved, id=0)),
        "alter database": lambda: store.alter_database(store.database("default")),
        "many": lambda: store.run_in_transaction(lambda: store.drop_table(T)),
    }
    for name, change in changes.items():
        for has_txn in (False, True):
            (txn_id,) = store.open_txns(1, "ann", "here") if has_txn else (0,)
            move = Move(source=f"{root}/a", target=f"{root}/.hidden", table_id=table.id)
            with (
                pytest.raises(TransactionLost, match=told),
                placing([move], runtime, txn_id, look=CatalogPlaces),
            ):
                (begun,) = store.lost_moves(-1)
                with pytest.raises(TransactionLost, match=told):
                    change()
                mend(begun, runtime)
                change()
            with pytest.raises(TransactionLost, match=told), making([f"{root}/n"], runtime, txn_id):
                reap(replace(runtime, settings=Settings.of({"hive.txn.timeout": "-1s"})))
                change()
            assert tree(root) == ["a/x", "b/y"], name
            assert store.tables("default") == (T,)
            with pytest.raises(TransactionLost), store.changing_for(txn_id, "gone"):
                change()
    assert store.lost_moves(-1) == ()


def test_files_that_were_put_back_are_not_committed(root: Path, runtime: Runtime) -> None:
    store = runtime.metastore
    (txn_id,) = store.open_txns(1, "ann", "here")
    changes = FileChanges(runtime, txn_id)
    changes.empty(f"{root}/a")
    (begun,) = store.lost_moves(-1)
    for mended in (False, True):
        if mended:
            mend(begun, runtime)
        with pytest.raises(TransactionLost, match="taken for dead"):
            changes.bring([(f"{root}/b/y", f"{root}/a/y")])
        with pytest.raises(TransactionLost, match="taken for dead"):
            store.commit_txn(txn_id, settles=True)
    changes.undo(None)
    assert tree(root) == ["a/x", "b/y"]


def test_what_was_moved_too_late_is_put_back(root: Path, runtime: Runtime) -> None:
    """Whoever reaps finds nothing moved, forgets the note, and only then it moves."""
    store = runtime.metastore
    table = store.table(T)
    renamed = Move(source=f"{root}/a", target=f"{root}/c")
    for move in (renamed, hiding(f"{root}/a", table.id)):
        for writes in (False, move is not renamed):
            with (
                pytest.raises(TransactionLost),
                placing([move], late(runtime), 0, look=CatalogPlaces),
            ):
                if writes:
                    (root / "a").mkdir()
                    (root / "a" / "new").write_text("theirs")
                store.drop_table(T)
            assert tree(root) == ["a/x", "b/y"] if not writes else ["a/new", "a/x", "b/y"]
            (root / "a" / "new").unlink(missing_ok=True)
    (txn_id,) = store.open_txns(1, "ann", "here")
    changes = FileChanges(late(runtime), txn_id)
    changes.empty(f"{root}/a")
    assert tree(root) != ["a/x", "b/y"]
    changes.undo(None)
    assert tree(root) == ["a/x", "b/y"]
    assert store.lost_moves(-1) == ()


def late(runtime: Runtime) -> Runtime:
    """A runtime whose first move comes after somebody has reaped."""
    impatient = replace(runtime, settings=Settings.of({"hive.txn.timeout": "-1s"}))

    class Late(LocalFiles):
        def rename(self, old: str, new: str) -> None:
            reap(impatient)
            super().rename(old, new)

    return replace(runtime, files=lambda location: Late())


def test_what_was_dropped_does_not_come_back_with_another_of_its_name(
    root: Path, runtime: Runtime
) -> None:
    """Its files could not be deleted at once."""
    store, told = runtime.metastore, list[str]()
    name = TableName("default", "p")
    table = store.create_table(
        Table(
            name=name, columns=(Column.of("x", "int"),), partition_columns=(Column.of("k", "int"),),
            location=f"{root}/p",
        )
    )  # fmt: skip
    partition = Partition(values=("1",), location=f"{root}/p/k=1")
    for has_txn in (False, True):
        (txn,) = store.open_txns(1, "ann", "here") if has_txn else (0,)
        store.add_partitions(name, [partition])
        (root / "p" / "k=1").mkdir(parents=True, exist_ok=True)
        (root / "p" / "k=1" / "old").write_text("old")

        class Broken(LocalFiles):
            def delete(self, path: str) -> None:
                raise OSError(path)

        broken = replace(runtime, files=lambda location: Broken(), notify=told.append)
        with placing(
            [hiding(partition.location, table.id, "k=1")], broken, txn, look=CatalogPlaces
        ):
            store.drop_partitions(name, [("1",)])
        store.add_partitions(name, [partition])
        (root / "p" / "k=1").mkdir()
        (root / "p" / "k=1" / "new").write_text("new")
        reap(replace(runtime, settings=Settings.of({"hive.txn.timeout": "-1s"})))
        assert tree(root) == ["a/x", "b/y", "p/k=1/new"]
        assert not list((root / "p").glob(".h*"))
        (root / "p" / "k=1" / "new").unlink()
        store.drop_partitions(name, [("1",)])
    assert len(told) == 2
    assert "not deleted yet" in told[0]


@pytest.mark.parametrize("is_alive", [False, True], ids=["dead", "only slow"])
def test_directories_are_put_back_before_an_abort_frees_their_table(
    root: Path, runtime: Runtime, *, is_alive: bool
) -> None:
    """Readers would miss the rows, and what writers make there could never be told from them."""
    store = runtime.metastore
    (txn_id,) = store.open_txns(1, "ann", "here")
    before, move = tree(root), Move(source=f"{root}/a", target=f"{root}/c")

    def abort_it() -> None:
        assert not (root / "a").exists()
        assert abort([txn_id], "by hand", runtime) == (txn_id,)
        assert tree(root) == before

    if is_alive:
        with pytest.raises(TransactionLost), placing([move], runtime, txn_id, look=CatalogPlaces):
            abort_it()
            store.drop_table(T)
    else:
        store.note_moves(txn_id, [move])
        (root / "a").rename(root / "c")
        abort_it()
    assert tree(root) == before
    assert store.table(T)
    assert store.lost_moves(-1) == ()


def test_abort_transactions_loses_no_rows_of_a_killed_statement(tmp_path: Path) -> None:
    home = tmp_path / "wh"
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(home)) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC; INSERT INTO t VALUES (1)")
        store = session.runtime.metastore
        (txn_id,) = store.open_txns(1, "ann", "here")
        store.note_moves(txn_id, [Move(source=f"{home}/t", target=f"{home}/u")])
        (home / "t").rename(home / "u")
        session.sql(f"ABORT TRANSACTIONS {txn_id}; INSERT INTO t VALUES (2)")
        assert session.sql("SELECT id FROM t ORDER BY id").rows == [(1,), (2,)]
    assert [path.name for path in home.iterdir()] == ["t"]


def test_rows_are_there_again_before_a_table_is_free_again(tmp_path: Path) -> None:
    """The metastore fails within a move, and for so long that nothing can be put back at once."""
    url, home, is_back = f"sqlite:///{tmp_path}/m.db", tmp_path / "wh", threading.Event()
    settings = {"hive.txn.timeout": "60s", "hive.lock.sleep.between.retries": "100ms"}
    with (
        hivesql.connect(url, str(home), settings=settings) as session,
        hivesql.connect(url, settings=settings) as other,
    ):
        session.sql("CREATE TRANSACTIONAL TABLE t (id INT) STORED AS ORC; INSERT INTO t VALUES (1)")
        engine = session.runtime.metastore._rdbms._engine  # type: ignore[attr-defined]

        @event.listens_for(engine, "before_cursor_execute")
        def fail(*_: object) -> None:
            if (home / "u").exists() and not is_back.is_set():
                broken = sqlite3.OperationalError("disk I/O error")
                raise OperationalError("", {}, broken)

        with pytest.raises(hivesql.HiveSqlError, match="disk I/O error"):
            session.sql("ALTER TABLE t RENAME TO u")
        assert not (home / "t").exists()
        is_back.set()
        other.sql("INSERT INTO t VALUES (2)")
        assert other.sql("SELECT id FROM t ORDER BY id").rows == [(1,), (2,)]
    assert [path.name for path in home.iterdir()] == ["t"]
