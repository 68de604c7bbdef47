"""`hivesql`: the shell, -e and -f."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hivesql import HiveSqlError, Session, __version__, connect
from hivesql.script import split
from hivesql_repl.formats import FORMATS, format_of
from hivesql_repl.render import Printer

_FAILED, _BAD_ARGUMENTS, _INTERRUPTED = 2, 1, 130


def arguments() -> argparse.ArgumentParser:
    """The command line; names are those of hive and beeline where they have one."""
    parser = argparse.ArgumentParser(
        prog="hivesql", description="Hive's ACID SQL on Spark without a Hive cluster."
    )
    parser.add_argument(
        "-f",
        dest="files",
        action="append",
        default=[],
        metavar="FILE",
        help="run a script ('-' is standard input); may be given more than once",
    )
    parser.add_argument(
        "-e",
        dest="texts",
        action="append",
        default=[],
        metavar="SQL",
        help="run this text; may be given more than once",
    )
    parser.add_argument("-i", dest="init", metavar="FILE", help="run this script first")
    parser.add_argument("--database", default="default", help="database to start in")
    parser.add_argument("--metastore", help="database URL (default: sqlite:///metastore.db)")
    parser.add_argument("--warehouse", help="directory of managed tables (default: warehouse)")
    parser.add_argument("--master", help="Spark master (default: local[*])")
    parser.add_argument(
        "-d",
        "--define",
        "--hivevar",
        dest="hivevars",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a variable",
    )
    parser.add_argument(
        "--hiveconf",
        "--conf",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a hive.* or spark.* setting",
    )
    parser.add_argument(
        "--outputformat",
        default=None,
        choices=sorted(FORMATS),
        help="how rows are printed (default: table on a terminal, else tsv2)",
    )
    parser.add_argument(
        "--showHeader",
        dest="header",
        type=_truth,
        default=True,
        metavar="BOOL",
        help="print column names",
    )
    parser.add_argument("-S", "--silent", action="store_true", help="print rows only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each statement")
    parser.add_argument("--force", action="store_true", help="go on after an error")
    parser.add_argument("--version", action="version", version=f"hivesql {__version__}")
    return parser  # fmt: skip


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"true or false expected, not {text!r}")
    return text.lower() == "true"


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"KEY=VALUE expected, not {text!r}")
        pairs[key.strip()] = value
    return pairs


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when all went well, 1 for bad arguments, 2 for a failed statement."""
    parser = arguments()
    try:
        options = parser.parse_args(argv)
        settings, variables = _pairs(options.settings), _pairs(options.hivevars)
        scripts = [(name, _read(name)) for name in options.files]
        start = [(options.init, _read(options.init))] if options.init else []
    except (ValueError, OSError) as error:
        print(f"hivesql: {error}", file=sys.stderr)
        return _BAD_ARGUMENTS
    except SystemExit as stop:
        return _BAD_ARGUMENTS if stop.code else 0
    if options.master:
        settings["spark.master"] = options.master
    printer = Printer(
        format=format_of(options.outputformat, sys.stdout),
        header=options.header,
        quiet=options.silent,
        verbose=options.verbose,
    )
    try:
        session = connect(
            options.metastore,
            options.warehouse,
            settings=settings,
            database=options.database,
            notify=printer.tell,
        )
    except HiveSqlError as error:
        printer.fail(error, None)
        return _FAILED
    with session:
        session.variables.update({f"hivevar:{key}": value for key, value in variables.items()})
        texts = [*start, *scripts, *(("<-e>", text) for text in options.texts)]
        if scripts or options.texts:
            return _run_all(session, printer, texts, force=options.force)
        if start and (failed := _run_all(session, printer, start, force=options.force)):
            return failed
        from hivesql_repl.shell import run_shell

        return run_shell(session, printer)


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ValueError(f"cannot read {name}: no such file") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"cannot read {name}: it is not UTF-8 text ({error})") from error


def _run_all(
    session: Session, printer: Printer, texts: Sequence[tuple[str, str]], *, force: bool
) -> int:
    """Run scripts in order; without ``force`` the first error ends everything."""
    code = 0
    for file, text in texts:
        try:
            for statement in split(text, file, session.variables):
                failed = not run_one(session, printer, statement, text)
                code = _FAILED if failed else code
                if failed and not force:
                    return code
        except HiveSqlError as error:
            printer.fail(error, text)
            return _FAILED
        except KeyboardInterrupt:
            printer.tell("interrupted: the running statement was rolled back")
            return _INTERRUPTED
    return code


def run_one(session: Session, printer: Printer, statement: object, text: str) -> bool:
    """Run one statement and print what it gave; False when it failed."""
    from hivesql.script import StatementText

    assert isinstance(statement, StatementText)
    printer.announce(statement.text)
    if statement.text.startswith("!"):
        return run_shell_command(statement.text[1:].strip().rstrip(";"), printer)
    try:
        result = session.run_statement(statement, consume=printer.consume)
    except HiveSqlError as error:
        printer.fail(error, text)
        return False
    printer.show(result)
    return True


def run_shell_command(command: str, printer: Printer) -> bool:
    """Run ``!command`` with the shell, this Python first on its PATH; False when it failed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    sys.stdout.flush()
    # The script's author asks for a shell, as in Hive's command line.
    done = subprocess.run(command, shell=True, check=False, env={**os.environ, "PATH": path})
    if done.returncode:
        print(f"ERROR: !{command} ended with exit code {done.returncode}", file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
