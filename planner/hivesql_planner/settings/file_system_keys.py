"""Settings of Hadoop's file systems, and which settings are nobody's to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HIDDEN_LIST = "hive.conf.hidden.list"
HIDDEN = (
    "javax.jdo.option.ConnectionPassword", "hive.server2.keystore.password",
    "hive.server2.webui.keystore.password", "hive.druid.metadata.password",
    "fs.s3.awsAccessKeyId", "fs.s3.awsSecretAccessKey", "fs.s3n.awsAccessKeyId",
    "fs.s3n.awsSecretAccessKey", "fs.s3a.access.key", "fs.s3a.secret.key",
    "fs.s3a.proxy.password", "dfs.adls.oauth2.credential", "fs.adl.oauth2.credential",
    "fs.azure.account.oauth2.client.secret", "hive.zookeeper.ssl.keystore.location",
    "hive.zookeeper.ssl.keystore.password", "hive.zookeeper.ssl.truststore.location",
    "hive.zookeeper.ssl.truststore.password",
)  # fmt: skip
"""What Hive 4.1 hides unless its setting says otherwise."""
OF_HADOOP = "spark.hadoop."
"""How settings of Hadoop begin among those of Spark, which hands them on to its executors."""
_FILE_SYSTEMS = ("fs.", "dfs.", "hadoop.security.", "hadoop.rpc.")
_SPACES = ("hiveconf:", "env:", "system:", OF_HADOOP)
# Whatever hive.conf.hidden.list says: S3A's keys, those of one bucket too, Azure's and Google's.
_SECRET = re.compile(
    r"secret|passw(or)?d|pass?wd|pswd|access[._-]?key|account[.]key|private[.]key|encryption[.]key"
    r"|(session|security|refresh|sas|fixed|auth)[._-]?token(?![._]provider)|[.]sas[.]"
    r"|oauth2[.](refresh[.]token|credential)$",
    re.IGNORECASE,
)
_USERS = ("hivevar:",)
_SETS = re.compile(
    r"\s*set\s+(?P<key>[^\s=]+)(?:\s*=\s*|\s+)(?P<value>.*\S)\s*;?\s*", re.IGNORECASE | re.DOTALL
)
_COVER = "***"
_LONGEST = 4096
"""Characters of a statement that logs tell."""
_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# A name or a text with the text that it equals; a call of a cipher; and what a call is made of.
_PARTS = re.compile(
    rf"(?P<key>{_TEXT}|\b[a-z_]\w*\b`?)(?P<between>\s*=\s*)(?P<value>{_TEXT}(?:\s*{_TEXT})*)"
    rf"|(?P<cipher>\baes_(?:en|de)crypt\s*\()|(?P<text>{_TEXT})|[(),]",
    re.IGNORECASE | re.DOTALL,
)
# Who logs in: s3n://key:secret@bucket, jdbc:mysql://host/db?password=secret, …;password=secret.
_LOGIN = re.compile(r"(?<=://)[^\s/@:]{0,500}:[^\s@]{0,500}(?=@)")
_PARAMETER = re.compile(
    r"(\b[a-z_.-]{0,50}(?:secret|passw(?:or)?d|pwd|token|access[._-]?key)[a-z_.-]{0,50}=)[^\s&;,]+",
    re.IGNORECASE,
)


def is_of_file_systems(key: str) -> bool:
    """Tell whether a key is one of Hadoop's file systems, which counts when Spark starts."""
    return key.startswith(_FILE_SYSTEMS)


def spark_name(key: str) -> str:
    """Return the name of a setting of Hadoop's file systems among Spark's; others stay."""
    return f"{OF_HADOOP}{key}" if is_of_file_systems(key) else key


def is_secret(key: str, hidden: str = "") -> bool:
    """Tell whether nobody may be shown the value of a setting, or of a variable of the environment.

    ``hidden`` is the value of ``hive.conf.hidden.list``: names begin like one of it, as in Hive.
    """
    key = key.strip()
    if key.startswith(_USERS):
        return False
    name = key
    for space in _SPACES:
        name = name.removeprefix(space)
    starts = tuple(word for word in map(str.strip, hidden.split(",")) if word)
    if starts and name.startswith(starts):
        return True
    is_setting = name.startswith((*_FILE_SYSTEMS, "hive.", "javax.jdo.", "metastore.", "spark."))
    return (is_setting or key.startswith("env:")) and _SECRET.search(name) is not None


def without_secrets(values: Mapping[str, str], hidden: str = "") -> dict[str, str]:
    """Return the settings that may be shown."""
    return {key: value for key, value in values.items() if not is_secret(key, hidden)}


def cover_secret(statement: str, hidden: str = "") -> str:
    """Return a statement with ``***`` in the place of the value, where it sets a secret."""
    match = _SETS.fullmatch(statement)
    if match is None or not is_secret(match["key"], hidden):
        return statement
    return statement[: match.start("value")] + _COVER


def cover_secrets(statement: str, hidden: str = "") -> str:
    """Return a statement whose secrets are covered.

    They are values of properties and of columns with names of secrets, keys of ciphers, logins in
    addresses, and what SET sets.
    """
    arguments: list[int | None] = []  # of each open bracket, which one of a cipher's it is

    def covered(part: re.Match[str]) -> str:
        whole = part[0]
        if part["cipher"] is not None:
            arguments.append(1)
        elif whole == "(":
            arguments.append(None)
        elif whole == ")":
            del arguments[-1:]
        elif whole == ",":
            if arguments and arguments[-1] is not None:
                arguments[-1] += 1
        elif any(number is not None and number > 1 for number in arguments):
            return f"'{_COVER}'" if part["key"] is None else f"{part['key']}='{_COVER}'"
        elif part["key"] is None:
            return _without_logins(whole)
        else:
            key = part["key"].strip("'\"`")
            is_shown = not is_secret(key, hidden) and not _SECRET.search(key)
            value = _without_logins(part["value"]) if is_shown else f"'{_COVER}'"
            return f"{part['key']}{part['between']}{value}"
        return whole

    return _PARTS.sub(covered, cover_secret(statement, hidden))


def cover_beginning(statement: str, hidden: str = "") -> str:
    """Return what logs tell of a statement: its first few thousand characters, secrets covered.

    Covering takes a second for each million characters, in which no other thread runs.
    """
    # Longer than what is told: of what is cut off in its middle nobody knows that it is a secret.
    return cover_secrets(statement[: 2 * _LONGEST], hidden)[:_LONGEST]


def _without_logins(text: str) -> str:
    """Return a text without what its addresses tell about logins."""
    return _PARAMETER.sub(rf"\1{_COVER}", _LOGIN.sub(_COVER, text))


def sets_secret(statements: Iterable[str], hidden: str = "") -> bool:
    """Tell whether one of the statements sets what nobody may be shown."""
    return any(cover_secret(statement, hidden) != statement for statement in statements)
