"""The wheel that users install."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pyspark

ROOT = Path(__file__).parents[1]


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
