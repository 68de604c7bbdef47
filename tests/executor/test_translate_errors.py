"""What libraries and the system raise, as errors that say what helps."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hivesql
from hivesql_executor.translate_errors import missing_package, translate_error
from hivesql_planner.errors import SemanticError

ROOT = Path(__file__).parents[2]
EXTRAS = {
    "psycopg": "postgres",
    "pymysql": "mysql",
    "thriftpy2": "hms",
    "obstore": "s3",
    "gssapi": "kerberos",
    "argon2": "serve",
    "ldap3": "ldap",
    "airflow": "airflow",
    "prometheus_client": "metrics",
    "opentelemetry": "tracing",
}


@pytest.mark.parametrize("package", EXTRAS)
def test_a_package_that_is_not_there_is_named_with_its_extra(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as missing:
        __import__(package)
    told = str(missing_package(missing.value))
    # Our own name is in no index of packages: whoever is there is somebody else.
    assert "pip install '" in told and "hivesql[" not in told and "force" not in told
    assert told.endswith(f"(the extra {EXTRAS[package]})")


def test_an_export_without_its_package_says_so_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        session.sql("CREATE TRANSACTIONAL TABLE t (i INT) STORED AS ORC; INSERT INTO t VALUES (1)")
        for name in [name for name in sys.modules if name.split(".")[0] == "thriftpy2"]:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, "thriftpy2", None)
        # Rows of a full ACID table are written by Spark, which would take long to start.
        with pytest.raises(SemanticError, match=r"EXPORT, .* needs the package thriftpy2: pip"):
            session.sql(f"EXPORT TABLE t TO '{tmp_path}/w/exported'")
        assert not (tmp_path / "w" / "exported").exists()
        (tmp_path / "w" / "exported").mkdir()
        (tmp_path / "w" / "exported" / "_metadata").write_text("{}")
        with pytest.raises(SemanticError, match=r"IMPORT, .* needs the package thriftpy2: pip"):
            session.sql(f"IMPORT TABLE u FROM '{tmp_path}/w/exported'")


def test_every_extra_has_a_package_that_tells_of_it() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    listed = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = set(re.findall(r"^([\w-]+) = \[", listed, re.MULTILINE))
    assert extras - {"examples"} == set(EXTRAS.values())


LOADING = {
    "libgssapi_krb5.so.2: cannot open shared object file: No such file or directory":
        "Install the library that it needs",
    "a.so: cannot open shared object file: Too many open files": "ulimit -n",
    "a.so: failed to map segment from shared object: Cannot allocate memory": "more memory",
    "a.so: failed to map segment from shared object: Operation not permitted": "right",
    "a.so: undefined symbol: PyFoo_Bar": "pip install --force-reinstall 'numpy'",
}  # fmt: skip


@pytest.mark.parametrize("reason", LOADING)
def test_a_package_that_cannot_be_loaded_is_not_told_to_be_missing(
    reason: str, tmp_path: Path
) -> None:
    """As numpy: its own advice covers the reason, which is in the error behind it."""
    package = tmp_path / "numpy"
    package.mkdir()
    (package / "_core.py").write_text(f"raise ImportError({reason!r}, name='numpy._core')")
    (package / "__init__.py").write_text(
        "try:\n    from numpy import _core\n"
        "except ImportError as error:\n"
        "    raise ImportError('\\n\\nIMPORTANT: PLEASE READ THIS\\n\\nadvice') from error\n"
    )
    program = (
        "from hivesql_executor.translate_errors import translate_error\n"
        "try:\n    import numpy\n"
        "except ImportError as error:\n    print(translate_error(error))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert ran.stdout.startswith(f"the package numpy is installed, and cannot be loaded: {reason}.")
    assert LOADING[reason] in ran.stdout and "pip install 'numpy'" not in ran.stdout


def test_who_catches_a_missing_package_does_not_catch_one_that_cannot_be_loaded() -> None:
    for folder in ("executor/hivesql_executor", "hivesql/hivesql", "repl/hivesql_repl"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.name != "translate_errors.py":
                assert "except ImportError" not in file.read_text(), file


def test_no_thread_left() -> None:
    refused = translate_error(RuntimeError("can't start new thread"))
    assert "ulimit -u" in str(refused) and getattr(refused, "retryable", False)


def test_no_file_left(tmp_path: Path) -> None:
    """Whichever file is the first without room: no error of an error, and what helps."""
    place = f"'sqlite:///{tmp_path}/m.db', '{tmp_path}/wh'"
    program = (
        "import os, resource, hivesql\n"
        f"with hivesql.connect({place}) as session: pass\n"
        "for limit in range(3, 10):\n"
        "    if os.fork() == 0:\n"
        "        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))\n"
        f"        try: hivesql.connect({place}).sql('CREATE TABLE t (id INT)')\n"
        "        except hivesql.HiveSqlError as error: print(error, flush=True)\n"
        "        else: print('ulimit -n', flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == 7 and all("ulimit -n" in line for line in lines), ran.stdout


def test_calls_with_wrong_arguments_say_what_is_taken(tmp_path: Path) -> None:
    connect: Any = hivesql.connect
    with connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "w")) as session:
        wrong: dict[str, Callable[[], Any]] = {
            r"connect\(\): got an unexpected keyword argument 'metastor'. It takes metastore, ware":
                lambda: connect(metastor="sqlite:///m.db"),
            r"connect\(\): too many positional arguments. It takes metastore": lambda: connect(
                None, None, None),
            r"connect\(\) takes warehouse as str \| PathLike\[str\] \| None, not as int":
                lambda: connect(warehouse=5),
            r"set\(\): missing a required argument: 'value'. It takes key, value":
                lambda: session.set("hive.x"),
            r"sql\(\): got an unexpected keyword argument 'nope'": lambda: session.sql("", nope=1),
            r"merge\(\): missing a required argument": lambda: session.merge(on="a"),
            r"run\(\) takes text as str, not as int": lambda: session.sql(3),
        }  # fmt: skip
        for told, call in wrong.items():
            with pytest.raises(SemanticError, match=told):
                call()
