"""Uploads to S3 that wait, told and given up without Spark: obstore's client names none of them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree

from hivesql_executor.beats import answer_of, pause
from hivesql_executor.files.refusals import (
    refusal_of_repetition,
    refusal_of_store,
    refusal_of_too_much,
)
from hivesql_executor.files.stores.clients import BASE, LONGEST_PAUSE
from hivesql_planner.settings.s3_access import S3Access

_MOST = 16 << 20
"""Bytes that an answer has at most: a thousand uploads with the longest names."""
_MOST_OF_ERROR = 64 << 10
_CHUNK = 64 << 10
_NONE = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class S3Uploads:
    """The uploads of a bucket, for whoever has keys to it."""

    access: S3Access

    def waiting(self, location: str) -> list[tuple[str, str]]:
        """List all below a location that are neither completed nor given up, of anybody."""
        scheme, _, place = location.partition("://")
        bucket, _, key = place.partition("/")
        home = f"{scheme}://{bucket}"
        listed = self._listed({"prefix": f"{key.rstrip('/')}/", "uploads": ""}, location)
        return [(f"{home}/{name}", _word(upload)) for name, upload in listed]

    def abort(self, uploaded: Sequence[tuple[str, str]]) -> None:
        """Give up what is not completed."""
        for path, word in uploaded:
            key = path.partition("://")[2].partition("/")[2]
            upload = base64.urlsafe_b64decode(f"{word.partition(':')[0]}===").decode()
            self._ask("DELETE", key, {"uploadId": upload}, path)

    def _listed(self, query: dict[str, str], location: str) -> Iterator[tuple[str, str]]:
        places: set[tuple[str, ...]] = set()
        while True:
            answer = ElementTree.fromstring(self._ask("GET", "", query, location))
            for element in answer.iterfind("{*}Upload"):
                yield element.findtext("{*}Key", ""), element.findtext("{*}UploadId", "")
            if answer.findtext("{*}IsTruncated") != "true":
                return
            markers = {
                "key-marker": answer.findtext("{*}NextKeyMarker", ""),
                "upload-id-marker": answer.findtext("{*}NextUploadIdMarker", ""),
            }
            if (place := tuple(markers.values())) in places:
                raise refusal_of_repetition(location, markers["key-marker"] or "nothing")
            places.add(place)
            query |= markers

    def _ask(self, method: str, key: str, query: dict[str, str], place: str) -> bytes:
        """Ask the bucket; again where it fails. What is not there gives an empty answer."""
        for number in range(self.access.retries + 1):
            try:
                request = sign_request(self.access, method, key, query, datetime.now(timezone.utc))
                return answer_of(partial(self._open, request, place), place)
            except HTTPError as error:
                if error.code == 404 and method == "DELETE":
                    return b""
                body = error.read(_MOST_OF_ERROR).decode(errors="replace")
                report = f"status code: {error.code}\n{body}"
                if error.code < 500 or number == self.access.retries:
                    raise refusal_of_store(place, report) from error
            except (URLError, OSError) as error:
                if number == self.access.retries:
                    raise refusal_of_store(place, str(error)) from error
            pause(min(self.access.pause * BASE**number, LONGEST_PAUSE), place)
        return b""

    def _open(self, request: Request, place: str) -> bytes:
        with urlopen(request, timeout=self.access.timeout) as answer:
            return _read_all(answer, place, self.access.timeout)


def _read_all(answer: Any, place: str, seconds: float) -> bytes:
    """Read an answer, which may have no end, or drip, in so much time and memory."""
    parts, count, deadline = [], 0, time.monotonic() + seconds
    while part := answer.read1(_CHUNK):
        parts.append(part)
        count += len(part)
        if count > _MOST:
            raise refusal_of_too_much(place, _MOST)
        if time.monotonic() > deadline:
            raise TimeoutError(f"an answer took longer than {seconds:g} seconds")
    return b"".join(parts)


def sign_request(
    access: S3Access, method: str, key: str, query: dict[str, str], now: datetime
) -> Request:
    """Return a request without a body, signed by Amazon's fourth rules; ``now`` is in UTC."""
    assert access.keys is not None
    who, secret, token = access.keys
    address = urlsplit(_address(access))
    path = quote(f"{address.path}/{key}")
    parameters = "&".join(f"{quote(name)}={quote(query[name], safe='')}" for name in sorted(query))
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": address.netloc, "x-amz-content-sha256": _NONE, "x-amz-date": moment}
    if token:
        headers["x-amz-security-token"] = token
    named = ";".join(headers)
    lines = "".join(f"{name}:{text}\n" for name, text in headers.items())
    canonical = "\n".join([method, path, parameters, lines, named, _NONE])
    scope = f"{moment[:8]}/{access.region}/s3/aws4_request"
    signing = f"AWS4{secret}".encode()
    for word in scope.split("/"):
        signing = hmac.digest(signing, word.encode(), "sha256")
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{digest}"
    signature = hmac.digest(signing, text.encode(), "sha256").hex()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={who}/{scope}, SignedHeaders={named}, Signature={signature}"
    )
    url = f"{address.scheme}://{address.netloc}{path}?{parameters}"
    return Request(url, headers=headers, method=method)


def _address(access: S3Access) -> str:
    """Return the address of a bucket, with its scheme."""
    of_china = ".cn" if access.region.startswith("cn-") else ""
    host = f"s3.{access.region}.amazonaws.com{of_china}"
    if access.is_in_path:
        return f"{access.endpoint or f'https://{host}'}/{access.bucket}"
    return access.endpoint or f"https://{access.bucket}.{host}"


def _word(upload: str) -> str:
    """Write an upload's name as the driver and Hadoop do (``Uploads.java``)."""
    return base64.urlsafe_b64encode(upload.encode()).decode().rstrip("=")
