"""A server's log lines, errors and spans: all that a statement causes has the id of its client."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hivesql
from hivesql_executor.runtime import Clock
from hivesql_executor.statement_log import beginning, log_notice, reserving
from thrift_servers import Client, serving

TABLE = "CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@contextmanager
def logged_lines() -> Iterator[list[dict[str, Any]]]:
    """All that is logged in the block, as JSON."""
    logger, stream, lines = logging.getLogger("hivesql"), io.StringIO(), list[dict[str, Any]]()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(hivesql.JsonLines())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
        lines += [json.loads(line) for line in stream.getvalue().splitlines()]


def test_lines_have_the_id_that_the_client_is_given(tmp_path: Path) -> None:
    ids, texts = [], (TABLE, "INSERT INTO t VALUES (1)", "SELECT nosuch FROM t")
    with (
        logged_lines() as lines,
        serving(tmp_path, authentication="nosasl") as server,
        Client(server).open() as client,
    ):
        for text in texts:
            answer = client.execute(text)
            if answer.operationHandle is not None:
                query = client.thrift.TGetQueryIdReq(operationHandle=answer.operationHandle)
                ids.append(client.calls.GetQueryId(query).queryId)
    named = list(dict.fromkeys(line["statement_id"] for line in lines if "statement_id" in line))
    assert named[:2] == ids and len(named) == 3
    for name, text in zip(named, texts, strict=True):
        mine = [line for line in lines if line.get("statement_id") == name]
        assert [line["logger"] for line in mine] == [
            "hivesql.statement", "hivesql.statement", "hivesql.server.audit",
        ]  # fmt: skip
        assert f"query={name} statement={text}" in mine[-1]["message"]


def test_a_notice_of_another_thread_has_the_id_too() -> None:
    heard = threading.Event()

    def beat() -> bool:
        log_notice("a heartbeat failed")
        heard.set()
        return False

    with logged_lines() as lines, reserving("hivesql_7"), beginning():
        end = Clock().repeat(0.01, beat, "beat")
        assert heard.wait(30)
        end()
    # A session of a test before this one may end meanwhile.
    ids = [line["statement_id"] for line in lines if line["message"] == "a heartbeat failed"]
    assert ids == ["hivesql_7"]


def test_a_handler_with_fields_and_the_error_agree(tmp_path: Path) -> None:
    stream, logger = io.StringIO(), logging.getLogger("hivesql")
    handler = logging.StreamHandler(stream)
    handler.addFilter(hivesql.StatementFields())
    handler.setFormatter(logging.Formatter("%(statement_id)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with hivesql.connect(f"sqlite:///{tmp_path}/m.db", tmp_path / "wh") as session:
            try:
                session.sql("SELECT a FROM nosuch")
            except hivesql.HiveSqlError as error:
                failure = error
            done = session.sql("SHOW TABLES")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    (line,) = (line for line in stream.getvalue().splitlines() if " failed: " in line)
    name = failure.statement_id
    assert line.startswith(f"{name} statement {name} failed: ")
    assert done.statement_id.startswith("hivesql_") and done.statement_id != failure.statement_id


PROGRAM = """
import json
from pathlib import Path
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from thrift_servers import Client, serving

exporter = InMemorySpanExporter()
with serving(Path.cwd(), authentication="nosasl") as server, Client(server).open() as client:
    client.checked(client.execute(TABLE))
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    answer = client.checked(client.execute("INSERT INTO t VALUES (1)"))
    query = client.thrift.TGetQueryIdReq(operationHandle=answer.operationHandle)
    name = client.calls.GetQueryId(query).queryId
spans = exporter.get_finished_spans()
names = {span.context.span_id: span.name for span in spans}
print(json.dumps([name, [
    [span.name, names.get(span.parent.span_id) if span.parent else None,
     span.attributes["hivesql.statement.id"], span.attributes.get("hivesql.transaction.id")]
    for span in spans
]]))
"""


def test_spans_of_a_server_have_the_id_that_the_client_is_given(tmp_path: Path) -> None:
    support = Path(__file__).parents[2] / "support"
    program = f"import sys; sys.path.insert(0, {str(support)!r}); TABLE = {TABLE!r}\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    name, spans = json.loads(done.stdout)
    parts = ("parse", "bind", "snapshot", "locks", "jobs", "publish", "commit")
    assert [(span, parent) for span, parent, *_ in spans] == [
        *((f"hivesql.{part}", "hivesql.statement") for part in parts), ("hivesql.statement", None),
    ]  # fmt: skip
    assert {span[2] for span in spans} == {name}
    assert [span[3] for span in spans] == [None, None, None, 2, 2, 2, 2, None]
