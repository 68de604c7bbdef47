"""Requests for uploads in S3, signed as Amazon's own kit signs them."""

from __future__ import annotations

from datetime import datetime, timezone
from urllib.parse import urlsplit

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hivesql_executor.files.stores.s3_uploads import sign_request
from hivesql_planner.settings.s3_access import S3Access

NOW = datetime(2026, 7, 1, 12, 30, 5, tzinfo=timezone.utc)
IN_PATH = S3Access(
    bucket="b", region="eu-north-1", endpoint="http://127.0.0.1:9000", is_in_path=True,
    keys=("k", "s", "t/+="),
)  # fmt: skip
BY_HOST = S3Access(
    bucket="b-1", region="us-east-1", endpoint=None, is_in_path=False, keys=("k", "s", None)
)


@pytest.mark.parametrize("access", [IN_PATH, BY_HOST])
@pytest.mark.parametrize(
    ("method", "key", "query"),
    [
        ("GET", "", {"uploads": "", "prefix": "w/t ü%2F+/p=1/"}),
        ("DELETE", "w/t ü%2F+~/bucket_00000", {"uploadId": "a+/b="}),
    ],
)
def test_signatures_are_amazons(
    access: S3Access, method: str, key: str, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = sign_request(access, method, key, query, NOW)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: NOW)
    assert access.keys is not None
    theirs = AWSRequest(method, request.full_url, headers={"host": urlsplit(request.full_url)[1]})
    botocore.auth.S3SigV4Auth(Credentials(*access.keys), "s3", access.region).add_auth(theirs)
    assert request.get_header("Authorization") == theirs.headers["Authorization"]
