"""Write dist/hivesql-VERSION.cdx.json: what an installation brings, from this environment.

Of an environment with all tools only that stays which the package asks for, and what that asks
for. Extras count where they are asked for: cyclonedx-py follows all of every package.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NOT_BESIDE = frozenset(("airflow", "examples"))
"""Extras that bring programs of their own, or data to try things with."""


def extras() -> frozenset[str]:
    """Return the package's other extras, by its own metadata."""
    return frozenset(metadata("hivesql").get_all("Provides-Extra") or ()) - NOT_BESIDE


def needed(name: str, extras: frozenset[str]) -> dict[str, set[str]]:
    """Return the installed packages that one with extras needs, each with what it needs itself."""
    needs: dict[str, set[str]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(canonicalize_name(name), extras)]
    while waiting:
        package = waiting.pop()
        if package in seen:
            continue
        seen.add(package)
        own = needs.setdefault(package[0], set())
        for text in requires(package[0]) or ():
            requirement = Requirement(text)
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": of}) for of in (*package[1], "")):
                continue
            try:
                version(requirement.name)
            except PackageNotFoundError:
                sys.exit(
                    f"{package[0]} needs {requirement}, which this environment has not: "
                    "install hivesql with all its extras first"
                )
            found = canonicalize_name(requirement.name)
            own.add(found)
            waiting.append((found, frozenset(requirement.extras)))
    return needs


def prune(bom: dict[str, Any], needs: dict[str, set[str]]) -> dict[str, Any]:
    """Return the components that are needed alone, and what each needs."""
    root = bom["metadata"]["component"]
    refs = {canonicalize_name(of["name"]): of["bom-ref"] for of in bom["components"]}
    refs[canonicalize_name(root["name"])] = root["bom-ref"]
    components = [
        of for of in bom["components"]
        if canonicalize_name(of["name"]) in needs and of["name"] != root["name"]
    ]  # fmt: skip
    dependencies = [
        {"ref": refs[name], "dependsOn": sorted(refs[of] for of in own)}
        for name, own in sorted(needs.items())
    ]
    return bom | {"components": components, "dependencies": dependencies}


def main() -> None:
    """Ask cyclonedx-py, prune its answer, and write it."""
    program = str(Path(sys.executable).with_name("cyclonedx-py"))
    asked = [program, "environment", sys.executable, "--pyproject", str(ROOT / "pyproject.toml"),
             "--mc-type", "library", "--output-reproducible"]  # fmt: skip
    answer = subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout
    bom = prune(json.loads(answer), needed("hivesql", extras()))
    bom["metadata"]["component"]["version"] = version("hivesql")
    target = ROOT / "dist" / f"hivesql-{version('hivesql')}.cdx.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(bom, indent=1) + "\n")
    sys.stdout.write(f"{target.relative_to(ROOT)}: {len(bom['components'])} packages\n")


if __name__ == "__main__":
    main()
