"""The Java classes that have logic of their own, without Spark: compiled, and run in one JVM."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import pyspark
import pytest

from hivesql_executor.jvm import spark_line

# A JVM, like all that has this mark.
pytestmark = pytest.mark.spark

_OF_SPARK_4 = ("RangesTest.java",)
"""What is about classes that older lines do not have."""
SOURCES = [
    source
    for source in sorted((Path(__file__).parent / "hivesql").glob("*.java"))
    if spark_line() >= (4, 0) or source.name not in _OF_SPARK_4
]
TESTS = [
    f"{source.stem}.{name}"
    for source in SOURCES
    if source.stem.endswith("Test")
    for name in re.findall(r"^    static void (\w+)\(\)", source.read_text("utf-8"), re.MULTILINE)
]
_ANSWER = re.compile(r"^(passed|failed) (\w+\.\w+)\n", re.MULTILINE)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[str, str]]:
    """By test: passed or failed, and what the JVM printed."""
    classes = tmp_path_factory.mktemp("classes")
    line = ".".join(map(str, spark_line()))
    jar = files("hivesql_executor.spark").joinpath(f"hivesql-spark-{line}.jar")
    jars = f"{Path(pyspark.__file__).parent}/jars/*"
    options = ["-cp", f"{jar}:{classes}:{jars}"]
    sources = map(str, SOURCES)
    compiler = ["javac", "--release", "17", "-Xlint:unchecked", "-Xlint:rawtypes", "-Werror"]
    subprocess.run([*compiler, *options, "-d", str(classes), *sources], check=True)
    names = sorted({test.partition(".")[0] for test in TESTS})
    opens = "--add-opens=java.base/java.nio=ALL-UNNAMED"
    temporary = f"-Djava.io.tmpdir={tmp_path_factory.mktemp('orc')}"
    done = subprocess.run(
        ["java", opens, temporary, *options, "hivesql.RunTests", *names],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    _, *parts = _ANSWER.split(done.stdout)
    return {parts[i + 1]: (parts[i], parts[i + 2]) for i in range(0, len(parts), 3)}


@pytest.mark.parametrize("test", TESTS)
def test_java(answers: Mapping[str, tuple[str, str]], test: str) -> None:
    outcome, told = answers[test]
    assert outcome == "passed", told
