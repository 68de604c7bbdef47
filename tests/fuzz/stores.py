"""Walks over tables in S3, where requests fail: no row is lost, none is there twice."""

from __future__ import annotations

import itertools
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from s3_server import BUCKET, S3Server, s3_server, s3a_jars

FAULTS = {"slow": 0.01, "broken": 0.02, "reset": 0.03, "dropped": 0.04, "half": 0.05, "late": 0.07}
"""Of all requests, up to which part each fault happens."""
_QUICK = {
    "fs.s3a.retry.limit": "3",
    "fs.s3a.retry.interval": "10ms",
    "fs.s3a.retry.throttle.interval": "10ms",
    "fs.s3a.attempts.maximum": "2",
}
"""Few tries, so that statements fail too."""
_JARS = Path(__file__).parents[2] / "build"


@dataclass(slots=True)
class Store:
    """A bucket for one warehouse after the other; whose requests may fail."""

    server: S3Server
    chance: random.Random | None
    """What decides which requests fail; None lets none fail."""
    told: Counter[str] = field(default_factory=Counter)
    """How often each fault has happened; how many statements ran and failed."""
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def settings(self) -> dict[str, str]:
        """What a session is told to reach it."""
        return {**self.server.settings(), **_QUICK}

    def spark_settings(self) -> dict[str, str]:
        """What Spark is started with to reach it."""
        own = {f"spark.hadoop.{name}": text for name, text in self.settings().items()}
        return {**own, "spark.jars": ",".join(map(str, s3a_jars(_JARS)))}

    def home(self) -> str:
        """A place for a new warehouse."""
        return f"s3a://{BUCKET}/{next(self._numbers)}"

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Let requests in the block fail."""
        if self.chance is not None:
            self.server.fault = self._fault
        try:
            yield
        finally:
            self.server.fault = lambda request: ""

    def _fault(self, request: str) -> str:
        assert self.chance is not None
        with self._lock:
            drawn = self.chance.random()
            kind = next((kind for kind, part in FAULTS.items() if drawn < part), "")
            self.told[kind or "answered"] += 1
            return kind


@contextmanager
def store_of(seed: str, *, faults: bool) -> Iterator[Store]:
    """Serve a bucket until the end of the block."""
    with s3_server() as server:
        yield Store(server, random.Random(seed) if faults else None)
