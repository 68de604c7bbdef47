"""What type checkers tell users of HiveSQL."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = (
    "tests/support/typed_program.py", "examples/embedding.py", "examples/driver.py",
    "examples/engine.py",
)  # fmt: skip
FROM_OTHERS = (
    "hivesql.airflow.",
    "hivesql.dialect.",
    "hivesql.server.transports.http.",
    "hivesql.sqlalchemy.",
)
"""Where classes of other packages, whose own types are not whole, are what ours are made of."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="pyright is a program of Node.js"),
]


def pyright(place: Path, *arguments: str) -> Any:
    """Return what pyright tells, which looks at the packages as a user's environment has them."""
    bin_ = Path(sys.executable).parent
    roots = os.pathsep.join(str(ROOT / name) for name in ("hivesql", "planner", "executor", "repl"))
    environment = {
        **os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": roots,
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
    }  # fmt: skip
    done = subprocess.run(
        [str(bin_ / "pyright"), "--outputjson", *arguments], cwd=place, env=environment,
        capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("checker", ["pyright", "mypy"])
def test_programs_of_users_are_clean(checker: str, tmp_path: Path) -> None:
    programs = [Path(shutil.copy(ROOT / name, tmp_path)).name for name in PROGRAMS]
    if checker == "mypy":
        # Without our own configuration, as a user's.
        (tmp_path / "mypy.ini").write_text(
            "[mypy]\nstrict = True\n[mypy-pyarrow.*]\nignore_missing_imports = True\n"
        )
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / ".mypy_cache" / "users"),
             *programs],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=500,
        )  # fmt: skip
        assert (done.returncode, done.stdout.count("error:")) == (0, 0), done.stdout
        return
    # pyarrow has no types: what comes of it is unknown to any program.
    unknown = ("Member", "Parameter", "Variable", "Argument")
    rules = {f"reportUnknown{of}Type": False for of in unknown}
    rules |= {"reportMissingTypeStubs": False, "reportUnusedImport": False}
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", **rules})
    )
    told = pyright(tmp_path)
    assert told["summary"]["filesAnalyzed"] == len(programs)
    assert [(of["file"], of["message"]) for of in told["generalDiagnostics"]] == []


def test_every_public_name_has_a_type(tmp_path: Path) -> None:
    told = pyright(tmp_path, "--verifytypes", "hivesql", "--ignoreexternal")["typeCompleteness"]
    public = [symbol for symbol in told["symbols"] if symbol["isExported"]]
    assert len(public) > 1000
    unknown = [symbol["name"] for symbol in public if not symbol["isTypeKnown"]]
    assert [name for name in unknown if not name.startswith(FROM_OTHERS)] == []
