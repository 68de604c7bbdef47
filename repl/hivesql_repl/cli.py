"""`hivesql`: the shell, -e and -f, and its sub-commands."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hivesql import HiveSqlError, ParseError, Session, connect
from hivesql.connections import missing_metastore, require_metastore
from hivesql.script_file import decode_script, read_script
from hivesql_executor.metastore.opening import SQLITE
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.settings.file_system_keys import HIDDEN_LIST, without_secrets
from hivesql_repl.arguments import (
    COMMANDS,
    METASTORE_ADDRESSES,
    arguments,
    command_first,
    ignored,
    metastore_of,
    normalized,
    pairs,
    without_other_addresses,
)
from hivesql_repl.batch import (
    BAD_ARGUMENTS,
    FAILED,
    INTERRUPTED,
    Script,
    run_scripts,
    show_plans,
)
from hivesql_repl.configuration import (
    Profile,
    ShellLook,
    default_path,
    read_look,
    read_profile,
)
from hivesql_repl.logs import JSON, log_as_json
from hivesql_repl.output.errors import print_error
from hivesql_repl.output.formats import Style, format_of
from hivesql_repl.output.render import Printer
from hivesql_repl.shell.running import HEADER, Runner
from hivesql_repl.shell.servers import server_of

if TYPE_CHECKING:
    from hivesql_repl.checkpoint import Checkpoint

_OTHER_NAMES = ("beeline", "hive")


def _doctor(argv: Sequence[str]) -> int:
    from hivesql_repl.doctor import run_doctor

    return run_doctor(argv)


def _inspect(argv: Sequence[str]) -> int:
    from hivesql_repl.table_commands import run_inspect

    return run_inspect(argv)


def _check(argv: Sequence[str]) -> int:
    from hivesql_repl.table_commands import run_check

    return run_check(argv)


def _migrate(argv: Sequence[str]) -> int:
    from hivesql_repl.table_commands import run_migrate

    return run_migrate(argv)


def _relocate(argv: Sequence[str]) -> int:
    from hivesql_repl.table_commands import run_relocate

    return run_relocate(argv)


def _top(argv: Sequence[str]) -> int:
    from hivesql_repl.top import run_top

    return run_top(argv)


def _services(argv: Sequence[str]) -> int:
    from hivesql_repl.services import run

    return run(argv)


def _serve(argv: Sequence[str]) -> int:
    from hivesql_repl.serve import run

    return run(argv)


_COMMANDS: dict[str, Callable[[Sequence[str]], int]] = dict(
    zip(
        COMMANDS,
        (_doctor, _inspect, _check, _migrate, _relocate, _top, _services, _serve),
        strict=True,
    )
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when all went well, 1 for bad arguments, 2 for a failed statement."""
    words = command_first(normalized(sys.argv[1:] if argv is None else argv))
    try:
        if words and words[0] in _COMMANDS:
            return _COMMANDS[words[0]](words[1:])
        options = arguments().parse_args(words)
        profile = read_profile(options.config, options.profile)
        return _flushed(_run(options, profile))
    except BrokenPipeError:
        # Who reads has seen enough; what is still to be written must not fail at the very end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except UnicodeEncodeError as error:
        # A file that is given a different encoding by the user's locale, or by PYTHONIOENCODING.
        print(f"ERROR: {_unwritable(error)}", file=sys.stderr)
        return FAILED
    except ValueError as error:
        print(f"hivesql: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except OSError as error:
        print(f"hivesql: {translate_error(error)}", file=sys.stderr)
        # Arguments name files; where none is named, what was printed could not be written.
        return BAD_ARGUMENTS if error.filename else FAILED
    except HiveSqlError as error:
        print_error(error)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:
        return BAD_ARGUMENTS if stop.code else 0


def _unwritable(error: UnicodeEncodeError) -> str:
    text = error.object[error.start : error.end]
    return (
        f"standard output takes {error.encoding}, in which {text!a} cannot be written: set "
        "PYTHONIOENCODING=utf-8, or a locale of UTF-8 (LC_ALL=C.UTF-8)"
    )


def _flushed(code: int) -> int:
    sys.stdout.flush()
    return code


def _run(options: argparse.Namespace, profile: Profile) -> int:
    _check_flags(options)
    start = [(name, _read(name)) for name in options.init]
    scripts = _scripts(options)
    notes = options.checkpoint and not options.dry_run
    checkpoint = _checkpoint(options.checkpoint) if notes else None
    added = _settings(options)
    settings = {**profile.settings, **added}
    if master := options.master or profile.master:
        settings["spark.master"] = master
    printer = _printer(options, profile, settings, interactive=not scripts)
    place, database = _metastore(options, added, profile)
    settings = without_other_addresses(settings, place)
    _check_place(place or settings.get(METASTORE_ADDRESSES))
    _check_server(options.url, place or settings.get(METASTORE_ADDRESSES))
    if options.verbose and (flags := ignored(options)):
        printer.tell(f"without effect here: {', '.join(flags)}")
    scratch, notify = ExitStack(), None if printer.logs else printer.tell
    try:
        if new := _place_of_a_look(options, place, settings, printer, scratch):
            place, notify = new, None
        session = connect(
            place,
            profile.warehouse if options.warehouse is None else options.warehouse,
            settings=settings,
            database=options.database or database or profile.database or "default",
            notify=notify,
        )
    except HiveSqlError as error:
        scratch.close()
        printer.fail(error, None)
        return FAILED
    _tell_of_user(options.ignored_n, session, printer)
    with scratch, session, Runner(session, printer) as runner:
        variables = pairs(options.hivevars)
        session.variables.update({f"hivevar:{key}": value for key, value in variables.items()})
        shown = without_secrets(settings, session.settings.text(HIDDEN_LIST))
        session.variables.update({f"hiveconf:{key}": value for key, value in shown.items()})
        if options.dry_run:
            return show_plans(session, printer, [*start, *scripts])
        if start and (failed := run_scripts(runner, start, force=options.force)):
            return failed
        if options.watch is not None:
            text = options.texts[0].strip().rstrip(";")
            return 0 if runner.commands.run(f"watch {options.watch} {text}") else FAILED
        if scripts:
            return run_scripts(runner, scripts, force=options.force, checkpoint=checkpoint)
        look = read_look(options.config)
        return _shell(runner, look, show_database=options.showDbInPrompt)


def _check_flags(options: argparse.Namespace) -> None:
    if options.delimiter != ";":
        raise ValueError("not supported: a delimiter other than ';'")
    if options.watch is not None and (len(options.texts) != 1 or options.files):
        raise ValueError("--watch takes one -e, as in: hivesql --watch 2 -e 'SHOW LOCKS'")


def _place_of_a_look(
    options: argparse.Namespace,
    place: str | None,
    settings: Mapping[str, str],
    printer: Printer,
    scratch: ExitStack,
) -> str | None:
    """Return where a script is planned that has no metastore; None where the usual one is meant.

    What only looks makes none: a misspelt name would have an empty one.
    """
    if options.watch is not None:
        require_metastore(place, settings)
    if not options.dry_run or not (missing := missing_metastore(place, settings)):
        return None
    printer.tell(f"there is no metastore at {missing}: planned as in a new one")
    return f"{SQLITE}{scratch.enter_context(TemporaryDirectory())}/metastore.db"


def _scripts(options: argparse.Namespace) -> list[Script]:
    """Read what is to be run; nothing where a person is to type it."""
    scripts = [(name, _read(name)) for name in options.files]
    # What the shell gave us may be no UTF-8.
    scripts += [("<-e>", decode_script(os.fsencode(text), "-e")) for text in options.texts]
    if scripts or options.watch is not None:
        return scripts
    if not sys.stdin.isatty():
        return [("<stdin>", _read("-"))]
    for flag, value in (("--checkpoint", options.checkpoint), ("--dry-run", options.dry_run)):
        if value:
            raise ValueError(f"{flag} takes a script: of -f, of -e, or of standard input")
    return []


def _metastore(
    options: argparse.Namespace, settings: Mapping[str, str], profile: Profile
) -> tuple[str | None, str | None]:
    """Return the metastore that is meant, of flags and their settings, and the database of -u."""
    named, database = _url(options.url)
    if named is not None and options.metastore not in (None, named):
        raise ValueError(f"two metastores: {options.metastore}, and {named} of -u. Leave one out")
    flag = named if options.metastore is None else options.metastore
    return metastore_of(flag, settings, profile), database


def _tell_of_user(name: str | None, session: Session, printer: Printer) -> None:
    user = session.runtime.user
    if name not in (None, user):
        printer.tell(
            f"-n {name} has no effect: the session is {user}'s. HADOOP_USER_NAME={name} in the "
            "environment makes it another's, where nobody logs in"
        )


def _check_server(url: str | None, metastore: str | None) -> None:
    """Refuse a job that was moved here: it must not run, and succeed, on an empty catalog."""
    if url is None or metastore is not None:
        return
    if server := server_of(url.strip("\"'")):
        raise ValueError(
            f"-u names a HiveServer2 at {server}, and nobody is asked there: name the metastore "
            f"whose tables are meant by --metastore, or for good in {default_path()} "
            "(jdbc:hive2:// alone is ./metastore.db)"
        )


def _checkpoint(name: str) -> Checkpoint:
    from hivesql_repl.checkpoint import Checkpoint

    return Checkpoint.open(name)


def _check_place(metastore: str | None) -> None:
    """Programs that call us as beeline do so in directories that they remove afterwards."""
    called = Path(sys.argv[0]).name
    if metastore is None and called in _OTHER_NAMES:
        raise ValueError(
            f"called as {called}, it must be told where the metastore is: name it and the "
            f"warehouse in {default_path()} (a jdbc:hive2 URL gives the database only)"
        )


def _shell(runner: Runner, look: ShellLook, *, show_database: bool) -> int:
    from hivesql_repl.shell.shell import run_shell

    return run_shell(runner, look, show_database=show_database)


def _settings(options: argparse.Namespace) -> dict[str, str]:
    settings: dict[str, str] = {}
    if options.property_file:
        lines = map(str.strip, _read(options.property_file).splitlines())
        settings = pairs([line for line in lines if line and line[0] not in "#!"])
    return {**settings, **pairs(options.settings)}


def _printer(
    options: argparse.Namespace,
    profile: Profile,
    settings: Mapping[str, str],
    *,
    interactive: bool,
) -> Printer:
    is_json = options.log_format == JSON
    if is_json:
        log_as_json(quiet=options.silent)
    format_ = options.outputformat or profile.outputformat
    style = Style(
        header=options.showHeader and settings.get(HEADER, "true").strip().lower() == "true",
        null="" if options.nullemptystring else "NULL",
        delimiter=options.delimiterForDSV,
        escape_breaks=options.escapeCRLF,
        truncate=options.truncateTable,
        max_width=options.maxWidth,
        max_column_width=options.maxColumnWidth,
        batch=options.headerInterval or options.incrementalBufferRows,
        color=options.color and not os.environ.get("NO_COLOR"),
    )
    return Printer(
        format=format_of(format_, sys.stdout),
        style=style,
        quiet=options.silent,
        logs=is_json,
        verbose=options.verbose,
        report=options.report,
        paging=interactive,
    )


def _url(url: str | None) -> tuple[str | None, str | None]:
    """Metastore and database of ``-u``; beeline's ``jdbc:hive2://host/db`` has only the latter."""
    if url is None:
        return None, None
    # Airflow's hook for Hive's command line puts quotes into the argument itself.
    url = url.strip("\"'")
    if not url.startswith("jdbc:hive2:"):
        return url, None
    path = urlsplit(url.removeprefix("jdbc:")).path
    return None, path.strip("/").partition(";")[0] or None


def _read(name: str) -> str:
    try:
        if name == "-":
            return decode_script(sys.stdin.buffer.read(), "<stdin>")
        return read_script(Path(name), name)
    except FileNotFoundError as error:
        raise ValueError(f"cannot read {name}: no such file") from error
    except OSError as error:
        raise ValueError(f"cannot read {name}: {error.strerror}") from error
    except ParseError as error:
        raise ValueError(f"cannot read {error}") from error


if __name__ == "__main__":
    sys.exit(main())
