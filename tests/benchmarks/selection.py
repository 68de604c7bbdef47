"""How long the planner needs to choose among 10,000 deltas.

Run it with ``python tests/benchmarks/selection.py``.

Prints the best of ten runs in CPU milliseconds, for reading, and for the list of files after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.snapshot import FileStatus, select
from hivesql_planner.acid.write_ids import ALL_TXNS, ValidWriteIdList

DELTAS = 10_000
LISTINGS = {
    "deltas of single writes": [
        FileStatus(f"delta_{one:07d}_{one:07d}_0000/bucket_00000", 100)
        for one in range(1, DELTAS + 1)
    ],
    "half of them delete deltas": [
        FileStatus(f"{'delete_' * (one % 2)}delta_{one:07d}_{one:07d}_0000/bucket_00000", 100)
        for one in range(1, DELTAS + 1)
    ],
    "with version files": [
        FileStatus(f"delta_{one:07d}_{one:07d}_0000/{name}", 100)
        for one in range(1, DELTAS + 1)
        for name in ("_orc_acid_version", "bucket_00000_0")
    ],
    "below a base": [
        FileStatus("base_0005000_v0000099/bucket_00000", 100),
        *(
            FileStatus(f"delta_{one:07d}_{one:07d}_0000/bucket_00000", 100)
            for one in range(1, DELTAS + 1)
        ),
    ],
}
SNAPSHOTS = {
    "all committed": ValidWriteIdList(DELTAS),
    "1,000 aborted, 100 open": ValidWriteIdList(
        DELTAS, frozenset(range(9_000, 9_100)), frozenset(range(1, 2_000, 2))
    ),
}


def best(work: Callable[[], object]) -> float:
    """CPU milliseconds of the fastest of ten runs."""
    found = []
    for _ in range(10):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found) * 1000


def main() -> None:
    """Print one line for each listing and snapshot."""
    for name, files in LISTINGS.items():
        for what, visible in SNAPSHOTS.items():
            state = select(files, visible, ALL_TXNS)
            chosen = best(lambda f=files, v=visible: select(f, v, ALL_TXNS))  # type: ignore[misc]
            listed = best(lambda s=state, v=visible: files_to_read(s, v))  # type: ignore[misc]
            print(f"{name}, {what}: select {chosen:.1f} ms, files to read {listed:.1f} ms")


if __name__ == "__main__":
    main()
