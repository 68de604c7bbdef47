"""A warehouse's locations turned to another path, in each database that a metastore may be in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from executor.metastore.conftest import Store
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import sds
from hivesql_executor.metastore.database.transactions.moves import moves
from hivesql_executor.metastore.file_moves import Move, MoveKind
from hivesql_planner.errors import NoSuchObject
from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.table import Column, Database, Partition, Table, TableName

T = Table(
    name=TableName("d", "t"), columns=(Column.of("a", "int"),), location="/w/d.db/t",
    partition_columns=(Column.of("p", "int"),), properties={"transactional": "true"},
)  # fmt: skip


@pytest.fixture
def database(store: Store) -> Iterator[DatabaseMetastore]:
    """As the command opens it."""
    opened = DatabaseMetastore.open(store.url, "/wh")
    yield opened
    opened.close()


def test_what_is_below_the_old_path_follows_and_nothing_else(
    store: Store, database: DatabaseMetastore
) -> None:
    catalog = store.calls
    catalog.create_database(Database(name="d", location="/w/d.db", managed_location="/w/m/d.db"))
    catalog.create_database(Database(name="far", location="s3a://b/w/far.db"))
    catalog.create_table(T)
    parts = {"1": "/w/d.db/t/p=1", "2": "/W/d.db/t/p=2", "3": "/w2/d.db/t/p=3", "4": "/w"}
    catalog.add_partitions(
        T.name, [Partition(values=(key,), location=place) for key, place in parts.items()]
    )
    external = {"external": "TRUE"}
    for name, location in (("u", "file:/w/u"), ("v", "file:///w/v"), ("x", "/a/w/x")):
        other = replace(
            T, name=TableName("d", name), location=location, partition_columns=(),
            type="EXTERNAL_TABLE",
            properties={**external, "avro.schema.url": f"{location}.avsc", "note": "/w/u"},
        )  # fmt: skip
        catalog.create_table(other)
    catalog.create_function(
        StoredFunction(
            name="f", database="d", java_class="c", owner="ann", resources=(("jar", "/w/f.jar"),)
        )
    )
    hidden = Move(source="/w/d.db/t", target="/w/d.db/t/.hive-x", kind=MoveKind.EMPTIED)
    (txn_id,) = catalog.open_txns(1, "ann", "here")
    catalog.note_moves(txn_id, [hidden])
    counted = database.relocate("/w", "/new/place", dry_run=True)
    assert ("/w/d.db/t",) in store.rows(sds, "location")
    assert database.relocate("/w", "/new/place") == counted
    # Of PostgreSQL, MariaDB and SQLite alike: letters of another case are another place.
    assert (counted.databases, counted.tables, counted.others) == (2, 5, 5)
    assert sorted(place for (place,) in store.rows(sds, "location")) == sorted(
        ["/new/place/d.db/t", "/new/place/d.db/t/p=1", "/W/d.db/t/p=2", "/w2/d.db/t/p=3",
         "/new/place", "file:/new/place/u", "file:///new/place/v", "/a/w/x"]
    )  # fmt: skip
    home = database.database("d")
    assert (home.location, home.managed_location) == (
        "/new/place/d.db", "/new/place/m/d.db",
    )  # fmt: skip
    assert database.table(TableName("d", "u")).properties["avro.schema.url"] == (
        "file:/new/place/u.avsc"
    )
    assert database.table(TableName("d", "u")).properties["note"] == "/w/u"
    function = database.function("d", "f")
    assert function is not None and function.resources == (("jar", "/new/place/f.jar"),)
    assert store.rows(moves, "source", "target") == [
        ("/new/place/d.db/t", "/new/place/d.db/t/.hive-x")
    ]
    # To another file system, and back.
    database.relocate("/new/place", "s3a://b/w")
    assert database.table(TableName("d", "v")).location == "s3a://b/w/v"
    database.relocate("s3a://b/w", "/w")
    assert database.database("far").location == "/w/far.db"
    with pytest.raises(NoSuchObject, match=r"no location is /nowhere or below it\. Databases are"):
        database.relocate("/nowhere", "/w")
