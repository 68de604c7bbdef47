"""How far this machine's clock is from the KDC's, which Kerberos itself does not tell."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from contextlib import suppress
from datetime import datetime, timezone

_PORT = 88
_SECONDS = 2.0
_MOST_SECONDS = 3.0
_MOST_BYTES = 1 << 16
_ALLOWED = 300.0
"""What Kerberos allows usually, in seconds."""
# The server's time in an answer, which is a refusal: ``stime [4] KerberosTime``.
_SERVER_TIME = re.compile(rb"\xa4\x11\x18\x0f(\d{14})Z")


def seconds_ahead(realm: str, kdcs: tuple[str, ...]) -> float | None:
    """Return how many seconds this clock is ahead of the KDC's; None where no KDC tells soon.

    Asked for a ticket of nobody, the KDC refuses, and says when. Only by TCP, at addresses that
    krb5.conf has.
    """
    answers: list[float | None] = []
    # Nothing ends a look-up of names that nobody answers.
    asking = threading.Thread(target=lambda: answers.append(_ahead(realm, kdcs)), daemon=True)
    asking.start()
    asking.join(_MOST_SECONDS)
    return answers[0] if answers else None


def _ahead(realm: str, kdcs: tuple[str, ...]) -> float | None:
    for address in kdcs:
        host, _, port = address.removeprefix("tcp/").partition(":")
        with suppress(OSError, ValueError):
            before = time.time()
            answer = _ask(host.strip("[]"), int(port or _PORT), _request(realm))
            middle = (before + time.time()) / 2
            if match := _SERVER_TIME.search(answer):
                text = match[1].decode()
                moment = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
                # It tells whole seconds, which it cuts.
                return middle - moment.timestamp() - 0.5
    return None


def difference(realm: str, kdcs: tuple[str, ...]) -> str:
    """Say that the clocks differ by more than is allowed, and by how much; else nothing."""
    ahead = seconds_ahead(realm, kdcs)
    if ahead is None or abs(ahead) <= _ALLOWED:
        return ""
    way = "ahead of" if ahead > 0 else "behind"
    return f"this machine's clock is {round(abs(ahead) / 60)} minutes {way} that of the KDC"


def _ask(host: str, port: int, request: bytes) -> bytes:
    with socket.create_connection((host, port), timeout=_SECONDS) as stream:
        stream.sendall(struct.pack("!I", len(request)) + request)
        answer, end = b"", time.monotonic() + _SECONDS
        # One answer, of which the time is near the beginning.
        while len(answer) < _MOST_BYTES and time.monotonic() < end:
            part = stream.recv(4096)
            answer += part
            if not part or len(answer) >= 4 + int.from_bytes(answer[:4], "big"):
                break
        return answer


def _request(realm: str) -> bytes:
    """Make a request for a ticket in the name of nobody, who is not there or must prove it."""
    nobody = _sequence(_tagged(0, _integer(1)), _tagged(1, _sequence(_text("hivesql-clock"))))
    service = _sequence(
        _tagged(0, _integer(2)), _tagged(1, _sequence(_text("krbtgt"), _text(realm)))
    )
    body = _sequence(
        _tagged(0, _element(0x03, bytes(5))),
        _tagged(1, nobody),
        _tagged(2, _text(realm)),
        _tagged(3, service),
        _tagged(5, _element(0x18, b"20370101000000Z")),
        _tagged(7, _integer(1)),
        _tagged(8, _sequence(_integer(18), _integer(17))),
    )
    request = _sequence(_tagged(1, _integer(5)), _tagged(2, _integer(10)), _tagged(4, body))
    return _element(0x6A, request)


def _element(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content


def _tagged(number: int, content: bytes) -> bytes:
    return _element(0xA0 | number, content)


def _sequence(*parts: bytes) -> bytes:
    return _element(0x30, b"".join(parts))


def _integer(value: int) -> bytes:
    return _element(0x02, bytes((value,)))


def _text(value: str) -> bytes:
    return _element(0x1B, value.encode())
