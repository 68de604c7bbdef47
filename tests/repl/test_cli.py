"""The command as a user starts it: a process, its output and its exit code."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pandas as pd
import pytest

from hivesql_repl.arguments import COMMANDS
from hivesql_repl.batch import FAILED
from hivesql_repl.cli import main

ROOT = Path(__file__).parents[2]
# fmt: off
FLIGHTS = [
    "id", "year", "month", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time",
    "sched_arr_time", "arr_delay", "carrier", "flight", "tailnum", "origin", "dest", "air_time",
    "distance", "hour", "minute", "time_hour",
]
# fmt: on


def hivesql(
    *arguments: str, cwd: Path, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hivesql_repl", *arguments]
    return subprocess.run(
        command, cwd=cwd, input=text, capture_output=True, text=True, check=False, timeout=500
    )


def test_inspect_needs_no_spark(tmp_path: Path) -> None:
    create = "CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    assert hivesql("-e", create, cwd=tmp_path).returncode == 0
    delta = tmp_path / "warehouse" / "t" / "delta_0000001_0000001_0000"
    delta.mkdir()
    (delta / "bucket_00000").write_bytes(b"no ORC")
    done = hivesql("inspect", "t", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "default.t  full ACID, orc" in done.stdout
    places = ["--metastore", f"sqlite:///{tmp_path}/metastore.db", "--warehouse=warehouse"]
    assert hivesql(*places, "inspect", "t", cwd=tmp_path).stdout == done.stdout
    assert "above the snapshot's highest write 0" in done.stdout
    assert "not a readable ORC file" in done.stdout
    for arguments, code in (
        (["inspect"], 1), (["check", "t", "--nosuch"], 1), (["inspect", "nosuch"], 2),
        (["migrate", "t", "--to", "delta"], 1), (["migrate", "t", "--as", "c.d.t"], 1),
        (["migrate", "nosuch", "--to", "delta", "--as", "c.d.t"], 2),
    ):  # fmt: skip
        done = hivesql(*arguments, cwd=tmp_path)
        assert (done.returncode, bool(done.stderr)) == (code, True), arguments


def test_bad_arguments(tmp_path: Path) -> None:
    for arguments in (["--nosuch"], ["--hivevar", "x"], ["-f", "nosuch.hql"]):
        done = hivesql(*arguments, cwd=tmp_path)
        assert done.returncode == 1, arguments
        assert done.stderr
    assert "cannot read .: Is a directory\n" in hivesql("-f", ".", cwd=tmp_path).stderr
    assert "not 'x'" in hivesql("top", "--every", "x", cwd=tmp_path).stderr
    assert (
        "cannot read nosuch.hql: no such file" in hivesql("-f", "nosuch.hql", cwd=tmp_path).stderr
    )


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hivesql_repl", "-S", "-e", "SET -v"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 128 + signal.SIGPIPE


def test_commands_without_spark(tmp_path: Path) -> None:
    script = tmp_path / "a.hql"
    script.write_text("CREATE DATABASE ${hivevar:name};\nUSE d1; SHOW DATABASES;\nSHOW LOCKS;")
    done = hivesql("-S", "--hivevar", "name=d1", "-f", "a.hql", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "database_name\nd1\ndefault\n"
    again = hivesql("-e", "DESCRIBE DATABASE d1", "--outputformat", "vertical", cwd=tmp_path)
    assert f"location         {tmp_path}/warehouse/d1.db" in again.stdout


def test_error_has_its_place_and_stops_the_script(tmp_path: Path) -> None:
    script = tmp_path / "b.hql"
    script.write_text("SHOW DATABASES;\nUPDATE nosuch SET a = 1;\nCREATE DATABASE later;\n")
    done = hivesql("-f", "b.hql", cwd=tmp_path)
    assert done.returncode == 2
    assert "ERROR: b.hql:2:8: [Error 10001]" in done.stderr
    assert "UPDATE nosuch SET a = 1;\n         ^" in done.stderr
    assert "later" not in hivesql("-e", "SHOW DATABASES", cwd=tmp_path).stdout
    forced = hivesql("--force", "-f", "b.hql", cwd=tmp_path)
    assert forced.returncode == 2
    assert "later" in hivesql("-e", "SHOW DATABASES", cwd=tmp_path).stdout


@pytest.mark.spark
def test_a_missing_java_is_told_with_what_helps(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hivesql_repl", "-e", "SELECT explode(array(1))"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"Java is missing: JAVA_HOME={tmp_path} has no bin/java. Install a JDK" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_what_it_does_and_what_was_meant(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert "exit codes: 0 when all went well, 1 for wrong arguments" in told
    assert "``" not in told
    needed = {"inspect": ["t"], "check": ["t"], "migrate": ["t", "--to", "delta", "--as", "c.d.t"],
              "relocate": ["/a", "/b"]}  # fmt: skip
    assert main([name, *needed.get(name, ()), "--metastroe=x"]) == 1
    assert "did you mean --metastore=x?" in capsys.readouterr().err


ENDING = """
import sys
from hivesql_repl.start import main

class Taken:
    def __del__(self):
        print("taken apart")

taken = Taken()
taken.itself = taken
sys.exit(main())
"""


@pytest.mark.parametrize(("statement", "code"), [("SHOW DATABASES", 0), ("nosuch", 2)])
def test_a_process_ends_without_taking_its_modules_apart(
    statement: str, code: int, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", ENDING, "-S", "-e", statement]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "" if code else "database_name\ndefault\n"), (
        done.stderr
    )


def test_shell_command_in_a_script(tmp_path: Path) -> None:
    done = hivesql("-e", "!echo hello;", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert hivesql("-e", "!false", cwd=tmp_path).returncode == 2


@pytest.mark.spark
@pytest.mark.slow
def test_flights_example(tmp_path: Path) -> None:
    """examples/flights.hql from the root of a checkout, and what it reports of every 8th flight."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("data"))
    subprocess.run([sys.executable, "examples/prepare_flights.py"], cwd=tmp_path, check=True)
    # The script prepares what is there already.
    data = tmp_path / "examples/data/flights/flights.tsv"
    data.write_text("".join(data.read_text().splitlines(keepends=True)[::8]))
    done = hivesql("-f", "examples/flights.hql", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    flights = pd.read_csv(data, sep="\t", header=None, names=FLIGHTS, na_values="\\N")
    late = flights[flights.dep_delay > 180]
    extra = flights[flights.carrier == "OO"]
    assert f"{len(flights):,} rows affected" in done.stderr
    assert f"{len(late) + len(extra):,} rows affected" in done.stderr
    lines = done.stdout.splitlines()
    january = flights[flights.month == 1]
    assert f"1\t{len(january)}\t{january.arr_delay.count()}" in lines
    # By hand: corrected, double entries gone, cancelled flights gone.
    late_ids, double = set(late.id), set(late[late.id % 3 == 0].id)
    flown = flights[flights.dep_time.notna() & ~flights.id.isin(double)].copy()
    corrected = flown.id.isin(late_ids)
    new_delay = flown.arr_delay.fillna(flown.dep_delay) + 1
    flown.loc[corrected, "arr_delay"] = new_delay[corrected]
    united = flown[flown.carrier == "UA"]
    mean, count = round(united.arr_delay.mean(), 1), int((united.id.isin(late_ids)).sum())
    assert f"United Air Lines Inc.\t{len(united)}\t{mean}\t{count}" in lines
    assert sum("MAJOR\tsucceeded" in line for line in lines) == 2


BYTES = "-e \"$(printf 'SELECT \\377')\""


@pytest.mark.parametrize(
    ("streams", "codes"),
    [
        ("<&-", (0, 0, 2)), (">&-", (0, 0, 2)), ("2>&-", (0, 0, 2)), ("| head -0", (0, 0, 0)),
        (">/dev/full", (2, 0, 2)),
    ],
)  # fmt: skip
def test_streams_that_are_closed_or_full(
    streams: str, codes: tuple[int, ...], tmp_path: Path
) -> None:
    every = zip(("-e 'SHOW DATABASES'", "< /dev/null", BYTES), codes, strict=True)
    for words, code in every:
        command = f"{sys.executable} -m hivesql_repl {words} {streams}"
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, (words, done.stderr)
        assert "Traceback" not in done.stderr
        assert ("UTF-8" in done.stderr) == (words == BYTES and "2>" not in streams)


def test_services_run_one_round_and_end_on_sigterm(tmp_path: Path) -> None:
    create = "CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    assert hivesql("-e", create, cwd=tmp_path).returncode == 0
    done = hivesql("services", "--once", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    command = [sys.executable, "-m", "hivesql_repl", "services", "--workers", "2"]
    command += ["--metrics", "127.0.0.1:0"]
    expected = "running: housekeeper, initiator, worker-0, worker-1, cleaner, history\n"
    # To one process, and to all of them as systemd and a terminal do.
    for number, end in ((signal.SIGTERM, os.kill), (signal.SIGINT, os.killpg)):
        with subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as running:
            assert running.stderr is not None
            address = running.stderr.readline()
            line = running.stderr.readline()
            url = address.removeprefix("metrics: ").partition("/metrics")[0]
            with urllib.request.urlopen(f"{url}/healthz", timeout=60) as answer:
                assert answer.read() == b"ok"
            with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
                assert b"hivesql_metastore_up 1.0" in answer.read().splitlines()
            end(running.pid, number)
            assert running.wait(timeout=300) == 0
            assert (line, running.stderr.read()) == (expected, "")


@pytest.mark.parametrize("command", ["inspect", "check"])
def test_what_helps_is_told_where_no_statement_is(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["--metastore", f"sqlite:///{tmp_path}/m.db", "--warehouse", f"{tmp_path}/wh"]
    assert main([*places, "-e", "SHOW TABLES"]) == 0
    assert main([command, "stok", *places]) == FAILED
    first, help_ = capsys.readouterr().err.splitlines()[-2:]
    assert first == "ERROR: [Error 10001] Table not found: default.stok"
    assert help_.startswith("  Look at SHOW TABLES")
    assert main([*places, "-e", "CREATE TABLE stock (id INT); CREATE DATABASE sales"]) == 0
    for wrong, meant in (("stok", "stock"), ("default.stok", "default.stock"), ("sals.t", "sales")):
        capsys.readouterr()
        assert main([command, wrong, *places]) == FAILED
        assert capsys.readouterr().err.splitlines()[-1] == f"  did you mean {meant}?"


def test_what_the_system_refuses_is_told_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["--metastore", f"sqlite:///{tmp_path}/m.db", "--warehouse", f"{tmp_path}/wh"]
    assert main([*places, "--checkpoint", f"{tmp_path}/no/state", "-e", "SHOW TABLES"])
    refusal = capsys.readouterr().err
    assert "Errno" not in refusal and "No such file or directory. Put it back" in refusal


def test_a_kind_of_compaction_stands_in_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["--metastore", f"sqlite:///{tmp_path}/m.db", "--warehouse", f"{tmp_path}/wh"]
    assert main([*places, "-e", "ALTER TABLE t COMPACT major"]) == FAILED
    assert "in quotes ('major', 'minor' or 'rebalance'), found 'major'" in capsys.readouterr().err
