"""How a bucket is reached, of the settings of S3A, where another client can do the same."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hivesql_planner.settings.durations import read_duration

_S3A = "fs.s3a."
_ACCESS = ("access.key", "secret.key", "session.token")
AWS_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Variables of the environment: key, secret, and the token of both, if any."""
_UNDERSTOOD = frozenset(
    (
        *_ACCESS, "endpoint", "endpoint.region", "path.style.access", "connection.ssl.enabled",
        "aws.credentials.provider", "retry.limit", "retry.interval", "multiobjectdelete.enable",
        "connection.request.timeout", "connection.establish.timeout",
    )
)  # fmt: skip
# What says how fast S3A is, or how it goes about things that are not done here.
_HARMLESS = (
    "attempts.maximum", "audit.", "block.size", "bucket.probe", "buffer.dir", "change.detection.",
    "committer.", "connection.", "create.conditional.", "create.performance",
    "directory.", "downgrade.", "etag.", "executor.",
    "experimental.", "fast.upload", "impl", "input.", "list.version", "max.total.tasks",
    "multipart.", "optimized.", "paging.", "performance.", "prefetch.", "readahead.", "retry.",
    "socket.", "threads.", "vectored.",
)  # fmt: skip
_NAMELESS = frozenset(
    (
        "AWS_CA_BUNDLE", "AWS_CONFIG_FILE", "AWS_DATA_PATH", "AWS_DEFAULT_OUTPUT",
        "AWS_DEFAULT_PROFILE", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "AWS_MAX_ATTEMPTS",
        "AWS_PAGER", "AWS_PROFILE", "AWS_REGION", "AWS_RETRY_MODE", "AWS_SDK_LOAD_CONFIG",
        "AWS_SHARED_CREDENTIALS_FILE", "AWS_STS_REGIONAL_ENDPOINTS", "AWS_VAULT", *AWS_KEYS,
    )
)  # fmt: skip
"""Variables that mean the same to every client, or nothing to one that is told where to go."""
_OF_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
_OF_CONTAINERS = (
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
)  # fmt: skip
_OF_WEB_IDENTITY = ("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_SESSION_NAME")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_USUAL_PROVIDERS = (
    "TemporaryAWSCredentialsProvider", "SimpleAWSCredentialsProvider",
    "EnvironmentVariableCredentialsProvider", "IAMInstanceCredentialsProvider",
)  # fmt: skip
_INSTANCES = ("IAMInstanceCredentialsProvider", "InstanceProfileCredentialsProvider",
              "ContainerCredentialsProvider")  # fmt: skip
_AMAZON = re.compile(r"s3[.-](?:dualstack\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?")
_HOST_NAME = re.compile(r"[a-z0-9][a-z0-9-]+[a-z0-9]")
_USUAL_REGION = "us-east-1"
_Role = tuple[tuple[str, str, str | None] | None, bool]
"""Key, secret and token, or None, and whether requests are not signed at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Access:
    """Where a bucket is and who asks it, for any client of S3."""

    bucket: str
    region: str
    endpoint: str | None
    """Address with its scheme, and with the bucket unless it is in the path; None for Amazon's."""
    is_in_path: bool
    """Whether the bucket is named in the path and not by the host."""
    keys: tuple[str, str, str | None] | None = field(default=None, repr=False)
    """Key, secret and session token; None where the machine's role gives them, or nobody asks."""
    is_anonymous: bool = False
    retries: int = 7
    """How often a request that failed is made again."""
    pause: float = 0.5
    """Seconds before the first of them."""
    timeout: float = 60.0
    """Seconds that one request may take."""
    connect_timeout: float = 30.0
    deletes_many: bool = True
    """Whether one request may delete many files."""


def s3_access(
    bucket: str, settings: Mapping[str, str], environment: Mapping[str, str]
) -> S3Access | None:
    """Return how to reach a bucket as S3A does; None where something is said that S3A alone knows.

    ``settings`` are Hadoop's (``fs.s3a.…``), ``environment`` the process's variables.
    """
    texts = _of_bucket(bucket, settings)
    if texts is None or "hadoop.security.credential.provider.path" in settings:
        return None
    endpoint = texts.get("endpoint") or None
    by_role = _role(texts, environment)
    region = _region(texts, endpoint, environment)
    if region is None or by_role is None or not _knows_all(environment, endpoint):
        return None
    keys, is_anonymous = by_role
    is_in_path = flag(texts, "path.style.access", usual=False)
    if endpoint is not None:
        is_in_path = is_in_path or not _takes_bucket(endpoint, bucket)
        endpoint = _address(texts, endpoint, "" if is_in_path else bucket)
    elif not _HOST_NAME.fullmatch(bucket):
        is_in_path = True
    try:
        return S3Access(
            bucket=bucket,
            region=region,
            endpoint=endpoint,
            is_in_path=is_in_path,
            keys=keys,
            is_anonymous=is_anonymous,
            retries=int(texts.get("retry.limit", "7")),
            pause=_seconds(texts, "retry.interval", 0.5),
            timeout=_seconds(texts, "connection.request.timeout", 60.0) or 60.0,
            connect_timeout=_seconds(texts, "connection.establish.timeout", 30.0) or 30.0,
            deletes_many=flag(texts, "multiobjectdelete.enable", usual=True),
        )
    except ValueError:
        # What becomes of such a number, or says what is wrong with it, is Hadoop's affair.
        return None


def _of_bucket(bucket: str, settings: Mapping[str, str]) -> dict[str, str] | None:
    """Return S3A's settings for one bucket without their beginning; None for an unknown one."""
    own = f"{_S3A}bucket.{bucket}."
    buckets = f"{_S3A}bucket."
    texts = {
        key.removeprefix(_S3A): text.strip()
        for key, text in settings.items()
        if key.startswith(_S3A) and not (key.startswith(buckets) and key != f"{buckets}probe")
    }
    texts |= {
        key.removeprefix(own): text.strip() for key, text in settings.items() if key.startswith(own)
    }
    unknown = [key for key in texts if key not in _UNDERSTOOD and not key.startswith(_HARMLESS)]
    return None if unknown else texts


def _role(texts: Mapping[str, str], environment: Mapping[str, str]) -> _Role | None:
    """Return the keys, if any, and whether nobody asks; None where S3A must look for them."""
    key, secret, token = (texts.get(name) for name in _ACCESS)
    offers: dict[str, _Role | None] = {
        "TemporaryAWSCredentialsProvider": _pair(key, secret, token) if token else None,
        "SimpleAWSCredentialsProvider": _pair(key, secret, None),
        "EnvironmentVariableCredentialsProvider": _pair(*map(environment.get, AWS_KEYS)),
        "AnonymousAWSCredentialsProvider": (None, True),
    }
    # Who may ask by a web identity is taken for that, and never for the machine.
    if all(environment.get(name) for name in _OF_WEB_IDENTITY[:2]):
        offers["WebIdentityTokenFileCredentialsProvider"] = (None, False)
    elif not any(environment.get(name) for name in _OF_WEB_IDENTITY):
        offers |= dict.fromkeys(_INSTANCES, (None, False))
    listed = re.split(r"[,\s]+", texts.get("aws.credentials.provider", ""))
    named = [name.rpartition(".")[2] for name in listed if name]
    for provider in named or _USUAL_PROVIDERS:
        if provider not in offers:
            return None
        if (offer := offers[provider]) is not None:
            return offer
    return None


def _pair(key: str | None, secret: str | None, token: str | None) -> _Role | None:
    return ((key, secret, token), False) if key and secret else None


def _knows_all(environment: Mapping[str, str], endpoint: str | None) -> bool:
    """Tell whether no variable could make another client do otherwise than S3A."""
    known = {*_NAMELESS, *_OF_CONTAINERS, *_OF_WEB_IDENTITY}
    if endpoint is not None:
        known.update(_OF_ENDPOINTS)
    if any(name.startswith("AWS_") and name not in known for name in environment):
        return False
    return not any(environment.get(name) or environment.get(name.upper()) for name in _PROXIES)


def _region(
    texts: Mapping[str, str], endpoint: str | None, environment: Mapping[str, str]
) -> str | None:
    """Return the region that requests are signed for; None where S3A finds it out by itself."""
    region = texts.get("endpoint.region")
    if region == "":
        return None
    if region is None and endpoint is not None:
        host = endpoint.partition("://")[2] or endpoint
        of_amazon = _AMAZON.fullmatch(host.rstrip("/"))
        if of_amazon:
            return of_amazon[1]
        if "amazonaws.com" in host:
            return None
        return environment.get("AWS_REGION") or _USUAL_REGION
    return region or environment.get("AWS_REGION")


def _takes_bucket(endpoint: str, bucket: str) -> bool:
    """Tell whether the bucket can stand before the host's name."""
    host = (endpoint.partition("://")[2] or endpoint).partition("/")[0].rpartition(":")
    name = host[0] or host[2]
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return _HOST_NAME.fullmatch(bucket) is not None
    return False


def _address(texts: Mapping[str, str], endpoint: str, bucket: str) -> str:
    """Return an address with its scheme, and with the bucket before its host, if there is one."""
    scheme, _, host = endpoint.rpartition("://")
    if not scheme:
        scheme = "https" if flag(texts, "connection.ssl.enabled", usual=True) else "http"
    return f"{scheme}://{bucket}{'.' if bucket else ''}{host.rstrip('/')}"


def flag(texts: Mapping[str, str], key: str, *, usual: bool) -> bool:
    """Read a yes or no as Hadoop does: anything else is what is usual."""
    return {"true": True, "false": False}.get(texts.get(key, "").lower(), usual)


def _seconds(texts: Mapping[str, str], key: str, usual: float) -> float:
    if key not in texts:
        return usual
    seconds = read_duration(texts[key], "ms")
    if seconds is None:
        raise ValueError(key)
    return seconds
