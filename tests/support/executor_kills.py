"""Kill executors at random while statements write, and compare all rows with a model.

``python tests/support/executor_kills.py SECONDS [SEED]`` starts a standalone cluster of two workers
and walks as long as that; a seed takes the same statements again, though not the same kills. With
``MASTER HOME OPTIONS SECONDS SEED [METASTORE SETTINGS]`` it takes a cluster that is there, as tests
of it do.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

import hivesql
from hivesql_planner.errors import HiveSqlError

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
ROWS = 3000
STREAM_ATTEMPTS = 8
Model = dict[int, str]


def walk(
    master: str, home: str, options: str, seconds: float, seed: str,
    metastore: str | None = None, others: Mapping[str, str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Tell how many statements succeeded, failed, and what was wrong, while executors die.

    In a table ``c`` that is there each of them counts one more, beside those who count elsewhere.
    """
    settings = {
        "spark.master": master,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": options,
        "spark.sql.shuffle.partitions": "6",
        "spark.sql.adaptive.enabled": "false",
        "hivesql.local.max.bytes": "0",
        **(others or {}),
    }
    place = Place(metastore or f"sqlite:///{home}/metastore.db", home)
    with hivesql.connect(place.metastore, place.warehouse, settings=settings) as session:
        session.sql(f"""
            CREATE TABLE t (id int, v string) {ACID};
            CREATE TABLE p (id int, v string) PARTITIONED BY (k int) {ACID};
            CREATE TABLE b (id int, v string) CLUSTERED BY (id) INTO 3 BUCKETS {ACID};
            INSERT INTO t SELECT id, 'a' FROM {_numbers(0)} DISTRIBUTE BY id;
        """)
        walked = Walk(session, random.Random(seed), place)
        walked.models["t"] = dict.fromkeys(range(ROWS), "a")
        application = str(session._spark().sparkContext.applicationId)
        end = time.monotonic() + seconds
        took = 5.0
        with killing(application, random.Random(seed)) as (begin, killed):
            while time.monotonic() < end or not killed:
                begin(took)
                began = time.monotonic()
                walked.step()
                took = time.monotonic() - began
        for name in walked.models:
            walked.compare(name)
            walked.wrong += [f"{name}: {finding}" for finding in session.check(name)]
    return {
        "killed": len(killed),
        "done": walked.done,
        "failed": walked.failed,
        "wrong": walked.wrong,
    }


@dataclass(frozen=True)
class Place:
    """Where the tables are, and what streams read."""

    metastore: str
    home: str

    @property
    def warehouse(self) -> str:
        return f"{self.home}/warehouse"


class Walk:
    """Statements one after the other, and what the tables hold after those that succeeded."""

    def __init__(self, session: hivesql.Session, chance: random.Random, place: Place) -> None:
        self.session = session
        self.chance = chance
        self.place = place
        self.streams = 0
        self.counts = bool(session.sql("SHOW TABLES LIKE 'c'").rows)
        self.models: dict[str, Model] = {"t": {}, "p": {}, "b": {}}
        self.done: dict[str, int] = {}
        self.failed: list[str] = []
        self.wrong: list[str] = []

    def step(self) -> None:
        """Run a statement; one that fails must leave all rows as they were."""
        kind = self.chance.choice(STATEMENTS)
        name = self.chance.choice(list(self.models))
        if self.counts:
            self.session.sql("UPDATE c SET v = v + 1")
            self.done["count"] = self.done.get("count", 0) + 1
        if not self.streams or self.chance.random() < 0.15:
            self.stream(name)
            return
        sql, after = kind(name, self.models[name], self.chance)
        try:
            self.session.sql(sql)
        except HiveSqlError as error:
            self.failed.append(f"{sql}: {error}"[:1000])
            self.compare(name)
            return
        self.models[name] = after
        self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1
        if self.chance.random() < 0.3:
            self.compare(name)

    def stream(self, name: str) -> None:
        """Let a stream append rows in two batches; one that fails goes on where it was."""
        from pyspark.errors import StreamingQueryException

        spark = self.session._spark()
        self.streams += 1
        first = max(self.models[name], default=-1) + 1
        source, home = Path(self.place.home, f"stream{self.streams}"), self.place
        source.mkdir()
        for file in range(4):
            lines = [json.dumps({"id": id}) for id in range(first + file, first + ROWS, 4)]
            (source / f"{file}.json").write_text("\n".join(lines))
        sink = hivesql.streaming_sink(
            name, metastore=home.metastore, warehouse=home.warehouse,
            settings={"hivesql.local.max.bytes": "0"},
        )  # fmt: skip
        columns = ["id", "'s' AS v", *(["id % 3 AS k"] if name == "p" else [])]
        rows = spark.readStream.schema("id int").option("maxFilesPerTrigger", 2)
        for _ in range(STREAM_ATTEMPTS):
            writer = rows.json(str(source)).selectExpr(*columns).writeStream.foreachBatch(sink)
            query = writer.option("checkpointLocation", f"{source}-checkpoint")
            try:
                query.trigger(availableNow=True).start().awaitTermination()
                break
            except StreamingQueryException as error:
                self.failed.append(f"stream into {name}: {error}"[:1000])
        sink.close()
        self.models[name] |= dict.fromkeys(range(first, first + ROWS), "s")
        self.done["stream"] = self.done.get("stream", 0) + 1
        self.compare(name)

    def compare(self, name: str) -> None:
        """Note how the rows of a table differ from the model's."""
        for _ in range(10):
            try:
                rows = self.session.sql(f"SELECT id, v FROM {name}").rows
                break
            except HiveSqlError as error:
                self.failed.append(f"SELECT of {name}: {error}"[:1000])
        else:
            return
        have, expected = sorted(map(tuple, rows)), sorted(self.models[name].items())
        if have != expected:
            missing = sorted({*expected} - {*have})[:5]
            extra = sorted({*have} - {*expected})[:5]
            counts = f"{len(have)} rows, expected {len(expected)}"
            self.wrong.append(f"{name}: {counts}; missing {missing}, extra {extra}")
            self.models[name] = dict(have)


# -- statements, each with the rows that are there after it
def insert(name: str, model: Model, chance: random.Random) -> tuple[str, Model]:
    """Add rows, in several tasks."""
    first = max(model, default=-1) + 1
    rows = f"SELECT id, 'i'{_key(name)} FROM {_numbers(first)} DISTRIBUTE BY id"
    sql = f"INSERT INTO {name} {rows}"
    return sql, model | dict.fromkeys(range(first, first + ROWS), "i")


def overwrite(name: str, model: Model, chance: random.Random) -> tuple[str, Model]:
    """Replace all rows; of a partitioned table those of the partitions that get some."""
    rows = f"SELECT id, 'o'{_key(name)} FROM {_numbers(0)} DISTRIBUTE BY id"
    return f"INSERT OVERWRITE TABLE {name} {rows}", dict.fromkeys(range(ROWS), "o")


def update(name: str, model: Model, chance: random.Random) -> tuple[str, Model]:
    """Change some rows."""
    by, rest = chance.choice([(2, 1), (3, 0), (7, 5)])
    after = {id: f"{v}!" if id % by == rest else v for id, v in model.items()}
    return f"UPDATE {name} SET v = concat(v, '!') WHERE id % {by} = {rest}", after


def delete(name: str, model: Model, chance: random.Random) -> tuple[str, Model]:
    """Delete some rows."""
    by, rest = chance.choice([(3, 1), (5, 0), (7, 2)])
    after = {id: v for id, v in model.items() if id % by != rest}
    return f"DELETE FROM {name} WHERE id % {by} = {rest}", after


def merge(name: str, model: Model, chance: random.Random) -> tuple[str, Model]:
    """Delete, update and insert rows at once."""
    first = chance.randrange(0, max(model, default=0) + 1)
    after = dict(model)
    for id in range(first, first + ROWS):
        if id not in model:
            after[id] = "m"
        elif id % 7 == 0:
            del after[id]
        else:
            after[id] = f"{model[id]}+"
    key = ", x.id % 3" if name == "p" else ""
    return (
        f"""
        MERGE INTO {name} USING {_numbers(first)} x ON {name}.id = x.id
        WHEN MATCHED AND {name}.id % 7 = 0 THEN DELETE
        WHEN MATCHED THEN UPDATE SET v = concat({name}.v, '+')
        WHEN NOT MATCHED THEN INSERT VALUES (x.id, 'm'{key})
    """,
        after,
    )


def compact(name: str, model: Model, chance: random.Random) -> tuple[str, Model]:
    """Compact a table, or a partition; its rows stay."""
    kind = chance.choice(["major", "minor"])
    if name == "p" and not model:
        return "SHOW TABLES", model
    partition = f" PARTITION (k={max(model) % 3})" if name == "p" else ""
    return f"ALTER TABLE {name}{partition} COMPACT '{kind}'", model


STATEMENTS: list[Callable[[str, Model, random.Random], tuple[str, Model]]] = [
    insert, update, update, delete, merge, merge, compact, compact, overwrite,
]  # fmt: skip


def _numbers(first: int) -> str:
    space = f"posexplode(split(space({ROWS - 1}), ' '))"
    return f"(SELECT i + {first} AS id FROM (SELECT {space} AS (i, blank)) n)"


def _key(name: str) -> str:
    return ", id % 3" if name == "p" else ""


# -- kills
@contextmanager
def killing(
    application: str, chance: random.Random
) -> Iterator[tuple[Callable[[float], None], list[int]]]:
    """Kill executors of the application in the block; give what tells it of a statement, and whom.

    Told for how long a statement may run, it kills one executor within that time: so statements
    end, however slow the machine is.
    """
    killed: list[int] = []
    begun: Queue[float | None] = Queue()

    def kill() -> None:
        while (seconds := begun.get()) is not None:
            time.sleep(chance.uniform(0, seconds))
            if running := executors_of(application):
                process = chance.choice(running)
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield begun.put, killed
    finally:
        begun.put(None)
        killer.join()


def executors_of(application: str) -> list[int]:
    """Return the processes of an application's executors on this machine."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # It has ended meanwhile.
        if application in words and any("CoarseGrainedExecutorBackend" in word for word in words):
            processes.append(int(path.parent.name))
    return sorted(processes)


def main(seconds: float, seed: str) -> None:
    """Walk on a cluster of this command's own, and print what was seen."""
    from spark_archive import submit_options
    from standalone import standalone_cluster

    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        with standalone_cluster(place, memory="600m", cores=2) as master:
            told = walk(master, home, submit_options(), seconds, seed)
    sys.stdout.write(f"seed {seed}: {json.dumps(told, indent=1)}\n")
    sys.exit(bool(told["wrong"]))


if __name__ == "__main__":
    if len(sys.argv) > 3:
        metastore, settings = sys.argv[6:] or (None, "{}")
        answer = walk(
            *sys.argv[1:4], float(sys.argv[4]), sys.argv[5], metastore, json.loads(settings)
        )
        sys.stdout.write(f"{json.dumps(answer)}\n")
    else:
        chosen = sys.argv[2] if len(sys.argv) > 2 else str(random.randrange(10**6))
        main(float(sys.argv[1]), chosen)
