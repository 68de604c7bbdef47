"""Rows that were read without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class NamedRow(tuple[Any, ...]):
    """A tuple whose values also have names: what PySpark's Row is to a caller."""

    __fields__: tuple[str, ...]

    def __new__(cls, fields: Sequence[str], values: Sequence[Any]) -> NamedRow:
        row = super().__new__(cls, values)
        row.__fields__ = tuple(fields)
        return row

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, slice)):
            return super().__getitem__(key)
        if key not in self.__fields__:
            raise KeyError(key)
        return super().__getitem__(self.__fields__.index(key))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__fields__:
            raise AttributeError(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self.__fields__

    def asDict(self, recursive: bool = False) -> dict[str, Any]:  # noqa: N802 - PySpark's name
        """Values by name, those of rows and of collections inside too where ``recursive``."""
        values = map(_as_dict, self) if recursive else self
        return dict(zip(self.__fields__, values, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedRow, (self.__fields__, tuple(self))

    def __repr__(self) -> str:
        inside = zip(self.__fields__, self, strict=True)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in inside)})"


def _as_dict(value: Any) -> Any:
    if isinstance(value, NamedRow):
        return value.asDict(recursive=True)
    if isinstance(value, list):
        return [_as_dict(one) for one in value]
    if isinstance(value, dict):
        return {key: _as_dict(one) for key, one in value.items()}
    return value
