"""What a statement gave its user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hivesql_executor.translate_errors import translate_errors
from hivesql_planner.errors import SemanticError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from hivesql_executor.outcome import Outcome
    from hivesql_planner.plan import Plan


_SHOWN, _COLUMNS, _CHARACTERS = 20, 50, 200
"""What a notebook shows of a result: rows, columns, and characters of a value."""


@translate_errors
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """Columns and rows of a query, or the number of rows that a statement changed.

    ``types`` are Spark's names of the column types. ``affected`` is None for statements that
    change no rows. ``seconds`` is the wall time from text to committed.
    """

    statement: str
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    rows: Sequence[Any] = ()
    """Rows, whose values are found by position and by name."""
    affected: int | None = None
    message: str | None = None
    value: Any = None
    seconds: float = 0.0
    statement_id: str = ""
    """What log lines and spans name the statement by."""
    spark_schema: StructType | None = field(default=None, repr=False, compare=False)
    """The types of the columns, where Spark gave the rows."""
    table: pa.Table | None = field(default=None, repr=False, compare=False)
    """A query's rows, where they came without Spark."""
    of_server: Sequence[Any] | None = field(default=None, repr=False, compare=False)
    """What HiveServer2 sends for ``rows``, where that is something else: of DESCRIBE and SHOW."""
    plan: Plan | None = field(default=None, repr=False, compare=False)
    """What was done, or would have been had it not been committed before."""

    def __repr__(self) -> str:
        """Tell what it is, without its rows: there may be millions."""
        first = self.statement.strip().partition("\n")[0]
        what = f"{len(self.rows)} rows of {', '.join(self.columns)}" if self.columns else "no rows"
        if self.affected is not None:
            what = f"{self.affected} rows affected"
        return f"<Result of {first[:60]!r}: {what}>"

    def _repr_html_(self) -> str:
        """Return the first rows as a notebook shows them."""
        from html import escape
        from itertools import islice

        def line(cell: str, values: Sequence[Any]) -> str:
            texts = ["NULL" if value is None else str(value) for value in values[:_COLUMNS]]
            short = [t if len(t) <= _CHARACTERS else f"{t[:_CHARACTERS]}…" for t in texts]
            cells = "".join(f"<{cell}>{escape(text)}</{cell}>" for text in short)
            return f"<tr>{cells}</tr>"

        if not self.columns:
            return escape(repr(self))
        body = "".join(line("td", row) for row in islice(self.rows, _SHOWN))
        left_out = [
            f"{count:,} {what} more"
            for count, what in (
                (len(self.rows) - _SHOWN, "rows"),
                (len(self.columns) - _COLUMNS, "columns"),
            )
            if count > 0
        ]
        more = f"<p>and {' and '.join(left_out)}</p>" if left_out else ""
        return f"<table><thead>{line('th', self.columns)}</thead>{body}</table>{more}"

    def scalar(self) -> Any:
        """Give the one value of one row of one column, as of ``SELECT count(*)``."""
        if len(self.rows) != 1 or len(self.columns) != 1:
            raise SemanticError(
                f"one row of one column is wanted, and there are {len(self.rows)} of "
                f"{len(self.columns)}: look at rows"
            )
        return self.rows[0][0]

    @property
    def schema(self) -> StructType | None:
        """Spark's types of the columns; None where the metastore alone answered."""
        if self.table is None:
            return self.spark_schema
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(self.table.schema, prefer_timestamp_ntz=True)

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; timestamps have no zone, as Hive's have none.

        A large result is faster as ``session.sql(text, consume=DataFrame.toArrow).value``.
        """
        import pyarrow as pa

        if self.table is not None:
            return self.table
        if isinstance(self.value, pa.Table):
            return self.value
        if self.spark_schema is None:
            arrays = [
                pa.array([row[i] for row in self.rows], pa.string())
                for i in range(len(self.columns))
            ]
            return pa.Table.from_arrays(arrays, names=list(self.columns))
        from hivesql_executor.spark.values import arrow_of

        return arrow_of(self.rows, self.spark_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a DataFrame of Polars, which shares Arrow's memory where it can."""
        import polars as pl

        return pl.DataFrame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Let Polars, DuckDB and whoever else knows Arrow's C interface read the rows.

        ``requested_schema`` is a capsule with the schema that the reader would like.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def result_of(
    outcome: Outcome, *, statement: str, plan: Plan | None, seconds: float, statement_id: str
) -> Result:
    """Make the result of a statement that took so many seconds; None for one without a plan."""
    return Result(
        statement=statement,
        columns=outcome.columns,
        types=outcome.types,
        rows=outcome.rows,
        affected=outcome.affected,
        message=outcome.message,
        value=outcome.value,
        seconds=seconds,
        statement_id=statement_id,
        spark_schema=outcome.schema,
        table=outcome.table,
        of_server=outcome.of_server,
        plan=plan,
    )
