"""The command line: hivesql's own flags, and those of `hive` and `beeline`."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from hivesql import __version__
from hivesql_repl.configuration import Profile
from hivesql_repl.logs import add_log_format
from hivesql_repl.output.formats import FORMATS

# Flags with a value of true or false; beeline takes `--silent` and `--silent=true`.
_SWITCHES = {
    "silent": "print rows and errors only",
    "verbose": "print each statement before it runs",
    "force": "go on after an error",
    "showHeader": "print column names",
    "showDbInPrompt": "show the database in the prompt",
    "nullemptystring": "print NULL as nothing",
    "truncateTable": "cut long values in tables instead of folding them",
    "escapeCRLF": "print line breaks and tabs inside values as \\n, \\r and \\t",
    "color": "colours on the screen",
    "report": "print row counts and times",
    "incremental": "print rows as they come",
}
_ON_BY_DEFAULT = {"showHeader", "showDbInPrompt", "color", "report", "incremental"}
# Flags of beeline about connections and isolation that mean nothing without a server.
_IGNORED_SWITCHES = (
    "fastConnect", "autoCommit", "showWarnings", "showNestedErrs", "autosave",
    "convertBinaryArrayToString", "showConnectedUrl", "help-all",
)  # fmt: skip
_IGNORED_VALUES = ("isolation", "numberFormat", "maxHistoryRows", "addlocaldriverjar")
# hive's command line has these with one dash.
_ONE_DASH = ("hiveconf", "hivevar", "database", "define")


METASTORE_ADDRESSES = "hive.metastore.uris"
_BEFORE_COMMANDS = (
    "--metastore", "--warehouse", "--master", "--config", "--profile", "--hiveconf", "--database",
)  # fmt: skip
COMMANDS = {
    "doctor": "check this machine",
    "inspect": "draw what lies in a table's directories",
    "check": "verify a table's files",
    "migrate": "copy a table to Iceberg or Delta, or back",
    "relocate": "tell the metastore that the warehouse has another path",
    "top": "show what runs now and who waits for whom",
    "services": "compact, clean and expire in the background",
    "serve": "answer beeline and JDBC as HiveServer2 does",
}
PROGRAM = "hivesql"
_EXIT_CODES = (
    "exit codes: 0 when all went well, 1 for wrong arguments, 2 when something failed{more}, "
    "130 after Ctrl-C"
)
_EXAMPLES = """
examples:
  hivesql                              a shell on ./metastore.db and ./warehouse
  hivesql -e 'SHOW TABLES'             run a statement
  hivesql -f load.hql -d day=2024-03-01
                                       run a script, with ${hivevar:day}
"""


class Arguments(argparse.ArgumentParser):
    """A parser that says what may have been meant rather than all that there is."""

    def error(self, message: str) -> NoReturn:
        """Leave with what is wrong."""
        wrong, _, words = message.partition("unrecognized arguments: ")
        lines = [f"{self.prog}: {message}"]
        if words and not wrong:
            lines += self._meant(words)
        if choice := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            from hivesql.hints.meant import nearest

            if value := nearest(choice[1], re.findall(r"[\w-]+", choice[2])):
                lines.append(f"did you mean {value}?")
        self.exit(2, "\n".join([*lines, f"{self.prog} --help lists all flags\n"]))

    def _meant(self, typed: str) -> Iterator[str]:
        from hivesql.hints.meant import nearest

        first = typed.split()[0]
        name, equals, value = first.partition("=")
        if name.startswith("-"):
            if flag := nearest(name, self._option_string_actions):
                yield f"did you mean {flag}{equals}{value}?"
        elif self.prog != PROGRAM:
            return
        elif command := nearest(first, COMMANDS):
            yield f"did you mean {self.prog} {command}?"
        elif Path(first).is_file():
            yield f"to run a script: {self.prog} -f {first}"
        elif Path(first).suffix.lower() in (".hql", ".sql", ".q"):
            yield f"there is no file {first}; to run a script: {self.prog} -f FILE"
        else:
            yield f"to run a statement: {self.prog} -e {shlex.quote(typed)}"


def command_parser(prog: str, description: str | None, more: str = "") -> Arguments:
    """Return the parser of a command; ``more`` is what its exit codes mean beside."""
    also = f", {more}" if more else ""
    epilog = _EXIT_CODES.format(more=also)
    return Arguments(prog=prog, description=description, epilog=epilog, allow_abbrev=False)


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every command has: where metadata, files, Spark and configuration are."""
    add = parser.add_argument
    add("--metastore", help="database URL or thrift://host:9083 (default: sqlite:///metastore.db)")
    add("--warehouse", help="directory of a new metastore's managed tables (default: warehouse)")
    add("--master", help="Spark master (default: local[*])")
    add("--config", type=Path, metavar="FILE", help="configuration file instead of the user's")
    add("--profile", help="profile of the configuration file")


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a command that opens a session; ``with_flags`` reads them."""
    add_places(parser)
    parser.add_argument(
        "--hiveconf",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a hive.*, spark.* or fs.* setting",
    )


def with_flags(profile: Profile, arguments: argparse.Namespace) -> Profile:
    """Return what holds of a profile and the flags of ``add_connection``, which win over it.

    The master is one of Spark's settings then.
    """
    flags = pairs(arguments.hiveconf)
    settings = {**profile.settings, **flags}
    if master := arguments.master or profile.master:
        settings["spark.master"] = master
    place = metastore_of(arguments.metastore, flags, profile)
    return replace(
        profile,
        metastore=place,
        warehouse=profile.warehouse if arguments.warehouse is None else arguments.warehouse,
        settings=without_other_addresses(settings, place),
    )


def without_other_addresses(settings: Mapping[str, str], place: str | None) -> dict[str, str]:
    """Leave out a profile's addresses of another metastore than the one that a flag names."""
    left_out = () if place is None else (METASTORE_ADDRESSES,)
    return {k: v for k, v in settings.items() if k not in left_out or v == place}


def metastore_of(flag: str | None, settings: Mapping[str, str], profile: Profile) -> str | None:
    """Return the metastore of a flag, else of the ``settings`` of flags, else of the profile.

    ValueError where flags name two.
    """
    addresses = settings.get(METASTORE_ADDRESSES)
    if flag is not None and addresses not in (None, flag):
        raise ValueError(
            f"two metastores: {flag}, and {addresses} of {METASTORE_ADDRESSES}. Leave one out"
        )
    named = flag if flag is not None else addresses
    return profile.metastore if named is None else named


def arguments() -> argparse.ArgumentParser:
    """Return the parser; its flags keep the names that hive and beeline gave them."""
    codes = _EXIT_CODES.format(more="")
    commands = "".join(f"\n  hivesql {name:<10}{what}" for name, what in COMMANDS.items())
    parser = Arguments(
        prog=PROGRAM,
        usage="hivesql [flags]",
        description="Hive's ACID SQL on Spark without a Hive cluster.",
        epilog=f"commands (each with --help):{commands}\n{_EXAMPLES}\n{codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    many: dict[str, Any] = {"action": "append", "default": []}
    add("-f", dest="files", metavar="FILE", help="run a script ('-' is standard input)", **many)
    add("-e", dest="texts", metavar="SQL", help="run this text", **many)
    add("-i", dest="init", metavar="FILE", help="run this script first", **many)
    add("--database", help="database to start in (default: default)")
    add_places(parser)
    add(
        "-d",
        "--define",
        "--hivevar",
        dest="hivevars",
        metavar="KEY=VALUE",
        help="set a variable",
        **many,
    )
    add(
        "--hiveconf",
        "--conf",
        dest="settings",
        metavar="KEY=VALUE",
        help="set a hive.*, spark.* or fs.* setting",
        **many,
    )
    add("--property-file", metavar="FILE", help="KEY=VALUE lines, as --hiveconf")
    add(
        "--outputformat",
        choices=sorted(FORMATS),
        metavar="FORMAT",
        help=f"{', '.join(sorted(FORMATS))} (default: table on a terminal, else tsv2)",
    )
    add(
        "--delimiterForDSV",
        type=_character,
        default="|",
        metavar="CHAR",
        help="delimiter of format dsv",
    )
    add("--maxColumnWidth", type=_count, default=0, metavar="N", help="widest column of a table")
    add("--maxWidth", type=_count, default=0, metavar="N", help="width of a table")
    add("--headerInterval", type=_count, default=0, metavar="N", help="rows between headers")
    add(
        "--incrementalBufferRows",
        type=_count,
        default=1000,
        metavar="N",
        help="rows of a table that are laid out together",
    )
    add("--delimiter", default=";", metavar="CHAR", help="must be ';'")
    for name, meaning in _SWITCHES.items():
        short = {"silent": ["-S"], "verbose": ["-v"]}.get(name, [])
        add(
            *short,
            f"--{name}",
            type=_truth,
            nargs="?",
            const=True,
            metavar="BOOL",
            default=name in _ON_BY_DEFAULT,
            help=meaning,
        )
    add("--dry-run", action="store_true", help="show plan and locks of every statement, run none")
    add(
        "--watch",
        metavar="SECONDS",
        nargs="?",
        const="2",
        help="ask the statement of -e again and again until Ctrl-C",
    )
    add_log_format(parser)
    add("--checkpoint", metavar="FILE", help="note what has run; a second run goes on from there")
    add(
        "-u",
        dest="url",
        metavar="URL",
        help="metastore URL; of a jdbc:hive2 URL the database alone",
    )
    for flag in ("-n", "-p", "-w", "-a"):
        add(flag, dest=f"ignored_{flag[1:]}", help=argparse.SUPPRESS)
    for name in _IGNORED_SWITCHES:
        add(f"--{name}", dest=f"ignored_{name}", nargs="?", const="", help=argparse.SUPPRESS)
    for name in _IGNORED_VALUES:
        add(f"--{name}", dest=f"ignored_{name}", help=argparse.SUPPRESS)
    add("-H", action="help", help=argparse.SUPPRESS)
    add("--version", action="version", version=f"hivesql {__version__}")
    return parser  # fmt: skip


def command_first(argv: Sequence[str]) -> Sequence[str]:
    """Put the name of a command before the flags of places that were written before it."""
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in _BEFORE_COMMANDS:
        at += 1 if "=" in argv[at] else 2
    if at < len(argv) and argv[at] in COMMANDS:
        return [argv[at], *argv[:at], *argv[at + 1 :]]
    return argv


def normalized(argv: Sequence[str]) -> list[str]:
    """Arguments as argparse wants them: two dashes, and a value to every switch."""
    words: list[str] = []
    for word in argv:
        name, equals, value = word.partition("=")
        if name.startswith("-") and not name.startswith("--") and name[1:] in _ONE_DASH:
            word = f"-{word}"
        elif name in ("-S", "-v") or (name.startswith("--") and name[2:] in _SWITCHES):
            long = {"-S": "--silent", "-v": "--verbose"}.get(name, name)
            word = f"{long}={value if equals else 'true'}"
        words.append(word)
    return words


def ignored(options: argparse.Namespace) -> list[str]:
    """List flags that were given and have no effect here."""
    values = vars(options)
    return sorted(
        key.removeprefix("ignored_")
        for key, value in values.items()
        if key.startswith("ignored_") and value is not None
    )


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"true or false expected, not {text!r}")
    return text.lower() == "true"


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"a number from 0 on expected, not {text!r}")
    return int(text)


def _character(text: str) -> str:
    if len(text) != 1 or text in "\r\n":
        raise argparse.ArgumentTypeError(f"one character expected, not {text!r}")
    return text


def pairs(texts: Sequence[str]) -> dict[str, str]:
    """``KEY=VALUE`` texts as a mapping; ValueError for anything else."""
    values = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"KEY=VALUE expected, not {text!r}")
        values[key.strip()] = value
    return values
