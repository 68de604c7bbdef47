"""Statements that a user keeps under a name, as pgcli's named queries."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from hivesql_planner.settings.file_system_keys import sets_secret


@dataclass(frozen=True, slots=True)
class Saved:
    """Texts by name, and the file that has them."""

    path: Path
    texts: dict[str, str]

    @classmethod
    def read(cls) -> Saved:
        """Read the user's; ValueError where the file is none of ours."""
        path = Path(platformdirs.user_state_dir("hivesql", ensure_exists=True)) / "saved.json"
        try:
            texts = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            texts = {}
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        try:
            return cls(path, dict(sorted(texts.items())))
        except AttributeError as error:
            raise ValueError(f"{path}: an object with statements is wanted") from error

    def text(self, name: str, values: list[str]) -> str:
        """Return a statement with its ``$1``, ``$2`` … filled; ValueError where that fails."""
        if name not in self.texts:
            raise ValueError(f"no statement is saved as {name}; !saved lists them")

        def value(number: re.Match[str]) -> str:
            index = int(number[1])
            if not 0 < index <= len(values):
                raise ValueError(f"{name} wants a value for ${index}: {self.texts[name]}")
            return values[index - 1]

        return re.sub(r"\$(\d+)", value, self.texts[name])

    def add(self, name: str, text: str) -> None:
        """Keep a statement under a name, in the place of another one."""
        if sets_secret([text]):
            raise ValueError("a statement with a secret is not saved")
        self._write({**self.texts, name: text})

    def remove(self, name: str) -> None:
        """Keep one no longer; ValueError where there is none."""
        if name not in self.texts:
            raise ValueError(f"no statement is saved as {name or 'nothing'}; !saved lists them")
        self._write({key: text for key, text in self.texts.items() if key != name})

    def _write(self, texts: dict[str, str]) -> None:
        new = self.path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(texts, ensure_ascii=False, indent=1), encoding="utf-8")
        new.replace(self.path)
