"""Privileges that every statement asks for; each denial is that of real Hive 4.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql.dry_run import rehearse
from hivesql.session import Session
from hivesql.streaming import HiveStreamingConnection, StrictDelimitedInputWriter
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError

ENFORCED = {"hive.security.authorization.enabled": "true", "hive.users.in.admin.role": "root"}
As = Callable[[str], Session]
MADE = """
    CREATE DATABASE d;
    CREATE TABLE t (a INT);
    CREATE TABLE d.x (a INT);
    INSERT INTO t VALUES (1);
    CREATE VIEW v AS SELECT a FROM t;
    CREATE VIEW vv AS SELECT a FROM v;
    CREATE TABLE acid (a INT, b STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true');
    INSERT INTO acid VALUES (1, 'x');
    CREATE TABLE p (a INT) PARTITIONED BY (q STRING);
    CREATE TABLE p2 (a INT) PARTITIONED BY (q STRING);
    ALTER TABLE p ADD PARTITION (q='1');
    CREATE MATERIALIZED VIEW mv AS SELECT a FROM acid
"""


@pytest.fixture
def as_user(tmp_path: Path) -> Iterator[As]:
    """Sessions on one warehouse that asks for privileges, by their user; all of it is root's."""
    sessions: dict[str, Session] = {}

    def connect(user: str) -> Session:
        if user not in sessions:
            place = f"sqlite:///{tmp_path}/m.db"
            sessions[user] = hivesql.connect(
                place, tmp_path / "wh", settings=ENFORCED, user=user, notify=lambda line: None
            )
        return sessions[user]

    yield connect
    for session in sessions.values():
        session.close()


def table(name: str, action: str = "") -> str:
    return f"Object [type=TABLE_OR_VIEW, name={name}{action and f', action={action}'}]"


OWNER = "OBJECT OWNERSHIP"
INSERT, OVERWRITE = table("default.t", "INSERT"), table("default.t", "INSERT_OVERWRITE")
T, V, ACID, P = (table(f"default.{name}") for name in ("t", "v", "acid", "p"))
D = "Object [type=DATABASE, name=d]"
ADMIN = "ADMIN PRIVILEGE on INPUT, ADMIN PRIVILEGE on OUTPUT"
CHANGED = f"[INSERT] on {table('default.acid', 'INSERT')}"

DENIED = {
    "SELECT * FROM t": ("QUERY", f"[SELECT] on {T}"),
    "SELECT count(*) FROM v": ("QUERY", f"[SELECT] on {V}"),
    "WITH c AS (SELECT a FROM t) SELECT * FROM c, d.x": (
        "QUERY", f"[SELECT] on {table('d.x')}, [SELECT] on {T}",
    ),
    "SELECT * FROM table_changes('acid', 1)": ("QUERY", f"[SELECT] on {ACID}"),
    "SELECT * FROM t TABLESAMPLE (1 ROWS)": ("QUERY", f"[SELECT] on {T}"),
    "SELECT a FROM acid FOR SYSTEM_VERSION AS OF 1": ("QUERY", f"[SELECT] on {ACID}"),
    "SELECT 1 WHERE EXISTS (SELECT a FROM t)": ("QUERY", f"[SELECT] on {T}"),
    "INSERT INTO t VALUES (2)": ("QUERY", f"[INSERT] on {INSERT}"),
    "INSERT OVERWRITE TABLE t SELECT a FROM v": (
        "QUERY", f"[INSERT, DELETE] on {OVERWRITE}, [SELECT] on {V}",
    ),
    "DELETE FROM acid WHERE a=1": ("QUERY", f"[DELETE] on {ACID}, [SELECT] on {ACID}"),
    "UPDATE acid SET b='x' WHERE a=1": (
        "QUERY", f"[DELETE] on {ACID}, {CHANGED}, [SELECT] on {ACID}",
    ),
    "MERGE INTO acid USING t ON acid.a=t.a WHEN MATCHED THEN UPDATE SET b='y'": (
        "QUERY", f"[DELETE] on {ACID}, {CHANGED}, [SELECT] on {ACID}, [SELECT] on {T}",
    ),
    "MERGE INTO acid USING t ON acid.a=t.a WHEN NOT MATCHED THEN INSERT VALUES (t.a,'z')": (
        "QUERY", f"{CHANGED}, [SELECT] on {ACID}, [SELECT] on {T}",
    ),
    "FROM t INSERT INTO p PARTITION (q='1') SELECT a INSERT OVERWRITE TABLE d.x SELECT a": (
        "QUERY",
        f"[INSERT, DELETE] on {table('d.x', 'INSERT_OVERWRITE')}, "
        f"[INSERT] on {table('default.p', 'INSERT')}, [SELECT] on {T}",
    ),
    "INSERT OVERWRITE DIRECTORY '{place}' SELECT a FROM t": ("QUERY", f"[SELECT] on {T}"),
    "LOAD DATA LOCAL INPATH '{place}/a' INTO TABLE t": ("LOAD", f"[INSERT, DELETE] on {INSERT}"),
    "LOAD DATA LOCAL INPATH '{place}/a' OVERWRITE INTO TABLE t": (
        "LOAD", f"[INSERT, DELETE] on {OVERWRITE}",
    ),
    "DROP TABLE t": ("DROPTABLE", f"[{OWNER}] on {T}"),
    "DROP VIEW v": ("DROPVIEW", f"[{OWNER}] on {V}, [{OWNER}] on {V}"),
    "TRUNCATE TABLE t": ("TRUNCATETABLE", f"[{OWNER}] on {T}"),
    "ALTER TABLE p ADD PARTITION (q='2')": ("ALTERTABLE_ADDPARTS", f"[INSERT] on {P}"),
    "ALTER TABLE p DROP PARTITION (q='1')": ("ALTERTABLE_DROPPARTS", f"[DELETE] on {P}"),
    "ALTER TABLE p2 EXCHANGE PARTITION (q='1') WITH TABLE p": (
        "ALTERTABLE_EXCHANGEPARTITION",
        f"[INSERT] on {table('default.p2')}, [SELECT, DELETE] on {P}",
    ),
    "ALTER TABLE t SET LOCATION '{place}'": (
        "ALTERTABLE_LOCATION", f"[{OWNER}] on {T}, [SELECT, INSERT, DELETE] on {T}",
    ),
    "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS": (
        "ANALYZE_TABLE", f"[SELECT, INSERT] on {T}",
    ),
    "MSCK REPAIR TABLE p": ("MSCK", f"[INSERT] on {P}"),
    "DESCRIBE FORMATTED t": ("DESCTABLE", f"[SELECT] on {T}"),
    "DESCRIBE p PARTITION (q='1')": ("DESCTABLE", f"[SELECT] on {P}"),
    "SHOW COLUMNS IN t": ("SHOWCOLUMNS", f"[SELECT] on {T}"),
    "SHOW PARTITIONS p": ("SHOWPARTITIONS", f"[SELECT] on {P}"),
    "SHOW CREATE TABLE v": ("SHOW_CREATETABLE", f"[SELECT with grant] on {V}"),
    "SHOW CREATE DATABASE d": ("SHOW_CREATEDATABASE", f"[SELECT with grant] on {D}"),
    "CREATE TABLE d.y (a INT)": ("CREATETABLE", f"[{OWNER}] on {D}"),
    "CREATE TEMPORARY TABLE d.y (a INT)": ("CREATETABLE", f"[{OWNER}] on {D}"),
    "CREATE TABLE d.y LIKE t": ("CREATETABLE", f"[{OWNER}] on {D}"),
    "CREATE TABLE y AS SELECT a FROM t": ("CREATETABLE_AS_SELECT", f"[SELECT] on {T}"),
    "CREATE TABLE d.y AS SELECT 1 AS a": ("CREATETABLE_AS_SELECT", f"[{OWNER}] on {D}"),
    "CREATE VIEW v2 AS SELECT a FROM t": ("CREATEVIEW", f"[SELECT with grant] on {T}"),
    "CREATE MATERIALIZED VIEW mv2 AS SELECT a FROM acid": (
        "CREATE_MATERIALIZED_VIEW", f"[SELECT with grant] on {ACID}",
    ),
    "CREATE OR REPLACE VIEW v AS SELECT 1 AS a": ("CREATEVIEW", f"[{OWNER}] on {V}"),
    "ALTER VIEW v AS SELECT a FROM t": ("ALTERVIEW_AS", f"[{OWNER}] on {T}, [{OWNER}] on {V}"),
    "DROP DATABASE d CASCADE": ("DROPDATABASE", f"[{OWNER}] on {D}, [{OWNER}] on {table('d.x')}"),
    "ALTER DATABASE d SET DBPROPERTIES ('a'='b')": (
        "ALTERDATABASE", f"[ADMIN PRIVILEGE] on {D}",
    ),
    "ALTER DATABASE d SET OWNER USER bob": ("ALTERDATABASE_OWNER", f"[ADMIN PRIVILEGE] on {D}"),
    "CREATE FUNCTION f AS 'a.B'": ("CREATEFUNCTION", ADMIN),
    "CREATE TEMPORARY FUNCTION f AS 'a.B'": ("CREATEFUNCTION", ADMIN),
    "DROP FUNCTION IF EXISTS f": ("DROPFUNCTION", ADMIN),
    "CREATE TEMPORARY MACRO m (x INT) x + 1": ("CREATEMACRO", ADMIN),
    "DROP TEMPORARY MACRO IF EXISTS m": ("DROPMACRO", ADMIN),
    "ADD JAR {place}/x.jar": (
        "ADD", "[ADMIN PRIVILEGE] on Object [type=COMMAND_PARAMS, name=[jar, {place}/x.jar]]",
    ),
    "DFS -ls /": ("DFS", "[ADMIN PRIVILEGE] on Object [type=COMMAND_PARAMS, name=[-ls, /]]"),
}  # fmt: skip
OWNERS = {
    "ALTER TABLE t SET TBLPROPERTIES ('a'='b')": "PROPERTIES",
    "ALTER TABLE t RENAME TO t9": "RENAME",
    "ALTER TABLE t ADD COLUMNS (z INT)": "ADDCOLS",
    "ALTER TABLE t REPLACE COLUMNS (a BIGINT)": "REPLACECOLS",
    "ALTER TABLE t CHANGE COLUMN a a BIGINT": "RENAMECOL",
    "ALTER TABLE t SET FILEFORMAT ORC": "FILEFORMAT",
    "ALTER TABLE t SET SERDEPROPERTIES ('a'='b')": "SERDEPROPERTIES",
    "ALTER TABLE t SET SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'": "SERIALIZER",
    "ALTER TABLE t CLUSTERED BY (a) INTO 2 BUCKETS": "CLUSTER_SORT",
    "ALTER TABLE t SKEWED BY (a) ON (1)": "SKEWED",
    "ALTER TABLE t SET OWNER USER bob": "OWNER",
    "ALTER TABLE t TOUCH": "TOUCH",
    "ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a) DISABLE NOVALIDATE": "ADDCONSTRAINT",
    "ALTER TABLE t UPDATE STATISTICS FOR COLUMN a SET ('numDVs'='1')": "UPDATETABLESTATS",
}
"""Changes of a table, which are its owner's alone."""


def denied(session: Session, sql: str, operation: str, what: str) -> None:
    with pytest.raises(HiveSqlError) as caught:
        session.sql(sql)
    assert caught.value.message == (
        f"Permission denied: Principal [name={session.runtime.user}, type=USER] does not have "
        f"following privileges for operation {operation} [{what}]"
    )
    assert (caught.value.code, caught.value.line) == (40000, 1)


def test_without_privileges(as_user: As, tmp_path: Path) -> None:
    root, bob = as_user("root"), as_user("bob")
    root.sql(MADE)
    (tmp_path / "a").write_text("7\n")
    for sql, (operation, what) in DENIED.items():
        text, told = (one.replace("{place}", str(tmp_path)) for one in (sql, what))
        denied(bob, text, operation, told)
        if not text.startswith(("ADD", "DFS")):
            denied(bob, f"EXPLAIN {text}", operation, told)
            (step,) = rehearse(bob, text, None)
            assert step.error is not None
            assert "Permission denied" in step.error.message
    for sql, operation in OWNERS.items():
        denied(bob, sql, f"ALTERTABLE_{operation}", f"[{OWNER}] on {T}, [{OWNER}] on {T}")
    twice = f"[{OWNER}] on {table('default.mv')}, [{OWNER}] on {table('default.mv')}"
    for sql, operation in (
        ("ALTER MATERIALIZED VIEW mv REBUILD", "ALTER_MATERIALIZED_VIEW_REBUILD"),
        ("ALTER MATERIALIZED VIEW mv ENABLE REWRITE", "ALTER_MATERIALIZED_VIEW_REWRITE"),
        ("DROP MATERIALIZED VIEW mv", "DROP_MATERIALIZED_VIEW"),
    ):
        denied(bob, sql, operation, twice)
    twice = f"[{OWNER}] on {P}, [{OWNER}] on {P}"
    for sql, operation in (
        ("ALTER TABLE p PARTITION (q='1') RENAME TO PARTITION (q='3')", "ALTERTABLE_RENAMEPART"),
        ("ALTER TABLE p PARTITION (q='1') SET FILEFORMAT ORC", "ALTERPARTITION_FILEFORMAT"),
    ):
        denied(bob, sql, operation, twice)
    twice = f"[{OWNER}] on {ACID}, [{OWNER}] on {ACID}"
    denied(bob, "ALTER TABLE acid COMPACT 'major'", "ALTERTABLE_COMPACT", twice)
    for call in (bob.inspect, bob.check):
        with pytest.raises(HiveSqlError, match="operation DESCTABLE"):
            call("acid")
    builder = HiveStreamingConnection.builder().with_session(bob).with_table("acid")
    stream = builder.with_record_writer(StrictDelimitedInputWriter(field_delimiter=","))
    with pytest.raises(HiveSqlError, match=r"operation QUERY \[\[INSERT\]"):
        stream.connect()
    # None of it has done anything.
    assert root.sql("SELECT a FROM t").rows == [(1,)]
    assert root.sql("SELECT * FROM acid").rows == [(1, "x")]
    assert root.sql("SHOW PARTITIONS p").rows == [("q=1",)]


def test_what_anybody_may(as_user: As) -> None:
    as_user("root").sql(MADE)
    bob = as_user("bob")
    bob.sql("""
        SHOW TABLES; SHOW DATABASES; SHOW TBLPROPERTIES t; SHOW TABLE EXTENDED LIKE 't';
        DESCRIBE DATABASE d; SHOW FUNCTIONS LIKE 'abs'; DESCRIBE FUNCTION abs; SHOW LOCKS;
        SHOW TRANSACTIONS; SHOW COMPACTIONS; USE d; USE default; LIST JARS; RELOAD FUNCTIONS;
        DROP TABLE IF EXISTS nosuch; DROP DATABASE IF EXISTS nosuch; SELECT 1;
        CREATE TABLE IF NOT EXISTS t (b INT); CREATE DATABASE IF NOT EXISTS d;
        CREATE TABLE mine (a INT); INSERT INTO mine VALUES (5);
        CREATE VIEW own AS SELECT a FROM mine;
        CREATE TABLE copy LIKE t; ALTER TABLE mine SET TBLPROPERTIES ('a'='b'); TRUNCATE TABLE mine;
        CREATE DATABASE his; CREATE TABLE his.x (a INT); INSERT INTO his.x SELECT a FROM mine;
        CREATE TEMPORARY TABLE tmp (a INT); INSERT INTO tmp VALUES (1); DESCRIBE tmp;
        ALTER TABLE tmp RENAME TO tmp2; SHOW CREATE TABLE tmp2; DROP TABLE tmp2;
        DROP VIEW own; DROP TABLE mine; DROP DATABASE his CASCADE
    """)
    steps = list(rehearse(bob, "CREATE DATABASE e; CREATE TABLE e.n (a INT); DROP TABLE e.n", None))
    assert [step.error for step in steps] == [None] * 3
    (one, other) = rehearse(as_user("root"), "SET ROLE admin; DROP DATABASE d CASCADE", None)
    assert one.error is other.error is None


def test_what_is_granted(as_user: As) -> None:
    root, bob = as_user("root"), as_user("bob")
    root.sql(MADE)
    root.sql("GRANT SELECT ON vv TO USER bob; GRANT INSERT ON t TO ROLE public")
    # A view gives what its owner may read, and no more.
    assert bob.sql("SELECT * FROM vv").rows == [(1,)]
    denied(bob, "SELECT * FROM v", "QUERY", f"[SELECT] on {V}")
    bob.sql("INSERT INTO t SELECT a FROM vv")
    denied(bob, "INSERT INTO t SELECT a FROM t", "QUERY", f"[SELECT] on {T}")
    view = f"[SELECT with grant] on {table('default.vv')}"
    denied(bob, "CREATE VIEW v5 AS SELECT a FROM vv", "CREATEVIEW", view)
    root.sql("GRANT SELECT, UPDATE, DELETE ON acid TO USER bob")
    denied(bob, "UPDATE acid SET b='y' WHERE a=1", "QUERY", CHANGED)
    root.sql("GRANT INSERT ON acid TO USER bob")
    bob.sql("UPDATE acid SET b='y' WHERE a=1; DELETE FROM acid WHERE a=2")
    root.sql("SET ROLE admin; CREATE ROLE r; GRANT r TO USER bob; GRANT SELECT ON t TO ROLE r")
    denied(bob, "SELECT * FROM t", "QUERY", f"[SELECT] on {T}")
    bob.sql("SET ROLE r; SELECT * FROM t")
    root.sql("REVOKE r FROM USER bob")
    denied(bob, "SELECT * FROM t", "QUERY", f"[SELECT] on {T}")
    root.sql("ALTER DATABASE d SET OWNER ROLE r; GRANT r TO USER bob")
    bob.sql("SET ROLE r; CREATE TABLE d.his (a INT); DROP TABLE d.his")
    root.sql("ALTER TABLE t SET OWNER USER bob")
    bob.sql("SET ROLE none; ALTER TABLE t SET TBLPROPERTIES ('a'='b'); DROP TABLE t")
    # An administrator may do all, with that role in force.
    bob.sql("CREATE TABLE secret (a INT)")
    root.sql("SELECT * FROM secret; SET ROLE all")
    denied(root, "DROP TABLE secret", "DROPTABLE", f"[{OWNER}] on {table('default.secret')}")


def test_it_cannot_be_switched_off(as_user: As) -> None:
    bob = as_user("bob")
    for key in (*ENFORCED, "hive.security.authorization.manager"):
        for sql in (f"SET {key}=bob", f"SET hiveconf:{key}=false", f"RESET -d {key}"):
            with pytest.raises(SemanticError, match=f"Cannot modify {key} at runtime"):
                bob.sql(sql)
        with pytest.raises(SemanticError, match="Cannot modify"):
            bob.set(key, "false")
    bob.sql("RESET")
    assert bob.settings.asks_for_privileges


def test_it_can_be_switched_on(tmp_path: Path) -> None:
    place, told = f"sqlite:///{tmp_path}/m.db", list[str]()
    with hivesql.connect(place, tmp_path / "wh", user="ann") as ann:
        ann.sql("CREATE TABLE t (a INT)")
    with hivesql.connect(place, tmp_path / "wh", user="bob") as bob:
        bob.sql("SELECT * FROM t; SET hive.security.authorization.enabled=true")
        denied(bob, "SELECT * FROM t", "QUERY", f"[SELECT] on {T}")
    ranger = {
        "hive.security.authorization.enabled": True,
        "hive.security.authorization.manager": "org.apache.ranger.RangerHiveAuthorizerFactory",
    }
    with hivesql.connect(place, tmp_path / "wh", settings=ranger, notify=told.append) as session:
        session.sql("SELECT * FROM t")
    assert any("RangerHiveAuthorizerFactory is not known here" in line for line in told)


def test_who_a_user_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"sqlite:///{tmp_path}/m.db"
    monkeypatch.setenv("HADOOP_USER_NAME", "ann")
    for user, name in ((None, "ann"), ("bob", "bob")):
        with hivesql.connect(place, tmp_path / "wh", user=user) as session:
            session.sql(f"CREATE TABLE of_{name} (a INT)")
            (grant, *_) = session.sql(f"SHOW GRANT USER {name} ON of_{name}").rows
            assert grant[4] == grant[9] == name


@pytest.mark.spark
def test_frames(as_user: As) -> None:
    root, bob = as_user("root"), as_user("bob")
    root.sql(MADE)
    import pyarrow as pa

    rows = pa.table({"a": pa.array([1], pa.int32()), "b": ["z"]})
    with pytest.raises(HiveSqlError, match=r"\[\[INSERT\] on"):
        bob.append("acid", rows)
    with pytest.raises(HiveSqlError, match=r"\[\[DELETE\] on .*, \[INSERT\] on"):
        bob.merge("acid", rows, ["a"])
    with pytest.raises(HiveSqlError, match=r"\[\[SELECT\] on"):
        bob.frame("SELECT * FROM acid")
    root.sql("GRANT ALL ON acid TO USER bob")
    bob.append("acid", rows)
    bob.merge("acid", rows, ["a"])
    assert bob.frame("SELECT DISTINCT b FROM acid").collect()[0].b == "z"
    with pytest.raises(NotSupported):
        bob.sql("GRANT SELECT ON nosuch.t.x TO USER u")
