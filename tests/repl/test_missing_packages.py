"""A package that a command needs is missed before anything is made, or asked of the user."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from hivesql_repl.cli import main

pytestmark = pytest.mark.usefixtures("empty_home")

KERBEROS = "hive.metastore.sasl.enabled=true", "hive.metastore.kerberos.principal=hive/h@REALM"
THRIFT = ["--metastore", "thrift://127.0.0.1:1"]
POSTGRES = ["--metastore", "postgresql+psycopg://a@127.0.0.1:1/x"]
MARIADB = ["--metastore", "mysql://a@127.0.0.1:1/x"]
SERVE = ["serve", "--port", "0", "--lazy-spark"]
LOGIN = [word for setting in KERBEROS for word in ("--hiveconf", setting)]
COMMANDS = {
    "services --metrics": ("prometheus_client", "metrics", ["services", "--once"], ["--metrics"]),
    "serve --metrics": ("prometheus_client", "metrics", SERVE, ["--metrics"]),
    "serve": ("thriftpy2", "serve", SERVE, []),
    "serve --password-file": ("argon2", "serve", SERVE, ["--password-file", "users"]),
    "serve --add-user": (
        "argon2", "serve", ["serve", "--add-user", "ann"], ["--password-file", "users"],
    ),
    "serve --ldap-url": (
        "ldap3", "ldap", SERVE, ["--ldap-url", "ldaps://127.0.0.1:1", "--ldap-name", "uid=%s"],
    ),
    "serve --keytab": (
        "gssapi", "kerberos", SERVE, ["--keytab", "keytab", "--principal", "hive/_HOST@REALM"],
    ),
    "Hive Metastore": ("thriftpy2", "hms", ["-e", "SHOW TABLES"], THRIFT),
    "Hive Metastore by Kerberos": (
        "gssapi", "kerberos", ["-e", "SHOW TABLES"], [*THRIFT, *LOGIN],
    ),
    "serve beside a Hive Metastore by Kerberos": (
        "gssapi", "kerberos", SERVE, [*THRIFT, *LOGIN],
    ),
    "PostgreSQL": ("psycopg", "postgres", ["-e", "SHOW TABLES"], POSTGRES),
    "services in PostgreSQL": ("psycopg", "postgres", ["services", "--once"], POSTGRES),
    "serve in PostgreSQL": ("psycopg", "postgres", SERVE, POSTGRES),
    "top in PostgreSQL": ("psycopg", "postgres", ["top", "--once"], POSTGRES),
    "MariaDB": ("pymysql", "mysql", ["-e", "SHOW TABLES"], MARIADB),
    "check in MariaDB": ("pymysql", "mysql", ["check", "t"], MARIADB),
}  # fmt: skip


def run_without(packages: Sequence[str], words: Sequence[str]) -> CompletedProcess[str]:
    """Run a command where packages are not installed; behind its output comes what it left to read.

    In a process of its own: elsewhere other tests have loaded what would miss them.
    """
    script = f"""if True:
        import sys
        sys.modules |= dict.fromkeys({[*packages]})
        from hivesql_repl.cli import main
        status = main(sys.argv[1:])
        print(sys.stdin.read(), end="")
        sys.exit(status)
    """
    return subprocess.run(
        [sys.executable, "-c", script, *words], input="secret\n", capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize(("package", "extra", "words", "more"), COMMANDS.values(), ids=COMMANDS)
def test_nothing_is_made_before_a_missing_package_is_named(
    package: str, extra: str, words: list[str], more: list[str], tmp_path: Path
) -> None:
    (tmp_path / "users").touch(0o600)
    (tmp_path / "keytab").touch()
    there = sorted(tmp_path.iterdir())
    done = run_without([package], [*words, *more, "0"] if more == ["--metrics"] else words + more)
    assert done.returncode == 2
    assert f"(the extra {extra})" in done.stderr
    assert "pip install '" in done.stderr
    assert "made a new metastore" not in done.stderr
    assert sorted(tmp_path.iterdir()) == there
    assert (tmp_path / "users").read_text() == ""
    # Who types a password finds out before.
    assert done.stdout == "secret\n"


@pytest.mark.parametrize("place", [POSTGRES, MARIADB, THRIFT], ids=["psycopg", "pymysql", "thrift"])
def test_doctor_says_what_to_install_and_nothing_else(place: list[str]) -> None:
    done = run_without(("psycopg", "pymysql", "thriftpy2"), ["doctor", "--no-spark", *place])
    assert done.returncode == 1
    failed, help_, _ = done.stdout.splitlines()[-3:]
    assert failed.startswith("failed   metastore ")
    assert "pip install '" in failed
    assert help_.strip() == "see the message"


def test_what_watch_lacks_is_told_before_a_metastore_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--watch", "2"]) == 1
    assert "--watch takes one -e" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "words",
    [
        ["check", "t"], ["inspect", "t"], ["top", "--once"], ["relocate", "/a", "/b"],
        ["migrate", "t", "--to", "iceberg", "--as", "c.t"],
    ],
)  # fmt: skip
def test_what_only_looks_makes_no_metastore(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--metastore", f"sqlite:///{tmp_path}/misspelt.db"]) == 2
    expected = f"there is no metastore at {tmp_path}/misspelt.db: name it by --metastore"
    assert expected in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
