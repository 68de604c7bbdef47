"""Asks real Hive what it stores of each value in ``hive_results/writes.tsv``, and writes it down.

``PYTHONPATH=tests:tests/support python -m interop.record_writes`` from the root of the project.
It takes the values and types from the file itself; a pair of types whose answer is "?" there is
not asked for.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from hive_results import HERE
from interop import hive

RECORDED = HERE / "writes.tsv"
REFUSED, STRICT, UNASKED = "refused", "strict:", "?"
INSTANT = "TIMESTAMP WITH LOCAL TIME ZONE"


def shown(column: str, target: str) -> str:
    """The text of a stored value."""
    if target == "BINARY":
        return f"hex({column})"
    return column if target == "BOOLEAN" else f"concat('[', CAST({column} AS STRING), ']')"


def asked(header: list[str], rows: list[list[str]]) -> Iterator[tuple[str, int, str]]:
    """For each pair of types that Hive converts: the script, the first row, the target."""
    numbered = list(enumerate(rows))
    for source, lines in groupby(numbered, key=lambda one: one[1][0]):
        group = list(lines)
        first = group[0][0]
        values = ", ".join(
            f"struct({k}, CAST({row[1]} AS {source}))" for k, (_, row) in enumerate(group)
        )
        for i, target in enumerate(header[2:]):
            cells = {row[2 + i].removeprefix(STRICT) for _, row in group}
            if cells <= {REFUSED, UNASKED}:
                continue
            strict = not group[0][1][2 + i].startswith(STRICT)
            # Hive cannot read such columns of ORC.
            kinds = ["TEXTFILE" if kind == INSTANT else "ORC" for kind in (source, target)]
            name = f"{first}_{i}"
            yield (
                f"SET hive.strict.timestamp.conversion={str(strict).lower()};\n"
                f"CREATE TABLE s{name} (k INT, v {source}) STORED AS {kinds[0]};\n"
                f"INSERT INTO s{name} SELECT inline(array({values}));\n"
                f"CREATE TABLE t{name} (k INT, v {target}) STORED AS {kinds[1]};\n"
                f"INSERT INTO t{name} SELECT k, v FROM s{name};\n"
                f"SELECT k, {shown('v', target)} FROM t{name} ORDER BY k;\n",
                first,
                target,
            )


def main() -> None:
    """Ask for every pair of types, and write the answers."""
    with RECORDED.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    scripts = list(asked(header, rows))
    with tempfile.TemporaryDirectory() as name:
        output = hive.output("".join(script for script, _, _ in scripts), Path(name))
    answers = [block for block in hive.parse_output(output) if block.statement.startswith("SELECT")]
    for (_, first, target), block in zip(scripts, answers, strict=True):
        place = header.index(target)
        for line in block.lines:
            key, _, value = line.partition("\t")
            row = rows[first + int(key)]
            prefix = STRICT if row[place].startswith(STRICT) else ""
            row[place] = prefix + value
    lines = ("\t".join(row) for row in (header, *rows))
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
