"""Three processes with a copy of the catalog each, over one database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from hivesql import Session
from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.opening import open_metastore
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.model.table import Column, Table, TableName

T, U = TableName("default", "t"), TableName("default", "u")
ACID = {"transactional": "true"}
HIT, DATABASE = "hit", "database"


class Hooked:
    """A metastore in which something happens while a call is under way."""

    def __init__(self, back: Metastore) -> None:
        self.back = back
        self.before_table: Callable[[], object] | None = None
        self.after_described: Callable[[], object] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.back, name)

    def table(self, name: TableName) -> Table:
        hook, self.before_table = self.before_table, None
        if hook:
            hook()
        return self.back.table(name)

    def described(self, name: TableName) -> tuple[Table, ValidWriteIdList | None]:
        found = self.back.described(name)
        hook, self.after_described = self.after_described, None
        if hook:
            hook()
        return found


class World:
    """Three hosts with a copy each, over one metastore; ``now`` asks the metastore itself."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.backs = [Hooked(open_metastore(url, "/wh", timeout=60)) for _ in range(3)]
        self.now = cast(Metastore, self.backs[0])
        self.h1, self.h2, self.h3 = (CachingMetastore(cast(Metastore, one)) for one in self.backs)

    @property
    def root(self) -> str:
        """Where tables may live."""
        return self.now.database("default").location

    @property
    def tells_writes(self) -> bool:
        """Whether the log says which write makes a change, and lists of write ids show it."""
        return self.now.changes_are_writes

    @property
    def ahead(self) -> str:
        """Who answers a reader that asks for what the log, not read yet, makes of a copy."""
        return DATABASE if self.tells_writes else HIT

    def close(self) -> None:
        for back in self.backs:
            back.close()

    def create(self, name: TableName = T, **fields: Any) -> Table:
        # A Hive Metastore moves tables from where it puts them, but not to where something is.
        own = not self.tells_writes and name.database == "default"
        place = f"{self.root}/own/{name.name}" if own else ""
        table = Table(name=name, columns=(Column.of("a", "int"),), location=place, properties=ACID)
        return self.now.create_table(replace(table, **fields))

    def rule_out_others(self, host: CachingMetastore) -> None:
        """End all open writes: any may have made a change where the log does not tell which."""
        if not self.tells_writes:
            assert (self.tag(host) or "").endswith("*")
            self.commit(*(row.txn_id for row in self.now.transactions() if row.state == "open"))
            host.follow()

    def begin(self, *names: TableName) -> int:
        """A transaction with a write id in each table."""
        (txn_id,) = self.now.open_txns(1, "ann", "here")
        for name in names or (T,):
            self.now.allocate_write_id(txn_id, name)
        return txn_id

    def commit(self, *txn_ids: int) -> None:
        for txn_id in txn_ids:
            self.now.commit_txn(txn_id)

    def write(self, count: int, name: TableName = T) -> None:
        """So many writes of data alone."""
        for _ in range(count):
            self.commit(self.begin(name))

    def alter(self, comment: str, txn_id: int = 0, name: TableName = T) -> None:
        altered = replace(self.now.table(name), comment=comment)
        self.now.alter_table(name, altered, txn_id=txn_id)

    def asked(self, txn_id: int = 0, name: TableName = T) -> tuple[int, ValidWriteIdList]:
        """What a reader takes along: table id and write ids."""
        return self.now.table_ids(self.now.valid_txns(txn_id), [name])[name]

    def read(
        self,
        host: CachingMetastore,
        asked: tuple[int, ValidWriteIdList] | None = None,
        name: TableName = T,
    ) -> tuple[str, str | None]:
        """Who answers a reader, and which comment the table has there."""
        before = host.counters.hits
        found = host.get_table(name.database, name.name, *(asked or self.asked(name=name)))
        return (HIT if host.counters.hits > before else DATABASE), found.comment

    def tag(self, host: CachingMetastore, name: TableName = T) -> str | None:
        """High watermark and exceptions of the copy, and a star while it must not answer."""
        entry = host._shelf.get(name)
        if entry is None or entry.visible is None:
            return None
        ids = ",".join(map(str, sorted(entry.visible.exceptions)))
        return f"{entry.visible.high_watermark}:{ids}{'' if entry.is_available else '*'}"


def eleven(world: World) -> tuple[int, int]:
    """Table 5 of the design: writes 1 to 11, of which 7 and 8 are open; H2 has a copy of it."""
    world.create(comment="old")
    world.write(6)
    seven, eight = world.begin(), world.begin()
    world.write(3)
    assert world.read(world.h2) == (DATABASE, "old")
    assert world.tag(world.h2) == "11:7,8"
    return seven, eight


def copies_follow(session: Session, other: Session) -> None:
    """A session with copies answers rightly and mostly by them, also after another's changes."""
    session.sql("CREATE TABLE s (a int) PARTITIONED BY (p int) STORED AS ORC "
                "TBLPROPERTIES ('transactional'='true')")  # fmt: skip
    for value in range(3):
        session.sql(f"INSERT INTO s PARTITION (p = {value}) VALUES ({value})")
        assert len(session.sql("SHOW PARTITIONS s").rows) == value + 1
    other.sql("ALTER TABLE s ADD COLUMNS (b int)")
    other.sql("ALTER TABLE s DROP PARTITION (p = 1)")
    told = session.sql("DESCRIBE s").rows
    assert [row[0] for row in told[:3]] == ["a", "b", "p"]
    assert session.sql("SHOW PARTITIONS s").rows == [("p=0",), ("p=2",)]
    assert session.sql("SHOW PARTITIONS s").rows == [("p=0",), ("p=2",)]
    counters = session.cache_counters
    assert counters is not None
    assert counters.hits > counters.misses
    assert (counters.tables, counters.partitions, counters.resets) == (1, 2, 0)
