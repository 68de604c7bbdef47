"""The archive of Spark's classes: made, used, and left alone where it does not fit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hivesql_executor.spark.class_archive import archive_options, find_archive
from spark_archive import HOME, QUICK, make_archive


@pytest.mark.spark
@pytest.mark.slow
def test_spark_starts_from_its_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", QUICK)  # without the tests' own archive
    # The one that `make test` has made, by `hivesql doctor --speed-up`.
    monkeypatch.setenv("XDG_CACHE_HOME", str(HOME))
    if find_archive() is None:
        make_archive()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert archive_options() == {}
    shutil.copytree(HOME / "hivesql", tmp_path / "cache" / "hivesql")
    archive = find_archive()
    assert archive is not None
    log = tmp_path / "classes.log"
    option = f"spark.driver.extraJavaOptions=-Duser.timezone=UTC -Xlog:class+load:file={log}"
    words = ("--master", "local[1]", "--hiveconf", option, "-e", "SELECT 1 + 1")
    command = [sys.executable, "-m", "hivesql_repl", *words]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "archive" not in told
    shared = log.read_text().count("source: shared objects file (top)")
    assert shared > 5000
    assert str(archive) in archive_options()["spark.driver.defaultJavaOptions"]
    # With another class path the JVM goes on without it, and says nothing of that.
    options = archive_options()["spark.driver.defaultJavaOptions"].split()
    other = ["java", *options, "-cp", str(tmp_path), "-version"]
    done = subprocess.run(other, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == ""
    assert "archive" not in done.stderr
    # A file that was cut off would kill the JVM.
    archive.chmod(0o644)
    os.truncate(archive, archive.stat().st_size // 2)
    assert archive_options() == {}


def test_what_made_no_archive_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    command = [sys.executable, "-m", "hivesql_repl", "doctor", "--speed-up"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Spark cannot be started" in done.stdout
