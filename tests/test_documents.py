"""The code that the documents show runs, in order, each page in an empty warehouse of its own."""

from __future__ import annotations

import re
import sys
from codeop import compile_command
from contextlib import ExitStack
from importlib.metadata import requires
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivesql.dialect.statements.statement import parse
from hivesql.script import split
from hivesql_planner.settings.settings import Settings
from hivesql_repl.configuration import read_look, read_profile
from pages import FENCE, PAGES, ROOT, RUN, SHOWN_AS_THEY_ARE, Reader, blocks, name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_SHOWN_ONLY = 0.35
"""The share of blocks that may be marked as not to be run."""
MOST_OF_A_CELL = 320
"""Characters: of longer cells nobody finds the fact that is looked for."""
MOST_WORDS = 35
"""Of a sentence, or of a part of one that ends with a colon or a semicolon."""
READ_BY_USERS = sorted({*PAGES, ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")})


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


def test_a_page_begins_with_a_sentence_that_says_what_it_is_for() -> None:
    """Not with a table, a picture or what one types; those that are shown in lists too."""
    for page in sorted({*PAGES, *(ROOT / "docs").glob("*.md")}):
        title, _, text = page.read_text(encoding="utf-8").partition("\n\n")
        assert re.fullmatch(r"# .+", title), page
        assert re.match(r"[`*]*[A-Z\w][^|!\n]+.*\n", text) and not text.startswith("```"), page


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:;?])\s+", " ".join(text.split()))


@pytest.mark.parametrize("page", READ_BY_USERS, ids=name)
def test_cells_and_sentences_are_short(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for part in re.split(r"\n\s*\n|\n(?=[|#]|- |\d+\. )", prose):
        is_row = part.startswith("|")
        for text in re.split(r"(?<!\\)\|", part) if is_row else [part]:
            assert not is_row or len(text) <= MOST_OF_A_CELL, text
            for sentence in sentences(text):
                assert len(sentence.split()) <= MOST_WORDS, sentence
