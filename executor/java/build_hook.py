"""Let a build of the package compile its Java classes: wheels carry the jar, checkouts keep it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Hatchling runs this file alone, not as a part of a package.
sys.path.insert(0, str(Path(__file__).parent))
from build_jar import ROOT, build_jar, current_jars, installed_pyspark, required_pyspark


class JarBuildHook(BuildHookInterface[BuilderConfig]):
    """Compile the jar before a wheel, or an editable install, is made."""

    def dependencies(self) -> list[str]:
        """Ask for PySpark only where it is needed and the environment has none."""
        needed = self.target_name == "wheel" and not current_jars() and not installed_pyspark()
        return [required_pyspark()] if needed else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and let a wheel have the jars; ``version`` says which kind of build it is."""
        if self.target_name != "wheel":
            return
        if installed_pyspark() or not current_jars():
            build_jar()
        if version != "editable":
            jars = {str(jar): str(jar.relative_to(ROOT / "executor")) for jar in current_jars()}
            build_data["force_include"].update(jars)
