"""An HDFS on this machine: a name node and a data node in one process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from kdc import REALM, Kdc
from programs import free_port

POM = Path(__file__).parents[1] / "interop" / "hdfs" / "pom.xml"
NODES = POM.with_name("TwoNameNodes.java")
JARS = Path(pyspark.__file__).parent / "jars"


def hadoop_jars(place: Path) -> str:
    """The class path of Hadoop's servers; needs Maven. Their clients' classes are Spark's own."""
    version = next(JARS.glob("hadoop-client-api-*.jar")).stem.rpartition("-")[2]
    subprocess.run(
        ["mvn", "-q", "-B", "-f", POM, "dependency:copy-dependencies",
         f"-Dhadoop.version={version}", f"-DoutputDirectory={place}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return os.pathsep.join([*map(str, sorted(place.glob("*.jar"))), f"{JARS}/*"])


@contextmanager
def hdfs_cluster(
    place: Path, kdc: Kdc | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Its URI. Jars, logs and blocks go into ``place``.

    With a ``kdc`` it wants Kerberos; its clients' HADOOP_CONF_DIR is then ``place/conf``, and
    ``settings`` are more of the servers.
    """
    port = free_port()
    path = hadoop_jars(place / "jars")
    options = ["-Xmx512m"]
    if kdc is not None:
        path = os.pathsep.join(
            [str(_secure_configuration(place / "conf", kdc, port, settings or {})), path]
        )
        options.append(f"-Djava.security.krb5.conf={kdc.krb5}")
    details = place / "details.json"
    with (place / "hdfs.log").open("w") as log:
        process = subprocess.Popen(
            ["java", *options, "-cp", path, "org.apache.hadoop.test.MiniDFSClusterManager",
             "-format", "-datanodes", "1", "-nnport", str(port), "-writeDetails", str(details)],
            stdout=log, stderr=log, cwd=place,
        )  # fmt: skip
        try:
            for _ in range(600):
                if details.exists() and details.stat().st_size:
                    break
                assert process.poll() is None, (place / "hdfs.log").read_text()[-2000:]
                time.sleep(0.2)
            uri = f"hdfs://localhost:{port}"
            _processes[uri] = process
            yield uri
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(60)


_processes: dict[str, subprocess.Popen[bytes]] = {}


@contextmanager
def standing_still(uri: str) -> Iterator[None]:
    """Stop the servers of a cluster meanwhile: connections stay, and nobody answers."""
    _processes[uri].send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        _processes[uri].send_signal(signal.SIGCONT)


@dataclass(frozen=True)
class NameService:
    """An HDFS of two name nodes, by the name of both."""

    uri: str
    conf: Path
    """The HADOOP_CONF_DIR of its clients."""
    control: int

    def move(self) -> None:
        """Let the other name node be active, and this one stand by."""
        with socket.create_connection(("127.0.0.1", self.control)) as connection:
            assert connection.recv(100) == b"done\n"


@contextmanager
def name_service(place: Path) -> Iterator[NameService]:
    """Start two name nodes and a data node. Jars, logs and blocks go into ``place``."""
    path = hadoop_jars(place / "jars")
    with (place / "hdfs.log").open("w") as log:
        process = subprocess.Popen(
            ["java", "-Xmx512m", "-cp", path, NODES, str(place)],
            stdout=subprocess.PIPE, stderr=log, cwd=place, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            said = (line.split() for line in process.stdout)
            ports = next((words[1:] for words in said if words[:1] == ["ports"]), [])
            assert ports, (place / "hdfs.log").read_text()[-2000:]
            first, second, control = map(int, ports)
            provider = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
            conf = place / "conf"
            conf.mkdir()
            _write_site(conf / "core-site.xml", {})
            _write_site(
                conf / "hdfs-site.xml",
                {
                    "dfs.nameservices": "both",
                    "dfs.ha.namenodes.both": "a,b",
                    "dfs.namenode.rpc-address.both.a": f"localhost:{first}",
                    "dfs.namenode.rpc-address.both.b": f"localhost:{second}",
                    "dfs.client.failover.proxy.provider.both": provider,
                },
            )
            yield NameService("hdfs://both", conf, control)
        finally:
            process.send_signal(signal.SIGKILL)
            # Which closes what it said, too.
            process.communicate()


def file_shell(place: Path, kdc: Kdc, *words: str) -> str:
    """Run a command of `hdfs dfs` as the administrator of that cluster; what it printed."""
    tickets = f"FILE:{place / 'administrator'}"
    keytab = kdc.place / "hdfs_localhost.keytab"
    kdc.run("kinit", "-kt", str(keytab), f"hdfs/localhost@{REALM}", KRB5CCNAME=tickets)
    path = os.pathsep.join([str(place / "conf"), hadoop_jars(place / "jars")])
    done = subprocess.run(
        ["java", "-Xmx128m", f"-Djava.security.krb5.conf={kdc.krb5}", "-cp", path,
         "org.apache.hadoop.fs.FsShell", *words],
        env={**os.environ, "KRB5CCNAME": tickets}, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def _secure_configuration(place: Path, kdc: Kdc, port: int, settings: Mapping[str, str]) -> Path:
    """Write core-site.xml and hdfs-site.xml of a cluster that wants Kerberos; their directory."""
    keytab, web = kdc.add("hdfs/localhost"), kdc.add("HTTP/localhost")
    core = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.rpc.protection": "privacy",
        "fs.defaultFS": f"hdfs://localhost:{port}",
    }
    hdfs = {
        "dfs.block.access.token.enable": "true",
        "dfs.permissions.enabled": settings.get("dfs.permissions.enabled", "false"),
        # Its ports are not below 1024, and it has no certificates.
        "ignore.secure.ports.for.testing": "true",
        "dfs.web.authentication.kerberos.principal": f"HTTP/localhost@{REALM}",
        "dfs.web.authentication.kerberos.keytab": str(web),
    }
    for node in ("namenode", "datanode"):
        hdfs[f"dfs.{node}.keytab.file"] = str(keytab)
        hdfs[f"dfs.{node}.kerberos.principal"] = f"hdfs/localhost@{REALM}"
        hdfs[f"dfs.{node}.kerberos.internal.spnego.principal"] = f"HTTP/localhost@{REALM}"
    place.mkdir()
    for name, values in (("core-site.xml", core | dict(settings)), ("hdfs-site.xml", hdfs)):
        _write_site(place / name, values)
    return place


def _write_site(path: Path, values: Mapping[str, str]) -> None:
    properties = "".join(
        f"<property><name>{key}</name><value>{value}</value></property>"
        for key, value in values.items()
    )
    path.write_text(f"<configuration>{properties}</configuration>")
