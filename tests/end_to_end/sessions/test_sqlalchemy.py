"""The dialect: SQLAlchemy's compliance suite where it applies, and Hive's own clauses."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, CompileError

import hivesql
from hivesql.sqlalchemy import TINYINT, HiveType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUPPORT = Path(__file__).parents[2] / "support"
APPLICABLE = (
    "(ComponentReflectionTest and not multi)", "HasTableTest", "QuotedName", "CompositeKey",
    "TableDDLTest", "FetchLimitOffset", "CompoundSelect", "IsolationLevel",
    "SimpleUpdateDelete", "BooleanTest", "IntegerTest", "BinaryTest",
    "LikeFunctions", "ExpandingBoundIn", "RowCount", "TrueDiv", "CTETest", "InsertBehavior",
    "StringTest", "TextTest", "RowFetch", "OrderByLabel", "Bitwise", "JoinTest", "IsOrIsNot",
    "ExistsTest", "Ping", "Escaping", "DistinctOn", "CastType", "WindowFunction",
    "PostCompile", "LongName", "ExceptionTest", "ArgSignature", "UnicodeVarchar", "UnicodeText",
    "DateTest", "TimestampMicro", "RepeatedColumn", "SameNamed", "EnumTest", "Collate",
    "ReturningGuards", "NumericTest", "DateTimeTest", "DateTimeMicro", "Historic",
)  # fmt: skip
# UnicodeSchema, NameDenormalize, Identity and Uuid want what Hive has not: names beyond
# ASCII or in capitals, numbered rows, a type of identifiers. TableViaSelect drops tables inside of
# transactions. Bizarro, DifficultParameters and AutocommitIsolation pass, and take long.
NOT_APPLICABLE = (
    # Names are lower case in Hive.
    "MyCkConst", "quoted_name and (FK_users or mixedCase or PK_test or UQ_email)",
    # A column of a primary key is NOT NULL, and nothing numbers rows.
    "test_autoincrement_col",
    # There are no indexes.
    "test_view_dependencies",
    # There is one isolation level.
    "test_dialect_user_setting_is_restored",
    # An empty comment is a comment.
    "test_drop_table_comment",
    "test_select_recursive_round_trip",
    # Nothing numbers rows.
    "test_insert_from_select_autoinc and not no_rows", "test_no_results_for_non_returning_insert",
    # There are no indexes.
    "test_long_convention_name and ix",
    # Quotients have the digits that Hive gives them.
    "test_truediv_divisor and untyped_function",
)  # fmt: skip
CONFTEST = """
    import pytest
    import hivesql.sqlalchemy
    from sqlalchemy.ext.compiler import compiles
    from sqlalchemy.schema import CreateIndex, DropIndex

    pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

    @compiles(CreateIndex, "hivesql")
    @compiles(DropIndex, "hivesql")
    def without_indexes(*_, **__):
        return "SHOW DATABASES"

    from sqlalchemy.testing.plugin.pytestplugin import *
"""
SETUP = """
    [tool:pytest]
    addopts = -p no:warnings -p no:logging -p no:cacheprovider --maxfail=50 -q
    [sqla_testing]
    requirement_cls = sqlalchemy_requirements:Requirements
    profile_file = profiles.txt
"""


@pytest.mark.spark
@pytest.mark.slow
def test_compliance_suite(tmp_path: Path) -> None:
    """In a process of its own: the suite's plugin would change how this one runs its tests."""
    metastore, warehouse = f"sqlite:///{tmp_path}/metastore.db", f"{tmp_path}/warehouse"
    with hivesql.connect(metastore, warehouse) as session:
        session.sql("CREATE DATABASE test_schema; CREATE DATABASE test_schema_2")
    (tmp_path / "conftest.py").write_text(textwrap.dedent(CONFTEST))
    (tmp_path / "setup.cfg").write_text(textwrap.dedent(SETUP))
    (tmp_path / "test_suite.py").write_text("from sqlalchemy.testing.suite import *\n")
    settings = "spark.master=local[2]&spark.sql.shuffle.partitions=1&spark.driver.memory=1g"
    chosen = (
        f"({' or '.join(APPLICABLE)}) and not ({' or '.join(f'({n})' for n in NOT_APPLICABLE)})"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "test_suite.py", "--durations=15", "-k", chosen, "--dburi",
         f"hivesql:///{warehouse}?metastore={metastore}&{settings}"],
        cwd=tmp_path, text=True, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(SUPPORT)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    place = f"/{tmp_path}/warehouse?metastore=sqlite:///{tmp_path}/metastore.db"
    engine = sa.create_engine(f"hivesql://{place}&hive.lock.numretries=7")
    yield engine
    engine.dispose()


def table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "T", metadata,
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("tiny", TINYINT, comment="100%"),
        sa.Column("name", sa.String(20), server_default="none"),
        sa.Column("price", sa.Numeric(10, 2), sa.CheckConstraint("price > 0", name="positive"),
                  nullable=False),
        sa.Column("tags", HiveType("array<string>")),
        sa.Column("at", sa.DateTime),
        sa.Column("day", sa.String),
        comment="it's",
        hivesql_partitioned_by=["day"],
        hivesql_clustered_by=["id"],
        hivesql_buckets=4,
        hivesql_properties={"note": "100%"},
    )  # fmt: skip


def test_tables_made_and_reflected(engine: sa.Engine, tmp_path: Path) -> None:
    metadata = sa.MetaData()
    made = table(metadata)
    sa.Table("child", metadata, sa.Column("t_id", sa.ForeignKey("T.id")),
             hivesql_transactional=False, hivesql_stored_as="PARQUET")  # fmt: skip
    metadata.create_all(engine)
    metadata.create_all(engine)
    found = sa.Table("t", sa.MetaData(), autoload_with=engine)
    assert [(one.name, repr(one.type), one.nullable) for one in found.columns] == [
        ("id", "INTEGER()", False), ("tiny", "TINYINT()", True),
        ("name", "VARCHAR(length=20)", True), ("price", "DECIMAL(precision=10, scale=2)", False),
        ("tags", "HiveType('array<string>')", True), ("at", "TIMESTAMP()", True),
        ("day", "String()", True),
    ]  # fmt: skip
    assert (found.comment, found.c.tiny.comment) == ("it's", "100%")
    assert found.primary_key.columns.keys() == ["id"]
    looked = sa.inspect(engine)
    assert looked.get_table_options("t") == {
        "hivesql_stored_as": "ORC", "hivesql_transactional": True,
        "hivesql_partitioned_by": ("day",), "hivesql_clustered_by": ("id",), "hivesql_buckets": 4,
    }  # fmt: skip
    checks = [{"name": "positive", "sqltext": "`price` > 0"}]
    assert looked.get_check_constraints("t") == checks
    (key,) = looked.get_foreign_keys("child")
    assert (key["referred_table"], key["referred_columns"]) == ("t", ["id"])
    assert looked.get_table_options("child")["hivesql_transactional"] is False
    with engine.connect() as connection:
        session = connection.connection.dbapi_connection.session  # type: ignore[union-attr]
        assert session.settings.text("hive.lock.numretries") == "7"
        assert session.sql("SHOW TBLPROPERTIES t('note')").rows[0][-1].endswith("100%")
        connection.exec_driver_sql("CREATE VIEW v AS SELECT id FROM t")
    assert (looked.get_view_names(), looked.get_table_names()) == (["v"], ["child", "t"])
    assert "SELECT" in looked.get_view_definition("v")
    assert not looked.has_table("nope")
    made.drop(engine)
    wrong = {"TIME": sa.Column("a", sa.Time), "JSON": sa.Column("a", sa.JSON),
             "not both": sa.Column("a", sa.String, nullable=False, server_default="x")}  # fmt: skip
    for text, column in wrong.items():
        with pytest.raises(CompileError, match=text):
            sa.Table("w", sa.MetaData(), column).create(engine)
    with pytest.raises(ArgumentError, match="names a server"):
        sa.create_engine("hivesql://host/x").connect()
    with pytest.raises(ArgumentError, match="isolation"):
        engine.execution_options(isolation_level="SERIALIZABLE").connect()


@pytest.mark.spark
def test_rows_and_transactions(engine: sa.Engine, spark: SparkSession) -> None:
    t = table(sa.MetaData())
    t.create(engine)
    rows = [{"id": i, "name": f"n{i}%", "price": i + 1, "day": "ab"[i % 2]} for i in range(4)]
    with engine.begin() as connection:
        connection.execute(t.insert(), rows)
    with engine.connect() as connection:
        change = t.update().where(t.c.name == sa.bindparam("who")).values(price=9)
        assert connection.execute(change, {"who": "n1%"}).rowcount == 1
        assert connection.execute(t.delete().where(t.c.day == "a")).rowcount == 2
        connection.rollback()
        query = sa.select(t.c.id, t.c.price).where(t.c.name.like("n%\\%")).order_by(t.c.id.desc())
        assert connection.execute(query.limit(2).offset(1)).all() == [(2, 3), (1, 2)]
        assert connection.scalar(sa.select(sa.func.count()).where(t.c.id.in_([]))) == 0
        assert connection.scalar(sa.select(t.c.day).distinct().where(t.c.id == 1)) == "b"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(t.delete())
        t.drop(connection)
