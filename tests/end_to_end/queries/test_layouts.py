"""DML and compaction on tables whose files real Hive wrote, layout by layout."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyorc
import pytest

import hivesql
from adoption import adopt
from golden_tables import golden_tables, shown
from hivesql_planner.errors import SemanticError
from hivesql_planner.model.table import Table
from tables import make_table

pytestmark = pytest.mark.spark

GOLDEN = {str(one): one for one in golden_tables()}


@dataclass(frozen=True)
class Case:
    """A golden table, its key, the keys to delete and to update, and what an update sets."""

    golden: str
    key: str
    delete: tuple[int, ...]
    update: tuple[int, ...]
    sets: str
    value: str
    compact: bool = False


CASES = {
    "converted, buckets of originals": Case("e_original/final/ob", "id", (1,), (4,), "v", "new"),
    "union sub-directories": Case("m_layouts/final/u", "id", (6,), (1,), "v", "new", compact=True),
    "loaded files": Case("g_load/stage1/g", "id", (1,), (2, 100), "v", "new", compact=True),
    "buckets of version 1": Case("m_layouts/final/b1", "id", (1, 2), (3, 8), "v", "new"),
    "columns added, renamed, widened": Case(
        "m_layouts/final/ev", "a", (3,), (1, 4), "bb", "new", compact=True
    ),
    "evolved partitions": Case("m_layouts/final/ep", "a", (3,), (1,), "b", "new"),
    "partition values of all types": Case("m_layouts/final/pt", "id", (3,), (11, 12), "id", "7"),
    "old dates and nested values": Case("m_layouts/final/ty", "k", (3,), (1, 2, 5), "v", "new"),
}  # fmt: skip


def rows_of(session: hivesql.Session) -> list[dict[str, str]]:
    return session.sql("SELECT row__id, t.* FROM t", consume=shown).value


def without(rows: list[dict[str, str]], *names: str) -> Counter[Any]:
    return Counter(
        tuple((name, text) for name, text in row.items() if name not in names) for row in rows
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_changes_touch_just_their_rows(session: hivesql.Session, case: Case) -> None:
    adopt(session, GOLDEN[case.golden].table, "t")
    before = rows_of(session)
    keep = [row for row in before if int(row[case.key]) not in (*case.delete, *case.update)]
    change = [row for row in before if int(row[case.key]) in case.update]
    assert change
    assert len(keep) + len(change) < len(before)
    deleted = session.sql(f"DELETE FROM t WHERE {case.key} IN {in_list(case.delete)}")
    assert deleted.affected == len(before) - len(keep) - len(change)
    value = case.value if case.value.isdigit() else f"'{case.value}'"
    updated = session.sql(
        f"UPDATE t SET {case.sets} = {value} WHERE {case.key} IN {in_list(case.update)}"
    )
    assert updated.affected == len(change)
    after = rows_of(session)
    # Untouched rows keep their ids, updated ones get new ids and keep everything else.
    assert not without(keep) - without(after)
    expected = keep + [{**row, case.sets: case.value} for row in change]
    assert without(after, "row__id") == without(expected, "row__id")
    if case.compact:
        session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
        assert without(rows_of(session)) == without(after)


def in_list(keys: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, keys))})"


def test_partition_texts_that_do_not_round_trip(session: hivesql.Session) -> None:
    golden = GOLDEN["m_layouts/final/po"]
    table = adopt(session, golden.table, "t")
    session.sql("UPDATE t SET id = id + 10 WHERE id = 2")
    session.sql("DELETE FROM t WHERE id = 3")
    home = Path(table.location)
    assert sorted(str(one.relative_to(home)) for one in home.glob("*/*")) == [
        "i=001/s=x", "i=01/s=x", "i=1/s=x",
    ]  # fmt: skip
    found = {
        place.relative_to(home).parts[0]: sorted(one.name for one in place.iterdir())
        for place in home.glob("*/*")
    }
    assert all("delete_delta_0000006_0000006_0000" in names for names in found.values())
    assert "delta_0000005_0000005_0001" in found["i=01"]
    rows = session.sql("SELECT id, i FROM t ORDER BY id").rows
    assert [tuple(row) for row in rows] == [
        (1, 1), (1, 1), (12, 1), (12, 1), (1001, 1), (1001, 1), (1001, 1),
    ]  # fmt: skip


def test_insert_only_tables_take_no_changes(session: hivesql.Session) -> None:
    for name in ("um", "so", "xs", "xp"):
        golden = GOLDEN[f"m_layouts/final/{name}"]
        table = adopt(session, golden.table, name)
        for statement in (f"DELETE FROM {name} WHERE true", f"UPDATE {name} SET v = 'x'"):
            with pytest.raises(SemanticError, match="insert-only") as raised:
                session.sql(statement)
            assert raised.value.code == 10414
        if table.is_bucketed:
            continue
        before = session.sql(f"SELECT * FROM {name}").rows
        session.sql(f"INSERT INTO {name} (id, v) VALUES (77, 'ours')")
        assert len(session.sql(f"SELECT * FROM {name}").rows) == len(before) + 1
        session.sql(f"INSERT OVERWRITE TABLE {name} SELECT * FROM {name} WHERE id IN (3, 77)")
        rows = session.sql(f"SELECT * FROM {name} ORDER BY id").rows
        three = [row for row in before if row[0] == 3]
        assert [tuple(row) for row in rows[:-1]] == [tuple(row) for row in three]
        assert tuple(rows[-1])[:2] == (77, "ours")


EVENT = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
    "currentTransaction:bigint,row:struct<id:int,v:string>>"
)


def write_events(path: Path, *events: tuple[Any, ...], **metadata: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, pyorc.Writer(file, EVENT) as writer:
        for event in events:
            writer.write(event)
        for key, text in metadata.items():
            writer.set_user_metadata(**{f"hive.acid.{key}": text.encode()})
    return path


def version_1(home: Path) -> Table:
    """Files as Hive 2 wrote them: updates and deletes among the inserts, plain bucket numbers."""
    plain = home / "000000_0"
    with plain.open("wb") as file, pyorc.Writer(file, "struct<id:int,v:string>") as writer:
        for row in ((1, "original"), (2, "original"), (3, "original")):
            writer.write(row)
    write_events(
        home / "delta_10000001_10000001_0000" / "bucket_00000",
        (1, 0, 0, 0, 10000001, (1, "updated")),
        (2, 0, 0, 1, 10000001, None),
        (0, 10000001, 0, 0, 10000001, (4, "new")),
        (0, 10000001, 0, 1, 10000001, (5, "new")),
        stats="2,1,1",
    )
    # No statistics in the metadata: the column's own tell.
    write_events(
        home / "delta_10000002_10000002_0000" / "bucket_00000",
        (1, 0, 0, 0, 10000002, (1, "twice")),
        (2, 10000001, 0, 1, 10000002, None),
    )
    # Inserted and updated in one write.
    write_events(
        home / "delta_10000003_10000003" / "bucket_00001",
        (0, 10000003, 1, 0, 10000003, (6, "first")),
        (1, 10000003, 1, 0, 10000003, (6, "second")),
    )
    return make_table(home, "id int, v string")


def test_events_of_version_1(session: hivesql.Session, tmp_path: Path) -> None:
    home = tmp_path / "v1"
    home.mkdir()
    adopt(session, version_1(home), "t")
    expected = {(1, "twice"), (3, "original"), (4, "new"), (6, "second")}

    def rows() -> set[tuple[int, str]]:
        found = [(row.id, row.v) for row in session.sql("SELECT * FROM t").rows]
        assert len(found) == len(set(found))
        return set(found)

    assert rows() == expected
    # An earlier event that fits the predicate is not the row.
    assert session.sql("SELECT * FROM t WHERE v = 'updated'").rows == []
    assert session.sql("SELECT count(*) FROM t WHERE id = 5").rows == [(0,)]
    session.sql("UPDATE t SET v = 'ours' WHERE id IN (1, 6)")
    session.sql("DELETE FROM t WHERE id = 3")
    expected = {(1, "ours"), (4, "new"), (6, "ours")}
    assert rows() == expected
    with pytest.raises(hivesql.NotSupported, match="run a major one"):
        session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows() == expected


def test_deltas_that_a_writer_still_holds_open(session: hivesql.Session, tmp_path: Path) -> None:
    home = tmp_path / "streamed"
    path = write_events(
        home / "delta_0000001_0000002" / "bucket_00000",
        (0, 1, 536870912, 0, 1, (1, "a")),
        (0, 2, 536870912, 0, 2, (2, "b")),
    )
    (path.parent / "_orc_acid_version").write_bytes(b"2")
    table = adopt(session, make_table(home, "id int, v string"), "t")
    file = Path(table.location) / path.relative_to(home)
    side = file.with_name("bucket_00000_flush_length")
    length = file.stat().st_size
    side.write_bytes(b"")
    assert session.sql("SELECT * FROM t").rows == []
    # What follows the last complete number is being written.
    side.write_bytes((0).to_bytes(8, "big") + length.to_bytes(8, "big") + b"\0\0\0")
    assert len(session.sql("SELECT * FROM t").rows) == 2
    with file.open("ab") as end:
        end.write(b"a stripe that is not committed")
    assert len(session.sql("SELECT * FROM t").rows) == 2
    session.sql("DELETE FROM t WHERE id = 1")
    assert session.sql("SELECT v FROM t").rows == [("b",)]
    assert session.check("t") == ()
    side.write_bytes((length + 1000).to_bytes(8, "big"))
    with pytest.raises(hivesql.DataError, match="truncated"):
        session.sql("SELECT * FROM t")
