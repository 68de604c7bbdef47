"""The end of a case: time passes, the services have their rounds, and all must be well."""

from __future__ import annotations

from pathlib import Path

from hivesql_executor.checks.check import check_table
from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.worker import run_next
from hivesql_executor.services import _keep_house, purge_history
from hivesql_planner.acid.layout import parse_directory
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.table import TableName
from simulation.cases import COMING, MINE, PARTITIONS, TABLES, WHOLE
from simulation.model import PLAIN, Wrong
from simulation.world import NeedsSpark, World

_DAYS = 2 * 86400.0
_LOCATIONS = """
SELECT s."LOCATION" FROM "SDS" s WHERE s."SD_ID" IN
(SELECT "SD_ID" FROM "TBLS" UNION SELECT "SD_ID" FROM "PARTITIONS")
"""
_EMPTY = {
    "an open transaction": 'SELECT "TXN_ID" FROM "TXNS" WHERE "TXN_STATE" = \'o\'',
    "a lock": 'SELECT "HL_LOCK_EXT_ID", "HL_TXNID", "HL_TABLE" FROM "HIVE_LOCKS"',
    "a moved directory": 'SELECT "SOURCE", "TARGET" FROM "HIVESQL_MOVES"',
    "a compaction": 'SELECT "CQ_ID", "CQ_STATE" FROM "COMPACTION_QUEUE"',
}


def end_well(world: World) -> None:
    """Let time pass, and everything be cleaned; Wrong when something is lost, or left over."""
    scheduler, runtime = world.scheduler, world.runtime
    # Whatever was killed is not there any more, and whoever lived has ended.
    scheduler.jumped = max(scheduler.jumped, 0.0)
    world.check()
    for _ in range(2):
        scheduler.now += _DAYS
        _serve(world)
        world.check()
    _change_all(world)
    _compact_all(world)
    scheduler.now += _DAYS
    _serve(world)
    world.check()
    for what, query in _EMPTY.items():
        if left := world.truth.ask(query):
            raise Wrong(f"{what} is left over: {left}")
    for table in filter(world.exists, sorted({*world.tables} - {*PLAIN})):
        findings = check_table(TableName("default", table), runtime)
        # A place that a partition has left is told of, for good reason.
        told = [
            f"{one.place}: {one.problem}" for one in findings if str(one.place) not in world.left
        ]
        if told:
            raise Wrong(f"check finds in {table}: {told}")
    hidden = [
        str(path.relative_to(world.warehouse))
        for path in world.warehouse.rglob("*")
        if path.name.startswith(".")
    ]
    if hidden:
        raise Wrong(f"left over in the warehouse: {hidden}")
    _compare_directories(world)
    for place, files in world.left.items():
        if gone := {path for path in files if not Path(path).exists()}:
            raise Wrong(f"files in {place}, which is no table's any more, are gone: {gone}")
    _look_for_sources(world)


def _compare_directories(world: World) -> None:
    """Catalog and directories agree: of tables, and of partitions.

    In an object store there are none; and no upload waits there.
    """
    if world.objects is not None:
        if waiting := world.objects.all_waiting():
            raise Wrong(f"uploads are left over: {waiting}")
        markers = world.objects.all_markers()
        # Other programs take them for directories of writes.
        if left := [path for path in markers if parse_directory(path.rpartition("/")[2])]:
            raise Wrong(f"markers are left over: {left}")
        return
    named = {path for (path,) in world.truth.ask(_LOCATIONS)}
    made = {str(path) for path in world.warehouse.iterdir()}
    for table in world.tables:
        if table not in WHOLE:
            made |= {str(path) for path in (world.warehouse / table).iterdir()}
    for table in {*TABLES} - {*world.tables, *WHOLE}:
        named = {path for path in named if not path.startswith(f"{world.warehouse}/{table}/")}
    made -= world.left.keys()
    # Nobody makes a place before there is something to put into it.
    placed = {path for path in named if path.startswith(f"{world.warehouse}/placed-")}
    named -= placed - made
    if made - named:
        raise Wrong(f"directories that the catalog does not name: {sorted(made - named)}")
    if named - made:
        raise Wrong(f"the catalog names directories that are not there: {sorted(named - made)}")


def _look_for_sources(world: World) -> None:
    """Files are where LOAD DATA found them unless it has committed."""
    done = [intent for txn in world.model.txns.values() if txn.committed for intent in txn.intents]
    for path, intent in world.waiting.items():
        is_loaded = any(one is intent for one in done)
        if Path(path).exists() == is_loaded:
            if is_loaded:
                raise Wrong(f"LOAD DATA of {path} committed, and the file is still there")
            raise Wrong(f"LOAD DATA of {path} failed, and the file is gone")


def _serve(world: World) -> None:
    """A round of the services."""
    _keep_house(world.runtime)
    while run_next(world.runtime) is not None:
        pass
    # The cleaner waits a while after a compaction.
    world.scheduler.now += 600
    clean(world.runtime)
    clean_aborted(world.runtime)
    _keep_house(world.runtime)
    purge_history(world.runtime)


def _compact_all(world: World) -> None:
    """Compact every table and partition."""
    store = world.runtime.metastore
    for name in filter(world.exists, world.tables):
        table = TableName("default", name)
        units: list[str | None] = [None]
        if not store.table(table).is_transactional:
            continue
        if name not in WHOLE:
            units = [f"k={one.values[0]}" for one in store.partitions(table)]
        for unit in units:
            store.enqueue_compaction(table, unit, "major", initiator_id="here-manual")


def _change_all(world: World) -> None:
    """Everybody can go on with the tables."""
    session = world.session()
    for number, name in enumerate(world.tables):
        if not world.exists(name):
            continue
        key = MINE[0] if name in COMING else PARTITIONS[0]
        row = (number, key, 7)
        values = f"({number}, {key}, 7)" if name in WHOLE else f"({number}, 7, {key})"
        try:
            world.meant[""] = [("insert", name, [row])]
            session.sql(f"INSERT INTO {name} VALUES {values}")
            if name in PLAIN:
                continue
            world.meant[""] = [("update", name, None, 8)]
            session.sql(f"UPDATE {name} SET v = 8")
        except HiveSqlError as error:
            if isinstance(error, NeedsSpark) and world.has_loaded:
                continue
            raise Wrong(f"nobody can change {name} any more: {error}") from error
        finally:
            world.meant[""] = []
