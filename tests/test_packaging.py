"""The wheel that users install."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import kubernetes_validate
import pyspark
import pytest
import yaml
from compose_spec import PyOptions
from sqlalchemy import make_url

import hivesql
from hivesql_planner.settings.settings import Settings
from hivesql_repl import serve, services
from hivesql_repl.configuration import read_profile
from postgres import find_program

ROOT = Path(__file__).parents[1]
OPERATION = ROOT / "examples" / "operation"


def test_a_wheel_carries_the_compiled_classes_and_no_sources_of_java(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        line = ".".join(pyspark.__version__.split(".")[:2])
        jar = f"hivesql_executor/spark/hivesql-spark-{line}.jar"
        carried = [name for name in names if name.endswith((".jar", ".java"))]
        # A checkout may have those of other lines beside it.
        assert jar in carried
        assert all("/hivesql-spark-" in name and name.endswith(".jar") for name in carried)
        with wheel.open(jar) as opened, zipfile.ZipFile(opened) as classes:
            stems = [Path(name).stem for name in classes.namelist()]
        compiled = {name for stem in stems for name in stem.split("$")}
        sources = (ROOT / "executor/java/main").rglob("*.java")
        declared = {
            name
            for path in sources
            for name in re.findall(
                r"^[a-z ]*(?:class|interface) (\w+)", path.read_text(), re.MULTILINE
            )
        }
        assert {"Gateway", "AcidReader", "BinaryConstant"} <= declared
        assert declared <= compiled
        assert all(name.startswith(("hivesql/", "META-INF/")) for name in wheel_of_jar(wheel, jar))
        # Whatever is no code of our own has a line that says whose it is.
        notice = (ROOT / "NOTICE").read_text()
        patterns = re.findall(r"[\w./*-]+", notice)
        others = [name for name in names if not name.endswith(".py") and ".dist-info/" not in name]
        assert jar in others
        unnamed = [
            name for name in others
            if not any(fnmatch(name, of) or fnmatch(Path(name).name, of) for of in patterns)
        ]  # fmt: skip
        assert unnamed == []
        licences = {Path(name).name for name in names if "/licenses/" in name}
        assert licences == {"LICENSE", "NOTICE"}


def wheel_of_jar(wheel: zipfile.ZipFile, jar: str) -> list[str]:
    with wheel.open(jar) as opened, zipfile.ZipFile(opened) as classes:
        return classes.namelist()


def test_there_is_one_version() -> None:
    assert version("hivesql") == hivesql.__version__
    done = subprocess.run(
        [sys.executable, "-m", "hivesql_repl", "--version"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout == f"hivesql {hivesql.__version__}\n"
    for path in (ROOT / "pyproject.toml", *(ROOT / "repl").rglob("*.py")):
        assert f'"{hivesql.__version__}"' not in path.read_text(), path


def test_what_a_site_copies_can_be_read(tmp_path: Path) -> None:
    """Containers cannot be built by the tests: their files are only parsed."""
    files = [*(ROOT / ".github").rglob("*.yml"), *OPERATION.glob("*.y*ml")]
    documents = {path.name: [*yaml.safe_load_all(path.read_text())] for path in files}
    assert len(documents) >= 8
    (compose,) = documents["compose.yaml"]
    for name, service in compose["services"].items():
        assert set(service.get("depends_on", ())) <= set(compose["services"]), name
        named = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        for volume in named:
            is_file = volume.startswith("./")
            assert (OPERATION / volume).exists() if is_file else volume in compose["volumes"]
    # Podman begins nothing again whose dependency is down, and what has no check is never healthy.
    for name in ("services", "server"):
        assert "depends_on" not in compose["services"][name], name
        assert compose["services"][name]["healthcheck"]["test"]
    hidden = (ROOT / ".dockerignore").read_text().split("\n")
    assert "*" in hidden and not any(line.startswith("!.") for line in hidden)
    for profile in ("production", "compose"):
        settings = read_profile(OPERATION / "config.toml", profile).settings
        Settings.of(
            {key: text for key, text in settings.items() if key.startswith(("hive", "meta"))}
        )
    parsers = {"services": services.make_parser(), "serve": serve.make_parser()}
    # The commands of containers and pods, and the settings that they are given.
    for name in ("services", "server"):
        command, *words = compose["services"][name]["command"]
        assert parsers[command].parse_args(words).profile == "compose"
    pods = [of for of in documents["kubernetes.yaml"] if of["kind"] == "Deployment"]
    for pod in pods:
        (container,) = pod["spec"]["template"]["spec"]["containers"]
        command, *words = container["args"]
        assert parsers[command].parse_args(words).config == Path("/etc/hivesql/config.toml")
    assert len(pods) == len(parsers)
    (settings,) = (of for of in documents["kubernetes.yaml"] if of["kind"] == "ConfigMap")
    (tmp_path / "config.toml").write_text(settings["data"]["config.toml"])
    assert str(read_profile(tmp_path / "config.toml").master).startswith("k8s://")
    # What make and the command are asked for there exists.
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    flows = [*(ROOT / ".github" / "workflows").glob("*.yml")]
    asked = re.findall(r"run: make ([a-z ]+)", "".join(path.read_text() for path in flows))
    assert asked and {word for words in asked for word in words.split()} <= set(targets)


def read_objects(text: str, *releases: str) -> list[dict[str, Any]]:
    """What a file brings into a cluster, checked by the schemas of those Kubernetes."""
    objects = list(yaml.safe_load_all(text))
    for release in releases:
        for of in objects:
            assert kubernetes_validate.validate(of, release, strict=True) == release
    return objects


def read_services(text: str, *_: str) -> list[str]:
    """The names of a compose file's services, checked by the specification."""
    compose = PyOptions(apply_merge=True).from_yaml(text)
    compose.validate()
    return compose.service_names()


READERS = {"kubernetes.yaml": read_objects, "compose.yaml": read_services}
MISSPELT = {
    "kubernetes.yaml": {
        "failureThreshold": "failureTreshold", "volumeMounts": "volumeMount",
        "runAsNonRoot": "runAsNoRoot", "roleRef": "roleReff", "clusterIP": "clusterIp",
        "replicas: 1": "replicas: one", "apiGroups": "apiGroup", "secretName": "secret_name",
        "terminationGracePeriodSeconds: 600": "terminationGracePeriodSeconds: 10m",
    },
    "compose.yaml": {
        "stop_grace_period": "stop_grace_periode", "interval: 30s": "intervall: 30s",
        "unless-stopped": "unless-stoped", "read_only: true": "read_only: perhaps",
        "127.0.0.1:9464:9464": "127.0.0.1:9464:nine", "cap_drop: [ALL]": "cap_drop: ALL",
        "stop_grace_period: 10m": "stop_grace_period: long", "volumes: {": "volume: {",
        "profiles: [users]": "profile: [users]",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_files_for_containers_are_what_their_specifications_allow(name: str) -> None:
    text, read = (OPERATION / name).read_text(), READERS[name]
    assert len(read(text, "1.25", "1.37")) >= 8
    parts = text.split("\n---\n")
    for word, other in MISSPELT[name].items():
        part = next(part for part in reversed(parts) if word in part)
        with pytest.raises((ValueError, kubernetes_validate.ValidationError)):
            read(part.replace(word, other), "1.37")


def test_the_containerfile_is_what_its_linter_allows(tmp_path: Path) -> None:
    text = (OPERATION / "Containerfile").read_text()
    linter = Path(sys.executable).with_name("hadolint")
    for lines, complaint in ((text, ""), (text.replace("USER 999", "USER root"), "DL3002")):
        (tmp_path / "Containerfile").write_text(lines)
        done = subprocess.run(
            [linter, tmp_path / "Containerfile"], capture_output=True, text=True, check=False
        )
        assert complaint in done.stdout and bool(complaint) == bool(done.returncode), done.stdout
    # Kubernetes knows no names: only of a number it can tell that it is not root.
    user = re.findall(r"^USER (\d+)$", text, re.MULTILINE)
    assert user and user == re.findall(r"--uid (\d+)", text)
    for pod in read_objects((OPERATION / "kubernetes.yaml").read_text()):
        if pod["kind"] == "Deployment":
            context = pod["spec"]["template"]["spec"]["securityContext"]
            assert [str(context["runAsUser"])] == user


def test_pods_have_what_is_named_elsewhere() -> None:
    """No schema knows of it: labels that services choose by, volumes, accounts, settings."""
    objects = read_objects((OPERATION / "kubernetes.yaml").read_text())
    names = {(of["kind"], of["metadata"]["name"]) for of in objects}
    pods = [of["spec"] for of in objects if of["kind"] == "Deployment"]
    labels = [pod["template"]["metadata"]["labels"] for pod in pods]
    assert [pod["selector"]["matchLabels"] for pod in pods] == labels
    for service in (of["spec"] for of in objects if of["kind"] == "Service"):
        (pod,) = (pods[at] for at, of in enumerate(labels) if of == service["selector"])
        (container,) = pod["template"]["spec"]["containers"]
        assert container["name"] == "hivesql"
        for port in service["ports"]:
            # The driver's are Spark's, and stand in the settings.
            of_pod = {one["containerPort"] for one in container["ports"]} | {7078, 7079}
            assert port["port"] in of_pod, port
    for spec in (pod["template"]["spec"] for pod in pods):
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        assert {one["name"] for one in spec["containers"][0]["volumeMounts"]} == set(volumes)
        assert ("ServiceAccount", spec["serviceAccountName"]) in names
        assert ("ConfigMap", volumes["config"]["configMap"]["name"]) in names


def test_pods_may_be_where_the_level_restricted_is_enforced() -> None:
    """What Kubernetes' Pod Security Standards ask; executors are Spark's, made after a template."""
    objects = read_objects((OPERATION / "kubernetes.yaml").read_text())
    (settings,) = (of["data"] for of in objects if of["kind"] == "ConfigMap")
    (template,) = read_objects(settings["executor.yaml"], "1.25", "1.37")
    pods = [of["spec"]["template"]["spec"] for of in objects if of["kind"] == "Deployment"]
    for pod in (*pods, template["spec"]):
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            rights = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
            assert container["securityContext"] == rights
    at = re.findall(
        r'"spark.kubernetes.executor.podTemplateFile" = "(.*)"', settings["config.toml"]
    )
    assert at == ["/etc/hivesql/executor.yaml"]


def test_executors_belong_to_their_driver_s_pod_in_its_namespace() -> None:
    objects = read_objects((OPERATION / "kubernetes.yaml").read_text())
    pods = [of["spec"]["template"]["spec"] for of in objects if of["kind"] == "Deployment"]
    services = {of["metadata"]["name"] for of in objects if of["kind"] == "Service"}
    for (container,) in (pod["containers"] for pod in pods):
        given = dict(word.split("=", 1) for word in container["args"] if word.startswith("spark."))
        fields = {
            one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in container["env"]
        }
        assert given.pop("spark.driver.host") in services
        assert {key: fields[name.strip("$()")] for key, name in given.items()} == {
            "spark.kubernetes.namespace": "metadata.namespace",
            "spark.kubernetes.driver.pod.name": "metadata.name",
        }


@pytest.mark.postgres
def test_the_database_s_health_is_asked_for_as_it_can_be(postgres_server: str) -> None:
    compose = yaml.safe_load((OPERATION / "compose.yaml").read_text())
    kind, command = compose["services"]["database"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    program, port = find_program("pg_isready"), str(make_url(postgres_server).port)
    if program is None:
        pytest.skip("pg_isready is not here")
    done = subprocess.run(
        [program, *command.split()[1:], "-p", port], capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_the_units_are_valid(tmp_path: Path) -> None:
    for unit in OPERATION.glob("hivesql-*"):
        text = unit.read_text().replace("/opt/hivesql/bin/hivesql", shutil.which("true") or "")
        (tmp_path / unit.name).write_text(text)
    units = sorted(str(path) for path in tmp_path.iterdir())
    assert len(units) == 3
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_the_bill_of_materials_leaves_the_tools_out() -> None:
    spec = spec_from_file_location("sbom", ROOT / ".ci" / "sbom.py")
    assert spec and spec.loader
    sbom = module_from_spec(spec)
    spec.loader.exec_module(sbom)
    assert "kerberos" in sbom.extras()
    # gssapi has no wheel: the tests without Kerberos need none.
    needs = sbom.needed("hivesql", sbom.extras() - {"kerberos"})
    assert {"pyspark", "py4j", "sqlglot", "psycopg", "thriftpy2"} <= set(needs)
    assert {"obstore", "argon2-cffi", "pymysql", "ldap3"} <= set(needs)
    assert not {"pytest", "ruff", "mypy", "pandas", "flask"} & set(needs)
    components = [{"name": name, "bom-ref": f"{name}==1"} for name in (*needs, "pytest")]
    pruned = sbom.prune(
        {
            "metadata": {"component": {"name": "hivesql", "bom-ref": "root"}},
            "components": components,
            "dependencies": [],
        },
        needs,
    )
    assert {of["name"] for of in pruned["components"]} == set(needs) - {"hivesql"}
    assert {"ref": "pyspark==1", "dependsOn": ["py4j==1"]} in pruned["dependencies"]
    assert "pytest" not in json.dumps(pruned)
