"""How a bucket of Google Cloud Storage is reached, of the settings of Google's connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hivesql_planner.settings.s3_access import flag

_GS = "fs.gs."
_OLDER = "google.cloud."
_OF_ACCOUNT = "auth.service.account."
_UNDERSTOOD = frozenset(
    (
        "auth.type", f"{_OF_ACCOUNT}enable", f"{_OF_ACCOUNT}json.keyfile", "auth.null.enable",
        "storage.root.url", "project.id",
    )
)  # fmt: skip
# What says how fast the connector is, or how it goes about things that are not done here.
_HARMLESS = (
    "application.name", "batch.", "block.size", "bucket.delete", "cloud.logging", "copy.",
    "create.items.conflict", "delegation.", "client.type", "fadvise", "glob.", "grpc.", "http.",
    "implicit.", "impl", "inputstream.", "io.", "lazy.", "list.", "marker.", "max.", "metrics.",
    "outputstream.", "performance.", "permissions", "reported.", "rewrite.", "status.", "tracelog",
    "vectored.", "working.",
)  # fmt: skip
_OF_FILES = ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_BASE_URL", "GOOGLE_BEARER_TOKEN", "GOOGLE_SKIP_SIG")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_METADATA = "metadata.google.internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class GcsAccess:
    """Where a bucket is and who asks it, for any client of Google Cloud Storage."""

    bucket: str
    endpoint: str | None = None
    """Address with its scheme; None for Google's."""
    key_file: str | None = None
    """Path of a service account's key; None where the machine's account asks, or nobody."""
    metadata: str | None = field(default=None)
    """Host that gives the tokens of the machine's account; None where a key does, or nobody."""
    is_anonymous: bool = False
    retries: int = 10
    """How often a request that failed is made again."""
    pause: float = 0.5
    """Seconds before the first of them."""
    timeout: float = 60.0
    """Seconds that one request may take."""
    connect_timeout: float = 20.0


def gcs_access(
    bucket: str, settings: Mapping[str, str], environment: Mapping[str, str]
) -> GcsAccess | None:
    """Return how to reach a bucket as Google's connector does; None where it alone can.

    ``settings`` are Hadoop's (``fs.gs.…``), ``environment`` the process's variables.
    """
    texts = {
        key.removeprefix(_GS): text.strip() for key, text in settings.items() if key.startswith(_GS)
    }
    unknown = [key for key in texts if key not in _UNDERSTOOD and not key.startswith(_HARMLESS)]
    is_asked = any(environment.get(name) or environment.get(name.upper()) for name in _PROXIES)
    if unknown or is_asked or any(key.startswith(_OLDER) for key in settings):
        return None
    if any(name.startswith(_OF_FILES) for name in environment):
        return None
    endpoint = texts.get("storage.root.url", "").rstrip("/") or None
    kind, file = texts.get("auth.type", "").upper(), texts.get(f"{_OF_ACCOUNT}json.keyfile")
    by_nobody = kind == "UNAUTHENTICATED" or (
        not kind
        and flag(texts, "auth.null.enable", usual=False)
        and not flag(texts, f"{_OF_ACCOUNT}enable", usual=True)
    )
    if by_nobody:
        return GcsAccess(bucket=bucket, endpoint=endpoint, is_anonymous=True)
    if not flag(texts, f"{_OF_ACCOUNT}enable", usual=True):
        return None
    if file and kind == "SERVICE_ACCOUNT_JSON_KEYFILE":
        return GcsAccess(bucket=bucket, endpoint=endpoint, key_file=file)
    # Of both, or of a key alone, older connectors take the key, and newer ones the machine.
    if kind == "COMPUTE_ENGINE" and not file:
        host = environment.get("GCE_METADATA_HOST") or _METADATA
        return GcsAccess(bucket=bucket, endpoint=endpoint, metadata=host)
    return None
