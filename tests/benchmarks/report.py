"""All benchmarks: the tables on standard output, the ratios as a picture.

    python tests/benchmarks/report.py [--home .bench] [--rows 2000000] [--reps 2] [--warm 1]
                                      [--scale 1] [--count 10000] [--only PART,…] [--again PART,…]
                                      [--draw] [--picture docs/benchmarks.png]
                                      [--history [COMMIT]]

What a part measured is kept in HOME/results with its date and the machine's load: parts that are
there are not measured again, so a run that was cut off goes on where it stopped, parts may run at
several times, and ``--draw`` only draws. ``--again`` forgets parts first. ``--history`` only tells
what became 10 % slower or faster between the commit that was measured last and COMMIT, or the one
before it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import history
import matplotlib as mpl
import rivals
import scale
import tpch
from results import Results

mpl.use("agg")
from matplotlib import pyplot as plt

NAMES = ("hivesql", "orc", "delta", "iceberg")
COLOURS = {"orc": "#888888", "delta": "#1f77b4", "iceberg": "#2ca02c"}
BESIDE_RIVALS = {
    "changes": rivals.OPERATIONS,
    "statements": rivals.STATEMENTS,
    "compaction": rivals.COMPACTION,
}
COUNTED = ("deltas", "partitions", "rivals")
TICKS = (1 / 32, 1 / 16, 0.125, 0.25, 0.5, 0.7, 1, 1.4, 2, 4, 8, 16, 32)
PARTS = (*BESIDE_RIVALS, "tpch", *COUNTED, "growth", "growth-hdfs")
Seconds = Mapping[str, Mapping[str, list[float]]]
Bars = Mapping[str, Mapping[str, float]]


def ratios(seconds: Seconds, *, cpu: bool) -> dict[str, dict[str, float]]:
    """Ours divided by each rival's, of medians, by operation."""
    found: dict[str, dict[str, float]] = {}
    for operation, by_name in seconds.items():
        medians = {name: statistics.median(values) for name, values in by_name.items()}
        ours = medians.pop("hivesql", None)
        if operation.endswith(" cpu") is cpu and ours and medians:
            name = operation.removesuffix(" cpu")
            found[name] = {rival: ours / theirs for rival, theirs in medians.items() if theirs}
    return found


def small_files(kept: Mapping[str, Results]) -> dict[str, dict[str, float]]:
    """What a small file adds to a read, ours divided by each rival's."""
    for name, found in kept.items():
        for theirs in kept.values() if name.startswith("deltas-") else ():
            goal = theirs.sizes.get("count")
            if theirs.path.stem.startswith("rivals-") and f"deltas/{goal}" in found:
                ours = found[f"deltas/{goal}"]["scan s"] - found["base"]["scan s"]
                seconds = {
                    rival: one["files"] - one["base"]
                    for rival, one in theirs.starting("").items()
                    if isinstance(one, dict)
                }
                return {f"read of {goal:,} small files": {
                    rival: ours / one for rival, one in seconds.items() if one > 0
                }}  # fmt: skip
    return {}


def draw(parts: Mapping[str, Bars], picture: Path) -> None:
    """One field of bars for each part: bars left of 1 are where ours is faster."""
    heights = [1.1 + 0.24 * sum(len(one) for one in part.values()) for part in parts.values()]
    figure, fields = plt.subplots(
        len(parts), 1, figsize=(9, sum(heights)), height_ratios=heights, squeeze=False
    )
    for axes, (title, part) in zip(fields[:, 0], parts.items(), strict=True):
        labels, values, colours = [], [], []
        for operation, by_rival in part.items():
            for rival, ratio in by_rival.items():
                labels.append(f"{operation} / {rival}")
                values.append(ratio)
                colours.append(COLOURS.get(rival, "#888888"))
        axes.barh(labels, [value - 1 for value in values], left=1, color=colours)
        axes.set_xscale("log", base=2)
        axes.axvline(1, color="black", linewidth=0.8)
        axes.invert_yaxis()
        axes.margins(x=0.12)
        axes.set_title(title, loc="left", fontsize=10)
        axes.tick_params(labelsize=8)
        low, high = axes.get_xlim()
        axes.set_xticks([one for one in TICKS if low <= one <= high])
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        for index, value in enumerate(values):
            axes.annotate(f" {value:.2f} ", (value, index), va="center", fontsize=8,
                          ha="left" if value >= 1 else "right")  # fmt: skip
    fields[-1, 0].set_xlabel("HiveSQL's seconds divided by the other's; below 1 HiveSQL is faster")
    figure.tight_layout()
    figure.savefig(picture, dpi=80)


class Report:
    """Where everything is kept, and how large it is."""

    def __init__(
        self, home: Path, *, rows: int, reps: int, warm: int, scale: float, count: int
    ) -> None:
        self.home, self.rows, self.reps, self.warm = home, rows, reps, warm
        self.scale, self.count = scale, count

    def beside(self, part: str) -> Results:
        """A part that runs beside all rivals, as it was measured last."""
        sizes = {
            "rows": self.rows, "reps": self.reps, "warm": self.warm,
            "operations": BESIDE_RIVALS[part],
        }  # fmt: skip
        return Results(self.home / "results" / f"{part}.json", sizes)

    def measure(self, part: str) -> None:
        """Measure a part, or what is missing of it."""
        growth = {"rows": 300_000, "factor": 10, "executors": "1g"}
        if part in BESIDE_RIVALS:
            results = self.beside(part)
            if "seconds" not in results:
                rivals.set_up(self.home)
                seconds = rivals.run(
                    list(NAMES), self.rows, self.reps, self.home, BESIDE_RIVALS[part], self.warm
                )
                results.note("seconds", seconds)
        elif part == "tpch":
            tpch.run(self.scale, self.home, "local[2]", "4g")
        elif part in COUNTED:
            # A rival makes each of its files by a task of its own.
            count = self.count // 10 if part == "rivals" else self.count
            scale.run(part, self.home, count=count)
        else:
            scale.run("growth", self.home, **growth, on_hdfs=part == "growth-hdfs")

    def kept(self) -> dict[str, Results]:
        """Every part that has been measured, by its file's name."""
        found = {path.stem: Results.kept(path) for path in (self.home / "results").glob("*.json")}
        return dict(sorted(found.items()))

    def forget(self, part: str) -> None:
        """Measure a part anew next time."""
        for path in (self.home / "results").glob(f"{part}*.json"):
            path.unlink()

    def show(self, picture: Path) -> None:
        """Print every table, draw all ratios."""
        bars: dict[str, Bars] = {}
        for name, results in self.kept().items():
            print(f"\n{name}: {results.sizes}\n{results.circumstances()}")
            when = results.circumstances()
            if "seconds" in results:
                seconds = results["seconds"]
                print(rivals.table(seconds, list(NAMES)))
                title = f"{name}, {results.sizes['rows']:,} rows"
                for kind, cpu in (("CPU", True), ("wall", False)):
                    bars[f"{title}: {kind}\n{when}"] = ratios(seconds, cpu=cpu)
            elif name.startswith("tpch"):
                print(tpch.table(results))
                bars[f"TPC-H, scale factor {results.sizes['scale']:g}: wall\n{when}"] = {
                    **{f"{len(results.starting(f'{title}/'))} queries {title}": mean
                       for title, mean in tpch.means(results).items()},
                    **tpch.extremes(results),
                }  # fmt: skip
            else:
                for what, value in results.starting("").items():
                    print(f"{what:24} {_rounded(value)}")
        if found := small_files(self.kept()):
            bars["small files: wall, beyond that of one file"] = found
        if bars:
            draw(bars, picture)


def _rounded(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, dict):
        return "  ".join(f"{name} {_rounded(one)}" for name, one in value.items())
    return "  ".join(map(_rounded, value)) if isinstance(value, list) else str(value)


def main() -> None:
    def parts(text: str) -> list[str]:
        names = text.split(",")
        if unknown := set(names) - set(PARTS):
            raise argparse.ArgumentTypeError(f"{unknown}: there are {', '.join(PARTS)}")
        return names

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--reps", type=int, default=2)
    parser.add_argument("--warm", type=int, default=1, help="repetitions that do not count")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--only", type=parts, default=list(PARTS))
    parser.add_argument("--again", type=parts, default=[])
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--history", nargs="?", const="", metavar="COMMIT")
    parser.add_argument("--measure", choices=PARTS, help="one part, in this process")
    parser.add_argument("--picture", type=Path, default=Path("docs/benchmarks.png"))
    options = parser.parse_args()
    home = options.home.absolute()
    home.mkdir(parents=True, exist_ok=True)
    if options.history is not None:
        print("\n".join(history.slower(home, options.history)))
        return
    sizes = {name: getattr(options, name) for name in ("rows", "reps", "warm", "scale", "count")}
    report = Report(home, **sizes)
    for part in options.again:
        report.forget(part)
    if options.measure:
        report.measure(options.measure)
        return
    failed = []
    for part in [] if options.draw else options.only:
        print(f"\n{part}, load {os.getloadavg()[0]:.1f}", flush=True)
        # A process for each: a Spark of its own, and the other parts are worth having if it fails.
        given = [f"--{name}={value}" for name, value in {"home": home, **sizes}.items()]
        if subprocess.run([sys.executable, __file__, *given, "--measure", part]).returncode:
            failed.append(f"{part} failed")
    report.show(options.picture)
    failed += [f"{name}: {one}" for name, results in report.kept().items()
               for one in results.starting("wrong/").values()]  # fmt: skip
    sys.exit("\n".join(failed) if failed else None)


if __name__ == "__main__":
    main()
