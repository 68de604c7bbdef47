"""Clients of obstore, one for each bucket, as Hadoop's settings say."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from obstore.store import AzureStore, GCSStore, S3Store

from hivesql_executor.files.local import NO_FILE, FileState, read_file_state
from hivesql_planner.settings.azure_access import AzureAccess
from hivesql_planner.settings.gcs_access import GcsAccess
from hivesql_planner.settings.s3_access import S3Access

Access = S3Access | GcsAccess | AzureAccess
"""Where a bucket is and who asks it."""
BASE = 2
"""By so much each pause before a request that is made again is longer."""
LONGEST_PAUSE = 15.0
MOST_SECONDS = 180.0
"""After so long a request is not made again: its signature would be too old."""
_TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"


def longest_wait(access: Access) -> float:
    """Return the seconds after which a request has failed, with all that made it again."""
    pauses = sum(min(access.pause * BASE**n, LONGEST_PAUSE) for n in range(access.retries))
    tries = (access.retries + 1) * (access.timeout + access.connect_timeout)
    return float(min(tries + pauses, MOST_SECONDS + access.timeout))


def open_store(access: Access, retries: int) -> Any:
    """Open a bucket; connections are kept for the next statement.

    ``retries`` says how often a request that failed is made again.
    """
    key_file = access.key_file if isinstance(access, GcsAccess) else None
    # A key that was replaced in its file is read anew; the client would do so never.
    return _open(access, retries, read_file_state(Path(key_file)) if key_file else NO_FILE)


@functools.lru_cache(maxsize=100)
def _open(access: Access, retries: int, _key_state: FileState) -> Any:
    options: Any = {
        "client_options": {
            "allow_http": True,
            "timeout": timedelta(seconds=access.timeout),
            "connect_timeout": timedelta(seconds=access.connect_timeout),
        },
        "retry_config": {
            "max_retries": retries,
            "retry_timeout": timedelta(seconds=MOST_SECONDS),
            "backoff": {
                "base": BASE,
                "init_backoff": timedelta(seconds=access.pause),
                "max_backoff": timedelta(seconds=LONGEST_PAUSE),
            },
        },
    }
    match access:
        case S3Access():
            return _of_amazon(access, options)
        case GcsAccess():
            return _of_google(access, options)
    config: Any = {"account_name": access.account, "endpoint": access.endpoint}
    config |= {"account_key": access.key} if access.key else {"sas_token": access.token}
    return AzureStore(access.container, config=config, **options)


def _of_amazon(access: S3Access, options: Any) -> S3Store:
    config: Any = {
        "region": access.region,
        "virtual_hosted_style_request": not access.is_in_path,
        "disable_bulk_delete": not access.deletes_many,
    }
    if access.endpoint is not None:
        # The second name wins over a variable of the environment.
        config |= {"endpoint": access.endpoint, "aws_endpoint_url_s3": access.endpoint}
    if access.is_anonymous:
        config["skip_signature"] = True
    credentials = _giving(access.keys) if access.keys is not None else None
    return S3Store(access.bucket, config=config, credential_provider=credentials, **options)


def _giving(keys: tuple[str, str, str | None]) -> Callable[[], Any]:
    """Give these keys, and no token of the environment's with them."""
    key, secret, token = keys
    return lambda: {
        "access_key_id": key, "secret_access_key": secret, "token": token, "expires_at": None
    }  # fmt: skip


def _of_google(access: GcsAccess, options: Any) -> GCSStore:
    config: Any = {}
    if access.endpoint is not None:
        config["base_url"] = access.endpoint
    credentials: Callable[[], Any] | None = None
    if access.key_file is not None:
        config["service_account"] = access.key_file
    elif access.metadata is not None:
        credentials = functools.partial(_token_of_machine, access.metadata)
    else:
        config["skip_signature"] = True
        # The client asks for a token all the same before it writes.
        credentials = _no_token
    return GCSStore(access.bucket, config=config, credential_provider=credentials, **options)


def _no_token() -> Any:
    return {"token": "", "expires_at": None}


def _token_of_machine(host: str) -> Any:
    """Ask the machine's metadata server for a token of its account."""
    request = Request(f"http://{host}{_TOKEN}", headers={"Metadata-Flavor": "Google"})
    with urlopen(request, timeout=10) as answer:
        token = json.load(answer)
    expires = datetime.now(timezone.utc) + timedelta(seconds=token["expires_in"])
    return {"token": token["access_token"], "expires_at": expires}
