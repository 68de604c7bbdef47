"""Whether a warehouse can be at a place: what its file system lets us do, and what helps if not."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from hivesql_executor.checks.finding import Observation
from hivesql_executor.files.refusals import (
    NEEDS_RIGHT,
    missing_connector,
    reason_and_remedy,
    refusal_of_no_store,
)
from hivesql_executor.jvm import java_class, new_object

# PySpark turns some Java exceptions into its own.
_FAILURES = (Py4JError, PySparkException)
_OBJECT_STORES = ("s3a:", "s3:", "s3n:")
_MOST_APART = 60.0
"""So many seconds may the clocks of a store and of this machine differ; S3 takes 15 minutes."""
# S3A takes any answer for a list of S3's, of which a page of the web has nothing.
_NO_ANSWER_OF_A_STORE = ("NullPointerException", "s3.model.ListObjects")
_FILE = "_hivesql_doctor_"
"""How the file's name begins: no reader takes it for one of a table."""
_KEYS = "fs.s3a.access.key and fs.s3a.secret.key, or AWS_ACCESS_KEY_ID and its like, as Spark does"
_SOURCES = {
    "SimpleAWSCredentialsProvider": _KEYS,
    "TemporaryAWSCredentialsProvider": f"{_KEYS}, with a session token",
    "EnvironmentVariableCredentialsProvider": "the environment",
    "IAMInstanceCredentialsProvider": "the role of this machine or container",
    "ProfileAWSCredentialsProvider": "a profile of ~/.aws/credentials",
}
_LIFECYCLE = (
    "whether the bucket gives up what killed programs leave it does not tell: let it have a "
    "lifecycle rule AbortIncompleteMultipartUpload of some days"
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place that is looked at, and what asks it."""

    location: str
    hadoop: str
    """The version of Spark's Hadoop."""
    probe: Any
    settings: Any

    @property
    def is_object_store(self) -> bool:
        return self.location.startswith(_OBJECT_STORES)

    def failure(self, subject: str, error: Exception) -> Observation:
        """Tell of a step that failed."""
        report = str(error)
        if (missing := missing_connector(report, self.hadoop)) is not None:
            why, _, remedy = missing.message.partition(". ")
            return Observation("failed", subject, why, remedy)
        if self.is_object_store and all(part in report for part in _NO_ANSWER_OF_A_STORE):
            why, _, remedy = refusal_of_no_store(self.location).message.partition(". ")
            return Observation("failed", subject, why, remedy)
        if (explained := reason_and_remedy(report)) is not None:
            return Observation("failed", subject, explained[1], explained[2])
        java = getattr(error, "java_exception", None)
        why = str(java.toString() if java is not None else report).splitlines()[0]
        return Observation("failed", subject, why, self._check_the_place())

    def _check_the_place(self) -> str:
        if not self.is_object_store:
            return "check the place, the settings of its file system, and the network"
        return "check fs.s3a.endpoint, fs.s3a.endpoint.region and the network"

    def setting(self, name: str) -> str | None:
        """Return a setting of S3A's for this bucket."""
        bucket = self.location.partition("://")[2].partition("/")[0]
        own = self.settings.get(f"fs.s3a.bucket.{bucket}.{name}")
        value: str | None = own or self.settings.get(f"fs.s3a.{name}")
        return value


def probe_place(spark: SparkSession, location: str) -> Iterator[Observation]:
    """Look at one right after the other, with a file and an upload that are removed again."""
    context: Any = spark.sparkContext  # Hadoop's settings have no other door
    settings = context._jsc.hadoopConfiguration()
    probe = new_object(spark, "PlaceProbe", settings, location, f"{_FILE}{uuid.uuid4().hex}")
    hadoop = java_class(spark, "org.apache.hadoop.util.VersionInfo").getVersion()
    place = _Place(location, hadoop, probe, settings)
    try:
        reached = True
        for observation in _reach(place):
            yield observation
            reached = observation.state != "failed" or observation.help == NEEDS_RIGHT
        if reached:
            yield from _use(place)
    finally:
        probe.close()


def _reach(place: _Place) -> Iterator[Observation]:
    """Look at the jar, the credentials and the place itself; the first failure is the last."""
    subject = "connector"
    try:
        if place.is_object_store:
            version = place.probe.connectorVersion()
            if version and version != place.hadoop:
                yield Observation(
                    "failed", subject, f"hadoop-aws {version} beside Hadoop {place.hadoop}",
                    f"set spark.jars.packages to org.apache.hadoop:hadoop-aws:{place.hadoop}",
                )  # fmt: skip
                return
            yield Observation("ok", subject, f"hadoop-aws {version or 'of an unknown version'}")
            subject = "credentials"
        place.probe.open()
        if place.is_object_store:
            provider = place.probe.credentials()
            yield Observation("ok", subject, _describe_provider(provider))
        subject = "warehouse"
        there = place.probe.list()
    except _FAILURES as error:
        yield place.failure(subject, error)
        return
    answer = place.location if there else f"{place.location}, not made yet"
    if place.is_object_store:
        endpoint, region = place.setting("endpoint"), place.setting("endpoint.region")
        answer += f", at {endpoint or 'AWS'}, {region or 'a region that S3A looks for'}"
    yield Observation("ok", subject, f"{answer}; can be listed")


def _describe_provider(provider: str) -> str:
    if not provider:
        return "by a provider that does not tell its name"
    source = _SOURCES.get(provider)
    return f"by {provider}" + (f": {source}" if source else "")


def _use(place: _Place) -> Iterator[Observation]:
    """Write, read and delete a file, and upload another."""
    probe = place.probe
    try:
        probe.write()
    except _FAILURES as error:
        yield place.failure("write", error)
    else:
        yield Observation("ok", "write", "a file was written")
        try:
            yield from _look_at_file(place)
        finally:
            deleted = _deleted(place)
        yield deleted
    if place.is_object_store:
        yield _uploads(place)


def _look_at_file(place: _Place) -> Iterator[Observation]:
    probe = place.probe
    try:
        yield _written_once(place)
    except _FAILURES as error:
        yield place.failure("write once", error)
    try:
        if probe.read():
            yield Observation("ok", "read", "a file was read")
        else:
            yield Observation(
                "failed", "read", "a file holds something else than was written",
                "ask who runs the store",
            )  # fmt: skip
        if place.is_object_store:
            yield _clock(probe.clockAhead() / 1000)
    except _FAILURES as error:
        yield place.failure("read", error)


def _written_once(place: _Place) -> Observation:
    if not place.probe.refusesSecond():
        return Observation(
            "failed", "write once", "the store writes a file a second time (If-None-Match)",
            "use a store with conditional writes, or let no two programs write at once",
        )  # fmt: skip
    if place.is_object_store and not place.probe.asksOnce():
        return Observation(
            "warning", "write once", f"Hadoop {place.hadoop} looks before it writes",
            "take Spark 4.1 or later, whose Hadoop leaves it to the store",
        )  # fmt: skip
    return Observation("ok", "write once", "a file is not written a second time")


def _clock(ahead: float) -> Observation:
    if abs(ahead) > _MOST_APART:
        side = "ahead of" if ahead > 0 else "behind"
        return Observation(
            "warning", "clock", f"the store's is {abs(ahead):.0f} s {side} this machine's",
            "set this machine's clock: beyond 15 minutes S3 refuses all",
        )  # fmt: skip
    return Observation("ok", "clock", "as this machine's")


def _deleted(place: _Place) -> Observation:
    try:
        place.probe.delete()
    except _FAILURES as error:
        return place.failure("delete", error)
    return Observation("ok", "delete", "the file was deleted")


def _uploads(place: _Place) -> Observation:
    try:
        if not place.probe.upload():
            return Observation(
                "warning", "uploads", "Hadoop's connector has none: files are staged and moved",
                "see fs.s3a.multipart.uploads.enabled",
            )  # fmt: skip
        waiting = place.probe.waitingUploads()
    except _FAILURES as error:
        return place.failure("uploads", error)
    answer = f"one was begun and given up; {waiting} of others wait"
    return Observation("ok", "uploads", answer, _LIFECYCLE)
