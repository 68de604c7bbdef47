"""What Py4J logs while Spark starts, by a real connection that breaks within a call."""

from __future__ import annotations

import logging
import socket
import struct
import threading
from contextlib import closing, nullcontext

import pytest
from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
from py4j.protocol import Py4JError

from hivesql_executor.spark.session import silence_failed_calls

_REPORT = "Exception while sending command."


def break_connection(server: socket.socket) -> None:
    """Take a part of one call and reset the connection, as a JVM that is killed."""
    peer, _ = server.accept()
    peer.recv(3)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_call_that_broke_is_raised_and_not_logged(
    is_silent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    before = list(logging.getLogger().filters)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        breaking = threading.Thread(target=break_connection, args=(server,))
        breaking.start()
        gateway = ClientServer(
            java_parameters=JavaParameters(port=server.getsockname()[1]),
            python_parameters=PythonParameters(port=0),
        )
        with silence_failed_calls() if is_silent else nullcontext(), pytest.raises(Py4JError):
            gateway.jvm.java  # noqa: B018
        breaking.join()
        gateway.close()
    assert (_REPORT in caplog.messages) is not is_silent
    assert logging.getLogger().filters == before
