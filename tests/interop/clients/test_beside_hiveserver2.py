"""What Hive's JDBC drivers are told by our server, beside what Hive 4.1's own HiveServer2 tells.

Both run the same scripts (``*.hql``), and answer the same questions of DatabaseMetaData. All that
is left of differences stands here, each with its reason: no answer may differ otherwise, and no
row may stay that is not needed any more.
"""

from __future__ import annotations

import getpass
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.clients.differences import (
    IN_ERRORS,
    IN_METADATA,
    IN_STATEMENTS,
    Difference,
)
from interop.clients.jdbc_drivers import fetch_driver
from interop.hive import HiveMissing, hiveserver2
from thrift_servers import serving

pytestmark = pytest.mark.hive
HERE = Path(__file__).parent
SETUP, STATEMENTS, WRONG = (HERE / f"{name}.hql" for name in ("setup", "statements", "wrong"))
SETTINGS = {"hive.stats.column.autogather": "false", "hive.txn.xlock.write": "false"}
"""As the real Hive of the interop suite."""
NEVER_EQUAL = (
    (r"; Query ID: \S+", ""),
    (r"(file:)?/\S+/(hive|ours)/warehouse", "WAREHOUSE"),
    (r"\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}", "TIME"),
    (r"\b(nn|dc)_(\d+)_\d+_\d+ *", r"\1_\2"),
    (r"((total|max|min)(File)?Size *[|:])\d+ *", r"\1N"),
    (r"(lastAccessTime|lastUpdateTime):\d+", r"\1:N"),
    (r"\[B@[0-9a-f]+", "BYTES"),
    (r"\b1\d{9}000\b", "MILLISECONDS"),
)
"""Times, places and the sizes of files, and names that are made of them."""

Answers = dict[str, list[str]]


class Servers(NamedTuple):
    """The ports of both."""

    hive: int
    ours: int


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    home = tmp_path_factory.mktemp("servers")
    (home / "ours").mkdir()
    with ExitStack() as stack:
        # Spark starts while Hive does.
        ours = serving(home / "ours", authentication="nosasl", settings=SETTINGS, starts_spark=True)
        server = stack.enter_context(ours)
        try:
            port = stack.enter_context(hiveserver2(home / "hive"))
        except HiveMissing as missing:
            pytest.skip(str(missing))
        yield Servers(port, server.port)


@pytest.fixture(scope="module")
def ask(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[Answers, Answers]]:
    """Asks both servers at once: by a version of the driver, with a script, and all metadata."""
    classes = tmp_path_factory.mktemp("classes")
    walk = HERE / "MetadataWalk.java"
    subprocess.run(["javac", "-d", classes, walk], check=True)

    def ask_one(port: int, version: str, script: Path, more: Sequence[str]) -> Answers:
        url = f"jdbc:hive2://127.0.0.1:{port}/default;auth=noSasl"
        path = f"{classes}:{fetch_driver(version)}"
        done = subprocess.run(
            ["java", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC", "-cp", path, "MetadataWalk",
             url, getpass.getuser(), script, *more],
            capture_output=True, encoding="utf-8", check=False, timeout=500,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return _answers(done.stdout)

    def ask_both(version: str, script: Path, *more: str) -> tuple[Answers, Answers]:
        with ThreadPoolExecutor(2) as pool:
            hive, ours = pool.map(lambda port: ask_one(port, version, script, more), servers)
        return hive, ours

    return ask_both


@pytest.fixture(scope="module")
def prepared(ask: Callable[..., tuple[Answers, Answers]]) -> tuple[Answers, Answers]:
    """What both say to the script that makes the tables, and then about their metadata."""
    return ask("4.1.0", SETUP, "all")


def _answers(text: str) -> Answers:
    """Return the lines by what was asked; the second of the same question has a number."""
    answers: Answers = {}
    for line in text.splitlines():
        if line.startswith("# "):
            asked, number = line[2:], 1
            while asked in answers:
                number += 1
                asked = f"{line[2:]} ({number})"
            lines = answers[asked] = []
        else:
            for pattern, replacement in NEVER_EQUAL:
                line = re.sub(pattern, replacement, line)
            lines.append(line)
    return answers


def _compare(
    both: tuple[Answers, Answers], differences: Sequence[Difference], *, all_needed: bool = True
) -> None:
    hive, ours = both
    assert list(hive) == list(ours)
    used: set[Difference] = set()
    others: dict[str, tuple[list[str], list[str]]] = {}
    for asked, lines in hive.items():
        left, right = lines, ours[asked]
        for difference in differences:
            if difference.is_about(asked):
                shorter = difference.without(left), difference.without(right)
                used |= {difference} if left != right and shorter != (left, right) else set()
                left, right = shorter
        if right != left:
            others[asked] = (
                [line for line in left if line not in right] or left,
                [line for line in right if line not in left] or right,
            )
    assert others == {}
    assert not all_needed or set(differences) - used == set()


def test_metadata_is_hives(prepared: tuple[Answers, Answers]) -> None:
    _compare(prepared, IN_METADATA)


def test_metadata_by_the_driver_of_hive_3(
    prepared: tuple[Answers, Answers], ask: Callable[..., tuple[Answers, Answers]], tmp_path: Path
) -> None:
    assert prepared
    nothing = tmp_path / "nothing.hql"
    nothing.touch()
    # Temporary tables are another session's.
    _compare(ask("3.1.3", nothing, "all"), IN_METADATA, all_needed=False)


def test_what_statements_give_is_hives(
    prepared: tuple[Answers, Answers], ask: Callable[..., tuple[Answers, Answers]]
) -> None:
    assert prepared
    _compare(ask("4.1.0", STATEMENTS), IN_STATEMENTS)


def test_errors_have_hives_state_and_code(
    prepared: tuple[Answers, Answers], ask: Callable[..., tuple[Answers, Answers]]
) -> None:
    assert prepared
    hive, ours = (_without_words(answers) for answers in ask("4.1.0", WRONG))
    differing = {asked for asked, lines in hive.items() if lines != ours[asked]}
    assert {asked: (hive[asked], ours[asked]) for asked in differing - set(IN_ERRORS)} == {}
    assert set(IN_ERRORS) - differing == set()


def _without_words(answers: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        asked: [re.sub(r"^(error \S+ \S+).*", r"\1", line) for line in lines]
        for asked, lines in answers.items()
    }
