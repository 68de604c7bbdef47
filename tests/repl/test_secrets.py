"""Credentials are shown nowhere: each place of the command line that tells settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.history import FileHistory

import hivesql
from hivesql_repl.cli import main
from hivesql_repl.configuration import read_profile
from hivesql_repl.shell.shell import SecretiveHistory

pytestmark = pytest.mark.usefixtures("empty_home")
HIDDEN = "hidden-7Gh2"
KEYS = (
    "fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.session.token",
    "fs.s3a.bucket.sales.secret.key", "fs.azure.account.key.me.dfs.core.windows.net",
    "spark.hadoop.fs.s3a.proxy.password", "javax.jdo.option.ConnectionPassword",
)  # fmt: skip
PROFILE = "profile = 'p'\n[profiles.p.settings]\n'fs.s3a.endpoint' = 'http://127.0.0.1:9'\n"
PROFILE += "".join(f"'{key}' = '{HIDDEN}'\n" for key in KEYS)
SITE = "".join(f"<property><name>{key}</name><value>{HIDDEN}</value></property>" for key in KEYS)


@pytest.fixture
def given(empty_home: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Secrets in the profile, the site and the environment."""
    config = tmp_path / "config" / "hivesql" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(PROFILE)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "hive-site.xml").write_text(f"<configuration>{SITE}</configuration>")
    monkeypatch.setenv("HIVE_CONF_DIR", str(tmp_path / "conf"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", HIDDEN)
    return config


ASKED = [
    "SET", "SET -v", "SET env:AWS_SECRET_ACCESS_KEY",
    "EXPLAIN SELECT '${hiveconf:fs.s3a.secret.key}'",
    *(f"SET {key}" for key in KEYS), *(f"SET hiveconf:{key}" for key in KEYS),
    *(f"SET {key}={HIDDEN}; SET {key}; SET; SET -v; RESET {key}; SET {key}; RESET" for key in KEYS),
    f"CREATE TABLE t (id INT); EXPLAIN SELECT * FROM t; SET fs.s3a.secret.key={HIDDEN}; SET",
]  # fmt: skip


def test_statements_show_none(given: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for statement in ASKED:
        assert main(["-v", "-e", statement]) == 0, statement
        assert main(["--dry-run", "-e", statement]) == 0, statement
    told = "".join(capfd.readouterr())
    assert HIDDEN not in told
    assert "fs.s3a.endpoint=http://127.0.0.1:9" in told
    assert "fs.s3a.secret.key is a hidden config" in told
    assert "hiveconf:fs.s3a.bucket.sales.secret.key is a hidden config" in told
    assert "SET fs.s3a.secret.key=***" in told


def test_doctor_shows_none(given: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--no-spark", "--warehouse", "s3a://bucket/x"]) == 0
    assert main(["doctor", "--no-spark", "--hiveconf", "hive.txn.nosuch=1"]) == 1
    assert HIDDEN not in "".join(capfd.readouterr())


WRONG = {
    f"SET fs.s3a.secret.key {HIDDEN}": "expected SET key=value of fs.s3a.secret.key",
    f"SET fs.s3a.secret.key={HIDDEN}; SELECT nosuch": "column reference 'nosuch'",
    "SET hive.conf.hidden.list=x": "Cannot modify hive.conf.hidden.list at runtime",
}


@pytest.mark.parametrize(("statement", "why"), WRONG.items())
def test_errors_show_none(
    given: Path, capfd: pytest.CaptureFixture[str], statement: str, why: str
) -> None:
    assert main(["-v", "-e", statement]) == 2
    told = "".join(capfd.readouterr())
    assert HIDDEN not in told
    assert why in told


def test_values_show_none(given: Path) -> None:
    assert HIDDEN not in repr(read_profile())
    secrets = dict.fromkeys(KEYS, HIDDEN)
    with hivesql.connect(settings=secrets) as session:
        session.set("fs.s3a.secret.key", HIDDEN)
        assert HIDDEN not in repr((session.settings, session.runtime, session.variables))


def test_history_keeps_none(tmp_path: Path) -> None:
    history = SecretiveHistory(FileHistory(str(tmp_path / "history")))
    for typed in ("SHOW TABLES;", f"SHOW TABLES; set fs.s3a.secret.key = {HIDDEN};", "SET;"):
        history.append_string(typed)
    assert history.get_strings() == ["SHOW TABLES;", "SET;"]
    assert HIDDEN not in (tmp_path / "history").read_text()
