"""How `hivesql services` ends, where a metastore has stopped to answer or cuts connections."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TProcessor
from thriftpy2.transport import TBufferedTransport, TSocket, TTransportException

import hivesql
from hivesql_executor.metastore.hms.client import idl
from hostile_servers import listening

OFTEN = ("hive.compactor.worker.sleep.time=100ms", "hive.compactor.worker.max.sleep.time=100ms")


class Metastore:
    """Answers what a session asks when it is opened, and does otherwise when work is asked for."""

    def __init__(self, *, hangs: bool) -> None:
        self.hangs, self.asked, self.ended = hangs, threading.Event(), threading.Event()

    def getVersion(self) -> str:  # noqa: N802
        return "4.1.0"

    def set_ugi(self, user: str, groups: list[str]) -> list[str]:
        return [user]

    def get_database(self, name: str) -> Any:
        return idl().Database(name=name, locationUri="/nowhere")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._fail

    def _fail(self, *arguments: Any) -> Any:
        self.asked.set()
        if self.hangs:
            self.ended.wait()
        raise ConnectionError("cut")

    def talk(self, stream: socket.socket, ended: threading.Event) -> None:
        """Answer one client."""
        self.ended = ended
        transport = TBufferedTransport(TSocket(sock=stream))
        protocol = TBinaryProtocol(transport)
        processor = TProcessor(idl().ThriftHiveMetastore, self)
        with suppress(TTransportException):
            while True:
                processor.process(protocol, protocol)


@pytest.fixture
def listen() -> Iterator[Callable[[Metastore], str]]:
    """Lets clients call a metastore; its address."""
    with listening() as starts:
        yield lambda metastore: f"thrift://127.0.0.1:{starts(metastore.talk)}"


@contextmanager
def started(
    url: str, place: Path, *words: str, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """Run the services beside a metastore in the block, which ends them."""
    settings = (f"--hiveconf={setting}" for setting in OFTEN)
    with subprocess.Popen(
        [sys.executable, "-m", "hivesql_repl", "services", f"--metastore={url}", *settings, *words],
        stderr=subprocess.PIPE, text=True, cwd=place, env={**os.environ, **environment},
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("hangs", [True, False])
def test_a_metastore_that_has_stopped_to_answer(
    hangs: bool, listen: Callable[[Metastore], str], tmp_path: Path
) -> None:
    metastore = Metastore(hangs=hangs)
    with started(listen(metastore), tmp_path, "--drain=0.5") as process:
        assert metastore.asked.wait(120)
        if not hangs:
            assert process.stderr is not None
            line = ""
            while "worker-0: " not in line:
                line = process.stderr.readline()
                assert line, "it has ended"
            assert "could not be asked for the next compaction" in line and "was cut" in line
            assert "a compaction failed" not in line
        process.terminate()
        _, told = process.communicate(timeout=100)
        assert process.returncode == (2 if hangs else 0), told
        assert ("did not end within 0.5 seconds (--drain)" in told) == hangs, told


def test_a_spark_that_does_not_start_is_not_waited_for(tmp_path: Path) -> None:
    """The compaction that needs it waits again."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    # It says nothing, and ends when whoever started it does.
    java.write_text(f"#!/bin/sh\n: > {tmp_path}/starts\nexec cat > /dev/null\n", encoding="utf-8")
    java.chmod(0o755)
    url = f"sqlite:///{tmp_path}/m.db"
    with hivesql.connect(url, str(tmp_path / "w")) as session:
        session.sql("SET hivesql.compactor.inline=false")
        session.sql("CREATE TRANSACTIONAL TABLE t (a INT) STORED AS ORC")
        session.sql("INSERT INTO t VALUES (1); ALTER TABLE t COMPACT 'rebalance'")
        words = (f"--warehouse={tmp_path}/w", "--drain=0.5")
        with started(url, tmp_path, *words, JAVA_HOME=f"{tmp_path}/jdk") as process:
            while not (tmp_path / "starts").exists():
                assert process.poll() is None
                threading.Event().wait(0.1)
            process.terminate()
            _, told = process.communicate(timeout=100)
        assert process.returncode == 0, told
        assert "was stopped, and waits again" in told
        assert [row[5] for row in session.sql("SHOW COMPACTIONS").rows] == ["initiated"]


def test_a_metastore_that_answers_nothing_at_all(
    listen: Callable[[Metastore], str], tmp_path: Path
) -> None:
    """Nothing has begun: there is nothing to finish."""
    metastore = Metastore(hangs=True)
    metastore.getVersion = metastore._fail  # type: ignore[method-assign]
    with started(listen(metastore), tmp_path) as process:
        assert metastore.asked.wait(120)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=15)
        assert process.returncode == 0, told
