"""Statements over many columns ask Spark's JVM as often as those over few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from py4j.clientserver import JavaClient

import hivesql

pytestmark = pytest.mark.spark

TYPES = ("INT", "STRING", "DECIMAL(16,10)", "BOOLEAN", "VARCHAR(9)", "CHAR(4)", "FLOAT", "DATE")
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
STATEMENTS = (
    "INSERT INTO acid SELECT * FROM text",
    "INSERT INTO acid SELECT * FROM acid",
    "INSERT OVERWRITE TABLE parquet SELECT * FROM text",
    "SELECT * FROM text",
    "SELECT c0, c1 FROM text ORDER BY c0",
)


@contextmanager
def counted_calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The commands that Python sends to the JVM."""
    sent: list[str] = []
    send = JavaClient.send_command

    def counting(self: Any, command: str, *arguments: Any, **named: Any) -> Any:
        sent.append(command)
        return send(self, command, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(JavaClient, "send_command", counting)
        yield sent


def calls_of(
    session: hivesql.Session, width: int, monkeypatch: pytest.MonkeyPatch
) -> dict[str, int]:
    """How many calls each statement takes, once others of its kind have run."""
    columns = ", ".join(f"c{place} {TYPES[place % len(TYPES)]}" for place in range(width))
    values = ", ".join("NULL" if place % 8 in (3, 7) else "'1'" for place in range(width))
    session.sql(f"""
        SET hivesql.local.max.bytes=0;
        CREATE TABLE text ({columns}) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',';
        CREATE TABLE acid ({columns}) {ACID};
        CREATE TABLE parquet ({columns}) STORED AS PARQUET;
        INSERT INTO text SELECT {values}
    """)
    counts = {}
    for sql in STATEMENTS:
        session.sql(sql)
        # Objects that Python has let go of are told to the JVM at any time: these do not count.
        with counted_calls(monkeypatch) as sent:
            session.sql(sql)
        counts[sql] = sum(not command.startswith("m\n") for command in sent)
    session.sql("DROP TABLE text; DROP TABLE acid; DROP TABLE parquet")
    return counts


def test_calls_do_not_grow_with_columns(
    session: hivesql.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (calls_of(session, width, monkeypatch) for width in (16, 80))
    assert {sql: count for sql, count in many.items() if count > few[sql] * 1.2 + 20} == {}
