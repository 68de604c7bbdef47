"""One connection to a Hive Metastore: a call, and whether the answer is one to it."""

from __future__ import annotations

from typing import Any

from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.protocol.exc import TProtocolException
from thriftpy2.thrift import TApplicationException, TClient, TMessageType, TType

from hivesql_executor.metastore.hms.access.limits import Limits

_MOST_CALLS = (1 << 31) - 1


class Connection(TClient):
    """Calls of a service over a transport, within limits.

    Thrift's own client takes any message for the answer to its call, and an exception that it does
    not know for success.
    """

    def __init__(self, service: Any, transport: Any, limits: Limits) -> None:
        super().__init__(service, TBinaryProtocolFactory().get_protocol(transport))
        self._limits = limits

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        """Call a method whose answer must be there after so many seconds."""
        self._seqid = self._seqid % _MOST_CALLS + 1
        self._limits.begin(seconds)
        return getattr(self, method)(*arguments)

    def _recv(self, _api: str) -> Any:
        name, kind, number = self._iprot.read_message_begin()
        if kind == TMessageType.EXCEPTION:
            error = TApplicationException()
            error.read(self._iprot)
            # Who could not read the request may not know what it was, nor its number.
            raise error
        if (name, kind, number) != (_api, TMessageType.REPLY, self._seqid):
            raise TProtocolException(
                TProtocolException.INVALID_DATA,
                f"an answer to {name!r:.80} came, of kind {kind} and number {number}",
            )
        result = getattr(self._service, f"{_api}_result")()
        if hasattr(result, "success"):
            return self._value(result)
        self._end_of_nothing(_api, result)
        return None

    def _value(self, result: Any) -> Any:
        result.read(self._iprot)
        if result.success is not None:
            return result.success
        for name, value in vars(result).items():
            if name != "success" and value is not None:
                raise value
        raise TApplicationException(TApplicationException.MISSING_RESULT)

    def _end_of_nothing(self, method: str, result: Any) -> None:
        """Read an answer that has no value; raise what it has in its place."""
        transport = self._iprot.trans
        kind = transport.read(1)[0]
        if kind == TType.STOP:
            return
        number = int.from_bytes(transport.read(2), "big", signed=True)
        known = result.thrift_spec.get(number)
        if kind != TType.STRUCT or known is None:
            raise TProtocolException(
                TProtocolException.INVALID_DATA,
                f"{method} ended by something that this version does not know (field {number})",
            )
        error = known[2]()
        error.read(self._iprot)
        if transport.read(1)[0] != TType.STOP:
            raise TProtocolException(TProtocolException.INVALID_DATA, "the answer does not end")
        raise error
