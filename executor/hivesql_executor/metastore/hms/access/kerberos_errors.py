"""What Kerberos refuses, as errors of ours: which principal, which KDC, and what to do."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from hivesql_executor.metastore.hms.access.kdc_clock import difference
from hivesql_executor.metastore.hms.failures import UNREACHABLE
from hivesql_planner.errors import ExecutionError

if TYPE_CHECKING:
    from gssapi.exceptions import GSSError

_KRB5, _GSS = -1765328384, 39756032
_TICKET_ENDED = _KRB5 + 32
_CODES = 1 << 32
_KINIT = "kinit {client} gets a ticket; programs that run for long take hivesql.kerberos.keytab"
_RENEW = (
    "The ticket has ended: kinit {client} gets another one; with hivesql.kerberos.keytab they are "
    "renewed by themselves"
)
_KDC = "Check that it runs, that its port is open from here, and the realm's kdc in {configuration}"
_REALM = "Add the realm's kdc to {configuration}, or name another realm"
_CLOCK = "Set the clocks right (chronyc makestep): Kerberos allows 5 minutes between two machines"
_SERVER = (
    "The KDC knows no such server: check hive.metastore.kerberos.principal, its realm, and the "
    "host's name, by which _HOST is replaced"
)
_CLIENT = "The KDC knows no such user: check hivesql.kerberos.principal"
_KEYTAB = "klist -kt {keytab} lists whose keys are in it: check hivesql.kerberos.principal"
_OLD_KEYTAB = "The keys of {keytab} are no longer those of the KDC: export the keytab anew"
_ADVICE = {
    _KRB5 + 1: "The principal has ended: its administrator can extend it",
    _KRB5 + 6: _CLIENT,
    _KRB5 + 7: _SERVER,
    _KRB5 + 18: "The principal is locked: its administrator can unlock it",
    _KRB5 + 23: "The password has ended: kpasswd {client} changes it",
    _KRB5 + 24: _OLD_KEYTAB,
    _TICKET_ENDED: _RENEW,
    _KRB5 + 37: _CLOCK,
    _KRB5 + 136: "Set KRB5_CONFIG to a krb5.conf that can be read",
    _KRB5 + 141: _KINIT,
    _KRB5 + 154: _REALM,
    _KRB5 + 156: _KDC,
    _KRB5 + 181: _KEYTAB,
    _KRB5 + 195: _KINIT,
    _KRB5 + 220: _KDC,
    _GSS: _KINIT,
    _GSS + 1: _KEYTAB,
    _GSS + 12: _KINIT,
}
"""By codes of MIT's libraries."""
_EXPIRED = 11
"""GSSAPI's own code for credentials that have ended."""
_OTHERWISE = (
    "klist shows the tickets that are there; KRB5_TRACE=/dev/stderr in the environment shows each "
    "step"
)


def explain(
    error: GSSError, *, client: str | None, keytab: str | None, server: str
) -> ExecutionError:
    """Say what failed between whom, why, and what to do."""
    advice = _ADVICE.get(_code(error), _RENEW if has_ended(error) else _OTHERWISE)
    reason = _reason(error)
    if advice in (_RENEW, _CLOCK, _OTHERWISE) and (clocks := clocks_of(client or server)):
        # A wrong clock takes a good ticket for one that has ended.
        advice, reason = _CLOCK, f"{reason}, and {clocks}"
    if advice is _KINIT and keytab is not None:
        # MIT's library then looks for a ticket, and tells only of that.
        advice, reason = _KEYTAB, "the keytab has no key of it"
    realm = _realm(client or server)
    configuration = os.environ.get("KRB5_CONFIG", "/etc/krb5.conf")
    source = f"keytab {keytab}" if keytab else "ticket cache"
    who = f"{client} (by its {source})" if client else f"the owner of the {source}"
    kdcs = ", ".join(kdcs_of(realm)) or f"none in {configuration}: by DNS"
    help_text = advice.format(
        client=client or "name@REALM", keytab=keytab or "the keytab", configuration=configuration
    )
    return ExecutionError(
        f"no login by Kerberos of {who} at {server} (KDC of {realm or 'no realm'}: {kdcs}): "
        f"{reason}. {help_text}",
        code=UNREACHABLE,
    )


def _code(error: GSSError) -> int:
    number: int = error.min_code
    return number if number < _CODES >> 1 else number - _CODES


def has_ended(error: GSSError) -> bool:
    """Tell whether a ticket has ended."""
    return _code(error) == _TICKET_ENDED or error.maj_code >> 16 & 0xFF == _EXPIRED


def clocks_of(principal: str) -> str:
    """Say by how much this clock differs from that of the realm's KDC, where it is too much."""
    realm = _realm(principal)
    return difference(realm, kdcs_of(realm))


def _reason(error: GSSError) -> str:
    try:
        texts = [
            *error.get_all_statuses(error.min_code, False),
            *error.get_all_statuses(error.maj_code, True),
        ]
    except Exception:  # noqa: BLE001 - the code alone still tells something
        texts = []
    return next((text for text in texts if text), f"code {error.min_code}").rstrip(".")


def _realm(principal: str) -> str:
    return principal.rpartition("@")[2] if "@" in principal else ""


def kdcs_of(realm: str) -> tuple[str, ...]:
    """Tell the addresses of a realm's KDCs in krb5.conf; none where they are looked up by DNS."""
    kdcs: list[str] = []
    for file in os.environ.get("KRB5_CONFIG", "/etc/krb5.conf").split(":"):
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        pattern = rf"^\s*{re.escape(realm)}\s*=\s*\{{(.*?)^\s*\}}"
        block = re.search(pattern, text, re.MULTILINE | re.DOTALL)
        kdcs += re.findall(r"^\s*kdc\s*=\s*(\S+)", block[1], re.MULTILINE) if block else []
    return tuple(kdcs)
