"""What a statement read and wrote, with columns, their sources and rows, as a log tells it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql.lineage.column_lineage import ColumnSource, trace_columns
from hivesql_planner.plan_facts import tables_read, tables_written, views_read

if TYPE_CHECKING:
    from hivesql.result import Result
    from hivesql_planner.model.table import Table

FACTS_START = '{"statementFacts":'
"""How the line of a log begins."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of a table, those of its partitions included."""

    name: str
    type: str
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFacts:
    """Tables are named ``database.table``."""

    read: Mapping[str, Sequence[ColumnFacts]]
    written: Mapping[str, Sequence[ColumnFacts]]
    affected: int
    sources: Mapping[str, Mapping[str, Sequence[ColumnSource]]]
    """Of each column that is written, where they can be told."""

    def to_json(self) -> str:
        """Return one line, which begins with ``FACTS_START``."""
        columns = [
            {
                name: [[of.name, of.type, of.comment] for of in listed]
                for name, listed in tables.items()
            }
            for tables in (self.read, self.written)
        ]
        sources = {
            name: {
                column: [[of.table, of.column] for of in made] for column, made in targets.items()
            }
            for name, targets in self.sources.items()
        }
        return json.dumps(
            {
                "statementFacts": 1, "read": columns[0], "written": columns[1],
                "affected": self.affected, "sources": sources,
            },
            ensure_ascii=False, separators=(",", ":"),
        )  # fmt: skip

    @classmethod
    def from_json(cls, text: str) -> StatementFacts:
        """Read what ``to_json`` wrote."""
        document = json.loads(text)
        read, written = (
            {name: [ColumnFacts(*of) for of in columns] for name, columns in document[key].items()}
            for key in ("read", "written")
        )
        sources = {
            name: {column: [ColumnSource(*of) for of in made] for column, made in columns.items()}
            for name, columns in document["sources"].items()
        }
        return cls(read=read, written=written, affected=document["affected"], sources=sources)


def facts_of(result: Result) -> StatementFacts | None:
    """Tell what the statement of a result did; None where nothing was planned."""
    if result.plan is None:
        return None
    read, written = tables_read(result.plan), tables_written(result.plan)
    traced = trace_columns(result.statement, read, written, views_read(result.plan))
    return StatementFacts(
        read={str(table.name): _columns(table) for table in read},
        written={str(table.name): _columns(table) for table in written},
        affected=result.affected or 0,
        sources={
            str(name): {column: sorted(made) for column, made in columns.items()}
            for name, columns in traced.items()
        },
    )


def _columns(table: Table) -> list[ColumnFacts]:
    return [ColumnFacts(of.name, str(of.type), of.comment) for of in table.all_columns]
