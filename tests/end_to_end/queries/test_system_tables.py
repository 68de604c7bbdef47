"""``sys`` and ``information_schema``, asked by SQL as any other database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql
from end_to_end.answers import rows
from hivesql_planner.errors import HiveSqlError, NoSuchObject, SemanticError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SETUP = """
    CREATE DATABASE d;
    CREATE TABLE t (a INT, b VARCHAR(10), c DECIMAL(8,2)) PARTITIONED BY (p STRING)
      STORED AS ORC TBLPROPERTIES ('transactional'='true');
    CREATE TABLE d.plain (x STRING, CONSTRAINT k PRIMARY KEY (x) DISABLE NOVALIDATE);
    CREATE VIEW v AS SELECT a FROM t;
    INSERT INTO t VALUES (1, 'x', 1.5, 'one'), (2, 'y', 2.5, 'two');
    DELETE FROM t WHERE a = 2
"""


@pytest.fixture
def made(session: hivesql.Session) -> hivesql.Session:
    session.sql(SETUP)
    return session


ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "SELECT schema_name FROM information_schema.schemata": [("d",), ("default",)],
    "SELECT table_schema, table_name, table_type FROM information_schema.tables": [
        ("d", "plain", "BASE_TABLE"), ("default", "t", "BASE_TABLE"), ("default", "v", "VIEW")],
    "SELECT Table_Name FROM `INFORMATION_SCHEMA`.`Tables` T WHERE t.TABLE_SCHEMA = 'd'": [
        ("plain",)],
    "SELECT tables.table_name FROM information_schema.tables LIMIT 0": [],
    "SELECT information_schema.views.view_definition FROM information_schema.views": [
        ("SELECT a FROM t",)],
    "SELECT count(*), max(ordinal_position) FROM information_schema.columns "
    "WHERE table_name = 't'": [(3, 2)],
    "SELECT column_name, character_maximum_length, numeric_precision, numeric_scale "
    "FROM information_schema.columns WHERE table_name = 't'": [
        ("a", None, "10", None), ("b", 10, None, None), ("c", None, "8", "2")],
    "SELECT count(*) FROM information_schema.scheduled_queries": [(0,)],
    "SELECT count(*) FROM information_schema.column_privileges": [(0,)],
    "SELECT DISTINCT privilege_type FROM information_schema.table_privileges": [
        ("DELETE",), ("INSERT",), ("SELECT",), ("UPDATE",)],
    # Joined with each other, with tables, in subqueries, and twice.
    "SELECT c.column_name, t.a FROM information_schema.columns c "
    "JOIN t ON c.ordinal_position = t.a WHERE c.table_name = 't'": [("b", 1)],
    "WITH x AS (SELECT table_name n FROM information_schema.tables) "
    "SELECT n FROM x WHERE n NOT IN (SELECT table_name FROM information_schema.views)": [
        ("plain",), ("t",)],
    "SELECT count(*) FROM information_schema.tables a JOIN information_schema.tables b "
    "ON a.table_name = b.table_name": [(3,)],
    "SELECT d.name, t.tbl_name FROM sys.dbs d JOIN sys.tbls t ON d.db_id = t.db_id "
    "WHERE NOT EXISTS (SELECT 1 FROM sys.partitions p WHERE p.tbl_id = t.tbl_id)": [
        ("d", "plain"), ("default", "v")],
    "SELECT part_name FROM sys.partitions": [("p=one",), ("p=two",)],
    "SELECT c.column_name, c.type_name FROM sys.tbls t JOIN sys.sds s ON t.sd_id = s.sd_id "
    "JOIN sys.columns_v2 c ON s.cd_id = c.cd_id WHERE t.tbl_name = 'plain'": [("x", "string")],
    "SELECT param_value FROM sys.table_params WHERE param_key = 'transactional'": [("true",)],
    "SELECT constraint_name, constraint_type FROM sys.key_constraints": [("k", "0")],
    "SELECT schema_version FROM sys.version": [("4.1.0",)],
    "SELECT `table`, `partition` FROM sys.locks": [],
    "SELECT table_name, partition_name, deltas, delete_deltas, delete_share "
    "FROM sys.hivesql_table_layout WHERE database_name = 'default'": [
        ("t", "p=one", 1, 0, 0.0), ("t", "p=two", 1, 1, 1.0)],
    "SELECT `value`, default_value FROM sys.hivesql_settings "
    "WHERE `key` = 'hive.txn.timeout'": [("77s", "300s")],
    "SELECT row__id FROM information_schema.views": [(None,)],
}  # fmt: skip


def test_queries_are_answered(made: hivesql.Session) -> None:
    made.sql("SET hive.txn.timeout=77s")
    assert {sql: rows(made, sql) for sql in ANSWERS} == ANSWERS
    # What needs no Spark is answered by it as well.
    made.sql("SET hivesql.local.max.bytes=0")
    assert {sql: rows(made, sql) for sql in ANSWERS} == ANSWERS
    name = made.sql("SELECT table_name FROM information_schema.tables WHERE table_name = ?", ["t"])
    assert name.scalar() == "t"


def test_what_is_read_can_be_kept(made: hivesql.Session) -> None:
    made.sql("""
        CREATE VIEW big AS SELECT table_name FROM information_schema.tables;
        CREATE TABLE copied STORED AS ORC AS
          SELECT table_schema, table_name FROM information_schema.tables WHERE table_name = 't';
        INSERT INTO copied SELECT 'columns', column_name FROM information_schema.columns
          WHERE table_name = 'plain';
        CREATE TABLE alike LIKE information_schema.views
    """)
    assert rows(made, "SELECT * FROM copied") == [("columns", "x"), ("default", "t")]
    names = [("alike",), ("big",), ("copied",), ("plain",), ("t",), ("v",)]
    assert rows(made, "SELECT * FROM big") == names
    assert rows(made, "SELECT count(*) FROM alike") == [(0,)]
    made.sql("CREATE TABLE later (a INT)")
    assert ("later",) in rows(made, "SELECT * FROM big")


def test_a_database_of_it_can_be_used(made: hivesql.Session) -> None:
    made.sql("USE information_schema")
    assert rows(made, "SELECT table_name FROM views") == [("v",)]
    assert ("tables",) in rows(made, "SHOW TABLES")
    made.sql("USE sys")
    assert rows(made, "SELECT name FROM dbs") == [("d",), ("default",)]
    made.sql("USE default")
    assert rows(made, "SHOW DATABASES") == [("d",), ("default",)]


def test_an_open_transaction_is_seen_and_no_lock_of_the_query(made: hivesql.Session) -> None:
    made.sql("START TRANSACTION; INSERT INTO t VALUES (3, 'z', 1, 'one')")
    here = made.open_transaction
    told = "SELECT txn_id, state, tc_operation_type FROM information_schema.transactions"
    assert rows(made, f"{told} WHERE tc_table = 't' AND state = 'open'") == [
        (here, "open", "INSERT")]  # fmt: skip
    locks = "SELECT DISTINCT `table`, lock_state, lock_type FROM information_schema.locks"
    assert rows(made, locks) == [("t", "acquired", "shared_read")]
    assert {row[0] for row in rows(made, "SELECT hl_table FROM sys.hive_locks")} == {"t"}
    made.sql("ROLLBACK")
    assert rows(made, locks) == []


def test_what_another_session_does_is_seen_by_the_next_statement(
    made: hivesql.Session, spark: SparkSession, tmp_path: Path
) -> None:
    url, warehouse = f"sqlite:///{tmp_path}/metastore.db", str(tmp_path / "warehouse")
    with hivesql.connect(url, warehouse, spark=spark) as other:
        other.sql("CREATE TABLE theirs (a INT)")
        count = "SELECT count(*) FROM information_schema.tables WHERE table_name = 'theirs'"
        assert made.sql(count).scalar() == 1
        other.sql("DROP TABLE theirs")
        assert made.sql(count).scalar() == 0


def test_a_compaction_is_told(made: hivesql.Session) -> None:
    made.sql("ALTER TABLE t PARTITION (p='two') COMPACT 'major'")
    told = rows(made, "SELECT c_table, c_partition, c_type, c_state FROM sys.compactions")
    assert told == [("t", "p=two", "major", "succeeded")]
    assert rows(made, "SELECT cc_table, cc_state FROM sys.completed_compactions") == [("t", "s")]


def test_many_partitions(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE many (a INT) PARTITIONED BY (p INT)")
    added = " ".join(f"PARTITION (p={i})" for i in range(1000))
    session.sql(f"ALTER TABLE many ADD {added}")
    query = "SELECT count(*), max(part_name) FROM sys.partitions WHERE part_name > 'p=99'"
    assert rows(session, query) == [(10, "p=999")]
    values = "SELECT count(DISTINCT part_key_val) FROM sys.partition_key_vals"
    assert rows(session, values) == [(1000,)]


def test_another_zone(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.sql("START TRANSACTION; INSERT INTO t VALUES (1)")
    started = "SELECT started FROM information_schema.transactions"
    in_utc = session.sql(started).scalar()
    session.sql("COMMIT; SET TIME ZONE '+05:00'; START TRANSACTION; INSERT INTO t VALUES (1)")
    open_ones = f"{started} WHERE state = 'open'"
    there = session.sql(open_ones).scalar()
    session.sql("ROLLBACK")
    later = (int(there[11:13]) - int(in_utc[11:13])) % 24
    assert later in (5, 6), "an hour may begin meanwhile"


As = Callable[[str], hivesql.Session]
ENFORCED = {"hive.security.authorization.enabled": "true", "hive.users.in.admin.role": "root"}


@pytest.fixture
def as_user(spark: SparkSession, tmp_path: Path) -> Iterator[As]:
    """Sessions on one warehouse that asks for privileges, by their user."""
    sessions: dict[str, hivesql.Session] = {}

    def connect(user: str) -> hivesql.Session:
        if user not in sessions:
            sessions[user] = hivesql.connect(
                f"sqlite:///{tmp_path}/m.db", tmp_path / "wh", settings=ENFORCED, user=user,
                spark=spark, notify=lambda line: None,
            )  # fmt: skip
        return sessions[user]

    yield connect
    for session in sessions.values():
        session.close()


def test_users_see_what_they_may_read(as_user: As) -> None:
    as_user("root").sql("""
        SET ROLE ADMIN;
        CREATE TABLE mine (a INT);
        CREATE TABLE shared (b INT);
        CREATE VIEW counted AS SELECT count(*) n FROM information_schema.tables;
        GRANT SELECT ON shared TO USER ann;
        GRANT SELECT ON counted TO USER ann
    """)
    tables = "SELECT table_name FROM information_schema.tables"
    assert rows(as_user("root"), tables) == [("counted",), ("mine",), ("shared",)]
    ann = as_user("ann")
    assert rows(ann, tables) == [("counted",), ("shared",)]
    columns = "SELECT table_name, column_name FROM information_schema.columns"
    assert rows(ann, columns) == [("counted", "n"), ("shared", "b")]
    privileges = "SELECT DISTINCT grantee FROM information_schema.table_privileges"
    assert rows(ann, privileges) == [("ann",)]
    assert rows(ann, "SELECT n FROM counted") == [(2,)]
    assert rows(as_user("bob"), tables) == []
    for sql in ("SELECT * FROM sys.tbls", "SELECT * FROM sys.hivesql_table_layout",
                "DESCRIBE sys.tbls"):  # fmt: skip
        with pytest.raises(SemanticError, match=r"Permission denied: .*name=ann.*name=sys\."):
            ann.sql(sql)
    ann.sql("DESCRIBE information_schema.tables")
    assert len(rows(as_user("root"), "SELECT tbl_id FROM sys.tbls")) == 3


CHANGES = (
    "INSERT INTO sys.dbs VALUES (1, 'a', 'b', 'c', 'd')",
    "INSERT OVERWRITE TABLE sys.dbs SELECT * FROM sys.dbs",
    "UPDATE sys.dbs SET name = 'x'",
    "DELETE FROM information_schema.tables",
    "MERGE INTO sys.dbs USING t ON true WHEN MATCHED THEN DELETE",
    "DROP TABLE information_schema.tables",
    "TRUNCATE TABLE sys.dbs",
    "ALTER TABLE sys.dbs SET TBLPROPERTIES ('a'='b')",
    "ALTER TABLE t RENAME TO sys.t",
    "ANALYZE TABLE sys.dbs COMPUTE STATISTICS",
    "LOAD DATA INPATH '/nowhere' INTO TABLE sys.dbs",
    "ALTER TABLE sys.dbs COMPACT 'major'",
    "MSCK REPAIR TABLE sys.dbs",
    "CREATE TABLE sys.x (a INT)",
    "CREATE TABLE information_schema.x AS SELECT 1 AS a",
    "CREATE VIEW Information_Schema.x AS SELECT 1 AS a",
    "CREATE DATABASE sys",
    "DROP DATABASE sys CASCADE",
    "ALTER DATABASE information_schema SET DBPROPERTIES ('a'='b')",
    "USE sys; CREATE TABLE x (a INT)",
    "USE information_schema; DELETE FROM tables",
)


@pytest.mark.parametrize("sql", CHANGES)
def test_nothing_in_them_can_be_changed(session: hivesql.Session, sql: str) -> None:
    session.sql("CREATE TABLE t (a INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    with pytest.raises(HiveSqlError, match=r"cannot be changed: .* is read only"):
        session.sql(sql)
    assert rows(session, "SHOW DATABASES") == [("default",)]


def test_a_table_that_is_not_among_them_is_refused_by_name(session: hivesql.Session) -> None:
    with pytest.raises(NoSuchObject, match=r"sys\.skewed_values") as refused:
        session.sql("SELECT * FROM sys.skewed_values")
    assert refused.value.code == 10001
    with pytest.raises(HiveSqlError, match=r"SHOW CREATE TABLE of sys\.dbs"):
        session.sql("SHOW CREATE TABLE sys.dbs")
    with pytest.raises(SemanticError, match="no earlier states"):
        session.sql("SELECT * FROM sys.dbs FOR SYSTEM_VERSION AS OF 1")


def test_a_database_of_ones_own_wins(session: hivesql.Session) -> None:
    # As one that was there before had these names a meaning.
    from hivesql_planner.model.table import Database

    session.runtime.metastore.create_database(Database(name="sys", location=""))
    session.sql("CREATE TABLE sys.dbs (mine INT); INSERT INTO sys.dbs VALUES (5)")
    assert rows(session, "SELECT mine FROM sys.dbs") == [(5,)]
    assert rows(session, "SHOW TABLES IN sys") == [("dbs",)]
    with pytest.raises(NoSuchObject, match=r"sys\.tbls"):
        session.sql("SELECT * FROM sys.tbls")
    session.sql("DROP DATABASE sys CASCADE")
    assert rows(session, "SELECT name FROM sys.dbs") == [("default",)]


def test_explain_tells_where_rows_come_from(made: hivesql.Session) -> None:
    told = made.sql("EXPLAIN SELECT * FROM information_schema.tables").rows
    assert "information_schema.tables, which the metastore tells" in told[-1][0]
    assert made.sql("EXPLAIN LOCKS SELECT * FROM sys.dbs").rows == [("LOCK INFORMATION:",)]
