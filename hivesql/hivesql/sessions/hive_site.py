"""The settings of a site: hive-site.xml and core-site.xml, where the environment says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.connection_keys import PROTECTION
from hivesql_planner.settings.file_system_keys import OF_HADOOP, is_of_file_systems
from hivesql_planner.settings.s3_access import AWS_KEYS
from hivesql_planner.settings.settings import KEYS, Settings, present_name

METASTORE_ADDRESSES = "hive.metastore.uris"
_NEWER_NAMES = {"metastore.thrift.uris": METASTORE_ADDRESSES}
_VARIABLE = re.compile(r"\$\{([^}$]+)\}")
_FILE_SYSTEMS = re.compile(r"\bspark\.hadoop\.|--properties-file")
_DEEPEST = 20
"""As often Hadoop looks for variables in what a variable stands for."""


def site_settings(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read the settings of the site's file that mean something here, and where its metastore is.

    Empty where no file is. Those of file systems mean something, and may stand in a core-site.xml
    beside it too; that of HADOOP_CONF_DIR, which Spark reads itself, is taken instead of it, as by
    the hive command, and says here only how calls must be protected. Others, such as those of Tez
    or of the metastore's own database, are left out. SemanticError for a file that cannot be
    understood, or for a value that its setting cannot have.
    """
    variables = os.environ if environment is None else environment
    path = _path(variables)
    of_hadoop = {}
    if _has_hadoop_site(variables):
        site = _read(Path(variables["HADOOP_CONF_DIR"], "core-site.xml"), variables)
        of_hadoop = {key: text for key, text in site.items() if key == PROTECTION}
    elif path is not None:
        of_hadoop = _read(path.with_name("core-site.xml"), variables)
    return of_hadoop if path is None else of_hadoop | _read(path, variables)


def file_system_settings(
    of_spark: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> dict[str, str] | None:
    """Return the settings of file systems that a Spark started with ``of_spark`` has.

    None where Spark is told of others by files, or by arguments, that are read by it alone.
    """
    variables = os.environ if environment is None else environment
    if _FILE_SYSTEMS.search(variables.get("PYSPARK_SUBMIT_ARGS", "")):
        return None
    if any(_FILE_SYSTEMS.search(path.read_text()) for path in _defaults(variables)):
        return None
    site = {}
    if _has_hadoop_site(variables):
        site = _read(Path(variables["HADOOP_CONF_DIR"], "core-site.xml"), variables)
    of_hadoop = {
        key.removeprefix(OF_HADOOP): text
        for key, text in of_spark.items()
        if key.startswith(OF_HADOOP)
    }
    return site | _of_environment(variables) | of_hadoop


def _of_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what Spark hands from the environment to S3A, which wins over its core-site.xml."""
    key, secret, token = (environment.get(name) for name in AWS_KEYS)
    if not key or not secret:
        return {}
    keys = {"fs.s3a.access.key": key, "fs.s3a.secret.key": secret}
    return keys | ({"fs.s3a.session.token": token} if token else {})


def _defaults(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the file of settings that each Spark started here reads, if there is one."""
    home = environment.get("SPARK_HOME")
    places = [Path(home, "conf")] if home else []
    if place := environment.get("SPARK_CONF_DIR"):
        places = [Path(place)]
    if not places and (pyspark := find_spec("pyspark")) and pyspark.origin:
        places = [Path(pyspark.origin).with_name("conf")]
    yield from (path for place in places if (path := place / "spark-defaults.conf").is_file())


def _has_hadoop_site(environment: Mapping[str, str]) -> bool:
    place = environment.get("HADOOP_CONF_DIR")
    return bool(place) and Path(str(place), "core-site.xml").is_file()


def _read(path: Path, variables: Mapping[str, str]) -> dict[str, str]:
    if not path.is_file():
        return {}
    properties = dict(_properties(path))
    settings = {}
    for key, text in properties.items():
        name = _NEWER_NAMES.get(key, key)
        is_hive = present_name(name) in KEYS or name == METASTORE_ADDRESSES
        if not is_hive and not is_of_file_systems(name):
            continue
        value = _substituted(text, properties, variables)
        try:
            Settings().with_value(name, value)
        except SemanticError as error:
            raise SemanticError(f"{path}: {error.message}", code=error.code) from error
        settings[name] = value
    return settings


def _path(environment: Mapping[str, str]) -> Path | None:
    """Tell where the file would be: as the hive command finds it."""
    if environment.get("HIVE_CONF_DIR"):
        return Path(environment["HIVE_CONF_DIR"], "hive-site.xml")
    if environment.get("HIVE_HOME"):
        return Path(environment["HIVE_HOME"], "conf", "hive-site.xml")
    return None


def _properties(path: Path) -> Iterator[tuple[str, str]]:
    """Yield names and values; of two of one name Hadoop takes the last."""
    # Imported late: few start where such a file is.
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        line, column = error.position
        raise SemanticError(f"{path}:{line}:{column + 1}: this is no XML: {error}") from error
    if root.tag != "configuration":
        raise SemanticError(f"{path}: <configuration> is expected, and <{root.tag}> was found")
    for element in root.iter("property"):
        name, value = element.findtext("name"), element.findtext("value")
        if name and name.strip() and value is not None:
            yield name.strip(), value.strip()


def _substituted(text: str, properties: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """Put other properties, and ``${env.NAME}``, in the place of variables, as Hadoop does."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("env."):
            return environment.get(name.removeprefix("env."), match[0])
        return properties.get(name, match[0])

    for _ in range(_DEEPEST):
        again = _VARIABLE.sub(value, text)
        if again == text:
            break
        text = again
    return text
