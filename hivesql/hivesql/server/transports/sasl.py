"""SASL's PLAIN and GSSAPI as Thrift frames them: a status, a length in 4 bytes, and the bytes.

Hive's ``auth=NONE`` is this too, with any password.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from hivesql.server.protocol import LoginError, ProtocolError, check_name
from hivesql.server.transports.client_stream import ClientStream

if TYPE_CHECKING:
    from hivesql.server.transports.kerberos import KerberosAcceptor

_START, _OK, _BAD, _COMPLETE = 1, 2, 3, 5
_PLAIN, _GSSAPI = b"PLAIN", b"GSSAPI"
_LONGEST_MECHANISM = 20
_LONGEST_ANSWER = 16384
_LONGEST_TOKEN = 2**20
_PARTS = 3


def authenticate(stream: ClientStream, accepts: Callable[[str, str], bool]) -> str:
    """Return the name of the user who comes in; LoginError for others.

    ``accepts`` tells whether a name and a password belong together.
    """
    status, mechanism = _receive(stream, _LONGEST_MECHANISM)
    if status != _START or mechanism != _PLAIN:
        _send(stream, _BAD, b"Unsupported mechanism type: only PLAIN is known here")
        raise LoginError(f"the SASL mechanism {mechanism!r}")
    status, answer = _receive(stream, _LONGEST_ANSWER)
    if status not in (_OK, _COMPLETE):
        raise LoginError(f"the client ended SASL with status {status}")
    try:
        user = _check_login(answer, accepts)
    except LoginError:
        # The same words whatever was wrong.
        _send(stream, _BAD, b"Error validating the login")
        raise
    _send(stream, _COMPLETE, b"")
    stream.is_framed = True
    return user


def authenticate_by_ticket(stream: ClientStream, acceptor: KerberosAcceptor) -> str:
    """Return the name of the user whose ticket is shown; LoginError for others.

    Messages are signed or encrypted from then on where both sides have agreed to it.
    """
    status, mechanism = _receive(stream, _LONGEST_MECHANISM)
    if status != _START or mechanism != _GSSAPI:
        _send(stream, _BAD, b"Unsupported mechanism type: only GSSAPI (Kerberos) is known here")
        raise LoginError(f"the SASL mechanism {mechanism!r}")
    login, user = acceptor.begin(), ""
    while not user:
        status, token = _receive(stream, _LONGEST_TOKEN)
        if status not in (_OK, _COMPLETE):
            raise LoginError(f"the client ended SASL with status {status}")
        try:
            answer, user = login.step(token)
        except LoginError:
            _send(stream, _BAD, b"GSS initiate failed: the server's log tells why")
            raise
        _send(stream, _COMPLETE if user else _OK, answer)
    stream.is_framed = True
    stream.protection = login if login.is_protected else None
    return user


def _check_login(answer: bytes, accepts: Callable[[str, str], bool]) -> str:
    other, user, password = _read_plain(answer)
    if other and other != user:
        raise LoginError(f"{user!r} may not act for {other!r}")
    check_name(user)
    if not accepts(user, password):
        raise LoginError(f"a wrong name or password of {user!r}")
    return user


def _read_plain(answer: bytes) -> tuple[str, str, str]:
    parts = answer.split(b"\0")
    if len(parts) != _PARTS:
        raise LoginError("no answer of PLAIN")
    try:
        other, user, password = (part.decode("utf-8") for part in parts)
    except UnicodeDecodeError:
        raise LoginError("a name or password that is no UTF-8") from None
    return other, user, password


def _receive(stream: ClientStream, most: int) -> tuple[int, bytes]:
    status, length = struct.unpack("!bi", stream.read_exactly(5))
    if not 0 <= length <= most:
        raise ProtocolError(f"{length} bytes of SASL: at most {most} are taken")
    return status, stream.read_exactly(length)


def _send(stream: ClientStream, status: int, payload: bytes) -> None:
    stream.send_exactly(struct.pack("!bi", status, len(payload)) + payload)
