"""Thrift's transport with SASL, whose login ends when the server too has proved who it is."""

from __future__ import annotations

from typing import Any

from thriftpy2.transport import sasl

# The compiled one fits the compiled protocol; where Thrift is not compiled, neither is there.
_Transport: Any = getattr(sasl, "TCySaslClientTransport", sasl.TSaslClientTransport)


class SaslTransport(_Transport):  # type: ignore[misc]
    """Thrift's own believes a server that says that the login has ended, and what it says last.

    ``login`` is a Login of ``transports``, which imports this.
    """

    def __init__(self, login: Any, host: str, socket: Any) -> None:
        def begin() -> Any:
            self._steps = login.begin(host)
            return self._steps

        super().__init__(begin, login.mechanism, socket)

    def _recv_sasl_message(self) -> tuple[int, bytes]:
        status, payload = super()._recv_sasl_message()
        if status == self.COMPLETE:
            self._steps.finish(payload)
        return status, payload
