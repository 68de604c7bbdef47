"""What each commit cost: results by commit and date, and what became slower.

Whatever a benchmark notes in HOME/results goes as a line into HOME/results/history.jsonl, too.
``report.py --history [COMMIT]`` compares the newest commit there with the one that was measured
before it, or with COMMIT: by CPU where it is known, else by wall clock.
"""

from __future__ import annotations

import functools
import json
import statistics
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

OURS = "hivesql"
NOISE = 0.01
"""Seconds below which nothing is compared: clocks of processes count in hundredths."""


@functools.cache
def commit() -> str:
    """Return the commit that is checked out, with a plus sign if files differ from it."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=here, capture_output=True, text=True)
        return done.stdout.strip()

    dirty = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if dirty else "")


def append(path: Path, sizes: Mapping[str, object], name: str, entry: Mapping[str, Any]) -> None:
    """Add what was measured just now to the history beside ``path``."""
    line = {"part": path.stem, "sizes": sizes, "name": name, "commit": commit(), **entry}
    with (path.parent / "history.jsonl").open("a") as history:
        history.write(json.dumps(line) + "\n")


def _costs(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Seconds of ours in a value: CPU where it is told beside the wall clock."""
    if name == "seconds" and isinstance(value, dict):
        for operation, by_contender in value.items():
            seconds = by_contender.get(OURS)
            if seconds and (operation.endswith(" cpu") or f"{operation} cpu" not in value):
                yield operation, statistics.median(seconds)
    elif isinstance(value, dict) and OURS in value:
        yield f"{name} cpu", value[OURS][1]
    elif isinstance(value, dict) and "cpu" in value:
        yield f"{name} cpu", value["cpu"]
    elif isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, float) and key.split()[-1] in ("s", "seconds"):
                yield f"{name} {key}", part
    elif isinstance(value, float):
        yield name, value


def slower(home: Path, since: str = "", share: float = 0.1) -> Iterator[str]:
    """Tell what costs more by at least ``share`` at the newest commit, and what less.

    ``since`` is the commit to compare with; the one before the newest, in order of measuring, when
    it is empty. Of a thing that was measured several times at a commit the least counts.
    """
    least: dict[tuple[str, str, str], dict[str, float]] = {}
    commits: dict[str, str] = {}
    history = home / "results" / "history.jsonl"
    for line in history.read_text().splitlines() if history.exists() else ():
        entry = json.loads(line)
        commits[entry["commit"]] = entry["when"]
        for label, seconds in _costs(entry["name"], entry["value"]):
            thing = (entry["part"], json.dumps(entry["sizes"], sort_keys=True), label)
            by_commit = least.setdefault(thing, {})
            by_commit[entry["commit"]] = min(seconds, by_commit.get(entry["commit"], seconds))
    order = sorted(commits, key=commits.__getitem__)
    before = [name for name in order[:-1] if name.startswith(since)]
    if not before:
        yield f"nothing to compare with: measured are {', '.join(order) or 'no commits'}"
        return
    old, new = before[-1], order[-1]
    yield f"{old} ({commits[old]}) and {new} ({commits[new]}): what differs by {share:.0%} or more"
    compared = 0
    for (part, _, label), by_commit in sorted(least.items()):
        a, b = by_commit.get(old), by_commit.get(new)
        if a is None or b is None or max(a, b) < NOISE:
            continue
        compared += 1
        ratio = b / max(a, 1e-4)
        if ratio >= 1 + share or ratio <= 1 / (1 + share):
            told = "SLOWER" if ratio > 1 else "faster"
            yield f"{told} {ratio:6.2f}  {part}: {label}  {a:.3f} → {b:.3f} s"
    yield f"{compared} things compared"
