"""Three processes with a copy of the catalog each, over one database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hivesql_executor.metastore.api import Metastore
from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.database import DatabaseMetastore
from hivesql_planner.acid.write_ids import ValidWriteIdList
from hivesql_planner.table import Column, Table, TableName

T, U = TableName("default", "t"), TableName("default", "u")
ACID = {"transactional": "true"}
HIT, DATABASE = "hit", "database"


class Hooked(DatabaseMetastore):
    """A metastore in which something happens while a call is under way."""

    before_table: Callable[[], object] | None = None
    after_described: Callable[[], object] | None = None

    def table(self, name: TableName) -> Table:
        hook, self.before_table = self.before_table, None
        if hook:
            hook()
        return super().table(name)

    def described(self, name: TableName) -> tuple[Table, ValidWriteIdList | None]:
        found = super().described(name)
        hook, self.after_described = self.after_described, None
        if hook:
            hook()
        return found


class World:
    """Three hosts with a copy each, over one database; ``now`` asks the database itself."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.backs = [Hooked.open(url, "/wh") for _ in range(3)]
        self.now: Metastore = self.backs[0]
        self.h1, self.h2, self.h3 = (CachingMetastore(back) for back in self.backs)
        self.txns: dict[str, int] = {}

    def close(self) -> None:
        for back in self.backs:
            back.close()

    def create(self, name: TableName = T, **fields: Any) -> Table:
        table = Table(name=name, columns=(Column("a", "int"),), location="", properties=ACID)
        return self.now.create_table(replace(table, **fields))

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
