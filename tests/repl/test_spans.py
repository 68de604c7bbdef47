"""Spans of a command that somebody else has given a tracer, as `opentelemetry-instrument` does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

INSTRUMENTED = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

provider = TracerProvider()
printer = ConsoleSpanExporter(formatter=lambda span: span.to_json(indent=None) + "\\n")
provider.add_span_processor(BatchSpanProcessor(printer))
trace.set_tracer_provider(provider)
"""


def test_the_last_spans_of_a_command_are_sent(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INSTRUMENTED)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "hivesql_repl", "--log-format", "json", "-e", "SHOW DATABASES"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    spans = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert {"hivesql.parse", "hivesql.statement"} <= {span["name"] for span in spans}
    logged = [json.loads(line) for line in done.stderr.splitlines()]
    ids = {line["statement_id"] for line in logged if "statement_id" in line}
    assert {span["attributes"]["hivesql.statement.id"] for span in spans} == ids
    assert len(ids) == 1
