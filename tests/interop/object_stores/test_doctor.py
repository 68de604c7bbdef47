"""`hivesql doctor` of places in S3: each thing that can be wrong there, and what helps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from s3_server import BUCKET, S3Server, s3_server, s3a_jars

pytestmark = [pytest.mark.hive, pytest.mark.slow]
ROOT = Path(__file__).parents[3]
# One Spark for all: a doctor that finds one running does not start another.
PROGRAM = """
import json, sys
import hivesql
from hivesql_repl.cli import main
asked = json.load(sys.stdin)
with hivesql.connect(settings=asked["settings"]) as session:
    session.runtime.spark()
    for place in asked["places"]:
        print("==", place, flush=True)
        print("code", main(["doctor", place]), flush=True)
"""
SIMPLE = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
FINE = {
    "connector": "hadoop-aws ",
    "credentials": "by SimpleAWSCredentialsProvider: ",
    "warehouse": "s3a://bucket/fine/warehouse, not made yet, at http://127.0.0.1:",
    "write": "a file was written",
    "write once": "a file is not written a second time",
    "read": "a file was read",
    "clock": "as this machine's",
    "delete": "the file was deleted",
    "uploads": "one was begun and given up; 0 of others wait",
}
WRONG = {
    # place: (subjects that fail, in their order, and what helps)
    "s3a://nowhere/w": [("warehouse", "Make the bucket, or correct its name")],
    "s3a://bucket/denied/w": [
        ("warehouse", "Give yourself the right to it"),
        ("write", "Give yourself the right to it"),
        ("uploads", "Give yourself the right to it"),
    ],
    "s3a://bucket/readonly/w": [
        ("write", "Give yourself the right to it"),
        ("uploads", "Give yourself the right to it"),
    ],
    "s3a://bucket/kept/w": [
        ("delete", "Give yourself the right to it"),
        ("uploads", "Give yourself the right to it"),
    ],
    "s3a://bucket/wrong/w": [("warehouse", "Correct the credentials: fs.s3a.access.key")],
    "s3a://bucket/skewed/w": [("warehouse", "Set this machine's clock")],
    "s3a://bucket/unknown/w": [("warehouse", "Correct the credentials: fs.s3a.access.key")],
    "s3a://bucket/expired/w": [("warehouse", "Renew the credentials, whose time is over")],
    "s3a://bucket/region/w": [("warehouse", "Set fs.s3a.endpoint.region to the bucket's region")],
    "s3a://bucket/moved/w": [("warehouse", "Set fs.s3a.endpoint.region to the bucket's region")],
    "s3a://bucket/page/w": [("warehouse", "Correct fs.s3a.endpoint")],
    "s3a://bucket/unconditional/w": [("write once", "use a store with conditional writes")],
    "s3a://keyless/w": [("credentials", "Give credentials: fs.s3a.access.key")],
    "s3a://far/w": [("warehouse", "check fs.s3a.endpoint, fs.s3a.endpoint.region")],
}


def fault(request: str) -> str:
    """What becomes of requests for the places above."""
    if "readonly" in request:
        return "denied" if request.startswith(("PUT", "POST")) else ""
    if "kept" in request:
        return "denied" if request.startswith(("DELETE", "POST bucket")) else ""
    kinds = (
        "denied", "wrong", "skewed", "unconditional", "unknown", "expired", "region", "moved",
        "page",
    )  # fmt: skip
    return next((kind for kind in kinds if f"{kind}/" in request), "")


def examined(server: S3Server, jars: list[Path], tmp_path: Path, *places: str) -> dict[str, str]:
    """What the doctor prints of each place, with its exit code as the last line."""
    given = server.settings()
    # Credentials are those of the environment.
    reached = {key: value for key, value in given.items() if not key.endswith(".key")}
    settings = {
        **reached,
        "spark.jars": ",".join(map(str, jars)),
        "spark.master": "local[1]",
        "spark.driver.memory": "1g",
        "fs.s3a.bucket.far.endpoint": "http://127.0.0.1:9",
        "fs.s3a.bucket.keyless.aws.credentials.provider": SIMPLE,
        "fs.s3a.bucket.keyless.access.key": "",
        "fs.s3a.bucket.keyless.secret.key": "",
    }
    environment = {"AWS_ACCESS_KEY_ID": "an-id", "AWS_SECRET_ACCESS_KEY": "hidden-7Gh2"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, text=True, capture_output=True,
        input=json.dumps({"settings": settings, "places": places}),
        env={**os.environ, **environment, "XDG_CONFIG_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "hidden-7Gh2" not in done.stdout + done.stderr
    told = (part.partition("\n") for part in done.stdout.split("== ")[1:])
    return {place: text for place, _, text in told}


def lines_of(text: str, state: str) -> list[tuple[str, str, str]]:
    """Subject, message and help of what has a state."""
    lines = text.splitlines()
    return [
        (line[9:23].strip(), line[23:], after.strip() if after.startswith(" " * 20) else "")
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if line.startswith(state)
    ]


def keys(server: S3Server) -> set[str]:
    """Those of all objects, and of uploads that wait: all servers of a process share them."""
    client = boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")
    objects = client.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    waiting = client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
    return {item["Key"] for item in [*objects, *waiting]}


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    """A bucket with the faults above."""
    with s3_server() as running:
        running.fault = fault
        yield running


def test_each_fault_is_told_with_what_helps(server: S3Server, tmp_path: Path) -> None:
    fine, before = "s3a://bucket/fine/warehouse", keys(server)
    told = examined(server, s3a_jars(ROOT / "build"), tmp_path, fine, *WRONG)
    seen = {subject: message for subject, message, _ in lines_of(told[fine], "ok")}
    for subject, message in FINE.items():
        assert seen[subject].startswith(message), told[fine]
    assert "AbortIncompleteMultipartUpload" in told[fine]
    assert told[fine].splitlines()[-1] == "code 0"
    for place, expected in WRONG.items():
        failed = lines_of(told[place], "failed")
        assert [subject for subject, _, _ in failed] == [one for one, _ in expected], told[place]
        for (_, _, help_), (_, remedy) in zip(failed, expected, strict=True):
            assert help_.startswith(remedy), told[place]
        assert told[place].splitlines()[-1] == "code 1"
    left = [key for key in keys(server) if key not in before]
    assert {key.partition("/")[0] for key in left} == {"kept"}


def test_a_missing_jar_is_told(server: S3Server, tmp_path: Path) -> None:
    told = examined(server, [], tmp_path, "s3a://bucket/fine/warehouse")
    ((subject, message, help_),) = lines_of(told["s3a://bucket/fine/warehouse"], "failed")
    assert (subject, message[:18]) == ("connector", "Spark has no jar w")
    assert help_.startswith("Set spark.jars.packages to org.apache.hadoop:hadoop-aws:")


def test_a_jar_of_another_hadoop_is_told(server: S3Server, tmp_path: Path) -> None:
    jars = s3a_jars(ROOT / "build", "3.4.1")
    told = examined(server, jars, tmp_path, "s3a://bucket/fine/warehouse")
    ((subject, message, help_),) = lines_of(told["s3a://bucket/fine/warehouse"], "failed")
    assert (subject, help_[:28]) == ("connector", "set spark.jars.packages to o")
    assert message.startswith("hadoop-aws 3.4.1 beside Hadoop ")
