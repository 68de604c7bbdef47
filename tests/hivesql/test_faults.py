"""Whatever fails, each public call raises an error of ours and leaves nothing half done."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy

import hivesql
from faults import FAULTS, PASSING, Faults, connecting, faulty
from hivesql import dbapi, streaming
from hivesql.positional_parameters import Positional
from hivesql.script import StatementText
from hivesql.services import run_services
from hivesql_executor.translate_errors import translate_error
from rights import read_only

TABLES = """
CREATE TABLE t (a int, b string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE p (a int) PARTITIONED BY (k int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE e (a int) STORED AS TEXTFILE;
INSERT INTO t VALUES (1, 'x'), (2, 'y');
INSERT INTO t VALUES (3, 'z');
INSERT INTO p PARTITION (k=1) VALUES (1);
"""
ROWS = pa.table({"a": pa.array([9], pa.int32()), "b": ["n"]})
COMMAS = streaming.StrictDelimitedInputWriter(field_delimiter=",")
# SQLAlchemy wraps the errors of drivers.
ERRORS = (hivesql.HiveSqlError, dbapi.Error, sqlalchemy.exc.DBAPIError)
NO_SPARK = "there is no Spark"


def _of_dbapi(session: hivesql.Session) -> None:
    connection = dbapi.Connection(session)
    cursor = connection.cursor()
    cursor.execute("INSERT INTO t VALUES (%s, %s)", (7, "d"))
    cursor.execute("SELECT a FROM t WHERE a = 7")
    assert cursor.fetchall() == [(7,)]
    connection.commit()


def _of_sqlalchemy(session: hivesql.Session) -> None:
    engine = sqlalchemy.create_engine("hivesql://", creator=lambda: dbapi.Connection(session))
    with engine.begin() as db:
        db.execute(sqlalchemy.text("INSERT INTO t VALUES (8, 'e')"))


def _stream(session: hivesql.Session) -> None:
    builder = streaming.HiveStreamingConnection.builder().with_session(session).with_table("p")
    with builder.with_record_writer(COMMAS).connect() as connection:
        connection.begin_transaction()
        connection.write("5,2\n")
        connection.commit_transaction()


def _sql(text: str) -> Callable[[hivesql.Session], object]:
    return lambda session: session.sql(text)


# Each writes in one transaction at most: after an error nothing of it is there.
ATOMIC: dict[str, Callable[[hivesql.Session], object]] = {
    "insert": _sql("INSERT INTO t VALUES (4, 'v')"),
    "insert into a new partition": _sql("INSERT INTO p PARTITION (k=2) VALUES (4)"),
    "insert by spark": _sql("INSERT INTO t SELECT a, reverse(b) FROM t"),
    "update": _sql("UPDATE t SET b = 'u' WHERE a = 2"),
    "delete": _sql("DELETE FROM t WHERE a < 3"),
    "merge by spark": _sql("MERGE INTO t USING t s ON t.a = s.a WHEN MATCHED THEN DELETE"),
    "select": _sql("SELECT a FROM t WHERE a > 1"),
    "count": _sql("SELECT count(*) FROM t"),
    "append": lambda session: session.append("t", ROWS),
    "merge": lambda session: session.merge("t", ROWS, on=["a"]),
    "frame": lambda session: session.frame("SELECT a FROM t"),
    "script": lambda session: list(session.run("SET a=b; INSERT INTO t VALUES (6, 's')")),
    "transaction": _sql(
        "START TRANSACTION; INSERT INTO t VALUES (5, 'w'); DELETE FROM t WHERE a = 1; COMMIT"
    ),
    "dbapi": _of_dbapi,
    "sqlalchemy": _of_sqlalchemy,
    "stream": _stream,
    "inspect": lambda session: session.inspect("t"),
    "check": lambda session: session.check("t"),
    "forget": lambda session: session.forget("k"),
    "show": _sql("SHOW TABLES"),
    "describe": _sql("DESCRIBE FORMATTED p PARTITION (k=1)"),
    "explain": _sql("EXPLAIN UPDATE t SET b = 'q'"),
}
# The catalog's; what of it is done when the files fail is told by tests of DDL.
OTHERS: dict[str, Callable[[hivesql.Session], object]] = {
    "create table": _sql("CREATE TABLE n (a int)"),
    "drop table": _sql("DROP TABLE t"),
    "rename": _sql("ALTER TABLE t RENAME TO r"),
    "add columns": _sql("ALTER TABLE t ADD COLUMNS (c int)"),
    "add partition": _sql("ALTER TABLE p ADD PARTITION (k=7)"),
    "drop partition": _sql("ALTER TABLE p DROP PARTITION (k=1)"),
    "truncate": _sql("TRUNCATE TABLE t"),
    "create database": _sql("CREATE DATABASE d"),
    "compact": _sql("ALTER TABLE t COMPACT 'minor'"),
    "services": lambda session: run_services(session, Event(), once=True),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A metastore and a warehouse; copies go where this one was, as its paths are whole ones."""
    home = tmp_path_factory.mktemp("faults")
    (home / "w").mkdir()
    with hivesql.connect(f"sqlite:///{home}/w/m.db", f"{home}/w") as session:
        session.sql(TABLES)
    shutil.copytree(home / "w", home / "kept")
    return home


@contextmanager
def opened(home: Path) -> Iterator[hivesql.Session]:
    """A session on tables as they were at first."""
    shutil.rmtree(home / "w")
    shutil.copytree(home / "kept", home / "w")
    with hivesql.connect(f"sqlite:///{home}/w/m.db", f"{home}/w") as session:
        yield session


def state(home: Path) -> list[Any]:
    """What others see: rows, and transactions that are still open."""
    with hivesql.connect(f"sqlite:///{home}/w/m.db", f"{home}/w") as session:
        rows = [sorted(session.sql(f"SELECT * FROM {name}").rows) for name in ("t", "p")]
        going = [
            row.txn_id for row in session.runtime.metastore.transactions() if row.state == "open"
        ]
        return [*rows, going]


COMMIT = "metastore.commit_txn"
AFTER_COMMIT = ("import", "memory", "attribute", "sqlite", "driver", "thrift", "ENOSPC")


@pytest.mark.parametrize("name", [*ATOMIC, *OTHERS])
def test_each_call_may_fail(name: str, template: Path) -> None:
    use = (ATOMIC | OTHERS)[name]
    counting = Faults()
    with opened(template) as session, faulty(session, counting):
        before = state(template)
        try:
            use(session)
        except ERRORS as error:
            assert NO_SPARK in str(error)
    after = state(template) if name in ATOMIC else []
    assert counting.seen
    kinds = list(FAULTS)
    hits = 0
    turns = [
        (call, kinds[(turn * 7 + len(name)) % len(kinds)])
        for turn, call in enumerate(dict.fromkeys(counting.seen))
    ]
    # After a commit nothing may fail, whatever it is.
    seen = list(counting.seen)
    committed = seen.index(COMMIT) if COMMIT in seen else len(seen)
    late = sorted({*seen[committed + 1 :]} - {*seen[:committed]})
    turns += [(call, kind) for call in late for kind in AFTER_COMMIT]
    for call, kind in turns:
        faults = Faults(FAULTS[kind], call)
        raised: Exception | None = None
        with opened(template) as session, faulty(session, faults):
            try:
                use(session)
            except ERRORS as error:
                raised = error
        told = f"{name}, {kind} at {call}: {raised!r}"
        hits += faults.hit
        assert not isinstance(raised, hivesql.CommitUnknown), told
        if name in OTHERS:
            continue
        # Who could not abort says so, and leaves it to the time-out.
        seen = slice(-1 if call == "metastore.abort_txns" else None)
        assert state(template)[seen] == (after if raised is None else before)[seen], told
    # Some are asked once in a process, and remembered.
    assert hits * 2 > len(set(counting.seen))


def test_connecting_may_fail(tmp_path: Path) -> None:
    """And lets go of the metastore then."""
    place, settings = (f"sqlite:///{tmp_path}/m.db", str(tmp_path)), {"hive.txn.timeout": "1ms"}

    def connect(faults: Faults) -> list[str]:
        with hivesql.connect(*place) as session:
            # Of a process that died: there is something to look after.
            session.runtime.metastore.open_txns(1, "ann", "here")
        time.sleep(0.01)
        ended = list[str]()
        try:
            with connecting(faults, ended):
                hivesql.connect(*place, settings=settings).close()
        except ERRORS as error:
            assert not isinstance(error, hivesql.CommitUnknown)
        return ended

    counting, kinds = Faults(), list(FAULTS)
    assert connect(counting) == ["closed"]
    calls = tuple(dict.fromkeys(counting.seen))
    assert {"open", "metastore.reap", "metastore.database"} <= {*calls}
    for turn, kind in enumerate(kinds * 2):
        faults = Faults(FAULTS[kind], calls[turn % len(calls)])
        assert connect(faults) == ([] if faults.at == "open" else ["closed"]), faults
        assert faults.hit


@pytest.mark.parametrize("kind", FAULTS)
def test_what_is_told(kind: str) -> None:
    error = FAULTS[kind]()
    told = translate_error(error)
    assert isinstance(told, hivesql.HiveSqlError)
    assert not isinstance(told, hivesql.CommitUnknown)
    assert told.retryable == (kind in PASSING)
    # What failed, and what to do about it.
    assert re.search(r"[.:] \w.*[.:] ", f"{told.message}. ") or "pip" in told.message, told.message
    assert "\n" not in told.message


def test_errors_of_a_users_function_are_his(template: Path) -> None:
    class His(Exception):
        pass

    def consume(frame: object) -> None:
        raise His

    from hivesql_executor.translate_errors import as_user_errors, marking_user_errors

    with pytest.raises(His), as_user_errors():
        marking_user_errors(consume)(None)


def test_a_result_shows_itself_in_a_line_and_in_a_notebook(template: Path) -> None:
    with opened(template) as session:
        session.sql("INSERT INTO t VALUES " + ", ".join(f"({n}, '<b>')" for n in range(10, 40)))
        result = session.sql("SELECT a, b FROM t")
        assert repr(result) == "<Result of 'SELECT a, b FROM t': 33 rows of a, b>"
        shown = result._repr_html_()
        assert shown.count("<tr>") == 21
        assert "&lt;b&gt;" in shown
        assert "13 rows more" in shown
        changed = session.sql("DELETE FROM t WHERE a = 1")
        assert repr(changed) == "<Result of 'DELETE FROM t WHERE a = 1': 1 rows affected>"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("postgresql://me:secret@here:many/db", "its port is no number"),
        ("thrift://here:many", "is not the address of a metastore"),
        ("postgresql+nosuch://here/db", "nosuch"),
        ("mysql://me:secret@here", "it names no database"),
        ("sqlite:////dev/null/m.db", "/dev/null"),
    ],
)
def test_an_address_that_cannot_be(place: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(hivesql.HiveSqlError, match=told) as raised:
        hivesql.connect(place, str(tmp_path))
    assert "secret" not in str(raised.value)


def test_a_driver_that_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, address, packages in (
        ("pymysql", "mysql://here/db", r"'pymysql.*' \(the extra mysql\)"),
        ("psycopg", "postgresql://here/db", r"'psycopg\[binary\].*' \(the extra postgres\)"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(hivesql.HiveSqlError, match=f"pip install {packages}"):
            hivesql.connect(address, str(tmp_path))


# Statements about what the metastore holds of anybody.
OF_OTHERS = [
    "ABORT TRANSACTIONS 1", "ALTER TABLE t COMPACT 'major'", "ABORT COMPACTIONS 1",
    "CREATE TEMPORARY TABLE mine (a int)",
]  # fmt: skip


def test_a_disk_without_room_for_sqlites_own_files_is_told(template: Path) -> None:
    with opened(template):
        pass
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        f"import hivesql; hivesql.connect('sqlite:///{template}/w/m.db')"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "disk is full, or fails: make room" in done.stderr


def test_what_cannot_be_written_is_told(template: Path) -> None:
    """On a read-only disk queries read, from a copy of the metastore, and nothing is changed."""
    home = template / "w"
    with opened(template) as session:
        session.sql("CREATE TABLE plain (a int) STORED AS TEXTFILE")
        (home / "plain" / "000000_0").write_text("1\n")
    writes = [
        "INSERT INTO t VALUES (8, 'n')", "UPDATE t SET b = 'n'", "DELETE FROM t",
        "INSERT INTO p PARTITION (k=5) VALUES (1)", "TRUNCATE TABLE t", "DROP TABLE t",
        "CREATE TABLE n (a int)", "ALTER TABLE p ADD PARTITION (k=5)",
        "ALTER TABLE p DROP PARTITION (k=1)", "ALTER TABLE t RENAME TO n", "CREATE DATABASE n",
        "TRUNCATE TABLE plain", "DROP TABLE plain",
    ]  # fmt: skip
    refused = pytest.raises(hivesql.HiveSqlError, match=f"{home}/m.db .*connect to the copy")
    here = f"sqlite:///{home}/m.db"
    each = [*writes, *OF_OTHERS]
    # Somebody else has it open, or nobody does.
    for others in (nullcontext(), hivesql.connect(here, str(home))):
        with others:
            before = state(template)
            for places in ([home], [home / "m.db"]):
                told: list[str] = []
                with read_only(*places), hivesql.connect(here, notify=told.append) as session:
                    assert "cannot be written: this session reads" in told[0]
                    for text in each:
                        with refused:
                            session.sql(text)
                    each = writes[:2]
                    with refused:
                        run_services(session, Event(), once=True)
                    with refused:
                        session.forget("key")
                    assert len(session.sql("SHOW TABLES").rows) == 4
                    assert sorted(session.sql("SELECT a FROM t").rows) == [(1,), (2,), (3,)]
                    assert session.sql("DESCRIBE t").rows[0][0] == "a"
                    assert session.sql("EXPLAIN SELECT a FROM t").rows
                    assert session.sql("SHOW PARTITIONS p").rows == [("k=1",)]
                    assert session.check("t") == ()
            assert state(template) == before
    copied = shutil.copyfile(home / "m.db", template / "copied.db")
    with read_only(home), hivesql.connect(f"sqlite:///{copied}", str(home)) as session:
        before = sorted(session.sql("SELECT * FROM t").rows)
        for text in writes:
            with pytest.raises(hivesql.HiveSqlError, match=rf"{home}.*: Permission denied"):
                session.sql(text)
        assert sorted(session.sql("SELECT * FROM t").rows) == before
        assert len(session.sql("SHOW TABLES").rows) == 4
        assert session.sql("SHOW PARTITIONS p").rows == [("k=1",)]
        assert session.sql("SHOW DATABASES").rows == [("default",)]
        assert session.sql("SHOW LOCKS").rows == []
    assert (home / "plain" / "000000_0").read_text() == "1\n"


# What somebody may give who has not read what is wanted: each is told by its name.
WRONG: dict[str, Callable[[hivesql.Session, Any], object]] = {
    "text": lambda session, value: session.sql(value),
    "text of a script": lambda session, value: list(session.run(value)),
    "table": lambda session, value: session.inspect(value),
    "table to check": lambda session, value: session.check(value),
    "table to append": lambda session, value: session.append(value, ROWS),
    "key": lambda session, value: session.set(value, "1"),
    "value": lambda session, value: session.set("hive.txn.timeout", value),
    "metastore": lambda session, value: hivesql.connect(value),
    "warehouse": lambda session, value: hivesql.connect("sqlite:///m.db", value),
    "database": lambda session, value: hivesql.connect("sqlite:///m.db", database=value),
    "settings": lambda session, value: hivesql.connect("sqlite:///m.db", settings=value),
    "consume": lambda session, value: session.sql("SELECT a FROM t", consume=value),
    "operation": lambda session, value: dbapi.Connection(session).cursor().execute(value),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_of_the_wrong_kind(
    name: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(template) as session:
        for value in (b"secret", 5, ["secret"], object()):
            with pytest.raises(ERRORS, match=rf"{name.split()[0]} .*not .*\b\w+\Z") as raised:
                WRONG[name](session, value)
            assert type(value).__name__ in str(raised.value)
            assert "secret" not in str(raised.value)


def test_what_users_may_give_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/m.db"
    given: Any = {"hive.txn.timeout": 7, "hive.stats.autogather": False}
    with hivesql.connect(url, tmp_path / "w", settings=given) as session:
        assert session.settings.seconds("hive.txn.timeout") == 7
        assert not session.settings.flag("hive.stats.autogather")
        assert session.runtime.metastore.database("default").location == str(tmp_path / "w")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(hivesql.HiveSqlError, match="working directory is gone"):
        hivesql.connect()


def test_question_marks_are_values(template: Path) -> None:
    with opened(template) as session:
        odd = "'; DROP TABLE t; -- ? \\ ${hivevar:x} \n"
        session.variables |= {"hivevar:x": "no", "hivevar:more": "?"}
        session.sql("INSERT INTO t VALUES (?, ?); INSERT INTO t VALUES (?, '?')", [8, odd, 9])
        found = session.sql("SELECT b FROM t WHERE a = ? -- ?", (8,))
        assert found.scalar() == odd
        assert session.sql("SELECT `b` FROM t WHERE a = ? AND b = '?'", [9]).scalar() == "?"
        text = 'SELECT `?` /* ? */ FROM t WHERE a IN ? AND b = "?" OR c = ? --?'
        put = Positional(text, [[8, None], b"x"]).put_into(StatementText(text))
        assert put.text == (
            "SELECT `?` /* ? */ FROM t WHERE a IN (8, NULL) AND b = \"?\" OR c = unhex('78') --?"
        )
        assert session.sql("SELECT count(*) FROM t", []).scalar() == 5
        with pytest.raises(hivesql.SemanticError, match="one row of one column"):
            session.sql("SELECT a, b FROM t").scalar()
        for text, values, told in [
            ("DELETE FROM t; DELETE FROM t WHERE a = ? AND b = ?", [1], "1 parameters for 2 "),
            ("DELETE FROM t WHERE a = ?", [1, 2], "2 parameters for 1 question marks"),
            ("DELETE FROM t WHERE a = ? AND b = ${hivevar:more}", [1], "has one more"),
            ("SELECT a FROM t WHERE a = ?", [object()], "^<input>:1:27: parameter 1: object"),
            ("SELECT a FROM t WHERE a = ?", "x", "list or tuple"),
            ("SELECT a FROM t WHERE a = ? AND c = 1", [1_000_000], "^<input>:1:33: .*c"),
        ]:
            with pytest.raises(hivesql.SemanticError, match=told):
                session.sql(text, values)
        assert session.sql("SELECT count(*) FROM t").scalar() == 5
