"""How connections to a Hive Metastore are encrypted, and whom they trust."""

from __future__ import annotations

import ssl
from pathlib import Path

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.settings.settings import Settings

_USE, _TRUSTED = "hive.metastore.use.SSL", "hive.metastore.truststore.path"
_KERBEROS = "hive.metastore.sasl.enabled"


def encryption(settings: Settings) -> ssl.SSLContext | None:
    """What connections are encrypted with; None when they are not, as is Hive's default.

    The server's certificate must be of its host and signed by one in the truststore, or without a
    truststore by one that this machine trusts. NotSupported for Kerberos.
    """
    if settings.flag(_KERBEROS):
        raise NotSupported(f"Kerberos ({_KERBEROS}=true)")
    if not settings.flag(_USE):
        return None
    place = settings.text(_TRUSTED).strip()
    try:
        return ssl.create_default_context(cafile=place or None)
    except ssl.SSLError as error:
        name = Path(place).name
        raise SemanticError(
            f"{_TRUSTED}={place} holds no certificates in the PEM format ({error}). Of a Java "
            f"truststore: keytool -exportcert -rfc -keystore {name} -alias <alias> -file ca.pem"
        ) from error
    except OSError as error:
        raise SemanticError(f"{_TRUSTED}={place} cannot be read: {error.strerror}") from error
