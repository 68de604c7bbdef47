"""Run a case, or one after the other."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from unittest import mock

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.snapshot.known_listings import forget_listings
from simulation.cases import Case, generate
from simulation.clients import Doer
from simulation.ending import end_well
from simulation.world import House


@dataclass(frozen=True)
class Outcome:
    """What became of a case: what is wrong, if anything, and all that happened."""

    case: Case
    wrong: str | None
    trace: tuple[tuple[str, str], ...]
    checks: int

    @property
    def kind(self) -> str | None:
        """What is wrong, without the numbers and names of this case."""
        return self.wrong and " ".join(re.sub(r"[\d/].*", "", self.wrong).split()[:7])

    @property
    def fingerprint(self) -> str:
        """Equal for equal traces."""
        return sha256(repr(self.trace).encode()).hexdigest()[:16]


def run_case(case: Case, house: House) -> Outcome:
    """Run a case to its end; what is remembered of the one before is forgotten."""
    forget_listings()
    with house.world(case) as world, mock.patch.object(LocalFiles, "few_directories", -1):
        scheduler = world.scheduler
        for number, script in enumerate(case.scripts):
            scheduler.add(script.name, Doer(script, number, world).run)
        wrong = None
        try:
            scheduler.run()
            end_well(world)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a finding
            wrong = f"{type(error).__name__}: {error}"
        return Outcome(case, wrong, tuple(scheduler.trace), world.checks)


def run_seeds(
    house: House, first: int, seconds: float, profiles: Sequence[str]
) -> Iterator[Outcome]:
    """One seed after the other for some seconds, of each kind of case in turn."""
    until = time.monotonic() + seconds
    seed = first
    while time.monotonic() < until:
        yield run_case(generate(seed, profiles[seed % len(profiles)]), house)
        seed += 1


def find(house: House, cases: Iterable[Case]) -> Outcome | None:
    """The first case that fails."""
    outcomes = (run_case(case, house) for case in cases)
    return next((one for one in outcomes if one.wrong), None)


def shorten(
    outcome: Outcome, house: House, told: Callable[[str], object] = lambda line: None
) -> Outcome:
    """Leave out of a failing case what it does not need to fail."""
    best = outcome
    while True:
        for case in best.case.simpler():
            found = run_case(case, house)
            if found.kind == outcome.kind:
                told(f"{len(found.trace)} steps: {found.wrong}")
                best = found
                break
        else:
            return best
