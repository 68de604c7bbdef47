"""Real Hive beside our sides: it reads what they left, and runs a walk itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adoption import adopt
from fuzz.conditions import named
from fuzz.kinds import hive_shown, hive_sql
from fuzz.sides import Side, difference
from fuzz.statements import Statement
from fuzz.world import Bag, Inapplicable, Refused, TableModel, World
from hivesql_planner.model.table import TableName
from interop import hive
from interop.ours import highest_ids

SETTINGS = ("hive.exec.dynamic.partition.mode=nonstrict", "hive.fetch.task.conversion=none")


@dataclass(frozen=True, slots=True)
class Left:
    """A table that a walk left: what should be in it, and where it is."""

    label: str
    table: TableModel
    directory: Path
    aborted: tuple[int, ...] = ()
    """Write ids of statements that failed."""


def select(table: TableModel, name: str) -> str:
    """A query whose lines tell every value of a table in Hive."""
    columns = ", ".join(hive_sql(kind, named(column)) for column, kind in table.columns.items())
    return f"SELECT {columns} FROM {name}"


def rows_of(table: TableModel, block: hive.Block) -> Bag:
    """The rows that Hive printed for ``select``."""
    kinds = tuple(table.columns.values())
    found: Bag = Bag()
    for line in block.lines:
        texts = line.split("\t")
        found[tuple(hive_shown(*one) for one in zip(kinds, texts, strict=True))] += 1
    return found


def read_script(left: Sequence[Left]) -> str:
    """Hive takes the tables over, and reads each in vectors and row by row."""
    lines = []
    for one in left:
        name = one.label
        lines.append(f"{one.table.ddl(name)};")
        if one.directory.exists():
            lines.append(f"!copy {one.directory} warehouse/{name};")
        aborted = ",".join(map(str, one.aborted))
        highest = max(*highest_ids(one.directory), *one.aborted)
        lines.append(f"!adopt {name} {highest} {aborted};")
    for vectors in ("true", "false"):
        lines.append(f"SET hive.vectorized.execution.enabled={vectors};")
        lines += [f"{select(one.table, one.label)};" for one in left]
    return "\n".join(lines)


def read_by_hive(left: Sequence[Left], work: Path) -> dict[str, str]:
    """Let Hive read the tables; by label, what is wrong with those that differ."""
    told: dict[str, str] = {}
    blocks = hive.parse_output(hive.output(read_script(left), work, settings=SETTINGS))
    by_label = {one.label: one for one in left}
    answers = 0
    for block in blocks:
        words = re.split(r"[ (]", block.statement)
        label = next((word for word in words if word in by_label), "")
        if block.error:
            told.setdefault(label or block.statement, f"{block.statement}\n  {block.error}")
        elif block.statement.startswith("SELECT ") and label:
            answers += 1
            table = by_label[label].table
            if wrong := difference(table.bag(), rows_of(table, block)):
                told.setdefault(label, f"{block.statement}\n{wrong}")
    if not told and answers != 2 * len(left):
        told["script"] = f"Hive answered {answers} of {2 * len(left)} queries"
    return told


def run_in_hive(walks: Mapping[str, Sequence[Statement]], work: Path) -> list[tuple[Left, str]]:
    """Let Hive run walks from the start; each table, with what is wrong with it (or nothing)."""
    script, worlds = [], {}
    for label, statements in walks.items():
        script.append(f"CREATE DATABASE {label};\nUSE {label};")
        world: World = {}
        for statement in statements:
            try:
                world = statement.after(world)
                script.append(f"{statement.sql()};")
            except (Inapplicable, Refused):
                continue
            if statement.sql().find(" COMPACT ") > 0:
                script.append("!worker;")
        script += [f"{select(table, name)};" for name, table in world.items()]
        worlds[label] = world
    blocks = hive.parse_output(hive.output("\n".join(script), work, settings=SETTINGS))
    return list(_judge(blocks, worlds, work))


def _judge(
    blocks: Sequence[hive.Block], worlds: Mapping[str, World], work: Path
) -> Iterator[tuple[Left, str]]:
    wrong: dict[str, str] = {}
    answers: dict[tuple[str, str], hive.Block] = {}
    label = ""
    for block in blocks:
        if block.statement.startswith("USE "):
            label = block.statement[4:]
        if block.error:
            wrong.setdefault(label, f"{block.statement}\n  {block.error}")
        if block.statement.startswith("SELECT "):
            answers[label, block.statement.rpartition(" ")[2]] = block
    for label, world in worlds.items():
        for name, table in world.items():
            directory = work / "warehouse" / f"{label}.db" / name
            told = wrong.get(label, "")
            if not told:
                told = difference(table.bag(), rows_of(table, answers[label, name]))
            yield Left(f"{label}.{name}", table, directory), told


def read_by_us(side: Side, left: Left) -> str:
    """What is wrong with our reading of a table that Hive wrote."""
    side.session.sql(left.table.ddl("defined"))
    definition = side.session.runtime.metastore.table(TableName("default", "defined"))
    side.session.sql("DROP TABLE defined")
    name = left.label.replace(".", "_")
    adopt(side.session, replace(definition, location=str(left.directory)), name)
    found = side.rows(f"SELECT * FROM {name}", tuple(left.table.columns.values()))
    told = difference(left.table.bag(), found)
    return f"{name} in {side.name}:\n{told}" if told else ""


def left_by(label: str, world: World, side: Side) -> list[Left]:
    """The tables of a walk that a side has taken."""
    return [
        Left(f"{label}_{name}", table, side.root / name, side.aborted(table))
        for name, table in world.items()
    ]
