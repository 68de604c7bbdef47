"""Logins at a Hive Metastore by a delegation token: SASL's mechanism DIGEST-MD5 (RFC 2831)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from hivesql_executor.impersonation.token_file import DelegationToken
from hivesql_executor.metastore.hms.access.protection import (
    ENCRYPTED,
    PLAIN,
    SIGNED,
    check_protection,
)
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_planner.errors import ExecutionError, SemanticError

_URI = "null/default"
"""What Hadoop's servers are called here: no protocol, and the realm's name as a host's."""
_LAYERS = {"auth-conf": ENCRYPTED, "auth-int": SIGNED, "auth": PLAIN}
_CIPHER_KEYS = {"rc4": 16, "rc4-56": 7, "rc4-40": 5}
"""Bytes of the hash that are a cipher's key, the strongest first."""
_MAC_BYTES = 10
_TYPE = b"\0\1"


@dataclass(slots=True)
class TokenLogin:
    """A delegation token, and the file that it is from.

    ``read`` gives the token that is in the file now: None where it has none any more.
    """

    token: DelegationToken
    source: str
    read: Callable[[], DelegationToken | None]
    least: int = PLAIN
    """How well messages must be protected."""
    mechanism = "DIGEST-MD5"

    @property
    def user(self) -> str | None:
        """Give the owner of the token."""
        return self.token.owner

    def begin(self, host: str) -> DigestSteps:
        """Begin a login by the token that is there now; nothing depends on the server.

        Who starts a task may give it another one, before the first one ends.
        """
        # It may be half written, or gone with the task's directory: the one that we have may do.
        with suppress(SemanticError):
            self.token = self.read() or self.token
        return DigestSteps(
            base64.b64encode(self.token.identifier).decode(),
            base64.b64encode(self.token.secret).decode(),
            self.least,
        )

    def refusal(self, host: str, reason: str) -> str:
        """Tell of a server that does not want the token."""
        return (
            f"it refused the delegation token {self.token.describe()} in {self.source}: "
            f"{reason}. It may have ended, have been cancelled, or be another metastore's: check "
            "the address, start the task again, which gives it a new one, or unset "
            "HADOOP_TOKEN_FILE_LOCATION and log in by a ticket or hivesql.kerberos.keytab"
        )

    def describe(self) -> str:
        """Say whose token it is, where it is from, and until when it may be renewed."""
        ends = self.token.ends
        until = f", renewed until {ends:%Y-%m-%d %H:%M} UTC at most" if ends else ""
        return f"of {self.user or 'somebody'}, in {self.source}{until}"

    def refresh(self) -> None:
        """Do nothing: who gave the token renews it."""


def _md5(text: bytes) -> bytes:
    return hashlib.md5(text, usedforsecurity=False).digest()


class DigestSteps:
    """The steps of one login, and afterwards the protection of its messages."""

    def __init__(self, user: str, password: str, least: int = PLAIN) -> None:
        self._least = least
        self._user, self._password = user, password
        self._hash = b""
        self._layer = ""
        self._sent = self._received = 0
        self._keys: tuple[bytes, bytes] = (b"", b"")
        self._ciphers: tuple[Rc4, Rc4] | None = None
        self._proof = ""
        self._is_proved = False

    def start(self, mechanism: str) -> tuple[bool, str, bytes]:
        """Say nothing yet: the server has something to ask."""
        return True, mechanism, b""

    def step(self, challenge: bytes) -> tuple[bool, bytes]:
        """Answer the server's question, and look at its own proof."""
        words = _directives(challenge)
        if "rspauth" in words:
            proof = words["rspauth"].encode("utf-8", "replace")
            if not (self._proof and hmac.compare_digest(proof, self._proof.encode())):
                raise _refusal("the server does not know the token's secret")
            self._is_proved = True
            return True, b""
        realm, nonce = words.get("realm", ""), words.get("nonce", "")
        offered = words.get("qop", "auth").replace(" ", "").split(",")
        self._layer = next((layer for layer in _LAYERS if layer in offered), "auth")
        # Whoever sits in between could leave away the stronger ones: nothing proves this list.
        check_protection(_LAYERS[self._layer], self._least)
        cipher = self._choose_cipher(words.get("cipher", ""))
        own = secrets.token_hex(16)
        first = _md5(f"{self._user}:{realm}:{self._password}".encode())
        self._hash = _md5(first + f":{nonce}:{own}".encode())
        middle = f"{nonce}:00000001:{own}:{self._layer}"
        self._proof = self._response("", middle)
        self._take_keys(cipher)
        answer = {
            "charset": "utf-8", "username": f'"{self._user}"', "realm": f'"{realm}"',
            "nonce": f'"{nonce}"', "nc": "00000001", "cnonce": f'"{own}"',
            "digest-uri": f'"{_URI}"', "maxbuf": "65536", "qop": self._layer,
            "response": self._response("AUTHENTICATE", middle),
            **({"cipher": f'"{cipher}"'} if cipher else {}),
        }  # fmt: skip
        return True, ",".join(f"{name}={value}" for name, value in answer.items()).encode()

    def finish(self, message: bytes) -> None:
        """Look at the server's proof, which comes last."""
        if message:
            self.step(message)
        if not self._is_proved:
            raise _refusal("the server has not proved that it knows the token's secret")

    def _choose_cipher(self, offered: str) -> str:
        if self._layer != "auth-conf":
            return ""
        names = offered.replace(" ", "").split(",")
        for name in _CIPHER_KEYS:
            if name in names:
                return name
        raise _refusal(
            f"of the ciphers that the server offers ({offered}) none is RC4. Log in by a ticket or "
            "hivesql.kerberos.keytab, or set hadoop.rpc.protection=integrity there"
        )

    def _response(self, method: str, middle: str) -> str:
        second = f"{method}:{_URI}"
        if self._layer != "auth":
            second += f":{'0' * 32}"
        text = f"{self._hash.hex()}:{middle}:{_md5(second.encode()).hex()}"
        return _md5(text.encode()).hex()

    def _take_keys(self, cipher: str) -> None:
        def key(purpose: str, length: int = 16) -> bytes:
            return _md5(self._hash[:length] + purpose.encode())

        ways = ("client-to-server", "server-to-client")
        sending, receiving = (f"Digest session key to {way} signing key magic constant"
                              for way in ways)  # fmt: skip
        self._keys = key(sending), key(receiving)
        if cipher:
            length = _CIPHER_KEYS[cipher]
            sending, receiving = (f"Digest H(A1) to {way} sealing key magic constant"
                                  for way in ways)  # fmt: skip
            self._ciphers = Rc4(key(sending, length)), Rc4(key(receiving, length))

    def encode(self, message: bytes) -> tuple[bool, bytes]:
        """Sign or encrypt a message, and put its length before it."""
        if self._layer == "auth":
            return True, message
        number = struct.pack("!I", self._sent)
        self._sent += 1
        body = message + self._sign(self._keys[0], number, message)
        if self._ciphers is not None:
            body = self._ciphers[0].apply(body)
        sealed = body + _TYPE + number
        return True, struct.pack("!I", len(sealed)) + sealed

    def decode(self, frame: bytes) -> tuple[bool, bytes]:
        """Give the message of a frame, which is what the server sent."""
        sealed = frame[4:]
        end = len(_TYPE) + 4
        body, kind, number = sealed[:-end], sealed[-end:-4], sealed[-4:]
        if self._ciphers is not None:
            body = self._ciphers[1].apply(body)
        message, mac = body[:-_MAC_BYTES], body[-_MAC_BYTES:]
        expected = self._sign(self._keys[1], struct.pack("!I", self._received), message)
        if kind != _TYPE or number != struct.pack("!I", self._received) or (
            not hmac.compare_digest(mac, expected)
        ):  # fmt: skip
            raise ConnectionError("an answer is not signed by the server: it was changed")
        self._received += 1
        return True, message

    @staticmethod
    def _sign(key: bytes, number: bytes, message: bytes) -> bytes:
        return hmac.digest(key, number + message, "md5")[:_MAC_BYTES]


class Rc4:
    """The cipher RC4, which goes on from message to message."""

    def __init__(self, key: bytes) -> None:
        state, other = list(range(256)), 0
        for place in range(256):
            other = (other + state[place] + key[place % len(key)]) & 255
            state[place], state[other] = state[other], state[place]
        self._state, self._place, self._other = state, 0, 0

    def apply(self, text: bytes) -> bytes:
        """Encrypt or decrypt what comes next."""
        state, place, other = self._state, self._place, self._other
        stream = bytearray(len(text))
        for index in range(len(text)):
            place = (place + 1) & 255
            value = state[place]
            other = (other + value) & 255
            swapped = state[other]
            state[place], state[other] = swapped, value
            stream[index] = state[(value + swapped) & 255]
        self._place, self._other = place, other
        return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(
            len(text), "big"
        )


def _directives(challenge: bytes) -> dict[str, str]:
    pairs = re.findall(r'([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))',
                       challenge.decode("utf-8", "replace"))  # fmt: skip
    return {name.lower(): quoted or plain for name, quoted, plain in pairs}


def _refusal(why: str) -> ExecutionError:
    return ExecutionError(
        f"no login by a delegation token: {why}. Check that the address is the metastore's, and "
        "that nobody sits in between",
        code=UNREACHABLE,
    )
