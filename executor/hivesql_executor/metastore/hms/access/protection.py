"""How well the messages behind a login must be protected at least, as the site demands it."""

from __future__ import annotations

from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_planner.errors import ExecutionError, SemanticError
from hivesql_planner.settings.connection_keys import PROTECTION

PLAIN, SIGNED, ENCRYPTED = 1, 2, 4
"""As GSSAPI numbers them (RFC 4752)."""
_NAMES = {"authentication": PLAIN, "integrity": SIGNED, "privacy": ENCRYPTED}


def least_protection(text: str) -> int:
    """Return the weakest protection of those that are allowed; SemanticError for another word."""
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in _NAMES:
            raise SemanticError(
                f"{PROTECTION} must be of {', '.join(_NAMES)}, not {word!r}: as the site's "
                "core-site.xml says"
            )
    return min((_NAMES[word] for word in words), default=PLAIN)


def check_protection(layer: int, least: int) -> None:
    """ExecutionError where the strongest protection that a server offers is not enough."""
    if layer >= least:
        return
    wanted, offered = (
        next(name for name, value in _NAMES.items() if value == which) for which in (least, layer)
    )
    raise ExecutionError(
        f"{PROTECTION} demands {wanted}, and the metastore offers no more than {offered}. Set it "
        "there alike, or check that nobody sits in between",
        code=UNREACHABLE,
    )
