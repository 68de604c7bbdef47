"""A YARN on this machine: a resource manager and a node manager."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen
from xml.etree.ElementTree import Element, ElementTree, SubElement

from kdc import REALM, Kdc
from minidfs import hadoop_jars
from programs import free_port

_SERVERS = ("resourcemanager.ResourceManager", "nodemanager.NodeManager")


@contextmanager
def yarn_cluster(place: Path, kdc: Kdc | None = None) -> Iterator[Path]:
    """The directory of its configuration, for HADOOP_CONF_DIR. Jars and logs go into ``place``.

    With a ``kdc`` it wants Kerberos, and that directory has an HDFS's configuration already.
    """
    configuration = place / "conf"
    web = f"127.0.0.1:{free_port()}"
    options = ["-Xmx384m", "-XX:TieredStopAtLevel=1"]
    if kdc is None:
        configuration.mkdir()
        _write(configuration / "core-site.xml", {"fs.defaultFS": "file:///"})
    else:
        options.append(f"-Djava.security.krb5.conf={kdc.krb5}")
    _write(
        configuration / "capacity-scheduler.xml",
        {
            "yarn.scheduler.capacity.root.queues": "default",
            "yarn.scheduler.capacity.root.default.capacity": "100",
            "yarn.scheduler.capacity.maximum-am-resource-percent": "0.9",
        },
    )
    _write(
        configuration / "yarn-site.xml",
        {
            **{
                f"yarn.{address}.address": f"127.0.0.1:{free_port()}"
                for address in ("resourcemanager", "resourcemanager.scheduler",
                                "resourcemanager.resource-tracker", "resourcemanager.admin",
                                "nodemanager", "nodemanager.localizer", "nodemanager.webapp")
            },
            "yarn.resourcemanager.webapp.address": web,
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "100",
            "yarn.scheduler.minimum-allocation-mb": "64",
            "yarn.nodemanager.local-dirs": str(place / "local"),
            "yarn.nodemanager.log-dirs": str(place / "logs"),
            "yarn.nodemanager.resource.memory-mb": "4096",
            "yarn.nodemanager.resource.cpu-vcores": "4",
            "yarn.nodemanager.vmem-check-enabled": "false",
            **(_logins(kdc) if kdc else {}),
        },
    )  # fmt: skip
    path = f"{configuration}:{hadoop_jars(place / 'jars')}"
    with ExitStack() as cluster:
        for server in _SERVERS:
            log = cluster.enter_context((place / f"{server}.log").open("w"))
            command = ["java", *options, "-cp", path,
                       f"org.apache.hadoop.yarn.server.{server}"]  # fmt: skip
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=place)
            cluster.callback(process.wait, 60)
            cluster.callback(process.kill)
        _wait_for_node(f"http://{web}/ws/v1/cluster/metrics", place)
        yield configuration


def _logins(kdc: Kdc) -> dict[str, str]:
    keytab = str(kdc.add("yarn/localhost"))
    settings = {"yarn.resourcemanager.webapp.delegation-token-auth-filter.enabled": "false"}
    for server in ("resourcemanager", "nodemanager"):
        settings[f"yarn.{server}.principal"] = f"yarn/localhost@{REALM}"
        settings[f"yarn.{server}.keytab"] = keytab
    return settings


def _write(path: Path, settings: dict[str, str]) -> None:
    root = Element("configuration")
    for name, value in settings.items():
        setting = SubElement(root, "property")
        SubElement(setting, "name").text = name
        SubElement(setting, "value").text = value
    ElementTree(root).write(path)


def _wait_for_node(metrics: str, place: Path) -> None:
    for _ in range(300):
        try:
            with urlopen(metrics, timeout=5) as answer:
                if b'"activeNodes":1' in answer.read():
                    return
        except (URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.2)
    logs = "\n".join((place / f"{server}.log").read_text()[-2000:] for server in _SERVERS)
    raise AssertionError(f"no node joined YARN:\n{logs}")
