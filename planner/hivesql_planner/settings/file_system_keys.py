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
_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# 'key' = 'value' of a list of properties, and the key of a cipher, its call's second argument.
_SECRETS = re.compile(
    rf"(?P<key>{_TEXT})(?P<between>\s*=\s*){_TEXT}"
    rf"|(?P<call>\baes_(?:en|de)crypt\s*\((?:[^()'\"]|{_TEXT}|\([^()]*\))*,\s*){_TEXT}",
    re.IGNORECASE | re.DOTALL,
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
    """Return a statement whose secrets are covered: properties' values, keys of ciphers, SET's."""

    def covered(match: re.Match[str]) -> str:
        if match["key"] is not None:
            is_shown = not is_secret(match["key"][1:-1], hidden) and not _SECRET.search(
                match["key"]
            )
            return match[0] if is_shown else f"{match['key']}{match['between']}'{_COVER}'"
        return f"{match['call']}'{_COVER}'"

    return _SECRETS.sub(covered, cover_secret(statement, hidden))


def sets_secret(statements: Iterable[str], hidden: str = "") -> bool:
    """Tell whether one of the statements sets what nobody may be shown."""
    return any(cover_secret(statement, hidden) != statement for statement in statements)
