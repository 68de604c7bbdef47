"""All benchmarks in one run: the tables on standard output, the ratios as a picture.

python tests/benchmarks/report.py [--home .bench] [--rows 10000000] [--reps 3] [--scale 1]
                                  [--picture docs/benchmarks.png]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import rivals
import tpch

mpl.use("agg")
from matplotlib import pyplot as plt

NAMES = ("hivesql", "orc", "delta", "iceberg")
COLOURS = {"orc": "#888888", "delta": "#1f77b4", "iceberg": "#2ca02c"}
HERE = Path(__file__).parent
Seconds = Mapping[str, Mapping[str, list[float]]]


def ratios(seconds: Seconds, *, cpu: bool) -> dict[str, dict[str, float]]:
    """Ours divided by each rival's, of medians, by operation."""
    found: dict[str, dict[str, float]] = {}
    for operation, by_name in seconds.items():
        medians = {name: statistics.median(values) for name, values in by_name.items()}
        ours = medians.pop("hivesql", None)
        if operation.endswith(" cpu") is cpu and ours and medians:
            name = operation.removesuffix(" cpu")
            found[name] = {rival: ours / theirs for rival, theirs in medians.items()}
    return found


def draw(parts: Mapping[str, Mapping[str, Mapping[str, float]]], picture: Path) -> None:
    """One field of bars for each part: bars left of 1 are where ours is faster."""
    heights = [1 + 0.3 * sum(len(one) for one in part.values()) for part in parts.values()]
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
        axes.set_title(title, loc="left")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        for index, value in enumerate(values):
            axes.annotate(f"{value:.2f}", (value, index), va="center", fontsize=8)
    fields[-1, 0].set_xlabel("HiveSQL's seconds divided by the other's; below 1 HiveSQL is faster")
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--home", type=Path, default=Path(".bench"))
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--picture", type=Path, default=Path("docs/benchmarks.png"))
    options = parser.parse_args()
    home = options.home.absolute()
    rivals.set_up(home)
    parts: dict[str, dict[str, dict[str, float]]] = {}
    for title, operations in (("statements", rivals.OPERATIONS), ("compaction", rivals.COMPACTION)):
        seconds = rivals.run(list(NAMES), options.rows, options.reps, home, operations)
        print(rivals.table(seconds, list(NAMES)), flush=True)
        parts[f"{title}, {options.rows:,} rows: wall"] = ratios(seconds, cpu=False)
        parts[f"{title}, {options.rows:,} rows: CPU"] = ratios(seconds, cpu=True)
    answers = tpch.run(options.scale, home, "local[2]", "4g")
    for title, by_query in answers.means.items():
        parts.setdefault(f"TPC-H, scale factor {options.scale:g}: geometric mean of wall", {})[
            title
        ] = {"orc": by_query}
    draw(parts, options.picture)
    for arguments in (("deltas",), ("partitions",), ("growth",)):
        subprocess.run([sys.executable, HERE / "scale.py", *arguments], check=True)
    sys.exit("\n".join(answers.wrong) if answers.wrong else None)


if __name__ == "__main__":
    main()
