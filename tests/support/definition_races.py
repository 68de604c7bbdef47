"""Two sessions change definitions at once: whatever a statement was bound to, another was first.

The first one's statement comes right behind the binding of the second one's. What both leave is
what they would have left one after the other, and what IF [NOT] EXISTS and OR REPLACE say holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import hivesql
from hivesql.script import split
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.statements.bound import Statement

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
T = f"CREATE TABLE t (a INT) {ACID}"
V = f"{T}; CREATE VIEW v AS SELECT a z FROM t"
D = "CREATE DATABASE d"
P = "CREATE TABLE p (a INT) PARTITIONED BY (d INT) STORED AS ORC"
P1 = f"{P}; ALTER TABLE p ADD PARTITION (d=1)"
F = "CREATE FUNCTION f AS 'org.apache.hadoop.hive.ql.udf.UDFLog2'"
R = "SET ROLE ADMIN; CREATE ROLE r"
DATABASES, TABLES, PARTITIONS = "SHOW DATABASES", "SHOW TABLES", "SHOW PARTITIONS p"


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """A statement, and what somebody else does first: the same, unless it is said."""

    before: str = ""
    text: str
    first: str = ""
    message: str = ""
    """A part of the second one's error; "" for none."""
    then: tuple[str, str]
    """A question, and the first column of its rows."""
    places: str = ""
    """Directories in the warehouse, without those of writes."""


NEW_VIEW = "CREATE OR REPLACE VIEW v AS SELECT a x FROM t"
OTHER_VIEW = "CREATE OR REPLACE VIEW v AS SELECT a y FROM t"
DESCRIBED = "DESCRIBE DATABASE EXTENDED d"
RACES = {
    "databases": Race(text="CREATE DATABASE IF NOT EXISTS d", then=(DATABASES, "d default"),
                      places="d.db"),
    "a database": Race(text=D, message="[Error 10242]", then=(DATABASES, "d default"),
                       places="d.db"),
    "dropped databases": Race(before=D, text="DROP DATABASE IF EXISTS d",
                              then=(DATABASES, "default")),
    "a dropped database": Race(before=D, text="DROP DATABASE d", message="[Error 10072]",
                               then=(DATABASES, "default")),
    "a database with tables": Race(
        before=f"{D}; CREATE TABLE d.t (a INT) {ACID}", text="DROP DATABASE IF EXISTS d CASCADE",
        then=(DATABASES, "default")),
    "a database gets a table": Race(
        before=D, text="DROP DATABASE d", first=f"CREATE TABLE d.t (a INT) {ACID}",
        message="[Error 10042]", then=("SHOW TABLES IN d", "t"), places="d.db d.db/t"),
    "a database gets a table that goes too": Race(
        before=D, text="DROP DATABASE d CASCADE", first=f"CREATE TABLE d.t (a INT) {ACID}",
        then=(DATABASES, "default")),
    "a database is made anew": Race(
        before=D, text="DROP DATABASE d", first="DROP DATABASE d; CREATE DATABASE d LOCATION 'e'",
        then=(DATABASES, "default")),
    "properties of a database": Race(
        before=D, text="ALTER DATABASE d SET DBPROPERTIES ('x'='1')",
        first="ALTER DATABASE d SET DBPROPERTIES ('y'='2')",
        then=(DESCRIBED, "{x=1, y=2}"), places="d.db"),
    "properties of a dropped database": Race(
        before=D, text="ALTER DATABASE d SET DBPROPERTIES ('x'='1')", first="DROP DATABASE d",
        message="[Error 10072]", then=(DATABASES, "default")),
    "a table in a dropped database": Race(
        before=D, text=f"CREATE TABLE IF NOT EXISTS d.t (a INT) {ACID}", first="DROP DATABASE d",
        message="[Error 10072]", then=(DATABASES, "default")),
    "tables": Race(text=f"CREATE TABLE IF NOT EXISTS t (a INT) {ACID}",
                   first="CREATE TABLE t (b STRING)", then=("DESCRIBE t", "b"), places="t"),
    "a table": Race(text=T, message="[Error 10073]", then=(TABLES, "t"), places="t"),
    "a table where a view came": Race(
        text=f"CREATE TABLE IF NOT EXISTS t (a INT) {ACID}", first="CREATE VIEW t AS SELECT 1 b",
        then=("DESCRIBE t", "b")),
    "a table like another": Race(before=T, text="CREATE TABLE IF NOT EXISTS u LIKE t",
                                 then=(TABLES, "t u"), places="t u"),
    "dropped tables": Race(before=T, text="DROP TABLE IF EXISTS t", then=(TABLES, "")),
    "a dropped table that is a view by now": Race(
        before=T, text="DROP TABLE IF EXISTS t", first="DROP TABLE t; CREATE VIEW t AS SELECT 1 b",
        then=("DESCRIBE t", "b")),
    "a renamed table": Race(before=T, text="ALTER TABLE t RENAME TO u", message="[Error 10001]",
                            then=(TABLES, "u"), places="u"),
    "a table with the new name": Race(
        before=T, text="ALTER TABLE t RENAME TO u", first=f"CREATE TABLE u (b INT) {ACID}",
        message="[Error 40013]", then=(TABLES, "t u"), places="t u"),
    "views": Race(before=T, text="CREATE VIEW IF NOT EXISTS v AS SELECT a x FROM t",
                  first=OTHER_VIEW, then=("DESCRIBE v", "y"), places="t"),
    "a view": Race(before=T, text="CREATE VIEW v AS SELECT a x FROM t", message="[Error 10073]",
                   then=("DESCRIBE v", "x"), places="t"),
    "a new view is replaced": Race(before=T, text=NEW_VIEW, first=OTHER_VIEW,
                                   then=("DESCRIBE v", "x"), places="t"),
    "a view is replaced": Race(before=V, text=NEW_VIEW, first=OTHER_VIEW,
                               then=("DESCRIBE v", "x"), places="t"),
    "a dropped view is replaced": Race(before=V, text=NEW_VIEW, first="DROP VIEW v",
                                       then=("DESCRIBE v", "x"), places="t"),
    "a new table is no view": Race(
        before=T, text=NEW_VIEW, first=f"CREATE TABLE v (b INT) {ACID}", message="[Error 10218]",
        then=("DESCRIBE v", "b"), places="t v"),
    "a view that is a table by now": Race(
        before=V, text=NEW_VIEW, first=f"DROP VIEW v; CREATE TABLE v (b INT) {ACID}",
        message="[Error 10218]", then=("DESCRIBE v", "b"), places="t v"),
    "an altered view": Race(before=V, text="ALTER VIEW v AS SELECT a x FROM t",
                            first="DROP VIEW v", message="[Error 10216]", then=(TABLES, "t"),
                            places="t"),
    "dropped views": Race(before=V, text="DROP VIEW IF EXISTS v", then=(TABLES, "t"), places="t"),
    "a function": Race(text=F, message="Function f already exists",
                       then=("SHOW FUNCTIONS LIKE 'default.f'", "default.f")),
    "dropped functions": Race(before=F, text="DROP FUNCTION IF EXISTS f",
                              then=("SHOW FUNCTIONS LIKE 'default.f'", "")),
    "a role": Race(before="SET ROLE ADMIN", text="CREATE ROLE r", message="Role r already exists",
                   then=("SHOW ROLES", "admin public r")),
    "a dropped role": Race(before=R, text="GRANT r TO USER bob", first="DROP ROLE r",
                           message="r", then=("SHOW ROLES", "admin public")),
    "partitions": Race(before=P, text="ALTER TABLE p ADD IF NOT EXISTS PARTITION (d=1) "
                       "PARTITION (d=2)", first="ALTER TABLE p ADD PARTITION (d=2)",
                       then=(PARTITIONS, "d=1 d=2"), places="p p/d=1 p/d=2"),
    "a partition at a place": Race(
        before=P, text="ALTER TABLE p ADD IF NOT EXISTS PARTITION (d=1) LOCATION 'x'",
        then=(PARTITIONS, "d=1"), places="p p/x"),
    "a partition": Race(before=P, text="ALTER TABLE p ADD PARTITION (d=1) PARTITION (d=2)",
                        first="ALTER TABLE p ADD PARTITION (d=2)", message="already exists",
                        then=(PARTITIONS, "d=2"), places="p p/d=2"),
    "a dropped partition is added": Race(
        before=P1, text="ALTER TABLE p ADD IF NOT EXISTS PARTITION (d=1)",
        first="ALTER TABLE p DROP PARTITION (d=1)", then=(PARTITIONS, "d=1"), places="p p/d=1"),
    "dropped partitions": Race(before=P1, text="ALTER TABLE p DROP IF EXISTS PARTITION (d=1)",
                               then=(PARTITIONS, ""), places="p"),
    "a renamed partition": Race(
        before=P1, text="ALTER TABLE p PARTITION (d=1) RENAME TO PARTITION (d=2)",
        message="Partition not found", then=(PARTITIONS, "d=2"), places="p p/d=2"),
    "a partition with the new name": Race(
        before=P1, text="ALTER TABLE p PARTITION (d=1) RENAME TO PARTITION (d=2)",
        first="ALTER TABLE p ADD PARTITION (d=2)", message="already exists: default.p d=2",
        then=(PARTITIONS, "d=1 d=2"), places="p p/d=1 p/d=2"),
    "repairs": Race(before=P, text="MSCK REPAIR TABLE p", then=(PARTITIONS, "d=7 d=8"),
                    places="p p/d=7 p/d=8"),
    "a repair of an added partition": Race(
        before=P, text="MSCK REPAIR TABLE p SYNC PARTITIONS",
        first="ALTER TABLE p ADD PARTITION (d=7)", then=(PARTITIONS, "d=7 d=8"),
        places="p p/d=7 p/d=8"),
    "a column": Race(before=T, text="ALTER TABLE t ADD COLUMNS (b INT)", message="[Error 10036]",
                     then=("DESCRIBE t", "a b"), places="t"),
    "two columns": Race(before=T, text="ALTER TABLE t ADD COLUMNS (b INT)",
                        first="ALTER TABLE t ADD COLUMNS (c INT)",
                        then=("DESCRIBE t", "a c b"), places="t"),
    "a column of a dropped table": Race(
        before=T, text="ALTER TABLE t ADD COLUMNS (b INT)", first="DROP TABLE t",
        message="[Error 10001]", then=(TABLES, "")),
    "rows of a dropped table": Race(before=T, text="INSERT INTO t VALUES (1)",
                                    first="DROP TABLE t", message="[Error 10001]",
                                    then=(TABLES, "")),
    "a constraint": Race(before=T, text="ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (a) "
                         "DISABLE NOVALIDATE", message="already exists", then=(TABLES, "t"),
                         places="t"),
}  # fmt: skip
# Of an external table directories stay where they are, and nobody takes locks.
_EXTERNAL_PLACES = {"dropped partitions": "p p/d=1", "a renamed partition": "p p/d=1"}
OF_PARTITIONS = [name for name, race in RACES.items() if race.before.startswith(P)]
EXTERNAL_RACES = {
    name: replace(
        RACES[name],
        before=RACES[name].before.replace("CREATE TABLE", "CREATE EXTERNAL TABLE"),
        places=_EXTERNAL_PLACES.get(name, RACES[name].places),
    )
    for name in OF_PARTITIONS
}


def check_race(race: Race, first: hivesql.Session, second: hivesql.Session, home: Path) -> None:
    """Let one session be first, and look what both leave in a warehouse that was empty."""
    if race.before:
        second.sql(race.before)
        if "ROLE" in race.before:
            first.sql("SET ROLE ADMIN")
    if race.text.startswith("MSCK"):
        for name in ("d=7", "d=8"):
            (home / "p" / name).mkdir()
    is_over = False

    def overtaken(statement: Statement) -> Statement:
        nonlocal is_over
        if not is_over:
            is_over = True
            first.sql(race.first or race.text)
        return statement

    (text,) = split(race.text, None, {})
    message = ""
    try:
        second.run_statement(text, adapt=overtaken)
    except HiveSqlError as error:
        message = str(error)
    assert bool(message) == bool(race.message), message
    assert race.message in message
    question, answer = race.then
    for session in (first, second):
        rows = session.sql(question).rows
        column = -1 if question is DESCRIBED else 0
        assert " ".join(str(row[column]) for row in rows) == answer
    assert first.sql("SHOW LOCKS").rows == []
    places = (path for path in home.rglob("*") if path.is_dir())
    assert " ".join(sorted(str(path.relative_to(home)) for path in places)) == race.places
