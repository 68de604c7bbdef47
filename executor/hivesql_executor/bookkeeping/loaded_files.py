"""The files that LOAD DATA names, and whether they are what their table wants."""

from __future__ import annotations

import re

from hivesql_executor.files.api import Files
from hivesql_executor.orc.tail import read_tail
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.table import Table
from hivesql_planner.predicates.wildcards import compile_wildcards

_MAGIC = {"orc": b"ORC", "parquet": b"PAR1", "avro": b"Obj\x01", "sequencefile": b"SEQ",
          "sequencebinary": b"SEQ", "thrift": b"SEQ", "rcfile": b"RCF",
          "rctext": b"RCF"}  # fmt: skip
_KEY_CLASS_WITHIN = 64
"""Bytes of a SequenceFile within which it names the class of its keys."""
_NO_TEXT = (b"SEQ", b"RCF")
_PATTERN = "*?[]{}"
_HIDDEN = ("_", ".")
_INNER_CHOICE = re.compile(r"\{([^{}]*)\}")
_MOST_CHOICES = 1000


def files_to_load(files: Files, path: str) -> list[str]:
    """List the files that LOAD DATA names: one, those of a directory, or what fits a pattern."""
    if any(char in path for char in _PATTERN) and not files.exists(path):
        return _fitting(files, path)
    if files.is_file(path):
        return [path]
    if not files.exists(path):
        raise SemanticError(f"Invalid path '{path}': No files matching path {path}", code=10028)
    if files.directories(path):
        raise SemanticError(
            f"Invalid path '{path}': source contains directory {files.directories(path)[0]}",
            code=10028,
        )
    names = [status.path for status in files.list(path)]
    return [f"{path.rstrip('/')}/{name}" for name in names if not name.startswith("_")]


def check_file(files: Files, path: str, table: Table) -> None:
    """Refuse a file whose format is not the table's, or that carries row ids of another table."""
    magic = _MAGIC.get(table.format)
    size = files.size(path)
    if size == 0:
        return
    head = files.read(path, 0, 4)
    # What is another table's file is no text, as Hive sees it.
    wrong = head[:3] in _NO_TEXT if magic is None else head[: len(magic)] != magic
    if table.format in ("rcfile", "rctext"):
        # The first RCFiles say that they are SequenceFiles.
        keys = files.read(path, 0, min(size, _KEY_CLASS_WITHIN)) if head[:3] == b"SEQ" else b""
        wrong = head[:3] != b"RCF" and b"RCFile$KeyBuffer" not in keys
    if wrong:
        raise SemanticError(
            f"Unable to load data to destination table {table.name}: {path} is no {table.format} "
            "file. The file that you are trying to load does not match the file format of the "
            "destination table.",
            code=30019,
        )
    if table.format == "orc" and read_tail(files, path).is_acid:
        raise SemanticError(
            f'"{path}" was created by Acid write - it cannot be loaded into another Acid table',
            code=10413,
        )


def _fitting(files: Files, path: str) -> list[str]:
    """List the files of a directory that a pattern of Hadoop's matches."""
    home, _, pattern = path.rpartition("/")
    if any(char in home for char in _PATTERN):
        raise NotSupported("LOAD DATA … INPATH with a pattern of directories")
    fits = [compile_wildcards(choice).match for choice in _choices(pattern)]
    paths = [status.path for status in files.list(home)] if files.exists(home) else []
    names = [
        name for name in paths if any(fit(name) for fit in fits) and not name.startswith(_HIDDEN)
    ]
    if not names:
        raise SemanticError(f"Invalid path '{path}': No files matching path {path}", code=10028)
    return [f"{home}/{name}" for name in names]


def _choices(pattern: str) -> list[str]:
    """Return the patterns without ``{a,b}`` that a pattern of Hadoop stands for."""
    choices: list[str] = []
    waiting = [pattern.replace("[^", "[!")]
    while waiting:
        text = waiting.pop()
        inner = _INNER_CHOICE.search(text)
        if inner is None:
            choices.append(text)
        else:
            before, behind = text[: inner.start()], text[inner.end() :]
            waiting += [f"{before}{choice}{behind}" for choice in inner[1].split(",")]
        if len(choices) + len(waiting) > _MOST_CHOICES:
            raise SemanticError(
                f"{pattern} stands for more than {_MOST_CHOICES} patterns without braces: name "
                "fewer files at once"
            )
    return choices
