"""A warehouse in S3: statements, files and crashes of a local one, and how often it is asked."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import boto3
import pytest

import hivesql
from fuzz.seeds import AGAIN, FIRST
from hivesql_planner.model.table import DEFAULT_PARTITION
from interop import hive
from interop.files.test_hdfs import LEFT, SCRIPT
from interop.ours import Warehouse
from s3_server import ASKED, BUCKET, S3Server, s3_server, s3a_jars

pytestmark = [pytest.mark.hive, pytest.mark.slow]
ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests" / "support" / "s3_program.py"
HADOOP_OF_HIVE = "3.4.1"
ALL_OF_T = "SELECT id, v, p FROM t ORDER BY id, v, p"
STATEMENTS = int(os.environ.get("HIVESQL_S3_STATEMENTS", "15"))
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
FAULTS = {"slow": 0.02, "broken": 0.04, "reset": 0.06}
"""Of all requests, up to which part each fault happens."""
QUICK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "fs.s3a.retry.limit": "5",
    "fs.s3a.retry.interval": "20ms",
    "fs.s3a.retry.throttle.interval": "20ms",
    "fs.s3a.attempts.maximum": "3",
    # Else small files are no uploads.
    "fs.hivesql.whole.bytes": "0",
}


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    """One for all tests, each with a warehouse of its own."""
    with s3_server() as running:
        yield running


@pytest.fixture(scope="module")
def jars() -> str:
    """What a user's ``spark.jars`` names."""
    return ",".join(map(str, s3a_jars(ROOT / "build")))


def begin(
    server: S3Server,
    jars: str,
    home: str,
    metastore: Path,
    statements: Sequence[str],
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start the program; with an ``environment`` that, and no settings, say where the server is."""
    process = subprocess.Popen(
        [sys.executable, PROGRAM, f"{server.url}{ASKED}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    reached = {} if environment else server.settings()
    asked = {
        "metastore": f"sqlite:///{metastore}",
        "warehouse": home,
        "settings": {**QUICK, **reached, "spark.jars": jars, **(settings or {})},
        "statements": [statement for statement in statements if statement.strip()],
    }
    assert process.stdin is not None
    process.stdin.write(json.dumps(asked))
    process.stdin.close()
    process.stdin = None
    return process


def run(
    server: S3Server,
    jars: str,
    home: str,
    metastore: Path,
    statements: Sequence[str],
    settings: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    process = begin(server, jars, home, metastore, statements, settings)
    out, errors = process.communicate(timeout=500)
    assert out.strip().endswith("}"), errors[-3000:]
    told: dict[str, Any] = json.loads(out.splitlines()[-1])
    return told


def uploads(server: S3Server) -> list[str]:
    """Keys of uploads that nobody has completed or given up."""
    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    listed = client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
    return [upload["Key"] for upload in listed]


@pytest.fixture(scope="module")
def real_hive(server: S3Server) -> hive.Storage:
    """How real Hive reaches the server, by its own S3A."""
    # Hive brings its own.
    jars = [jar for jar in s3a_jars(ROOT / "build", HADOOP_OF_HIVE) if "slf4j" not in jar.name]
    return hive.Storage(jars=jars, settings=server.settings())


@pytest.fixture(scope="module")
def same(
    server: S3Server, jars: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Path]:
    """What came of SCRIPT in ``s3a://bucket/same``, and its metastore."""
    metastore = tmp_path_factory.mktemp("same") / "m.db"
    return run(server, jars, f"s3a://{BUCKET}/same", metastore, SAME), metastore


SAME = [*SCRIPT.split(";"), ALL_OF_T]


def test_s3_holds_what_a_local_disk_holds(
    server: S3Server, jars: str, same: tuple[dict[str, Any], Path], tmp_path: Path
) -> None:
    local = run(server, jars, str(tmp_path / "warehouse"), tmp_path / "local.db", SAME)
    stored, _ = same
    for told in (local, stored):
        assert [one.get("error") for one in told["outcomes"]] == [None] * len(told["outcomes"])
        assert told["outcomes"][-1]["rows"] == [[*row] for row in LEFT]
        assert told["problems"] == []
    assert stored["files"] == [path for path in local["files"] if not path.endswith(".crc")]
    assert uploads(server) == []


INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
WIDE = "SELECT stack(4, 1, 'x', 'q/r', 2, 'y', NULL, 3, 'z', 'ü %', 4, 'w', '') AS (k, v, b)"
IN_PLACE = f"""
    CREATE TABLE a (k INT, v STRING) STORED AS PARQUET {INSERT_ONLY};
    INSERT INTO a VALUES (1, 'x');
    INSERT INTO a SELECT k, v FROM a WHERE k > 1;
    INSERT OVERWRITE TABLE a SELECT k + 1, v FROM a;
    CREATE TABLE b (k INT, v STRING) STORED AS TEXTFILE {INSERT_ONLY};
    INSERT INTO b VALUES (1, 'x'), (2, 'y');
    INSERT OVERWRITE TABLE b SELECT * FROM b WHERE k > 9;
    INSERT INTO b VALUES (3, 'z');
    CREATE TABLE c (k INT, w CHAR(4), t TIMESTAMP WITH LOCAL TIME ZONE)
    PARTITIONED BY (a INT, b STRING) CLUSTERED BY (k) INTO 2 BUCKETS STORED AS ORC {INSERT_ONLY};
    INSERT INTO c PARTITION (a = 1, b)
    SELECT k, v, TIMESTAMP '2020-01-01 00:00:00', b FROM ({WIDE}) s;
    CREATE TABLE d (k INT, v STRING) STORED AS AVRO {INSERT_ONLY};
    INSERT INTO d VALUES (1, 'x');
    SELECT * FROM a UNION ALL SELECT * FROM b UNION ALL SELECT * FROM d;
    SELECT k, w, b FROM c ORDER BY k
"""


@pytest.mark.parametrize("whole", ["0", "4194304"], ids=["uploaded", "told whole"])
def test_tables_without_row_ids_are_written_in_place(
    server: S3Server, jars: str, tmp_path: Path, whole: str
) -> None:
    """Of insert-only tables: one request a file, or three and one for its footer; no moves."""
    name = f"place{whole}"
    told = run(
        server, jars, f"s3a://{BUCKET}/{name}", tmp_path / "m.db", IN_PLACE.split(";"),
        {"fs.hivesql.whole.bytes": whole},
    )  # fmt: skip
    outcomes = told["outcomes"]
    assert [one.get("error") for one in outcomes] == [None] * len(outcomes)
    *_, rows, of_c = (one["rows"] for one in outcomes)
    assert sorted(rows) == [[1, "x"], [2, "x"], [3, "z"]]
    assert [[k, w.strip(), b] for k, w, b in of_c] == [
        [1, "x", "q/r"], [2, "y", DEFAULT_PARTITION], [3, "z", "ü %"], [4, "w", DEFAULT_PARTITION],
    ]  # fmt: skip
    asked = [request for one in outcomes for request in one["requests"]]
    assert not [request for request in asked if "staging" in request]
    insert = outcomes[1]["requests"]
    kinds = ["PUT"] if whole != "0" else ["POST", "PUT", "POST", "GET"]
    assert [request.split()[0] for request in insert] == kinds, insert
    assert [path for path in told["files"] if path.startswith(("a/", "b/"))] == [
        "a/base_0000003/000000_0", "a/delta_0000001_0000001_0000/000000_0",
        "b/base_0000002/000000_0", "b/delta_0000001_0000001_0000/000000_0",
        "b/delta_0000003_0000003_0000/000000_0",
    ]  # fmt: skip
    assert not [key for key in uploads(server) if key.startswith(name)]


JOINED = f"""
    CREATE TABLE a (k INT, v STRING) STORED AS ORC {INSERT_ONLY};
    CREATE TABLE b (k INT, v STRING) STORED AS TEXTFILE {INSERT_ONLY};
    CREATE TABLE c (k INT, v STRING) CLUSTERED BY (k) INTO 2 BUCKETS STORED AS PARQUET {INSERT_ONLY}
""" + "".join(
    f"; INSERT INTO {name} SELECT stack(2, 1, 'x', 2, 'y') AS (k, v); "
    f"INSERT INTO {name} SELECT 3, 'z'; ALTER TABLE {name} COMPACT 'major'; SELECT * FROM {name}"
    for name in "abc"
)


def test_insert_only_tables_are_compacted_in_place(
    server: S3Server, jars: str, tmp_path: Path
) -> None:
    """Files are uploaded to their base, and none is staged."""
    told = run(server, jars, f"s3a://{BUCKET}/joined", tmp_path / "m.db", JOINED.split(";"))
    outcomes = told["outcomes"]
    assert [one.get("error") for one in outcomes] == [None] * len(outcomes)
    assert [sorted(one["rows"]) for one in outcomes[6::4]] == [[[1, "x"], [2, "y"], [3, "z"]]] * 3
    asked = [request for one in outcomes for request in one["requests"]]
    assert not [request for request in asked if "staging" in request]
    assert {path.split("_")[0] for path in told["files"]} == {"a/base", "b/base", "c/base"}
    assert told["problems"] == []
    assert not [key for key in uploads(server) if key.startswith("joined")]


HIVES = """
    CREATE TABLE t (id int, v string) PARTITIONED BY (p int)
    STORED AS ORC TBLPROPERTIES ('transactional'='true');
    !adopt t {highest};
    SELECT id, v, p FROM t ORDER BY id, v, p;
    INSERT INTO t PARTITION (p) VALUES (20, 'h', 1), (21, 'h', 7);
    UPDATE t SET v = 'hive' WHERE id = 2;
    DELETE FROM t WHERE id = 9;
    ALTER TABLE t PARTITION (p=2) COMPACT 'major';
    !worker;
    MERGE INTO t USING (SELECT 1 AS id, 'm' AS v UNION ALL SELECT 30, 'n') s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET v = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, 1);
    SELECT id, v, p FROM t ORDER BY id, v, p;
"""
BY_HIVE = [(1, "merged", 1), (1, "merged", 2), (2, "hive", 1), (2, "hive", 2), (20, "h", 1),
           (21, "h", 7), (30, "n", 1)]  # fmt: skip


def test_real_hive_goes_on_there_and_we_after_it(
    server: S3Server,
    jars: str,
    same: tuple[dict[str, Any], Path],
    real_hive: hive.Storage,
    tmp_path: Path,
) -> None:
    """Each reads what the other wrote, and neither leaves an upload behind."""
    (stored, metastore), home = same, f"s3a://{BUCKET}/same"
    highest = max(map(int, re.findall(r"_(?:v?0*)(\d+)", " ".join(stored["files"]))))
    blocks = hive.run(
        HIVES.format(highest=highest), tmp_path / "hive", storage=real_hive,
        settings=[f"hive.metastore.warehouse.dir={home}"],
    )  # fmt: skip
    before, after = (
        [tuple(line.split("\t")) for line in block.lines]
        for block in blocks if block.statement.startswith("SELECT")
    )  # fmt: skip
    assert before == [tuple(map(str, row)) for row in LEFT]
    assert after == [tuple(map(str, row)) for row in BY_HIVE]
    with hivesql.connect(f"sqlite:///{metastore}", home) as session:
        ours = Warehouse(session, Path(home))
        for _ in range(20):
            ours.burn_write_id("t")
    statements = [
        "MSCK REPAIR TABLE t", ALL_OF_T, "UPDATE t SET v = 'ours' WHERE p = 1",
        "ALTER TABLE t PARTITION (p = 1) COMPACT 'major'", ALL_OF_T,
        # Our catalog knows nothing of the rows that Hive counted in its own.
        "ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS",
    ]  # fmt: skip
    told = run(server, jars, home, metastore, statements)
    _, first, updated, compacted, second, _ = told["outcomes"]
    assert first.get("rows", first) == [[*row] for row in BY_HIVE]
    assert [one.get("error") for one in (updated, compacted)] == [None] * 2
    ours_now = sorted((k, "ours" if p == 1 else v, p) for k, v, p in BY_HIVE)
    assert second["rows"] == [[*row] for row in ours_now]
    assert told["problems"] == []
    read = hive.read(f"{home}/t", storage=real_hive)
    assert sorted((*row.values, int(row.partition[0])) for row in read) == ours_now
    assert [key for key in uploads(server) if key.startswith("same/")] == []


BOUNDED = {
    f"CREATE TABLE t (k INT, v STRING) {ACID}": 2,
    # The file, and the version of its directory.
    "INSERT INTO t VALUES (1, 'a')": 2,
    "INSERT INTO t VALUES (2, 'b'), (3, 'c')": 2,
    # What was written here is remembered: nothing is asked but which files there are.
    "SELECT * FROM t": 1,
    "SELECT v FROM t WHERE k = 2": 1,
    "UPDATE t SET v = 'z' WHERE k = 2": 5,
    "DELETE FROM t WHERE k = 1": 3,
    # Spark's tasks upload: three requests for each file. They read none that came with the plan.
    "INSERT INTO t SELECT k + 10, v FROM t": 8,
    "SELECT v, count(*) FROM t GROUP BY v": 3,
    f"CREATE TABLE b (k INT, v STRING) CLUSTERED BY (k) INTO 3 BUCKETS {ACID}": 2,
    # Up to three files in one directory.
    "INSERT INTO b VALUES (1, 'a'), (2, 'b'), (3, 'c')": 4,
    "UPDATE b SET v = 'z'": 9,
    f"CREATE TABLE p (k INT, v STRING) PARTITIONED BY (d STRING) {ACID}": 2,
    "INSERT INTO p VALUES (1, 'a', 'x/y'), (2, 'b', 'z')": 4,
    "SELECT * FROM p": 2,
    "INSERT INTO p SELECT k + 10, v, d FROM p": 10,
    # Of two buckets: both tasks of the INSERT above had rows.
    "ALTER TABLE t COMPACT 'major'": 18,
    "CREATE TABLE q (k INT, v STRING) STORED AS PARQUET": 2,
    # Uploaded aside, counted, and copied: two requests ask for its names; two lists, two deletions.
    "INSERT INTO q SELECT stack(2, 1, 'a', 2, 'b') AS (k, v)": 11,
    # Hidden, which is a copy, and one deletion of all that were copied.
    "INSERT OVERWRITE TABLE q SELECT stack(2, 1, 'a', 2, 'b') AS (k, v)": 15,
    "TRUNCATE TABLE q": 5,
}  # fmt: skip


FAILING = (
    "INSERT INTO p SELECT id, 'a', id % 3 FROM (SELECT 1 AS one) o "
    "LATERAL VIEW posexplode(split(space(3999), ' ')) s AS id, x",
    # After the files of some partitions.
    "UPDATE p SET v = if(k = 3997, cast(assert_true(k < 0) AS STRING), 'u') WHERE length(v) = 1",
    "SELECT count(*) FROM p WHERE d IN ('0', '1', '2')",
)
MADE = (
    f"CREATE TABLE n (k INT, v STRING) {ACID}",
    "INSERT INTO n SELECT {0}, concat('v', {0})",
    "SELECT v, count(*) FROM n GROUP BY v",
    "DROP TABLE n",
)
"""Its files have the same names and lengths each time, and are remembered."""


def test_requests_of_each_statement(server: S3Server, jars: str, tmp_path: Path) -> None:
    """Upper bounds; nobody asks of a file how long it is, and none is copied."""
    again = [text.format(i) for i in range(3) for text in MADE]
    texts = [*BOUNDED, *FAILING, *again]
    told = run(server, jars, f"s3a://{BUCKET}/few", tmp_path / "m.db", texts)
    for (statement, most), outcome in zip(BOUNDED.items(), told["outcomes"], strict=False):
        # Once a minute it is asked whether a store is there, whatever the statement.
        asked = (each for each in outcome["requests"] if "nobody_writes_this" not in each)
        kinds = Counter(request.split()[0] for request in asked)
        assert "error" not in outcome, statement
        assert kinds.total() <= most, (statement, outcome["requests"])
        if not statement.startswith(
            ("CREATE", "ALTER", "INSERT INTO q", "INSERT OVERWRITE TABLE q", "TRUNCATE")
        ):
            assert kinds["HEAD"] == kinds["DELETE"] == 0, (statement, outcome["requests"])
        if statement.startswith("SELECT"):
            assert kinds["LIST"] <= (2 if "FROM p" in statement else 1), outcome["requests"]
    _, failed, counted, *made = told["outcomes"][len(BOUNDED) :]
    assert [one["rows"] for one in made[2 :: len(MADE)]] == [[[f"v{i}", 1]] for i in range(3)]
    assert "is not true" in failed["error"]
    assert counted["rows"] == [[4000]]
    assert uploads(server) == []


def test_a_stream_writes_a_table_and_reads_its_changes(
    server: S3Server, jars: str, tmp_path: Path
) -> None:
    """Stopped and started again, with checkpoints in S3."""
    settings = {**server.settings(), **QUICK, "spark.jars": jars}
    asked = [str(tmp_path / "m.db"), f"s3a://{BUCKET}/stream", settings]
    done = subprocess.run(
        [sys.executable, PROGRAM.with_name("s3_streams.py")],
        input=json.dumps(asked), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["rows"] == [[0, 9], [0, 19]]
    inserted = [[number, "insert"] for number in range(20)]
    deleted = [[0, "delete"]]
    assert told["changes"] == [sorted(inserted + deleted), [[50, "insert"]]]


def _site(path: Path, properties: Mapping[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = (f"<property><name>{k}</name><value>{v}</value></property>"
             for k, v in properties.items())  # fmt: skip
    path.write_text(f"<configuration>{''.join(lines)}</configuration>")


def test_sites_settings_reach_executors_and_no_list_of_processes(
    server: S3Server, jars: str, tmp_path: Path
) -> None:
    """Of one key, that of hive-site.xml wins; what nobody says S3A looks for itself."""
    given = server.settings()
    by_hive = ("fs.s3a.endpoint", "fs.s3a.secret.key")
    by_hadoop = ("fs.s3a.path.style.access", "fs.s3a.access.key")
    wrong = {"fs.s3a.endpoint": "http://127.0.0.1:9"}
    _site(tmp_path / "hadoop" / "core-site.xml", wrong | {key: given[key] for key in by_hadoop})
    _site(tmp_path / "hive" / "core-site.xml", {"fs.s3a.path.style.access": "not read"})
    _site(tmp_path / "hive" / "hive-site.xml", {key: given[key] for key in by_hive})
    statements = [
        f"CREATE TABLE t (k INT) {ACID}",
        "INSERT INTO t SELECT stack(2, 1, 2)",
        "SET fs.s3a.endpoint=http://127.0.0.1:9",
        "SELECT sum(k) FROM t",
    ]
    environment = {
        "HADOOP_CONF_DIR": str(tmp_path / "hadoop"),
        "HIVE_CONF_DIR": str(tmp_path / "hive"),
        "AWS_REGION": "us-east-1",
    }
    process = begin(
        server, jars, f"s3a://{BUCKET}/site", tmp_path / "m.db", statements,
        {"spark.master": "local-cluster[1,1,1024]"}, environment,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    listed = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True).stdout
    out, errors = process.communicate(timeout=500)
    assert out.strip().endswith("}"), errors[-3000:]
    outcomes = json.loads(out.splitlines()[-1])["outcomes"]
    assert [one.get("rows", one.get("error")) for one in outcomes] == [[], [], [], [[3]]]
    commands = [line for line in listed.splitlines() if "java" in line and server.url in line]
    assert commands
    assert [command for command in commands if "secret.key" in command] == []


REFUSED = {
    "nowhere/t": "Make the bucket, or correct its name",
    f"{BUCKET}/denied/t": "Give yourself the right to it",
    "keyless/t": "Give credentials",
}


def test_refusals_say_what_to_do(server: S3Server, jars: str, tmp_path: Path) -> None:
    server.fault = lambda request: "denied" if "denied" in request else ""
    statements = [f"CREATE TABLE t (k INT) LOCATION 's3a://{place}'" for place in REFUSED]
    simple = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
    keyless = {
        "fs.s3a.bucket.keyless.aws.credentials.provider": simple,
        "fs.s3a.bucket.keyless.access.key": "",
        "fs.s3a.bucket.keyless.secret.key": "",
    }
    told = run(
        server, jars, str(tmp_path), tmp_path / "m.db", [*statements, "SHOW TABLES"], keyless
    )
    *refused, tables = told["outcomes"]
    for (place, remedy), outcome in zip(REFUSED.items(), refused, strict=True):
        assert remedy in outcome.get("error", ""), (place, outcome)
    assert tables["rows"] == []


Rows = dict[int, tuple[str, int]]
"""v and p by k of ``t (k INT, v STRING) PARTITIONED BY (p INT)``."""
Change = tuple[str, Callable[[Rows], Rows]]
"""A statement, and what it makes of the rows."""
CREATE = f"CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p INT) {ACID}"
ALL = "SELECT k, v, p FROM t ORDER BY k"


def _insert(number: int) -> Change:
    new = {number * 10 + i: (f"n{number}", i) for i in range(3)}
    values = ", ".join(f"({k}, '{v}', {p})" for k, (v, p) in new.items())
    return f"INSERT INTO t VALUES {values}", lambda rows: rows | new


def _update(number: int, low: int, high: int) -> Change:
    return (
        f"UPDATE t SET v = 'u{number}' WHERE k >= {low} AND k < {high}",
        lambda rows: {k: (f"u{number}", p) if low <= k < high else (v, p)
                      for k, (v, p) in rows.items()},
    )  # fmt: skip


def _delete(low: int, high: int) -> Change:
    return (
        f"DELETE FROM t WHERE k >= {low} AND k < {high}",
        lambda rows: {k: row for k, row in rows.items() if not low <= k < high},
    )


def _merge(number: int, low: int) -> Change:
    keys = (low, number * 10)
    return (
        f"MERGE INTO t USING (SELECT stack(2, {low}, {number * 10}) AS k) s ON t.k = s.k "
        f"WHEN MATCHED THEN UPDATE SET v = 'm{number}' "
        f"WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'm{number}', 1)"
    ), lambda rows: rows | {k: (f"m{number}", rows[k][1] if k in rows else 1) for k in keys}


def _overwrite(part: int, low: int) -> Change:
    return (
        f"INSERT OVERWRITE TABLE t PARTITION (p = {part}) "
        f"SELECT k, v FROM t WHERE p = {part} AND k >= {low}"
    ), lambda rows: {k: (v, p) for k, (v, p) in rows.items() if p != part or k >= low}


def _compact(part: int) -> Change:
    return f"ALTER TABLE t PARTITION (p = {part}) COMPACT 'major'", lambda rows: rows


def history(seed: int, count: int) -> list[Change]:
    """Make up so many statements; the first ones fill the table."""
    chance = random.Random(seed)
    changes = [_insert(1), _insert(2)]
    for number in range(3, count + 1):
        low, part = chance.randrange(number) * 10, chance.randrange(2)
        changes.append(
            chance.choice(
                [
                    _insert(number),
                    _insert(number),
                    _update(number, low, low + 20),
                    _delete(low, low + 11),
                    _merge(number, low),
                    _overwrite(part, low // 3),
                    _compact(part),
                ]
            )
        )
    return changes


def seen(rows: Rows) -> list[list[Any]]:
    """What ALL gives of them."""
    return [[k, v, p] for k, (v, p) in sorted(rows.items())]


def test_requests_that_fail_lose_and_double_nothing(
    server: S3Server, jars: str, tmp_path: Path
) -> None:
    """Each statement is whole, or fails and has done nothing; the next one meets a sound table."""
    seed = random.randrange(1 << 30)
    changes = history(seed, STATEMENTS)
    chance, lock = random.Random(seed), threading.Lock()

    def fault(request: str) -> str:
        with lock:
            lot = chance.random()
        return next((kind for kind, part in FAULTS.items() if lot < part), "")

    server.fault = fault
    try:
        texts = [text for statement, _ in changes for text in (statement, ALL)]
        told = run(server, jars, f"s3a://{BUCKET}/faults", tmp_path / "m.db", [CREATE, *texts])
    finally:
        server.fault = lambda request: ""
    created, *outcomes = told["outcomes"]
    assert "error" not in created, created
    rows: Rows = {}
    for (statement, change), done, read in zip(changes, outcomes[::2], outcomes[1::2], strict=True):
        rows = rows if "error" in done else change(rows)
        expected = seen(rows)
        assert read.get("rows", expected) == expected, (seed, statement, done.get("error"))
    assert told["problems"] == [], seed


def test_a_killed_process_leaves_a_whole_table(server: S3Server, jars: str, tmp_path: Path) -> None:
    """Nothing of a statement cut off is seen, and a compaction clears what it had uploaded."""
    seed = random.randrange(1 << 30)
    changes, chance = history(seed, STATEMENTS), random.Random(seed)
    home, metastore = f"s3a://{BUCKET}/killed", tmp_path / "m.db"
    server.latency = 0.05
    try:
        process = begin(server, jars, home, metastore, [CREATE, *(text for text, _ in changes)])
        assert process.stdout is not None
        wanted = chance.randrange(3, STATEMENTS)
        line = ""
        while line != str(wanted):
            line = process.stdout.readline().strip()
            assert process.poll() is None, seed
            assert " " not in line, (seed, line)
        time.sleep(chance.random() * 1.5)
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
    finally:
        server.latency = 0.0
    # Number 0 is the CREATE.
    done = max([wanted, *(int(line) for line in out.splitlines() if line.isdigit())])
    states: list[Rows] = [{}]
    for _, change in changes:
        states.append(change(states[-1]))
    time.sleep(3)
    compact = [f"ALTER TABLE t PARTITION (p = {part}) COMPACT 'major'" for part in range(3)]
    told = run(server, jars, home, metastore, [ALL, *compact, ALL], {"hive.txn.timeout": "2"})
    first, *compacted, second = told["outcomes"]
    assert [one.get("error") for one in compacted] == [None] * 3, seed
    assert first["rows"] == second["rows"], seed
    assert first["rows"] in [seen(rows) for rows in states[done : done + 2]], (seed, done)
    assert told["problems"] == [], seed
    assert [key for key in uploads(server) if key.startswith("killed/")] == [], seed


def test_a_random_walk_while_requests_fail() -> None:
    """A few statements of ``make fuzz STORE=s3 FAULTS=1``, others each day."""
    command = [sys.executable, "-m", "fuzz.command", "--store", "s3", "--faults"]
    done = subprocess.run(
        [*command, "--seed", FIRST, "--steps", "8", "--statements", "8"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, f"{AGAIN}: {done.stdout[-3000:]}{done.stderr[-1000:]}"
