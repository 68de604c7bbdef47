"""Spans of OpenTelemetry, in a program of its own: a tracer provider is set once a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import hivesql

exporter = InMemorySpanExporter()
with hivesql.connect("sqlite:///m.db", "wh", user="ann") as session:
    session.sql("CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    session.sql("INSERT INTO t VALUES (1)")
    session.sql("SET fs.s3a.secret.key=abc")
    try:
        session.sql("SELECT nosuch FROM t")
    except hivesql.SemanticError:
        pass
spans = exporter.get_finished_spans()
names = {span.context.span_id: span.name for span in spans}
print(json.dumps([
    [span.name, names.get(span.parent.span_id) if span.parent else None,
     span.status.status_code.name, dict(span.attributes)]
    for span in spans
]))
"""


def test_a_statement_is_a_span_and_so_are_its_parts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    spans = json.loads(done.stdout)
    inserted = spans[
        : next(i for i, span in enumerate(spans) if span[0] == "hivesql.statement") + 1
    ]
    assert [(name, parent) for name, parent, *_ in inserted] == [
        *((f"hivesql.{part}", "hivesql.statement")
          for part in ("parse", "bind", "snapshot", "locks", "jobs", "publish", "commit")),
        ("hivesql.statement", None),
    ]  # fmt: skip
    ids = [attributes.pop("hivesql.statement.id") for *_, attributes in spans]
    assert len(set(ids[: len(inserted)])) == 1 and len(set(ids)) == 3
    assert inserted[-1][3] == {
        "db.system.name": "hive", "db.query.text": "INSERT INTO t VALUES (1)", "enduser.id": "ann",
    }  # fmt: skip
    secret, failed = (span for span in spans[len(inserted) :] if span[0] == "hivesql.statement")
    assert secret[3]["db.query.text"] == "SET fs.s3a.secret.key=***"
    assert failed[2] == "ERROR" and inserted[-1][2] == "UNSET"
