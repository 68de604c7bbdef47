"""Tables into Iceberg and Delta and back: copied by Spark, compared, and only then called done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hivesql_executor.translate_errors import as_user_errors
from hivesql_planner.errors import DataError, SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import TableName

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hivesql.session import Session

Kind = Literal["iceberg", "delta"]


@dataclass(frozen=True, slots=True)
class Migrated:
    """A copy that holds what its source holds."""

    table: str
    rows: int
    columns: int
    """How many were compared: by their numbers of values and the sum of their hashes."""


def migrate_to(session: Session, table: str, kind: Kind, name: str) -> Migrated:
    """Copy a table as one snapshot sees it into a new one of a catalog of Spark's.

    ``name`` has the catalog, the namespace and the table: ``ice.db.stock``. Partition columns stay
    partition columns. DataError, and no copy, where it does not hold the same; SemanticError 10073
    where there is such a table.
    """
    path = _quoted(name)
    known = session.runtime.metastore.table(_lasting_name(session, table))

    def copy(rows: DataFrame) -> Migrated:
        with as_user_errors():
            spark = rows.sparkSession
            if spark.catalog.tableExists(path):
                raise SemanticError(f"Table already exists: {name}", code=10073)
            writer = rows.writeTo(path).using(kind)
            keys = [rows[quote_name(key)] for key in known.partition_names]
            (writer.partitionedBy(*keys) if keys else writer).create()
            try:
                return _compared(name, _sums(rows), _sums(_shaped(spark, path, rows)))
            except BaseException:
                spark.sql(f"DROP TABLE {path}")
                raise

    copied: Migrated = session.sql(f"SELECT * FROM {_quoted(table)}", consume=copy).value
    return copied


def migrate_from(
    session: Session, name: str, table: str, partitioned_by: Sequence[str] = ()
) -> Migrated:
    """Copy a table of a catalog of Spark's into a new full-ACID one.

    DataError, and no copy, where it does not hold the same: as when ``name`` was written meanwhile.
    """
    _lasting_name(session, table)
    keys = f"PARTITIONED BY ({', '.join(map(quote_name, partitioned_by))})" * bool(partitioned_by)
    select = f"SELECT * FROM {_quoted(name)}"
    session.sql(
        f"CREATE TABLE {_quoted(table)} {keys} STORED AS ORC "
        f"TBLPROPERTIES ('transactional'='true') AS {select}"
    )
    try:
        source = session.sql(select, consume=_sums).value
        target = session.sql(f"SELECT * FROM {_quoted(table)}", consume=_sums).value
        return _compared(table, source, target)
    except BaseException:
        session.sql(f"DROP TABLE {_quoted(table)} PURGE")
        raise


def _lasting_name(session: Session, table: str) -> TableName:
    """Return a table's name; SemanticError where a temporary one hides what has it."""
    name = TableName.of_text(table, session.database)
    if name in session.temporary.hidden:
        raise SemanticError(
            f"{name} is a temporary table of this session, which is not migrated: CREATE TABLE … "
            "AS SELECT from it under another name, or DROP it"
        )
    return name


def _quoted(name: str) -> str:
    return ".".join(map(quote_name, name.replace("`", "").split(".")))


def _shaped(spark: SparkSession, path: str, like: DataFrame) -> DataFrame:
    """Return the rows of a table with the columns and types of others."""
    rows = spark.table(path)
    return rows.select(
        *(rows[quote_name(field.name)].cast(field.dataType) for field in like.schema)
    )


def _sums(rows: DataFrame) -> dict[str, tuple[int, int | None]]:
    """Count the values of each column, by its name, and add their hashes up; of rows by ``""``."""
    from pyspark.sql import functions as f

    # Spark has no hash of a map.
    cells = {
        field.name.lower(): f.to_json(f.struct(rows[quote_name(field.name)]))
        if "map<" in field.dataType.simpleString()
        else rows[quote_name(field.name)]
        for field in rows.schema
    }
    sums = [
        (f.count(cell), f.sum(f.xxhash64(cell).cast("decimal(38,0)"))) for cell in cells.values()
    ]
    whole = f.xxhash64(*(cells[name] for name in sorted(cells)))
    sums.append((f.count(f.lit(1)), f.sum(whole.cast("decimal(38,0)"))))
    with as_user_errors():
        (row,) = rows.agg(*(item for pair in sums for item in pair)).collect()
    names = [*cells, ""]
    return {name: (row[2 * i], row[2 * i + 1]) for i, name in enumerate(names)}


def _compared(
    table: str, source: dict[str, tuple[int, int | None]], target: dict[str, tuple[int, int | None]]
) -> Migrated:
    if source == target:
        return Migrated(table, source[""][0], len(source) - 1)
    others = sorted(name or "rows" for name in source if source[name] != target.get(name))
    raise DataError(
        f"{table} does not hold what was copied into it ({', '.join(others)}), and is dropped "
        "again: was its source written meanwhile? Then run it again"
    )
