"""The code that the documents show runs, in order, each page in an empty warehouse of its own.

A fence's language says what its text is: ``sql`` statements, ``python`` a program, ``console``
commands behind ``$`` with what they print. After the language may stand

- ``no-run reason="…"``: needs a server, say, and is shown only,
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
from codeop import compile_command
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import requires
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hivesql
from hivesql.dialect.statements.statement import parse
from hivesql.rendering.hive_text import with_hive_types
from hivesql.script import split
from hivesql_planner.settings.settings import Settings
from hivesql_repl.configuration import read_look, read_profile
from hivesql_repl.output.formats import to_text
from programs import free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
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
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "COLUMNS": "100",
}
MOST_SHOWN_ONLY = 0.35
"""The share of blocks that may be marked as not to be run."""


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

    def __init__(self, page: Path, spark: SparkSession, stack: ExitStack) -> None:
        self.page = page
        self._spark = spark
        self._stack = stack
        self._session: hivesql.Session | None = None
        self._names: dict[str, Any] = {}
        self._ports = {port: str(free_port()) for port in PORTS}
        self._result = hivesql.Result(statement="")

    def follow(self) -> None:
        for block in blocks(self.page):
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
            Path(block.options["file"]).write_text(block.text, encoding="utf-8")
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
            case "python":
                # Lines of errors are those of the page.
                padded = "\n" * (block.line - 1) + self._on_free_ports(block.text)
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

    def _on_free_ports(self, text: str) -> str:
        """Let what serves and asks at a page's ports do so at those that nobody has."""
        for port, free in self._ports.items():
            text = text.replace(port, free)
        return text

    def _begin(self, block: Block) -> None:
        """Run a command until the page has been read; a server lets clients in before we go on."""
        command = self._on_free_ports(block.text.removeprefix("$ ").partition("#")[0].strip())
        serves = command.startswith("hivesql serve ")
        if serves:
            command += f" --port {self._ports['10000']}"
        process = subprocess.Popen(shlex.split(command), env=ENVIRONMENT)
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
            command, _, wanted = part.partition("\n")
            done = subprocess.run(
                ["bash", "-c", command], env=ENVIRONMENT, capture_output=True, text=True,
                check=False, timeout=60,
            )  # fmt: skip
            assert done.returncode == 0, f"{self._place(block)}: {command}\n{done.stderr}"
            printed = f"{self._place(block)}: {command}\n{done.stdout}"
            assert not wanted.strip() or is_printed(wanted, done.stdout), printed

    def _compare(self, block: Block) -> None:
        rows = with_hive_types(self._result.types, self._result.rows)
        shown = to_text("table", self._result.columns, rows)
        assert is_printed(block.text, shown), f"{self._place(block)}\n{shown}"

    def _place(self, block: Block) -> str:
        return f"{name(self.page)}:{block.line}"


@pytest.mark.spark
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_shows_runs(
    page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        Reader(page, spark, stack).follow()


def test_blocks_that_are_only_shown_are_few_and_say_why() -> None:
    all_blocks = [block for page in PAGES for block in blocks(page) if block.language in RUN]
    shown = [block for block in all_blocks if not block.is_run]
    assert [block for block in shown if not block.options.get("reason")] == []
    assert len(shown) <= len(all_blocks) * MOST_SHOWN_ONLY


def test_each_block_is_run_or_of_a_language_that_nothing_runs() -> None:
    languages = {block.language for page in PAGES for block in blocks(page)}
    assert languages <= {*RUN, *SHOWN_AS_THEY_ARE}


def test_programs_can_be_pasted_into_an_interpreter() -> None:
    """Python's own takes a line at a time: a blank one, and no other, ends an indented block."""
    for page in PAGES:
        for block in blocks(page):
            if block.language == "python" and block.is_run:
                lines: list[str] = []
                for number, line in enumerate(block.text.splitlines(), block.line):
                    lines.append(line)
                    place = f"{name(page)}:{number}"
                    if compile_command("\n".join(lines), place) is not None:
                        lines.clear()


def test_configurations_can_be_read(tmp_path: Path) -> None:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "toml":
                file = tmp_path / "config.toml"
                file.write_text(block.text, encoding="utf-8")
                profiles = re.findall(r"^\[profiles\.(\w+)", block.text, re.MULTILINE)
                read_look(file)
                for profile in profiles:
                    settings = read_profile(file, profile).settings
                    Settings.of(settings)


def test_statements_that_are_only_shown_can_be_parsed() -> None:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "sql" and not block.is_run:
                for statement in split(block.text, f"{name(page)}:{block.line}", {}):
                    parse(statement)


def test_each_kind_of_statement_has_an_example() -> None:
    outcomes = (ROOT / "tests/hivesql/dialect/corpus_outcomes.txt").read_text("utf-8").splitlines()
    kinds = {kind for kind in outcomes if kind != "no statement" and ":" not in kind}
    shown = {
        type(parse(statement).body).__name__
        for block in blocks(ROOT / "docs" / "sql.md")
        if block.language == "sql"
        for statement in split(block.text, None, {"hivevar:item": "nut"})
    }
    assert sorted(kinds - shown) == []


def test_a_page_says_how_to_install_what_it_imports() -> None:
    """Who follows it has HiveSQL, what that brings, and the extras that the page names."""
    needed = [line for line in requires("hivesql") or () if "extra ==" not in line]
    brought = {re.split(r"[^\w-]", line)[0].lower() for line in needed}
    ours = {"hivesql"} | {package.replace("-", "_") for package in brought}
    for page in PAGES:
        installs = " ".join(re.findall(r"pip install ([^`\n]*)", page.read_text("utf-8")))
        extras = re.findall(r"hivesql\[([\w,]+)\]", installs)
        # Between pip 23.1 and 23.3 it finds no extra that is not spelt as wheels spell it.
        assert re.findall(r"\[[^]]*_[^]]*\]", installs) == [], page.name
        of_extras = " ".join(
            line.replace("-", "_") for line in requires("hivesql") or ()
            if any(f"extra == '{name}'" in line.replace('"', "'")
                   for names in extras for name in names.split(","))
        )  # fmt: skip
        installs = f"{installs} {of_extras}"
        for block in blocks(page):
            if block.language == "python" and block.is_run:
                for name in re.findall(r"^\s*(?:import|from) (\w+)", block.text, re.MULTILINE):
                    is_there = name in ours or name in sys.stdlib_module_names
                    assert is_there or name in installs, f"{page.name}:{block.line}: {name}"
