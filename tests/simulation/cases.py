"""What a seed decides: clients with their steps, faults, and how often the turn changes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

Step = tuple[Any, ...]
TIMEOUT = 300.0
"""Seconds after which a silent transaction is taken for dead."""
PARTITIONS = (1, 2, 3)
MINE = (4, 5, 6)
"""Partitions that come and go."""
PLACED = 7
"""A partition that gets other locations."""
NAMES = ("c", "d")
"""Names of tables without partitions that come and go."""
TABLES = ("c", "d", "p", "q", "t", "x", "y")
"""``t`` has no partitions, those of ``p`` are always there, those of ``q`` come and go; ``x`` and
``y`` are not transactional."""
WHOLE = ("c", "d", "t")
"""Those without partitions."""
COMING = frozenset({"c", "d", "q", "x", "y"})
"""Those that come and go, or whose partitions do."""
_OF_PROFILE = {
    "sessions": ("t",),
    "streams": ("t", "p"),
    "compaction": ("t", "p"),
    "partitions": ("p", "q"),
    "definitions": ("q",),
    "tables": ("c", "d"),
    "plain": ("x", "y"),
    "loads": ("t", "p", "q"),
    "store": ("t", "p"),
    "all": ("t", "p", "q", "c", "d", "x", "y"),
}
PROFILES = tuple(_OF_PROFILE)


@dataclass(frozen=True)
class Script:
    """One client: its steps, which it takes one after the other."""

    name: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Fault:
    """What happens to a client at its n-th point of a kind.

    ``point`` counts all points: crash, hang (with its heartbeats), crawl (without them), jump of
    the database's clock. ``file``: full, broken. ``read`` and ``write`` of the metastore: down;
    ``write``: lost (done, and told otherwise), unsent (told alike, and not done). ``file`` of an
    object store: throttled (for everybody, so many seconds), expired (the client's credentials are,
    so long), undone (a deletion that was told is done so much later).
    """

    client: str
    counted: str
    number: int
    kind: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Case:
    """Everything that a run depends on.

    ``patience``: how many points between changes of turn. ``optimistic``: writers do not lock each
    other out, and the first that commits wins.
    """

    seed: int
    patience: int
    scripts: tuple[Script, ...]
    faults: tuple[Fault, ...] = ()
    optimistic: bool = False
    stored: bool = False
    """Whether the warehouse lies in an object store."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that its steps are about."""
        words = {word for script in self.scripts for step in script.steps for word in _words(step)}
        return tuple(sorted(words & set(TABLES)))

    def dumps(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, line: str) -> Case:
        """From such a line."""
        found = json.loads(line)
        scripts = [Script(one["name"], _steps(one["steps"])) for one in found["scripts"]]
        faults = [Fault(**one) for one in found["faults"]]
        return cls(**(found | {"scripts": tuple(scripts), "faults": tuple(faults)}))

    def simpler(self) -> Iterator[Case]:
        """The same with something left out, the most first."""
        for script in self.scripts:
            yield replace(
                self,
                scripts=tuple(one for one in self.scripts if one is not script),
                faults=tuple(one for one in self.faults if one.client != script.name),
            )
        for fault in self.faults:
            yield replace(self, faults=tuple(one for one in self.faults if one is not fault))
        for place, script in enumerate(self.scripts):
            for steps in _shorter(script.steps):
                scripts = list(self.scripts)
                scripts[place] = replace(script, steps=steps)
                yield replace(self, scripts=tuple(scripts))


def _words(step: Any) -> Iterator[str]:
    if isinstance(step, tuple):
        for one in step:
            yield from _words(one)
    elif isinstance(step, str):
        yield step


def _steps(found: list[Any]) -> tuple[Step, ...]:
    return tuple(_tuples(one) for one in found)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _shorter(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    half = len(steps) // 2
    if half > 1:
        yield steps[half:]
        yield steps[:half]
    for place, step in enumerate(steps):
        yield (*steps[:place], *steps[place + 1 :])
        if step[0] in ("transaction", "stream"):
            inner = step[-1]
            for without in range(len(inner)):
                less = (*inner[:without], *inner[without + 1 :])
                if less:
                    yield (*steps[:place], (*step[:-1], less), *steps[place + 1 :])


def generate(seed: int, profile: str | None = None) -> Case:
    """The case of a seed; without a ``profile``, that is decided by the seed too."""
    chance = random.Random(f"hivesql {seed}")
    profile = profile or chance.choice(PROFILES)
    scripts = list(_scripts(chance, profile))
    faults = tuple(
        _fault(chance, chance.choice(scripts)) for _ in range(chance.choice((0, 1, 2, 3, 4)))
    )
    if profile == "store":
        # By other numbers: seeds of before stay what they were.
        of_store = random.Random(f"store {seed}")
        count = of_store.choice((0, 0, 1, 2))
        faults += tuple(_fault_of_store(of_store, of_store.choice(scripts)) for _ in range(count))
    patience = chance.choice((2, 5, 15, 40, 100))
    optimistic = chance.random() < 0.3
    return Case(seed, patience, tuple(scripts), faults, optimistic, stored=profile == "store")


def _scripts(chance: random.Random, profile: str) -> Iterator[Script]:
    tables = _OF_PROFILE[profile]
    everything = profile == "all"
    yield Script("first", tuple(_first(tables)))
    for number in range(chance.randint(2, 3)):
        steps = [
            _statement(chance, chance.choice(tables), profile) for _ in range(chance.randint(2, 5))
        ]
        kind = chance.choice(("session", "session", "cached"))
        yield Script(f"{kind}-{number}", tuple(steps))
    if profile in ("plain", "loads"):
        # What a stream that died had begun goes with a compaction after an UPDATE by Spark.
        pass
    elif everything or profile in ("streams", "store") or chance.random() < 0.15:
        for number in range(chance.randint(1, 2)):
            yield Script(f"stream-{number}", tuple(_streams(chance, tables)))
    if everything or profile in ("compaction", "store") or chance.random() < 0.2:
        for number in range(chance.randint(1, 2)):
            yield Script(f"worker-{number}", tuple(_rounds(chance, "work", 4)))
        yield Script("cleaner", tuple(_rounds(chance, "clean", 5)))
        if chance.random() < 0.5:
            yield Script("initiator", tuple(_rounds(chance, "initiate", 2)))
    if chance.random() < 0.7:
        yield Script("reaper", tuple(_rounds(chance, "reap", 4)))
    if chance.random() < 0.4:
        yield Script("housekeeper", tuple(_rounds(chance, "house", 3)))


def _first(tables: tuple[str, ...]) -> Iterator[Step]:
    for table in tables:
        if table in ("q", "x"):
            yield ("insert", table, MINE[0], 2)
            continue
        if table in ("d", "y"):
            continue
        yield ("insert", table, PARTITIONS[0], 2)
        yield ("insert", table, PARTITIONS[1], 2)


def _statement(chance: random.Random, table: str, profile: str) -> Step:
    keys = MINE if table == "q" else PARTITIONS
    if profile == "loads":
        return _load(chance, table, chance.choice(keys))
    if table in ("q", "x", "y") and chance.random() < 0.2:
        return _placed(chance, table)
    return _of_table(chance, table, keys, profile)


def _of_table(chance: random.Random, table: str, keys: tuple[int, ...], profile: str) -> Step:
    if table in ("x", "y"):
        return _plain_table(chance, table)
    key: int | None = chance.choice(keys)
    some = chance.choice((key, key, None))
    roll = chance.random()
    if table == "q" and roll < 0.35:
        return chance.choice(
            (("drop", table, key), ("drop", table, key), ("add", table, key), ("msck", table),
             ("move", table, key, chance.choice(keys)))
        )  # fmt: skip
    if table in NAMES and roll < 0.35:
        other = NAMES[table == NAMES[0]]
        return chance.choice(
            (("drop_table", table), ("create", table), ("rename", table, other),
             ("rename", table, other), ("create_as", table, 1))
        )  # fmt: skip
    if profile == "store" and roll < 0.15:
        # Whose rows tasks upload.
        return ("overwrite", table, key, chance.randint(1, 2))
    if profile in ("compaction", "all", "store") and roll < 0.35:
        kind = chance.choice(("major", "major", "minor"))
        return ("compact", table, None if table in WHOLE else key, kind)
    if roll < 0.4 and table != "q":
        return ("truncate", table, None if table in WHOLE else some)
    if roll < 0.45:
        return ("overwrite", table, key, 1)
    if roll < 0.5:
        return ("sleep", chance.choice((1.0, 20.0, 200.0)))
    if roll < 0.58 and table != "q":
        inner = tuple(_plain(chance, table, keys) for _ in range(chance.randint(2, 3)))
        return ("transaction", chance.choice(("commit", "commit", "rollback")), inner)
    return _plain(chance, table, keys)


def _placed(chance: random.Random, table: str) -> Step:
    """One about a partition that gets other locations, each of which is new."""
    return chance.choice(
        (("place", table, PLACED), ("insert", table, PLACED, 2), ("insert", table, PLACED, 1),
         ("overwrite", table, PLACED, 1))
    )  # fmt: skip


def _load(chance: random.Random, table: str, key: int) -> Step:
    """One about files that are loaded into ACID tables, whose rows only Spark changes."""
    how, local = chance.choice(("into", "into", "overwrite")), chance.choice(("", "local"))
    if chance.random() < 0.5:
        return ("load", table, key, how, local)
    whole = table in WHOLE
    gone = ("drop", table, key) if table == "q" else ("truncate", table, None if whole else key)
    return chance.choice(
        (("insert", table, key, 1), ("overwrite", table, key, 1), gone,
         ("compact", table, None if whole else key, "major"),
         ("sleep", chance.choice((1.0, 20.0, 200.0))))
    )  # fmt: skip


def _plain_table(chance: random.Random, table: str) -> Step:
    key, other = chance.choice(MINE), "xy"[table == "x"]
    return chance.choice(
        (("load", table, key, chance.choice(("into", "overwrite")), chance.choice(("", "local"))),
         ("load", table, key, "into", ""), ("insert", table, key, 1), ("overwrite", table, key, 1),
         ("spread", table, tuple(chance.sample(MINE, 2))),
         ("truncate", table, chance.choice((key, None))), ("exchange", table, key, other),
         ("exchange", table, key, other), ("drop", table, key), ("add", table, key),
         ("move", table, key, chance.choice(MINE)), ("msck", table),
         ("sleep", chance.choice((1.0, 20.0, 200.0))))
    )  # fmt: skip


def _plain(chance: random.Random, table: str, keys: tuple[int, ...]) -> Step:
    key = chance.choice(keys)
    some = chance.choice((key, key, None))
    roll = chance.random()
    if roll < 0.3:
        return ("insert", table, key, chance.randint(1, 2))
    if roll < 0.4 and table not in WHOLE:
        return ("spread", table, tuple(chance.sample(keys, 2)))
    if roll < 0.6:
        return ("update", table, some)
    if roll < 0.75:
        return ("delete", table, key)
    return ("select", table)


def _streams(chance: random.Random, tables: tuple[str, ...]) -> Iterator[Step]:
    tables = tuple(one for one in tables if one not in ("x", "y"))
    for _ in range(chance.randint(1, 2)):
        table = chance.choice(tables)
        keys = MINE if table == "q" else PARTITIONS
        parts = tuple(
            (chance.choice(keys), chance.choice(("commit", "commit", "commit", "abort")))
            for _ in range(chance.randint(1, 5))
        )
        yield ("stream", table, chance.choice((1, 2, 3, 5)), parts)
        if chance.random() < 0.3:
            yield ("sleep", chance.choice((1.0, 100.0)))


def _rounds(chance: random.Random, step: str, most: int) -> Iterator[Step]:
    for _ in range(chance.randint(1, most)):
        yield ("sleep", chance.choice((0.2, 1.0, 5.0, 30.0, 400.0)))
        yield (step,)


def _fault_of_store(chance: random.Random, script: Script) -> Fault:
    number = 1 + chance.randrange(3 + 7 * len(script.steps))
    kind, seconds = chance.choice((("throttled", 30.0), ("expired", 100.0), ("undone", 60.0)))
    return Fault(script.name, "file", number, kind, seconds)


def _fault(chance: random.Random, script: Script) -> Fault:
    client = script.name
    # A statement has some twenty points.
    number = 1 + chance.randrange(8 + 22 * len(script.steps))
    long = TIMEOUT * chance.choice((0.7, 1.2, 2.5, 5.0))
    kind = chance.choice(
        ("crash", "crash", "crash", "crash", "hang", "hang", "crawl", "jump", "full", "broken",
         "down", "lost", "lost", "unsent")
    )  # fmt: skip
    match kind:
        case "crash":
            return Fault(client, "point", number, kind)
        case "hang" | "crawl":
            return Fault(client, "point", number, kind, long)
        case "jump":
            seconds = chance.choice((long, long, -60.0, -2.0))
            return Fault(client, "point", number, kind, seconds)
        case "full" | "broken":
            return Fault(client, "file", 1 + number // 3, kind)
        case "down":
            return Fault(client, chance.choice(("read", "write")), 1 + number // 5, kind)
        case _:
            return Fault(client, "write", 1 + number // 5, kind)
