"""DESCRIBE HISTORY, SHOW HISTORY and ``sys.hivesql_history``: who wrote what, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hivesql
from end_to_end.answers import rows
from hivesql.streaming import HiveStreamingConnection, StrictDelimitedInputWriter

pytestmark = pytest.mark.spark

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
COUNTS = ("rows_inserted", "rows_updated", "rows_deleted")


def told(session: hivesql.Session, sql: str, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of a history, the latest write first."""
    result = session.sql(sql)
    places = [result.columns.index(column) for column in columns]
    return [tuple(row[place] for place in places) for row in result.rows]


def test_every_kind_of_write(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT, v STRING) {ACID};
        INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
        UPDATE t SET v = 'z' WHERE id < 3;
        DELETE FROM t WHERE id = 2;
        MERGE INTO t USING (SELECT 1 id UNION ALL SELECT 7) s ON t.id = s.id
          WHEN MATCHED THEN UPDATE SET v = 'm'
          WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new')
          WHEN NOT MATCHED BY SOURCE THEN DELETE;
        UPDATE t SET v = s.v FROM (SELECT 1 id, 'f' v) s WHERE t.id = s.id;
        DELETE FROM t USING (SELECT 7 id UNION ALL SELECT 7) s WHERE t.id = s.id;
        INSERT OVERWRITE TABLE t SELECT 5, 'o';
        START TRANSACTION;
        INSERT INTO t VALUES (8, 'q');
        UPDATE t SET v = 'u';
        COMMIT;
        RESTORE TABLE t TO VERSION AS OF 1;
        TRUNCATE TABLE t;
        CREATE TABLE u {ACID} AS SELECT 1 AS a
    """)
    history = told(session, "DESCRIBE HISTORY t", "version", "operation", *COUNTS)
    assert history == [
        ("10", "TRUNCATE", None, None, None),
        ("9", "RESTORE", "3", "0", "2"),
        ("8", "UPDATE", "0", "2", "0"),
        ("8", "INSERT", "1", "0", "0"),
        ("7", "INSERT OVERWRITE", "1", "0", "0"),
        ("6", "DELETE", "0", "0", "1"),
        ("5", "UPDATE", "0", "1", "0"),
        ("4", "MERGE", "1", "1", "1"),
        ("3", "DELETE", "0", "0", "1"),
        ("2", "UPDATE", "0", "2", "0"),
        ("1", "INSERT", "3", "0", "0"),
    ]
    columns = ("user", "host", "program", "statement")
    (first,) = told(session, "DESC HISTORY default.t LIMIT 1", *columns)
    assert first[0] == session.runtime.user
    assert first[1] == session.runtime.host
    assert first[2] == f"hivesql {hivesql.__version__}"
    assert first[3] == "TRUNCATE TABLE t"
    assert told(session, "SHOW HISTORY LIMIT 2", "database", "table", "operation") == [
        ("default", "u", "CREATE TABLE AS SELECT"), ("default", "t", "TRUNCATE"),
    ]  # fmt: skip
    assert told(session, "SHOW HISTORY u", "version", "rows_inserted") == [("1", "1")]
    assert rows(session, """
        SELECT table_name, count(*), sum(rows_inserted) FROM sys.hivesql_history
        WHERE operation LIKE '%INSERT%' GROUP BY table_name
    """) == [("t", 3, 5)]  # fmt: skip


def test_a_version_is_what_as_of_takes(session: hivesql.Session) -> None:
    session.sql(f"""
        SET hive.local.time.zone=America/New_York;
        CREATE TABLE t (id INT) {ACID};
        INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)
    """)
    for version, moment in told(session, "DESCRIBE HISTORY t", "version", "timestamp"):
        state = [(number,) for number in range(1, int(version) + 1)]
        assert rows(session, f"SELECT * FROM t FOR SYSTEM_VERSION AS OF {version}") == state
        assert rows(session, f"SELECT * FROM t FOR SYSTEM_TIME AS OF '{moment}'") == state


def test_a_table_that_became_acid_is_read_as_of_before_its_first_write(
    session: hivesql.Session,
) -> None:
    session.sql("""
        CREATE TABLE t (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='false');
        INSERT INTO t VALUES (1);
        ALTER TABLE t SET TBLPROPERTIES ('transactional'='true');
        INSERT INTO t VALUES (2)
    """)
    ago = "current_timestamp - interval '1' hours"
    assert rows(session, f"SELECT * FROM t FOR SYSTEM_TIME AS OF {ago}") == [(1,)]


@pytest.mark.parametrize("storage", ["PARQUET", "TEXTFILE"])
def test_a_table_that_became_insert_only_has_its_conversion_for_a_version(
    session: hivesql.Session, storage: str
) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT) STORED AS {storage} TBLPROPERTIES ('transactional'='false');
        INSERT INTO t VALUES (1)
    """)
    before = session.sql("SELECT current_timestamp").scalar()
    session.sql("""
        ALTER TABLE t SET TBLPROPERTIES
          ('transactional'='true', 'transactional_properties'='insert_only')
    """)
    between = session.sql("SELECT current_timestamp").scalar()
    session.sql("INSERT INTO t VALUES (2)")
    assert told(session, "DESCRIBE HISTORY t", "version", "operation", "rows_inserted") == [
        ("2", "INSERT", "1"), ("1", "CONVERT", None),
    ]  # fmt: skip
    assert rows(session, f"SELECT * FROM t FOR SYSTEM_TIME AS OF '{between}'") == [(1,)]
    # What was there before, nobody knows.
    with pytest.raises(hivesql.DataError, match="no longer knows which of its") as refused:
        session.sql(f"SELECT * FROM t FOR SYSTEM_TIME AS OF '{before}'")
    assert refused.value.code == 10327
    session.sql(f"RESTORE TABLE t TO TIMESTAMP AS OF '{between}'")
    assert rows(session, "SELECT * FROM t") == [(1,)]


def test_what_was_compacted_tells_by_whom(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE t (id INT) {ACID}; INSERT INTO t VALUES (1), (2)")
    session.sql("DELETE FROM t WHERE id = 2")
    assert told(session, "DESCRIBE HISTORY t LIMIT 1", "compacted_by") == [(None,)]
    session.sql("ALTER TABLE t COMPACT 'major'; INSERT INTO t VALUES (2)")
    (new,), (old,), _ = told(session, "DESCRIBE HISTORY t", "compacted_by")
    assert new is None
    assert old.startswith("major compaction 1 by ")


def test_secrets_and_long_texts_are_not_shown(session: hivesql.Session) -> None:
    session.sql(f"""
        CREATE TABLE t (id INT, v BINARY) {ACID};
        INSERT INTO t SELECT 1, aes_encrypt('x', '1234567890123456');
        CREATE TABLE u {ACID.replace(")", ", 'jdbc.password'='abc')")} AS SELECT 1 a;
    """)
    session.sql(f"INSERT INTO u VALUES {', '.join(f'({number})' for number in range(2000))}")
    (text,), (made,), (secret,) = told(session, "SHOW HISTORY", "statement")
    assert len(text) == 4000
    assert text.endswith("…")
    assert "aes_encrypt('x', '***')" in secret
    assert "'jdbc.password'='***'" in made


def test_no_text_is_in_the_way_of_a_commit(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE t (v STRING) {ACID}")
    session.sql("INSERT INTO t VALUES ('a\0b') -- \0")
    assert told(session, "DESCRIBE HISTORY t", "statement") == [
        ("INSERT INTO t VALUES ('a\\0b') -- \\0",)
    ]


def test_what_has_no_history(session: hivesql.Session) -> None:
    session.sql("CREATE TABLE plain (id INT); INSERT INTO plain VALUES (1)")
    with pytest.raises(hivesql.SemanticError, match="plain is not transactional") as refused:
        session.sql("DESCRIBE HISTORY plain")
    assert (refused.value.line, refused.value.column) == (1, 18)
    with pytest.raises(hivesql.NoSuchObject, match="nowhere"):
        session.sql("SHOW HISTORY nowhere")
    with pytest.raises(hivesql.ParseError):
        session.sql("DESCRIBE HISTORY plain LIMIT x")
    assert session.sql("SHOW HISTORY DATABASE default").rows == []


def test_a_table_called_history_is_described(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE history (id INT); CREATE TABLE t (id INT) {ACID}")
    assert session.sql("DESCRIBE history id").rows[0][0] == "id"
    assert session.sql("DESCRIBE history").rows[0][0] == "id"
    assert session.sql("DESCRIBE HISTORY t").rows == []


def test_a_stream_tells_each_commit(session: hivesql.Session) -> None:
    session.sql(f"CREATE TABLE t (id INT, v STRING) {ACID}")
    connection = (
        HiveStreamingConnection.builder()
        .with_session(session)
        .with_table("t")
        .with_agent_info("my agent")
        .with_record_writer(StrictDelimitedInputWriter(field_delimiter=","))
        .connect()
    )
    for count in (1, 2):
        connection.begin_transaction()
        for number in range(count):
            connection.write(f"{number},x".encode())
        connection.commit_transaction()
    connection.close()
    assert told(session, "DESCRIBE HISTORY t", "operation", "program", "rows_inserted") == [
        ("STREAM", "my agent", "2"), ("STREAM", "my agent", "1"),
    ]  # fmt: skip


def test_only_who_may_read_a_table_learns_what_was_written(tmp_path: Path) -> None:
    """Statements tell of rows."""
    place = f"sqlite:///{tmp_path}/m.db"
    settings = {"hive.security.authorization.enabled": "true", "hive.users.in.admin.role": "root"}
    with hivesql.connect(place, tmp_path / "wh", settings=settings, user="ann") as ann:
        ann.sql(f"CREATE TABLE t (id INT) {ACID}; INSERT INTO t VALUES (1)")
        assert len(ann.sql("DESCRIBE HISTORY t").rows) == 1
    with hivesql.connect(place, tmp_path / "wh", settings=settings, user="bob") as bob:
        for sql in ("DESCRIBE HISTORY t", "SHOW HISTORY", "SELECT * FROM sys.hivesql_history"):
            with pytest.raises(hivesql.SemanticError, match="does not have following privileges"):
                bob.sql(sql)
