"""One message of Thrift, read, answered and written."""

from __future__ import annotations

from typing import Any, Protocol

from hivesql.server.protocol import ProtocolError, idl


class Reader(Protocol):
    """What a protocol of Thrift reads from."""

    def read(self, size: int) -> bytes: ...


def answer_message(reader: Reader, handler: object) -> bytes:
    """Return the answer to the next message; ProtocolError where it is none."""
    from thriftpy2.protocol import TCyBinaryProtocol
    from thriftpy2.protocol.binary import TBinaryProtocol
    from thriftpy2.protocol.exc import TProtocolException
    from thriftpy2.thrift import TProcessor
    from thriftpy2.transport import TCyMemoryBuffer

    answer = TCyMemoryBuffer()
    # Thrift's own reader in Python asks the stream for bytes, which counts them.
    source: Any = reader
    try:
        processor = TProcessor(idl().TCLIService, handler)
        processor.process(TBinaryProtocol(source), TCyBinaryProtocol(answer))
    except (TProtocolException, RecursionError, UnicodeDecodeError) as error:
        raise ProtocolError(f"no message of Thrift: {error}") from error
    message: bytes = answer.getvalue()
    return message
