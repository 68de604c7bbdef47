"""A user's program, whose types are checked and of which nothing is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from typing_extensions import assert_type

import hivesql
from hivesql import dbapi

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame


def query(session: hivesql.Session) -> tuple[pa.Table, pd.DataFrame, pl.DataFrame]:
    """Take a result apart."""
    result = session.sql("SELECT 1 AS n WHERE 1 = ?", [1])
    assert_type(result, hivesql.Result)
    assert_type(result.columns, tuple[str, ...])
    assert_type(result.affected, int | None)
    assert_type(result.message, str | None)
    assert_type(result.scalar(), Any)
    assert_type(session.run("SELECT 1; SELECT 2", file="x.hql"), Iterator[hivesql.Result])
    return result.to_arrow(), result.to_pandas(), result.to_polars()


def write(frame: pd.DataFrame, news: pa.Table, rows: DataFrame) -> None:
    """Give frames to a session, and take one."""
    with hivesql.connect(metastore="sqlite:///m.db", warehouse="w") as session:
        assert_type(session, hivesql.Session)
        session.append("t", frame, overwrite=True)
        session.merge("t", news, on=["n"])
        session.merge("t", rows, on="target.n = source.n")
        session.sql("INSERT INTO t VALUES (1)", idempotency_key="load-2026-11-26")
        frames: list[DataFrame] = [session.frame("SELECT 1")]
        assert_type(session.cancel(), bool)
        session.set("hive.txn.timeout", "10s")
        assert_type(session.progress(), hivesql.Progress | None)
        assert_type(session.forget("load-2026-11-26"), int)
        del frames


def tell(error: hivesql.HiveSqlError) -> str:
    """Say what an error is."""
    assert_type(error.code, int | None)
    assert_type(error.retryable, bool)
    return str(error)


def fetch() -> list[tuple[Any, ...]]:
    """Ask by DB-API."""
    with dbapi.connect("sqlite:///m.db", "w") as connection, connection.cursor() as cursor:
        assert_type(cursor.execute("SELECT ?", [1]), dbapi.Cursor)
        assert_type(cursor.fetchone(), tuple[Any, ...] | None)
        return cursor.fetchall()
