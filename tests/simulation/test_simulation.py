"""Fresh seeds find nothing; a seed is always the same case; a failing one is shortened."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulation.__main__ import replay_command
from simulation.cases import Case, Fault, Script, generate
from simulation.defects.of_transactions import DEFECTS
from simulation.running import find, run_case, run_seeds, shorten
from simulation.world import House

# Clients that die leave open what they had open.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
SECONDS = float(os.environ.get("HIVESQL_SIMULATION_SECONDS", "30"))
# New each day, and the same all day: what fails in one run can be looked into in the next.
SEED = int(os.environ.get("HIVESQL_SIMULATION_SEED", "0")) or int(time.time()) // 86_400 * 10_000
KINDS = ("sessions", "streams", "compaction", "tables", "plain", "loads", "store")
"""Kinds of cases for the suite; `make simulate` has those about partitions of ACID tables too."""
TOLD = 5
"""So many failing seeds are told at most."""


def complaint(seed: int, house: House) -> str:
    profile = KINDS[seed % len(KINDS)]
    shortened = shorten(run_case(generate(seed, profile), house), house)
    command = replay_command(seed, profile)
    return f"seed {seed}, {command}: {shortened.wrong}\n{shortened.case.dumps()}"


def test_fresh_seeds(house: House) -> None:
    failed: list[int] = []
    cases = 0
    for outcome in run_seeds(house, SEED, SECONDS, KINDS):
        cases += 1
        failed += [outcome.case.seed] if outcome.wrong else []
        if len(failed) == TOLD:
            break
    sys.stdout.write(f"{cases} cases from seed {SEED}, {cases / SECONDS:.1f} a second\n")
    assert not failed, "\n\n".join(complaint(seed, house) for seed in failed[:2])


@pytest.mark.parametrize("profile", ["sessions", "compaction"])
def test_a_seed_is_always_the_same_case(house: House, profile: str) -> None:
    first, again = (run_case(generate(5, profile), house) for _ in range(2))
    assert first.trace == again.trace
    assert len(first.trace) > 50
    case = generate(5, profile)
    assert Case.loads(case.dumps()) == case


def test_another_process_runs_the_same_case(house: House) -> None:
    """Whatever order its sets have."""
    here = run_case(generate(11, "streams"), house)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "4"}
    command = [sys.executable, "-m", "simulation", "--seed", "11", "--cases", "1"]
    command += ["--profile", "streams"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert f"trace {here.fingerprint}\n" in done.stdout, done.stdout + done.stderr


def test_a_failing_case_is_shortened(house: House) -> None:
    defect = next(one for one in DEFECTS if one.name == "an abort forgets what was written")
    with defect.put_back():
        found = find(house, defect.cases(30))
        assert found is not None
        short = shorten(found, house)
        assert short.kind == found.kind
        assert len(short.trace) < len(found.trace)
        again = run_case(Case.loads(short.case.dumps()), house)
    assert (again.wrong, again.trace) == (short.wrong, short.trace)
    assert run_case(short.case, house).wrong is None


@pytest.mark.parametrize(
    "server",
    [
        pytest.param("postgres_server", marks=pytest.mark.postgres),
        pytest.param("mariadb", marks=pytest.mark.mariadb),
    ],
)
def test_on_a_server(server: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    house = House(tmp_path, request.getfixturevalue(server))
    count = 1 if server == "mariadb" else 3
    try:
        outcomes = [run_case(generate(seed, "streams"), house) for seed in range(1, 1 + count)]
        assert [one.wrong for one in outcomes] == [None] * count
        assert run_case(generate(1, "streams"), house).trace == outcomes[0].trace
    finally:
        house.close()


# Two transactions of a batch, the second into a partition that is new.
STREAM = (Script("writer", (("stream", "q", 3, ((4, "commit"), (5, "commit"))),)),)
# A writer into a partition that is compacted when it has died.
INSERT = (
    Script("writer", (("transaction", "rollback", (("insert", "p", 1, 1),)),)),
    Script("other", (("compact", "p", 1, "major"),)),
)


@pytest.mark.parametrize(
    ("scripts", "counted", "kind"),
    [
        (STREAM, "file", "full"),
        (STREAM, "point", "crash"),
        (STREAM, "write", "down"),
        (STREAM, "write", "lost"),
        (INSERT, "point", "crash"),
    ],
)
def test_a_writer_may_fail_anywhere(
    house: House, scripts: tuple[Script, ...], counted: str, kind: str
) -> None:
    """It leaves no partition without its directory, no delta without data, and no staging."""
    wrong: dict[int, str] = {}
    for number in itertools.count(1):
        outcome = run_case(Case(1, 9, scripts, (Fault("writer", counted, number, kind),)), house)
        if ("writer", f"!{kind}") not in outcome.trace:
            break
        if outcome.wrong:
            wrong[number] = outcome.wrong
    assert number > 10
    assert not wrong


@pytest.mark.parametrize("stored", [False, True])
def test_the_cleaner_comes_after_two_compactions(house: House, stored: bool) -> None:
    """The first had no base, and the second made one of later writes."""
    row = ("insert", "p", 1, 1)
    minor, major = ((("compact", "p", 1, kind), ("work",)) for kind in ("minor", "major"))
    script = Script("alone", (row, row, row, *minor, row, *major))
    assert run_case(Case(1, 9, (script,), stored=stored), house).wrong is None
