"""Sessions and services in another user's name, where no cluster is needed to see it."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from hivesql.compaction.owners_process import OwnersProcesses
from hivesql_executor.compaction.rewriting import Rewriting, Rewritten
from hivesql_executor.compaction.unit import find_place
from hivesql_planner.errors import Cancelled, ExecutionError, NotSupported, SemanticError
from thrift_servers import Client, serving

PROXY, ACTS = "hivesql.proxy.user", "hive.server2.enable.doAs"


def connect(place: Path, **others: str) -> hivesql.Session:
    settings = {"hivesql.compactor.inline": "false", **others}
    return hivesql.connect(f"sqlite:///{place}/metastore.db", place / "wh", settings=settings)


def test_whose_session_it_is(tmp_path: Path) -> None:
    with connect(tmp_path, **{PROXY: "ann"}) as session:
        assert session.runtime.user == "ann"
        with pytest.raises(SemanticError, match=r"bob's, and hivesql\.proxy\.user=ann"):
            hivesql.connect(
                f"sqlite:///{tmp_path}/metastore.db", tmp_path, settings={PROXY: "ann"}, user="bob"
            )


def test_a_server_works_in_one_name(tmp_path: Path) -> None:
    """That of its login, or of the user it was started for; nobody else is let in then."""
    with (
        pytest.raises(NotSupported, match=r"doAs=true for a server.*hivesql\.proxy\.user"),
        serving(tmp_path, authentication="nosasl", settings={ACTS: "true"}),
    ):
        pass
    with serving(tmp_path, authentication="nosasl", settings={PROXY: "ann"}) as server:
        with Client(server).open("ann") as client:
            client.checked(client.execute("SHOW DATABASES"))
        with Client(server) as client, pytest.raises(AssertionError, match="work as another"):
            client.open("bob")


def waiting(session: hivesql.Session) -> Rewriting:
    """A compaction that waits, and what a worker knows of it."""
    session.sql("CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional' = 'true')")
    session.sql("INSERT INTO t VALUES (1)")
    session.sql("INSERT INTO t VALUES (2)")
    session.sql("ALTER TABLE t COMPACT 'major'")
    store = session.runtime.metastore
    compaction = store.next_compaction("here-1.0")
    assert compaction is not None
    (txn_id,) = store.open_txns(1, "ann", "here")
    return Rewriting(
        compaction=compaction,
        place=find_place(compaction.unit, session.runtime),
        visible=store.compactor_write_ids(compaction.table),
        txns=store.valid_txns(txn_id),
        txn_id=txn_id,
    )


@pytest.mark.spark
@pytest.mark.slow
def test_a_process_for_another_user(tmp_path: Path) -> None:
    """What it wrote is there and nothing is after an error, whose words are its own."""
    with connect(tmp_path) as session:
        work = waiting(session)
        home = Path(work.place.location)
        file = home / "delta_0000001_0000001_0000" / "bucket_00000"
        rows = file.read_bytes()
        file.write_bytes(b"ORCx")
        with pytest.raises(ExecutionError, match=f"{home}, as ann: .*bucket_00000"):
            OwnersProcesses({})("ann", work, session.runtime)
        assert not [*home.glob("base*")]
        file.write_bytes(rows)
        done = OwnersProcesses({})("ann", work, session.runtime)
        assert isinstance(done, Rewritten) and done.refused is None and done.files < 0
        written = {path.name for path in home.iterdir()}
        assert f"base_0000002_v{work.txn_id:07d}" in written


def test_a_process_that_is_stopped(tmp_path: Path) -> None:
    with connect(tmp_path) as session:
        work = waiting(session)
        session.runtime.cancelled.set()
        with pytest.raises(Cancelled, match="nothing of it is visible"):
            OwnersProcesses({})("ann", work, session.runtime)
        assert not [*Path(work.place.location).glob("base*")]
