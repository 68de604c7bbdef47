"""Damaged tables: every damage is an error or a finding, and rows never vanish without a word."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyorc
import pytest

import hivesql
from acid_files import EVENT
from hivesql_executor.checks.check import check_table
from hivesql_executor.checks.finding import Finding
from hivesql_planner.local.decide import MOST_BYTES
from hivesql_planner.model.table import TableName
from hivesql_planner.settings.settings import Settings

pytestmark = pytest.mark.spark

FIRST, SECOND = "delta_0000001_0000001_0000", "delta_0000002_0000002_0000"
DELETES = "delete_delta_0000003_0000003_0000"
DATA, GONE = f"{FIRST}/bucket_00000", f"{DELETES}/bucket_00000"
BUCKET = 1 << 29
EVERY = list(range(5, 21))
FEWER = None
"""Nothing in the directory itself tells that rows are gone: only ``check`` does."""
T = TableName("default", "t")
Event = tuple[Any, ...]


class Damage(NamedTuple):
    """What is done to a partition, what reading says, and what check says.

    ``read`` is a part of the error, or the ids that are read.
    """

    do: Callable[[Path], object]
    read: str | Sequence[int] | None
    found: Sequence[str]
    is_in_footers: bool = True
    """Otherwise only statements see it that read the values."""


def cut(name: str, length: int = 100) -> Callable[[Path], object]:
    return lambda home: (home / name).write_bytes((home / name).read_bytes()[:length])


def scramble(name: str) -> Callable[[Path], object]:
    def do(home: Path) -> None:
        data = (home / name).read_bytes()
        (stripe,) = pyorc.Reader(io.BytesIO(data)).iter_stripes()
        start, length = stripe.bytes_offset, stripe.bytes_length
        (home / name).write_bytes(data[:start] + b"Z" * length + data[start + length :])

    return do


def put(name: str, text: str = "hello") -> Callable[[Path], object]:
    return lambda home: (home / name).write_text(text)


def drop(*names: str) -> Callable[[Path], object]:
    def do(home: Path) -> None:
        for name in names:
            path = home / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return do


def copy(source: str, target: str) -> Callable[[Path], object]:
    def do(home: Path) -> None:
        kind = shutil.copytree if (home / source).is_dir() else shutil.copy
        kind(home / source, home / target)

    return do


def write(
    path: Path, events: Sequence[Event], columns: str = "id:int,v:string", **metadata: bytes
) -> None:
    with path.open("wb") as file, pyorc.Writer(file, EVENT.format(columns)) as writer:
        writer.writerows(events)
        for key, value in metadata.items():
            writer.set_user_metadata(**{f"hive.acid.{key.replace('_', '.')}": value})


def rewrite(
    name: str,
    change: Callable[[list[Event]], Sequence[Event]] = list,
    columns: str = "id:int,v:string",
    **metadata: bytes,
) -> Callable[[Path], object]:
    def do(home: Path) -> None:
        with (home / name).open("rb") as file:
            events = list(pyorc.Reader(file))
        write(home / name, change(events), columns, **metadata)

    return do


def plain(name: str) -> Callable[[Path], object]:
    def do(home: Path) -> None:
        with (home / name).open("wb") as file, pyorc.Writer(file, "struct<id:int>") as writer:
            writer.write((99,))

    return do


def foreign(home: Path) -> None:
    """A compacted delta of writes that are not all seen, with rows of a write that is none."""
    drop(FIRST, SECOND, DELETES)(home)
    delta = home / "delta_0000001_0000004"
    delta.mkdir()
    (delta / "_orc_acid_version").write_bytes(b"2")
    write(delta / "bucket_00000", [(0, 77, BUCKET, i, 77, (i, "x")) for i in range(3)])


def emptied_by_compaction(home: Path) -> None:
    drop(FIRST, SECOND, DELETES)(home)
    (home / "base_0000003_v0000001").mkdir()
    (home / "base_0000003_v0000001" / "_orc_acid_version").write_bytes(b"2")


def both(*damages: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda home: [do(home) for do in damages]


LOST = "statistics tell of 16 rows, and there are {}: a data file may be missing"
MORE = "statistics tell of 16 rows, and there are {}: deletes may be missing"
DAMAGES = {
    "none": Damage(lambda home: None, EVERY, []),
    "truncated data": Damage(cut(DATA), "not a readable ORC file", ["not a readable ORC file"]),
    "data without its end": Damage(cut(DATA, -1), "not a readable ORC", ["not a readable ORC"]),
    "truncated deletes": Damage(cut(GONE), "not a readable ORC file", ["not a readable ORC file"]),
    "empty data": Damage(cut(DATA, 0), "is empty: a write into it", ["not a readable ORC file"]),
    "empty deletes": Damage(cut(GONE, 0), "is empty: a write into it", ["not a readable ORC"]),
    "scrambled data": Damage(
        scramble(DATA), "cannot be read", ["cannot be read"], is_in_footers=False
    ),
    "text for data": Damage(put(DATA, "1,a\n"), "not a readable ORC", ["not a readable ORC file"]),
    "wrong version": Damage(
        put(f"{FIRST}/_orc_acid_version", "1"), "_orc_acid_version says b'1'", ["says b'1' where"]
    ),
    "no version": Damage(
        drop(f"{FIRST}/_orc_acid_version"), EVERY, ["has no _orc_acid_version"]
    ),
    "no bucket": Damage(
        drop(DATA), FEWER,
        ["a delete event of a row that is not there"] * 2 + [LOST.format(13)],
    ),
    "no bucket without deletes": Damage(
        drop(f"{SECOND}/bucket_00001"), FEWER, [LOST.format(11)]
    ),
    "no file of a bucket": Damage(
        drop(DATA, f"{SECOND}/bucket_00000"), "a bucket that has no data file",
        ["a bucket that has no data file"],
    ),
    "nothing but deletes": Damage(
        drop(FIRST, SECOND), "a bucket that has no data file", ["a bucket that has no data file"]
    ),
    "only the version": Damage(
        drop(f"{SECOND}/bucket_00000", f"{SECOND}/bucket_00001"), FEWER,
        ["holds no data file, though one was begun", LOST.format(8)],
    ),
    "nothing in a delta": Damage(
        both(drop(SECOND), lambda home: (home / SECOND).mkdir()), FEWER,
        ["holds no file: it was never written", LOST.format(8)],
    ),
    "no delta": Damage(drop(SECOND), FEWER, [LOST.format(8)]),
    "no deletes": Damage(drop(DELETES), [*range(1, 21)], [MORE.format(20)]),
    "no bucket of deletes": Damage(
        drop(GONE), [2, 3, *EVERY], [MORE.format(18)]
    ),
    "a gap": Damage(
        rewrite(DATA, lambda all: all[:2] + all[3:]), FEWER,
        ["1 of the 5 rows are missing that write 1 numbered", LOST.format(15)],
    ),
    "a row twice": Damage(
        rewrite(f"{SECOND}/bucket_00000",
                lambda all: [one for one in all for _ in range(1 + (one[5][0] == 17))]),
        [*EVERY, 17],
        ["1 rows are not in the order", "2 rows have this row id", MORE.format(17)],
    ),
    "rows out of order": Damage(
        rewrite(DATA, lambda all: all[::-1]), EVERY, ["4 rows are not in the order"]
    ),
    "deletes out of order": Damage(
        rewrite(GONE, lambda all: all[::-1]), EVERY, ["1 rows are not in the order"]
    ),
    "a delete of nothing": Damage(
        rewrite(GONE, lambda all: [*all, (2, 1, BUCKET, 99, 3, None)]), EVERY,
        ["1,536870912,99: a delete event of a row that is not there"],
    ),
    "key index of other rows": Damage(
        rewrite(DATA, key_index=b"1,536870912,0;"), EVERY, ["does not say where its stripes end"]
    ),
    "key index of other stripes": Damage(
        rewrite(DATA, key_index=b"1,536870912,0;1,536870912,4;"), EVERY,
        ["has 2 entries for 1 stripes"],
    ),
    "key index of no rows": Damage(
        rewrite(DATA, key_index=b"1,x,0;"), EVERY, ["has entries that are no row ids"]
    ),
    "wrong counts": Damage(
        rewrite(DATA, stats=b"77,0,0"), EVERY, ["says 77,0,0, the file has 5 rows"]
    ),
    "rows of another bucket": Damage(
        rewrite(f"{SECOND}/bucket_00000",
                lambda all: [(*one[:2], one[2] + 0xF0000, *one[3:]) for one in all]),
        EVERY, ["3 rows belong to other buckets than the file"],
    ),
    "a bucket too many": Damage(
        both(copy(f"{SECOND}/bucket_00000", f"{SECOND}/bucket_00007"),
             drop(f"{SECOND}/bucket_00000")),
        EVERY, ["there is none of this number", "3 rows belong to other buckets"],
    ),
    "rows of another write": Damage(
        rewrite(f"{SECOND}/bucket_00000",
                lambda all: [(0, 9, *one[2:4], 9, one[5]) for one in all]),
        EVERY, ["holds events of write 9, and lies in delta_0000002_0000002_0000"],
    ),
    "rows of a write out of sight": Damage(
        foreign, "holds events of write 77, and lies in", ["holds events of write 77"]
    ),
    "rows for deletes": Damage(copy(DATA, GONE), "holds inserted rows", ["holds inserted rows"]),
    "deletes for rows": Damage(copy(GONE, DATA), "updates or deletes", ["updates or deletes"]),
    "rows without ids": Damage(
        rewrite(DATA, lambda all: [(*one[:3], None, *one[4:]) for one in all]),
        "events without rowId", ["events without rowId"],
    ),
    "deletes without ids": Damage(
        rewrite(GONE, lambda all: [(*one[:3], None, *one[4:]) for one in all]),
        "events without rowId", ["events without rowId"],
    ),
    "rows without columns": Damage(
        rewrite(DATA, lambda all: [(*one[:5], None) for one in all]),
        "rows without their columns", ["rows without their columns"],
    ),
    "no ids at all": Damage(plain(DATA), "no ACID columns", ["no ACID columns"]),
    "ids in a plain file": Damage(
        copy(DATA, "000000_0"), "carries ACID row ids", ["carries ACID row ids"]
    ),
    "columns in another order": Damage(
        rewrite(DATA, lambda all: [(*one[:5], one[5][::-1]) for one in all], "v:string,id:int"),
        [None, None, None, *(one for one in EVERY if one not in (6, 7, 10))],
        ["has the columns v, id where the table has id, v"],
    ),
    "a column of another kind": Damage(
        rewrite(DATA, lambda all: [(*one[:5], ([1], "x")) for one in all],
                "id:array<int>,v:string"),
        "cannot be read", ["its column id is array<int> where the table has int"],
        is_in_footers=False,
    ),
    "a file among deltas": Damage(
        put("notes.txt"), "/notes.txt: original files", ["/notes.txt: original files"]
    ),
    "a file in a delta": Damage(
        put(f"{FIRST}/notes.txt"), f"/{FIRST}/notes.txt is neither", ["notes.txt is neither"]
    ),
    "a file among deletes": Damage(
        put(f"{DELETES}/notes.txt"), "notes.txt: the name of this delete", ["says no bucket"]
    ),
    "a directory too many": Damage(
        copy(FIRST, "backup"), "/backup/bucket_00000: original", ["/backup/bucket_00000: original"]
    ),
    "a write that never was": Damage(
        copy(SECOND, "delta_0000099_0000099_0000"), EVERY, ["the catalog knows no write above 4"]
    ),
    "a write that was killed": Damage(
        lambda home: (home / ".hive-staging_1").mkdir(), EVERY, ["left over by a write"]
    ),
    "an empty base": Damage(
        lambda home: (home / "base_0000003").mkdir(), EVERY, ["holds no file"]
    ),
    "half a base": Damage(
        both(copy(FIRST, "base_0000003"), cut("base_0000003/bucket_00001")),
        "not a readable ORC file", ["not a readable ORC file"],
    ),
    "a base without a bucket": Damage(
        both(copy(FIRST, "base_0000003"), drop("base_0000003/bucket_00001")), FEWER,
        [LOST.format(5)],
    ),
    "a compacted base without files": Damage(emptied_by_compaction, FEWER, [LOST.format(0)]),
    "a link to nowhere": Damage(
        both(drop(DATA), lambda home: (home / DATA).symlink_to("/nowhere")),
        "a link to a file that is missing", ["a link to a file that is missing"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def damaged(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[hivesql.Session, Path]:
    """A partition for each damage: rows 1 to 12 and 13 to 20 in two buckets, 1 to 4 deleted."""
    place = tmp_path_factory.mktemp("damage")
    session = hivesql.connect(f"sqlite:///{place}/metastore.db", f"{place}/warehouse", spark=spark)
    names = ", ".join(f"'{name}'" for name in DAMAGES)
    numbers = "(SELECT posexplode(split(space({}), ' ')) AS (n, nothing)) numbers"
    session.sql(f"""
        CREATE TABLE t (id int, v string) PARTITIONED BY (p string) CLUSTERED BY (id)
          INTO 2 BUCKETS STORED AS ORC TBLPROPERTIES ('transactional'='true');
        CREATE TABLE names AS SELECT explode(array({names})) AS p;
        INSERT INTO t SELECT n + 1, concat('v', n + 1), p FROM {numbers.format(11)}
          CROSS JOIN names;
        INSERT INTO t SELECT n + 13, concat('v', n + 13), p FROM {numbers.format(7)}
          CROSS JOIN names;
        DELETE FROM t WHERE id <= 4;
    """)
    store, table = session.runtime.metastore, T
    (rolled_back,) = store.open_txns(1, "ann", "here")
    store.allocate_write_id(rolled_back, table)
    store.abort_txns([rolled_back], "a test")
    home = Path(store.table(table).location)
    for name, damage in DAMAGES.items():
        damage.do(home / f"p={name}")
    return session, home


def by_damage(findings: Sequence[Finding], home: Path) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {name: [] for name in DAMAGES}
    for finding in findings:
        place = Path(finding.place)
        name = finding.problem.partition(":")[0]
        if place != home:
            name = place.relative_to(home).parts[0].removeprefix("p=")
        told[name].append(finding.problem)
    return told


@pytest.fixture(scope="module")
def told(damaged: tuple[hivesql.Session, Path]) -> dict[str, list[str]]:
    """What check tells by jobs of Spark, of each damage."""
    session, home = damaged
    runtime = replace(session.runtime, settings=Settings.of({MOST_BYTES: "0"}))
    return by_damage(check_table(T, runtime), home)


def test_check_tells_of_every_damage(told: dict[str, list[str]]) -> None:
    for name, damage in DAMAGES.items():
        for text in damage.found:
            assert any(text in one for one in told[name]), (name, text, told[name])
        assert len(told[name]) == len(damage.found), (name, told[name])


def error_of(session: hivesql.Session, statement: str) -> str:
    try:
        session.sql(statement)
    except hivesql.DataError as error:
        return str(error)
    return "no error"


def test_reading_never_loses_rows_without_a_word(damaged: tuple[hivesql.Session, Path]) -> None:
    session, _ = damaged
    for name, damage in DAMAGES.items():
        query = f"SELECT id FROM t WHERE p = '{name}' AND (v IS NULL OR length(v) >= 0)"
        if isinstance(damage.read, str):
            changes = (
                f"UPDATE t SET v = 'x' WHERE p = '{name}' AND id = 20",
                f"DELETE FROM t WHERE p = '{name}' AND length(v) = 99",
            )
            for statement in (query, *(changes if damage.is_in_footers else ())):
                error = error_of(session, statement)
                assert damage.read in error, (name, statement, error)
                assert f"/p={name}/" in error, (name, error)
        elif damage.read is not FEWER:
            found = [row[0] for row in session.sql(query).rows]
            assert sorted(map(str, found)) == sorted(map(str, damage.read)), name


ONLY_SPARK = ("scrambled data",)
"""Damages that only Spark's reader puts into words, and files whose rows it numbers."""


def without_write_ids(problems: list[str]) -> list[str]:
    """Sort problems, without the last write id: the statements of the tests between move it."""
    return sorted(re.sub(r"no write above \d+", "no write above N", text) for text in problems)


def test_check_without_spark_tells_the_same(
    damaged: tuple[hivesql.Session, Path], told: dict[str, list[str]]
) -> None:
    """The last test of these partitions: some are dropped."""
    session, home = damaged
    for name in ONLY_SPARK:
        session.sql(f"ALTER TABLE t DROP PARTITION (p='{name}')")

    def refuse() -> Any:
        pytest.fail("a check of a small table starts Spark")

    findings = check_table(T, replace(session.runtime, spark=refuse))
    alone = by_damage(findings, home)
    for name in DAMAGES.keys() - set(ONLY_SPARK):
        assert without_write_ids(alone[name]) == without_write_ids(told[name]), name


WHOLE = ["none", "truncated", "another kind", "empty", "no file"]
STORED = {"orc": True, "parquet": True, "avro": True, "textfile": False}
"""Whether a file of this kind tells where it ends."""


def test_insert_only_tables(session: hivesql.Session) -> None:
    parts = ", ".join(f"'{name}'" for name in WHOLE)
    for kind, has_end in STORED.items():
        session.sql(f"""
            CREATE TABLE {kind} (id int, v string) PARTITIONED BY (p string) STORED AS {kind}
              TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
            INSERT INTO {kind} SELECT 1, 'some text', p
              FROM (SELECT explode(array({parts})) AS p) parts;
            INSERT INTO {kind} VALUES (2, 'more', 'none');
        """)
        home = Path(session.runtime.metastore.table(TableName("default", kind)).location)
        files = {name: next((home / f"p={name}" / FIRST).iterdir()) for name in WHOLE}
        data = files["truncated"].read_bytes()
        files["truncated"].write_bytes(data[: len(data) // 2])
        files["another kind"].write_bytes(b"<?xml?>" if has_end else b"")
        files["empty"].write_bytes(b"")
        files["no file"].unlink()
        found = {Path(one.place).relative_to(home).parts[0]: one for one in session.check(kind)}
        assert set(found) == {f"p={name}" for name in WHOLE[1:]}, (kind, found)
        for name in ("empty", "no file")[kind == "parquet" :]:
            assert "tell of 1 rows, and there are 0" in found[f"p={name}"].problem, kind
        assert sorted(session.sql(f"SELECT id FROM {kind} WHERE p = 'none'").rows) == [(1,), (2,)]
        for name in ("truncated", "another kind") if has_end else ():
            error = error_of(session, f"SELECT * FROM {kind} WHERE p = '{name}'")
            assert files[name].name in error, (kind, name, error)
