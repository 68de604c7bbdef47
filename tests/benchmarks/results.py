"""What the benchmarks measured, as JSON: a run that was cut off goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import history


class Results:
    """Measured things by name, each with the time and the machine's load when it was measured."""

    def __init__(self, path: Path, sizes: Mapping[str, object]) -> None:
        """What is in the file, unless it was measured with other ``sizes``."""
        self.path = path
        self.sizes = dict(sizes)
        self._found: dict[str, dict[str, Any]] = {}
        if path.exists():
            kept = json.loads(path.read_text())
            if kept["sizes"] == json.loads(json.dumps(self.sizes)):
                self._found = kept["measured"]

    @classmethod
    def kept(cls, path: Path) -> Results:
        """What is in a file, whatever its sizes."""
        return cls(path, json.loads(path.read_text())["sizes"])

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def __getitem__(self, name: str) -> Any:
        return self._found[name]["value"]

    def note(self, name: str, value: object) -> None:
        """Keep something that was measured just now."""
        now = datetime.now(timezone.utc).isoformat(timespec="minutes")
        load = round(os.getloadavg()[0], 1)
        self._found[name] = {"value": value, "when": now, "load": load, "cores": os.cpu_count()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_suffix(".new")
        kept = {"sizes": self.sizes, "measured": self._found}
        aside.write_text(json.dumps(kept, indent=1))
        aside.replace(self.path)
        history.append(self.path, self.sizes, name, self._found[name])

    def starting(self, prefix: str) -> dict[str, Any]:
        """Everything whose name starts so, without that beginning."""
        return {
            name.removeprefix(prefix): one["value"]
            for name, one in self._found.items()
            if name.startswith(prefix)
        }

    def circumstances(self) -> str:
        """When it was measured, and under what load."""
        if not self._found:
            return ""
        times = sorted(one["when"] for one in self._found.values())
        loads = sorted(one["load"] for one in self._found.values())
        cores = next(iter(self._found.values()))["cores"]
        until = f" to {times[-1][11:16]}" if times[-1] != times[0] else ""
        most = f" to {loads[-1]:g}" if loads[-1] != loads[0] else ""
        began = times[0][:16].replace("T", " ")
        return f"{began}{until} UTC, load {loads[0]:g}{most} on {cores} cores"
