"""How a container of Azure's is reached, of the settings of ABFS, where another client can."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hivesql_planner.settings.s3_access import flag

_AZURE = "fs.azure."
_PLACE = re.compile(r"abfs(?P<tls>s?)://(?P<container>[^@/]+)@(?P<host>(?P<account>[^./:]+)[^/]*)")
_FLAT = "account.hns.enabled"
_KIND = "account.auth.type"
_KEY = "account.key"
_TOKEN = "sas.fixed.token"
_UNDERSTOOD = frozenset(
    (_FLAT, _KIND, _KEY, _TOKEN, "abfs.endpoint", "always.use.https", "io.retry.max.retries",
     "fns.account.service.type", "ingress.service.type")
)  # fmt: skip
# What says how fast ABFS is, or how it goes about things that are not done here.
_HARMLESS = (
    "abfs.latency", "account.throttling", "analysis.", "atomic.rename", "block.",
    "buffered.", "cluster.", "createRemote", "data.blocks", "delete.", "enable.", "http.",
    "impl", "io.", "list.", "metric.", "networking.", "oauth.token.fetch", "producer.", "read.",
    "readahead", "rename.", "skip.", "ssl.channel", "tracingheader", "use.upn", "user.agent",
    "write.",
)  # fmt: skip
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureAccess:
    """Where a container is and who asks it, for any client of Azure's blobs."""

    container: str
    account: str
    endpoint: str
    """Address with its scheme, and with the account where that stands in the path."""
    key: str | None = field(default=None, repr=False)
    """The account's key; None where a token says who asks."""
    token: str | None = field(default=None, repr=False)
    """A shared access signature; None where a key says who asks."""
    retries: int = 30
    """How often a request that failed is made again."""
    pause: float = 0.5
    """Seconds before the first of them."""
    timeout: float = 60.0
    """Seconds that one request may take."""
    connect_timeout: float = 20.0


def is_flat(location: str, settings: Mapping[str, str]) -> bool:
    """Tell whether the settings say that an account has blobs alone, and no directories."""
    place = _PLACE.match(location)
    return place is not None and not flag(_of_account(place, settings), _FLAT, usual=True)


def azure_access(
    location: str, settings: Mapping[str, str], environment: Mapping[str, str]
) -> AzureAccess | None:
    """Return how to reach a location's container as ABFS does; None where ABFS alone can.

    In an account with directories it alone knows what they are. ``settings`` are Hadoop's
    (``fs.azure.…``), ``environment`` the process's variables.
    """
    place = _PLACE.match(location)
    if place is None or not is_flat(location, settings):
        return None
    texts = _of_account(place, settings)
    unknown = [key for key in texts if key not in _UNDERSTOOD and not key.startswith(_HARMLESS)]
    is_asked = any(environment.get(name) or environment.get(name.upper()) for name in _PROXIES)
    if unknown or is_asked or "hadoop.security.credential.provider.path" in settings:
        return None
    if any(name.startswith("AZURE_") for name in environment):
        return None
    kind = texts.get(_KIND, "SharedKey")
    key, token = texts.get(_KEY), texts.get(_TOKEN)
    if (kind, bool(key), bool(token)) not in (("SharedKey", True, False), ("SAS", False, True)):
        return None
    by_tls = bool(place["tls"]) or flag(texts, "always.use.https", usual=True)
    scheme, account = "https" if by_tls else "http", place["account"]
    own = texts.get("abfs.endpoint", "")
    host = f"{own}/{account}" if ":" in own else place["host"].replace(".dfs.", ".blob.", 1)
    retries = texts.get("io.retry.max.retries", "30")
    if not retries.isdecimal():
        return None
    return AzureAccess(
        container=place["container"],
        account=account,
        endpoint=f"{scheme}://{host}",
        key=key,
        token=token and token.removeprefix("?"),
        retries=int(retries),
    )


def _of_account(place: re.Match[str], settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of one account without their beginning; others' are left out."""
    own, texts = f".{place['host']}", {}
    for key in sorted(settings, key=lambda name: name.endswith(own)):
        name = key.removeprefix(_AZURE)
        if name == key:
            continue
        if name.endswith(own):
            texts[name.removesuffix(own)] = settings[key].strip()
        elif not re.search(r"\.(?:dfs|blob)\.core\.", name):
            texts[name] = settings[key].strip()
    return texts
