"""Functions that the catalog keeps, in every metastore."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivesql_executor.metastore.api import Metastore
from hivesql_planner.errors import HiveSqlError, NoSuchObject, SemanticError
from hivesql_planner.model.functions import StoredFunction
from hivesql_planner.model.table import Database

TWICE = StoredFunction(
    database="default", name="twice", java_class="own.Twice", owner="ann",
    resources=(("jar", "hdfs://host/b.jar"), ("file", "/a"), ("archive", "/c.zip"), ("jar", "/a")),
)  # fmt: skip


@pytest.mark.thrift
def test_there_and_back(metastore: Metastore) -> None:
    metastore.create_database(Database(name="other", location=""))
    bare = StoredFunction(database="other", name="Bare", java_class="own.Bare", owner="bob")
    metastore.create_function(TWICE)
    metastore.create_function(bare)
    found = metastore.function("DEFAULT", "Twice")
    assert found is not None
    assert replace(found, created_at=0) == TWICE
    kept = metastore.function("other", "bare")
    assert kept is not None
    assert (kept.name, kept.resources) == ("bare", ())
    assert metastore.function_names() == ("default.twice", "other.bare")
    assert metastore.function("other", "twice") is None
    with pytest.raises(SemanticError, match=r"^Function twice already exists$"):
        metastore.create_function(replace(TWICE, java_class="own.Other"))
    with pytest.raises(NoSuchObject) as caught:
        metastore.create_function(replace(TWICE, database="nowhere"))
    assert caught.value.code == 10072
    with pytest.raises(HiveSqlError, match="not a valid object name"):
        metastore.create_function(replace(TWICE, name="a b"))
    with pytest.raises(HiveSqlError, match=r"not empty\. One or more functions exist"):
        metastore.drop_database("other")
    metastore.drop_database("other", cascade=True)
    metastore.drop_function("default", "TWICE")
    metastore.drop_function("default", "twice")
    metastore.drop_function("nowhere", "twice")
    assert metastore.function_names() == ()
    metastore.create_function(replace(TWICE, resources=()))
    again = metastore.function("default", "twice")
    assert again is not None
    assert again.resources == ()
    metastore.drop_function("default", "twice")
