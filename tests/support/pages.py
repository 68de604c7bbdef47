"""Pages of the documentation, and a reader who types what they show.

A fence's language says what its text is: ``sql`` statements, ``python`` a program, ``console``
commands behind ``$`` with what they print. After the language may stand

- ``no-run reason="…"``: needs a server, say, and is shown only,
- ``at="…"``: of a server of that kind, ``kerberos`` or ``s3``: typed by the tests that have one,
- ``types="…"``: the line that the commands are given, such as a password,
- ``background``: the command runs until the page has been read; of servers the port is a free one,
- ``plan``: the statements are bound and planned, by EXPLAIN, as they take Spark long,
- ``error="…"``: the block fails, with this in its message,
- ``file="…"``: the block is the text of that file, which a later block uses,
- ``result`` of ``text``: the rows of the statement before, as the shell shows them.

``…`` in what is printed stands for anything, a line of it for any lines.
"""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql
from hivesql.rendering.hive_text import with_hive_types
from hivesql.script import split
from hivesql_repl.output.formats import to_text
from programs import free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("index", "concepts", "sql", "OPERATION")),
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
FENCE = re.compile(r"^```(\w+)(.*)\n((?s:.*?))^```$", re.MULTILINE)
RUN = ("sql", "python", "console")
SHOWN_AS_THEY_ARE = ("text", "ebnf", "csv", "toml", "ini", "mermaid")
PORTS = ("10000", "9464")
"""Where the pages' servers listen: here each at one that nobody has."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a reader has servers that a page speaks of."""

    kind: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    """What pages call things, such as a host, and what is there in its place."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """A fence of a page; ``line`` is that of its first line of text."""

    language: str
    text: str
    line: int
    words: tuple[str, ...]
    options: dict[str, str] = field(hash=False)

    @property
    def is_run(self) -> bool:
        """Tell whether a reader types it, or writes it into a file."""
        return "file" in self.options or (self.language in RUN and "no-run" not in self.words)


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        words = shlex.split(match[2])
        options = dict(word.split("=", 1) for word in words if "=" in word)
        line = text.count("\n", 0, match.start(3)) + 1
        yield Block(match[1], match[3], line, tuple(words), options)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def is_printed(wanted: str, printed: str) -> bool:
    """Tell whether a text was printed; ``…`` stands for anything."""
    pattern = re.escape(wanted.strip()).replace("…", "(?s:.*)")
    # Tables are filled up with blanks on the right.
    shown = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, shown) is not None


class Reader:
    """Somebody who follows a page: one session for its statements, one name space for Python."""

    def __init__(
        self, page: Path, spark: SparkSession | None, stack: ExitStack, site: Site | None = None
    ) -> None:
        self.page = page
        self._site = site or Site()
        self._spark = spark
        self._stack = stack
        self._session: hivesql.Session | None = None
        self._names: dict[str, Any] = {}
        self._ports = {port: str(free_port()) for port in PORTS}
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "COLUMNS": "100",
            **self._site.environment,
        }
        self._result = hivesql.Result(statement="")

    def follow(self) -> None:
        for block in blocks(self.page):
            if block.options.get("at", self._site.kind) != self._site.kind:
                continue
            if block.is_run:
                message = block.options.get("error")
                if message is None:
                    self._run(block)
                else:
                    with pytest.raises(hivesql.HiveSqlError, match=re.escape(message)):
                        self._run(block)
            elif "result" in block.words:
                self._compare(block)

    def _run(self, block: Block) -> None:
        if "file" in block.options:
            Path(block.options["file"]).write_text(self._in_place(block.text), encoding="utf-8")
            return
        match block.language:
            case "sql":
                session = self._open()
                for statement in split(block.text, self._place(block), session.variables):
                    explained = f"EXPLAIN {statement.text}"
                    text = (
                        replace(statement, text=explained) if "plan" in block.words else statement
                    )
                    self._result = session.run_statement(text)
            case "python" if "at" in block.options:
                # In a process of its own, as Spark is the server's.
                self._call([sys.executable, "-c", self._in_place(block.text)], block)
            case "python":
                # Lines of errors are those of the page.
                padded = "\n" * (block.line - 1) + self._in_place(block.text)
                exec(compile(padded, str(self.page), "exec"), self._names)
            case "console" if "background" in block.words:
                self._begin(block)
            case "console":
                self._type(block)

    def _open(self) -> hivesql.Session:
        if self._session is None:
            place = ("sqlite:///metastore.db", "warehouse")
            self._session = self._stack.enter_context(hivesql.connect(*place, spark=self._spark))
        return self._session

    def _in_place(self, text: str) -> str:
        """Put the reader's own servers, and ports that nobody has, in the place of a page's."""
        for there, here in (self._ports | dict(self._site.names)).items():
            text = text.replace(there, here)
        return text

    def _begin(self, block: Block) -> None:
        """Run a command until the page has been read; a server lets clients in before we go on."""
        command = self._in_place(block.text.removeprefix("$ ").partition("#")[0].strip())
        serves = command.startswith("hivesql serve ")
        if serves:
            command += f" --port {self._ports['10000']}"
        process = subprocess.Popen(shlex.split(command), env=self._environment)
        self._stack.callback(process.wait, timeout=60)
        self._stack.callback(process.terminate)
        while serves and process.poll() is None:
            with (
                suppress(ConnectionRefusedError),
                socket.create_connection(("127.0.0.1", int(self._ports["10000"]))),
            ):
                return
            time.sleep(0.1)
        assert process.poll() is None, f"{self._place(block)}: {command} has ended"

    def _type(self, block: Block) -> None:
        """Run each command behind ``$``, and compare what follows it, if anything does."""
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, wanted = re.fullmatch(r"((?:.*\\\n)*.*)\n?((?s:.*))", part).groups()
            done = self._call(["bash", "-c", self._in_place(command)], block)
            printed = f"{self._place(block)}: {command}\n{done}"
            assert not wanted.strip() or is_printed(self._in_place(wanted), done), printed

    def _call(self, words: list[str], block: Block) -> str:
        """Run a program to its end; what it printed."""
        done = subprocess.run(
            words, env=self._environment, capture_output=True, text=True, check=False,
            input=block.options.get("types", "") + "\n", timeout=300 if self._site.kind else 60,
        )  # fmt: skip
        assert done.returncode == 0, (
            f"{self._place(block)}: {words[-1]}\n{done.stdout}{done.stderr}"
        )
        return done.stdout

    def _compare(self, block: Block) -> None:
        rows = with_hive_types(self._result.types, self._result.rows)
        shown = to_text("table", self._result.columns, rows)
        assert is_printed(block.text, shown), f"{self._place(block)}\n{shown}"

    def _place(self, block: Block) -> str:
        return f"{name(self.page)}:{block.line}"
