"""Simulate for a while, or replay one case.

``make simulate`` runs it: SECONDS, SEED, CASES, PROFILE, DATABASE.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from scratch import in_memory
from simulation.cases import PROFILES, Case, generate
from simulation.running import Outcome, run_case, shorten
from simulation.world import House


def main() -> int:
    """Run; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="simulation", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long (60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first seed")
    parser.add_argument("--cases", type=int, default=0, help="how many cases, instead of seconds")
    parser.add_argument("--profile", choices=PROFILES, help="one kind of case")
    parser.add_argument(
        "--server", help="URL of a server (postgresql://…, mysql://…), without a database"
    )
    parser.add_argument("--case", help="a case as JSON, to be replayed with its trace")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hivesql-simulation-", dir=in_memory()) as place:
        house = House(Path(place), wanted.server)
        try:
            if wanted.case:
                return _replay(Case.loads(wanted.case), house)
            return _search(wanted, house)
        finally:
            house.close()


def _replay(case: Case, house: House) -> int:
    outcome = run_case(case, house)
    tell(outcome)
    return 1 if outcome.wrong else 0


def _search(wanted: argparse.Namespace, house: House) -> int:
    began, seed, found = time.monotonic(), wanted.seed, 0
    steps = checks = 0
    say(f"simulating from seed {seed}")
    while (seed < wanted.seed + wanted.cases) if wanted.cases else _is_early(began, wanted.seconds):
        outcome = run_case(generate(seed, wanted.profile), house)
        if wanted.cases == 1:
            say(f"trace {outcome.fingerprint}")
        steps, checks = steps + len(outcome.trace), checks + outcome.checks
        if outcome.wrong:
            found += 1
            say(f"seed {seed}: {outcome.wrong}")
            say(replay_command(seed, wanted.profile))
            tell(shorten(outcome, house))
        seed += 1
    count, seconds = seed - wanted.seed, time.monotonic() - began
    say(
        f"{count} cases in {seconds:.0f} s ({count / seconds:.1f} a second), {steps} steps, "
        f"{checks} tables compared, {found} failed"
    )
    return 1 if found else 0


def _is_early(began: float, seconds: float) -> bool:
    return time.monotonic() - began < seconds


def replay_command(seed: int, profile: str | None = None) -> str:
    """The command that runs one seed again, and shortens what it finds."""
    extra = f" PROFILE={profile}" if profile else ""
    return f"make simulate SEED={seed} CASES=1{extra}"


def tell(outcome: Outcome) -> None:
    """A case with all that happened."""
    for client, what in outcome.trace:
        say(f"  {client or '-':12} {what}")
    say(outcome.wrong or "nothing is wrong")
    say(f"python -m simulation --case '{outcome.case.dumps()}'")


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
