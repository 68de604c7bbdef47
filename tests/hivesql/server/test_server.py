"""HiveServer2's protocol, as clients see it; no statement needs Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from impala.dbapi import connect as connect_impala
from impala.error import HiveServer2Error

from hivesql.server.protocol import describe_error
from hivesql.server.server import Server
from hivesql_planner.errors import CommitUnknown, SemanticError
from thrift_servers import Client, serving

TABLE = (
    "CREATE TABLE t (i INT, s STRING, d DECIMAL(10,2), f FLOAT, b BOOLEAN, x BINARY, n BIGINT, "
    "day DATE, at TIMESTAMP) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
)
ROWS = (
    "INSERT INTO t VALUES (1, 'ä', 1.50, 1.1, true, 'ab', 9000000000, '2020-02-29', "
    "'2020-02-29 01:02:03.5'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
)
FIRST = (1, "ä", "1.50", 1.1, True, b"ab", 9000000000, "2020-02-29", "2020-02-29 01:02:03.5")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), authentication="nosasl") as server:
        with Client(server).open() as client:
            for text in (TABLE, ROWS, "CREATE VIEW v AS SELECT i FROM t",
                         "CREATE TABLE pk (a INT, b INT, CONSTRAINT k PRIMARY KEY (a, b) "
                         "DISABLE NOVALIDATE)",
                         "CREATE TABLE fk (x INT, y INT NOT NULL, z TIMESTAMP WITH LOCAL TIME ZONE "
                         "NOT NULL DISABLE, CONSTRAINT r FOREIGN KEY (x, y) "
                         "REFERENCES pk (a, b) DISABLE NOVALIDATE)"):  # fmt: skip
                client.checked(client.execute(text))
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server).open() as client:
        yield client


def test_values_come_in_columns_with_hives_texts(client: Client) -> None:
    answer = client.checked(client.execute("SELECT * FROM t ORDER BY i"))
    handle = answer.operationHandle
    assert handle.hasResultSet
    schema = client.checked(
        client.calls.GetResultSetMetadata(
            client.thrift.TGetResultSetMetadataReq(operationHandle=handle)
        )
    ).schema
    entries = [column.typeDesc.types[0].primitiveEntry for column in schema.columns]
    assert [column.columnName for column in schema.columns] == [
        f"t.{name}" for name in ("i", "s", "d", "f", "b", "x", "n", "day", "at")
    ]
    assert [entry.type for entry in entries] == [3, 7, 15, 5, 0, 9, 4, 17, 8]
    qualifiers = entries[2].typeQualifiers.qualifiers
    assert {key: value.i32Value for key, value in qualifiers.items()} == {
        "precision": 10, "scale": 2
    }  # fmt: skip
    assert client.fetch(handle, most=1) == [FIRST]
    assert client.fetch(handle) == [(2, *[None] * 8)]
    assert client.fetch(handle) == []
    assert client.fetch(handle, most=1, orientation=4) == [FIRST]


def test_texts_of_any_character_and_length(client: Client) -> None:
    odd, long = "a\0b\U0001f600\nc\r\td\u2028", "x" * 2**20
    client.checked(client.execute("CREATE TRANSACTIONAL TABLE odd (i INT, s STRING) STORED AS ORC"))
    client.checked(client.execute(f"INSERT INTO odd VALUES (1, '{odd}'), (2, '{long}')"))
    assert client.rows("SELECT s FROM odd ORDER BY i") == [(odd,), (long,)]
    assert client.rows(f"SELECT i FROM odd WHERE s = '{odd}'") == [(1,)]
    message = client.execute("SELECT 1 FROM `n\0o\U0001f600`").status.errorMessage
    assert message.endswith("Line 1:14 Table not found 'n\0o\U0001f600'")
    client.checked(client.execute("DROP TABLE odd"))


@pytest.mark.parametrize("count", [1, 3])
def test_thousands_of_columns(client: Client, count: int) -> None:
    names = [f"c{number}" for number in range(2000)]
    client.checked(client.execute("DROP TABLE IF EXISTS wide"))
    columns = ", ".join(f"{name} {'STRING' if n % 2 else 'INT'}" for n, name in enumerate(names))
    client.checked(client.execute(f"CREATE TRANSACTIONAL TABLE wide ({columns}) STORED AS ORC"))
    row = tuple(f"t{number}" if number % 2 else number for number in range(2000))
    handle = client.checked(
        client.execute(f"INSERT INTO wide VALUES {', '.join([str(row)] * count)}", runs_on=True)
    ).operationHandle
    assert client.end(handle).numModifiedRows == count
    assert client.rows("SELECT * FROM wide") == [row] * count
    client.checked(client.execute("DROP TABLE wide"))


@pytest.mark.parametrize(
    ("text", "place"),
    [("SELECT i FROM t;", "1:15"), ("-- a;b\nSELECT ';' FROM t -- ;\n ; ", "3:1"),
     ("SELECT 1; SELECT 2", "1:8"), ("SET hivevar:a=1;", "1:15")],
)  # fmt: skip
def test_a_semicolon_is_no_statements_as_in_hive(client: Client, text: str, place: str) -> None:
    status = client.execute(text).status
    assert (status.sqlState, status.errorCode) == ("42000", 40000)
    assert "extraneous input ';' expecting EOF" in status.errorMessage
    assert f"line {place} " in status.errorMessage
    assert client.rows("SELECT ';' FROM t WHERE i = 1 /* ; */") == [(";",)]


def test_what_is_written_has_columns_and_no_rows_as_in_hive(client: Client) -> None:
    """As a driver of Go asks, whatever the statement was."""
    client.checked(client.execute("CREATE TRANSACTIONAL TABLE w (i INT, s STRING) STORED AS ORC"))
    answer = client.checked(client.execute("INSERT INTO w VALUES (7, 'q')"))
    handle = answer.operationHandle
    assert not handle.hasResultSet
    assert client.columns(handle) == [("col1", 3, None), ("col2", 7, None)]
    assert client.fetch(handle) == []
    assert client.end(handle).numModifiedRows == 1
    handle = client.checked(client.execute("DROP TABLE w")).operationHandle
    request = client.thrift.TGetResultSetMetadataReq(operationHandle=handle)
    assert "it was no query" in client.calls.GetResultSetMetadata(request).status.errorMessage
    assert client.end(handle).numModifiedRows == 0


def test_a_closed_operation_is_no_more(client: Client) -> None:
    handle = client.checked(client.execute("SELECT i FROM t")).operationHandle
    request = client.thrift.TCloseOperationReq(operationHandle=handle)
    client.checked(client.calls.CloseOperation(request))
    fetch = client.thrift.TFetchResultsReq(operationHandle=handle, maxRows=1)
    message = client.calls.FetchResults(fetch).status.errorMessage
    assert message == "Invalid handle: no such operation"


def test_columns_have_aliases_and_lengths(client: Client) -> None:
    client.checked(
        client.execute(
            "CREATE TABLE c (c CHAR(3), v VARCHAR(5)) STORED AS ORC "
            "TBLPROPERTIES ('transactional'='true')"
        )
    )
    client.checked(client.execute("INSERT INTO c VALUES ('a', 'b')"))
    handle = client.checked(client.execute("SELECT * FROM c x")).operationHandle
    assert client.columns(handle) == [("x.c", 19, 3), ("x.v", 18, 5)]
    assert client.fetch(handle) == [("a  ", "b")]
    client.checked(client.execute("SET hive.resultset.use.unique.column.names=false"))
    handle = client.checked(client.execute("SELECT x.c, V FROM c x")).operationHandle
    assert client.columns(handle) == [("c", 19, 3), ("v", 18, 5)]
    client.checked(client.execute("DROP TABLE c"))


def test_rows_for_clients_before_version_6(server: Server) -> None:
    with Client(server).open(version=0) as client:
        assert client.version == 0
        handle = client.checked(client.execute("SELECT i, s, d FROM t ORDER BY i")).operationHandle
        request = client.thrift.TFetchResultsReq(operationHandle=handle, maxRows=10)
        results = client.checked(client.calls.FetchResults(request)).results
        assert [[next(filter(None, vars(cell).values())).value for cell in row.colVals]
                for row in results.rows] == [[1, "ä", "1.50"], [2, None, None]]  # fmt: skip
    with Client(server).open(version=99) as client:
        assert client.version == 10


def test_a_statement_that_nobody_waits_for(client: Client) -> None:
    answer = client.checked(client.execute("SELECT count(*) FROM t", runs_on=True))
    handle = answer.operationHandle
    assert handle.hasResultSet
    status = client.end(handle)
    assert status.operationState == client.thrift.TOperationState.FINISHED_STATE
    assert status.operationCompleted >= status.operationStarted > 0
    assert status.progressUpdateResponse.status == client.thrift.TJobExecutionStatus.NOT_AVAILABLE
    assert client.fetch(handle) == [(2,)]
    log = client.calls.FetchResults(
        client.thrift.TFetchResultsReq(operationHandle=handle, maxRows=10, fetchType=1)
    ).results.columns[0].stringVal.values  # fmt: skip
    assert [line.split('(')[0] for line in log] == [
        "INFO  : Compiling command", "INFO  : Completed compiling command",
        "INFO  : Executing command", "INFO  : Completed executing command",
    ]  # fmt: skip
    assert all("Time taken" in line for line in log[1::2])
    changed = client.checked(client.execute("DELETE FROM t WHERE i = 77", runs_on=True))
    assert not changed.operationHandle.hasResultSet
    status = client.end(changed.operationHandle)
    assert (status.hasResultSet, status.numModifiedRows) == (False, 0)
    name = client.calls.GetQueryId(client.thrift.TGetQueryIdReq(operationHandle=handle)).queryId
    assert name in log[0]


def test_errors_have_hives_codes_and_states(client: Client) -> None:
    statuses = [
        client.execute(text).status
        for text in ("SELECT * FROM nosuch", "SELEC 1", "USE nosuch", "SELECT 1; SELECT 2", "")
    ]
    assert [(status.sqlState, status.errorCode) for status in statuses] == [
        ("42S02", 10001), ("42000", 40000), ("42000", 10072), ("42000", 40000), ("42000", 40000),
    ]  # fmt: skip
    assert (
        "FAILED: SemanticException [Error 10001]: Line 1:14 Table not found 'nosuch'"
        in statuses[0].errorMessage
    )
    log = client.execute("SELECT * FROM nosuch", runs_on=True)
    assert log.status.errorCode == 10001 and log.operationHandle is None


def test_errors_without_a_code_of_their_own_have_hives_general_one() -> None:
    assert describe_error(SemanticError("two of that name"))[:2] == ("42000", 40000)
    assert describe_error(SemanticError("too few arguments", code=10015))[:2] == ("21000", 10015)
    assert describe_error(CommitUnknown("no answer"))[:2] == ("40003", 1)


MADE = (
    "CREATE TABLE described (i INT COMMENT 'a\nb', s STRING, "
    "CONSTRAINT k PRIMARY KEY (i) DISABLE NOVALIDATE) PARTITIONED BY (p INT)",
    "CREATE VIEW lines AS SELECT i,\n  s FROM t",
)
PARTS = [("", None, None), ("# Partition Information", None, None),
         ("# col_name", "data_type", "comment"), ("p", "int", "")]  # fmt: skip
DESCRIPTIONS = (
    ("DESCRIBE described", 0,
     [("i", "int", "a\\nb"), ("s", "string", ""), ("p", "int", ""), *PARTS]),
    ("DESCRIBE FORMATTED described", 0,
     [("i", "int", "a\\nb"), ("s", "string", ""), *PARTS, ("", None, None),
      ("# Detailed Table Information", None, None),
      ("Database:".ljust(20), "default".ljust(20), None)]),
    ("DESCRIBE FORMATTED described", -3,
     [("Table:".ljust(20), "default.described".ljust(20), None),
      ("Constraint Name:".ljust(20), "k".ljust(20), None),
      ("Column Name:".ljust(20), "i".ljust(20), None)]),
    ("DESCRIBE FORMATTED lines", -4,
     [("Original Query:".ljust(20), "SELECT i,".ljust(20), None),
      ("", " " * 20, "  s FROM t".ljust(20))]),
    ("SHOW TBLPROPERTIES described('nosuch')", 0,
     [("Table default.described does not have property: nosuch", None)]),
    ("SHOW EXTENDED TABLES LIKE 'lines'", 0, [("lines", "VIRTUAL_VIEW")]),
)  # fmt: skip


def test_descriptions_are_rows_as_hiveserver2_has_them(server: Server) -> None:
    with Client(server).open(use__database="default") as client:
        for text in MADE:
            client.checked(client.execute(text))
        for text, start, expected in DESCRIPTIONS:
            rows = client.rows(text)
            first = start % len(rows)
            assert rows[first : first + len(expected)] == expected, text
        for name in ("TABLE described", "VIEW lines"):
            client.checked(client.execute(f"DROP {name}"))


def test_drivers_are_told_what_they_have_of_the_server(server: Server) -> None:
    """The server's own settings, as HiveServer2: no session changes what its client is told."""
    told = {
        "hive.server2.thrift.resultset.default.fetch.size": "1000",
        "hive.default.nulls.last": "true",
    }
    with Client(server) as client:
        for others in ({}, {"set:hiveconf:hive.default.nulls.last": "false"}):
            request = client.thrift.TOpenSessionReq(client_protocol=10, configuration=others)
            assert client.checked(client.calls.OpenSession(request)).configuration == told
    settings = {key: {"1000": "7", "true": "false"}[value] for key, value in told.items()}
    with Client(server).open(**settings) as client:
        assert client.rows("SET hive.default.nulls.last") == [("hive.default.nulls.last=false",)]


def test_a_session_begins_as_its_client_wants_it(server: Server) -> None:
    with Client(server).open() as client:
        client.checked(client.execute("CREATE DATABASE IF NOT EXISTS other"))
    settings = {
        "set__hivevar__x": "7",
        "set__hiveconf__hive.lock.numretries": "3",
        "use__database": "other",
        "hive.server2.thrift.resultset.default.fetch.size": "9",
    }
    with Client(server).open(**settings) as client:
        assert client.rows("SET hive.lock.numretries") == [("hive.lock.numretries=3",)]
        assert client.rows("SELECT i FROM default.t WHERE i < ${x} ORDER BY i") == [(1,), (2,)]
        assert client.rows("SHOW TABLES") == []
        overlay = {"hive.lock.numretries": "5"}
        text = "SELECT '${hiveconf:hive.lock.numretries}' FROM default.t WHERE i = 1"
        answer = client.checked(client.execute(text, confOverlay=overlay))
        assert client.fetch(answer.operationHandle) == [("5",)]
        assert client.rows(text) == [("3",)]
        assert client.rows("SET hive.lock.numretries") == [("hive.lock.numretries=3",)]
    for wrong in ({"use__database": "nosuch"}, {"hive.server2.proxy.user": "root"},
                  {"spark.driver.extraJavaOptions": "-X"}, {"set__system__a": "b"}):  # fmt: skip
        refused = pytest.raises(AssertionError, match="Failed to open new session: ")
        with Client(server) as client, refused:
            client.open(**wrong)


@pytest.mark.parametrize(
    "text",
    [
        "ADD JAR /tmp/x.jar",
        "DELETE FILE /tmp/x",
        "DFS -ls /",
        "!ls",
        "SOURCE /etc/passwd",
        "LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE pk",
        "INSERT OVERWRITE LOCAL DIRECTORY '/tmp/x' SELECT i FROM t",
        "EXPLAIN INSERT OVERWRITE LOCAL DIRECTORY '/tmp/x' SELECT i FROM t",
        "SELECT TRANSFORM (i) USING 'cat' AS (j STRING) FROM t",
        "FROM t MAP i USING 'cat'",
        "CREATE VIEW w AS SELECT reflect('java.lang.System', 'getenv') e FROM t",
        "SELECT in_file('root', '/etc/passwd') FROM t",
        "SELECT `java_method`('java.lang.System', 'getenv') FROM t",
        "CREATE TEMPORARY FUNCTION f AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFReflect'",
        "CREATE FUNCTION f AS 'a.B' USING JAR 'hdfs:///x.jar'",
        "CREATE EXTERNAL TABLE e (s STRING) LOCATION '/etc'",
        "CREATE EXTERNAL TABLE e (s STRING) LOCATION 'file:/etc'",
        "LOAD DATA INPATH '/etc/passwd' INTO TABLE pk",
        "CREATE EXTERNAL TABLE e (s STRING) LOCATION 'har://file-localhost/etc/x.har'",
        "LOAD DATA INPATH 'HAR:///etc/x.har' INTO TABLE pk",
        "SET hivesql.local.places=/",
        "SET hive.support.quoted.identifiers=none",
        "SET env:HOME",
        "SET system:user.home",
        "SET spark.driver.extraJavaOptions=-javaagent:/tmp/x.jar",
        "SET spark.sql.catalog.x=a.B",
        "SET fs.s3a.endpoint=http://elsewhere",
    ],
)
def test_what_reaches_for_the_servers_machine_is_refused(client: Client, text: str) -> None:
    status = client.execute(text).status
    assert status.statusCode == client.thrift.TStatusCode.ERROR_STATUS
    words = (
        "in a server", "not supported", "it is about the Spark of all sessions",
        "may name no places", "Cannot modify hivesql.local.places", "may take for ever",
    )  # fmt: skip
    assert any(word in status.errorMessage for word in words), status.errorMessage


def test_what_is_set_back_is_what_the_server_began_with(client: Client) -> None:
    for text in ("RESET hivesql.local.places", "RESET"):
        client.checked(client.execute(text))
        status = client.execute("CREATE EXTERNAL TABLE e (s STRING) LOCATION '/etc'").status
        assert "may name no places" in status.errorMessage


def test_the_environment_of_the_server_is_not_its_clients(client: Client) -> None:
    assert client.rows("SELECT '${env:HOME}${system:user.home}' FROM t WHERE i = 1") == [
        ("${env:HOME}${system:user.home}",)
    ]
    assert client.rows("SELECT 'reflect (' FROM t WHERE i = 1") == [("reflect (",)]


def test_local_statements_where_they_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("1\n2\n")
    options: dict[str, Any] = {"authentication": "nosasl", "allow_local": True}
    with serving(tmp_path, **options) as server, Client(server).open() as client:
        client.checked(client.execute("CREATE TABLE l (i INT)"))
        load = f"LOAD DATA LOCAL INPATH '{tmp_path}/rows' INTO TABLE l"
        client.checked(client.execute(load))
        assert client.rows("SET system:user.dir")[0][0].startswith("system:user.dir=/")


def test_the_catalog_as_jdbc_asks_for_it(client: Client) -> None:
    assert client.ask("GetCatalogs") == []
    assert ("default", "") in client.ask("GetSchemas", schemaName="def%")
    tables = client.ask("GetTables", schemaName="default", tableName="%")
    assert [(row[2], row[3]) for row in tables] == [
        ("fk", "TABLE"), ("pk", "TABLE"), ("t", "TABLE"), ("v", "VIEW")
    ]  # fmt: skip
    only = client.ask("GetTables", schemaName="default", tableName="_", tableTypes=["VIEW"])
    assert [row[2] for row in only] == ["v"]
    assert client.ask("GetTables", tableName="nosuch") == []
    managed = client.ask("GetTables", schemaName="default", tableTypes=["MANAGED_TABLE"])
    assert [row[2] for row in managed] == ["fk", "pk", "t"]
    assert client.ask("GetFunctions", schemaName="default", functionName="concat%") == []
    assert client.ask("GetTableTypes") == [("TABLE",), ("VIEW",), ("MATERIALIZED_VIEW",)]
    columns = client.ask("GetColumns", schemaName="default", tableName="t", columnName="d%")
    # Name, number, type, size, digits, radix, nullable, position.
    assert [(*row[3:7], row[8], row[9], row[10], row[16]) for row in columns] == [
        ("d", 3, "DECIMAL", 10, 2, 10, 1, 3), ("day", 91, "DATE", 10, None, None, 1, 8)
    ]  # fmt: skip
    # Of the other one nothing keeps NULLs away.
    required = client.ask("GetColumns", tableName="fk")
    assert [(row[3], row[8], row[10], row[17]) for row in required] == [
        ("x", 0, 1, "YES"), ("y", 0, 0, "NO"), ("z", None, 1, "YES")
    ]  # fmt: skip
    assert ("INT", 4, 10) in [row[:3] for row in client.ask("GetTypeInfo")]
    assert [row[2] for row in client.ask("GetFunctions", functionName="concat%")] == [
        "concat", "concat_ws"
    ]  # fmt: skip
    keys = client.ask("GetPrimaryKeys", schemaName="default", tableName="pk")
    assert [row[2:] for row in keys] == [("pk", "a", 1, "k"), ("pk", "b", 2, "k")]
    reference = {"parentTableName": "pk", "foreignSchemaName": "default", "foreignTableName": "fk"}
    assert [(row[2], row[3], row[6], row[7], row[8], row[11], row[12])
            for row in client.ask("GetCrossReference", **reference)] == [
        ("pk", "a", "fk", "x", 1, "r", "k"), ("pk", "b", "fk", "y", 2, "r", "k")
    ]  # fmt: skip


def test_what_the_server_tells_of_itself(client: Client) -> None:
    def info(kind: int) -> Any:
        request = client.thrift.TGetInfoReq(sessionHandle=client.session, infoType=kind)
        return client.calls.GetInfo(request)

    assert info(17).infoValue.stringValue == "Apache Hive"
    assert info(18).infoValue.stringValue.startswith("4.")
    assert info(30).infoValue.lenValue == 128
    words = info(10006).infoValue.stringValue.split(",")
    assert "STREAMTABLE" in words and "SELECT" not in words
    assert info(9999).status.statusCode == client.thrift.TStatusCode.ERROR_STATUS
    token = client.thrift.TGetDelegationTokenReq(
        sessionHandle=client.session, owner="ann", renewer="ann"
    )
    refusal = client.calls.GetDelegationToken(token).status
    assert (refusal.sqlState, refusal.errorMessage) == (
        "0A000", "not supported: delegation tokens"
    )  # fmt: skip


def test_impyla_runs_statements(server: Server) -> None:
    with connect_impala("127.0.0.1", server.port, auth_mechanism="NOSASL") as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT i, d, at FROM t ORDER BY i")
        assert [column[:2] for column in cursor.description] == [
            ("i", "INT"), ("d", "DECIMAL"), ("at", "TIMESTAMP")
        ]  # fmt: skip
        (number, decimal, _), nulls = cursor.fetchall()
        assert (number, str(decimal), nulls) == (1, "1.50", (2, None, None))
        with pytest.raises(HiveServer2Error, match="Error 10001"):
            cursor.execute("SELECT * FROM nosuch")
        cursor.close()


def test_a_client_that_wants_no_log(server: Server) -> None:
    enabled, level = (
        "hive.server2.logging.operation.enabled",
        "hive.server2.logging.operation.level",
    )
    with Client(server).open() as client:

        def lines(text: str, **overlay: str) -> int:
            answer = client.execute(text, confOverlay=overlay)
            fetch = client.thrift.TFetchResultsReq(
                operationHandle=client.checked(answer).operationHandle, maxRows=100, fetchType=1
            )
            return len(client.calls.FetchResults(fetch).results.columns[0].stringVal.values)

        assert lines("SHOW TABLES") == 4
        assert lines("SHOW TABLES", **{enabled: "false"}) == 0
        assert lines("SHOW TABLES", **{level: "verbose"}) == 4
        assert lines(f"SET {level}=none") == 4
        assert lines("SHOW TABLES") == 0
        message = client.execute(f"SET {level}=some").status.errorMessage
        assert f"{level} must be NONE or EXECUTION or PERFORMANCE or VERBOSE" in message
        assert lines("SHOW TABLES") == 0


def test_kinds_of_tables_by_hives_names(server: Server) -> None:
    key = "hive.server2.table.type.mapping"
    with Client(server).open(**{f"set__hiveconf__{key}": "hive"}) as client:
        thrift = client.thrift

        def tables(*kinds: str) -> list[tuple[str, str]]:
            request = thrift.TGetTablesReq(
                sessionHandle=client.session, schemaName="default", tableName="%",
                tableTypes=list(kinds) or None,
            )  # fmt: skip
            rows = client.fetch(client.checked(client.calls.GetTables(request)).operationHandle)
            return [(row[2], row[3]) for row in rows if row[2] in ("t", "v")]

        def kinds() -> list[str]:
            request = thrift.TGetTableTypesReq(sessionHandle=client.session)
            answer = client.checked(client.calls.GetTableTypes(request))
            return [name for (name,) in client.fetch(answer.operationHandle)]

        assert kinds() == ["MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW", "MATERIALIZED_VIEW"]
        assert tables() == [("t", "MANAGED_TABLE"), ("v", "VIRTUAL_VIEW")]
        assert tables("VIRTUAL_VIEW") == [("v", "VIRTUAL_VIEW")]
        assert client.rows(f"SET {key}") == [(f"{key}=hive",)]
        client.checked(client.execute(f"SET {key}=CLASSIC"))
        assert kinds() == ["TABLE", "VIEW", "MATERIALIZED_VIEW"]
        assert tables("TABLE") == [("t", "TABLE")]


def test_settings_of_one_statement_are_forgotten(server: Server) -> None:
    with Client(server).open() as client:
        overlay = {"name": "t", "hive.query.timeout.seconds": "77s"}
        text = "SELECT i FROM ${hiveconf:name} WHERE i = 1"
        handle = client.checked(client.execute(text, confOverlay=overlay)).operationHandle
        assert client.fetch(handle) == [(1,)]
        assert client.execute(text).status.errorCode == 40000
        assert client.rows("SET hive.query.timeout.seconds") == [("hive.query.timeout.seconds=0s",)]
        # As in Hive: SET changes the session, and knows no overlay.
        client.checked(client.execute("SET hivevar:a=b", confOverlay=overlay))
        client.checked(client.execute("SET name=t", confOverlay={"name": "nosuch"}))
        assert client.rows("SET hivevar:a") == [("hivevar:a=b",)]
        assert client.rows(text) == [(1,)]


def test_what_a_url_says_of_the_server_is_a_setting(server: Server) -> None:
    key = "hive.server2.async.exec.threads"
    with Client(server).open(**{f"set__hiveconf__{key}": "30"}) as client:
        assert client.rows(f"SET {key}") == [(f"{key}=30",)]
