"""`!` commands: beeline's, and in scripts the shell's."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hivesql import HiveSqlError, ParseError
from hivesql.script_file import read_script
from hivesql.sessions.open_transaction import take_apart
from hivesql_repl.output.formats import FORMATS
from hivesql_repl.output.render import open_for_append
from hivesql_repl.shell.aliases import command_of
from hivesql_repl.shell.gestures import Gestures, switched
from hivesql_repl.shell.servers import EXAMPLE, screen, server_of, talk_to_server

if TYPE_CHECKING:
    from hivesql_repl.shell.running import Runner

Command = Callable[[str], bool]
# Scripts of beeline begin and end with these.
_OF_CONNECTIONS = (
    "reconnect", "close", "go", "list", "properties", "autocommit", "isolation",
    "addlocaldriverjar",
)  # fmt: skip


class Quit(Exception):
    """The user wants to leave."""


class Commands:
    """What ``!name argument`` does. Each command tells whether it went well.

    ``shell``: a name that is not ours is a command of the shell, as in hive's scripts; beeline,
    and the shell that people type into, want ``!sh`` for that.
    """

    def __init__(self, runner: Runner, *, shell: bool) -> None:
        self.runner = runner
        self.shell = shell
        self.history: Callable[[], list[str]] = list
        self.known: dict[str, tuple[Command, str]] = {
            "help": (self._help, "this list"),
            "quit": (self._quit, "leave (also !exit, !q, quit, exit, Ctrl-D)"),
            "describe": (self._sql("DESCRIBE {}"), "columns of a table: !describe t"),
            "columns": (self._sql("DESCRIBE {}"), "the same"),
            "indexes": (self._nothing, "Hive has no indexes"),
            "run": (self._run, "run a script: !run file.hql"),
            "script": (self._run, "the same"),
            "record": (self._record, "write results to a file too: !record FILE; again to stop"),
            "output": (
                self._output,
                "where results go instead of the screen: !output FILE; without one they are shown",
            ),
            "once": (
                self._once,
                "where the next result goes: !once FILE, !once | wc -l",
            ),
            "outputformat": (self._outputformat, f"one of {', '.join(sorted(FORMATS))}"),
            "set": (self._set, "what the screen shows, or a change of it: !set showHeader false"),
            "timing": (self._timing, "row counts and times on or off"),
            "pager": (self._pager, "page long results, or not"),
            "verbose": (self._verbose, "print each statement before it runs"),
            "brief": (self._brief, "stop that"),
            "history": (self._history, "what was typed"),
            "edit": (self._edit, "write a statement with $EDITOR and run it"),
            "watch": (self._watch, "ask again and again until Ctrl-C: !watch 2 SHOW LOCKS"),
            "sh": (self._sh, "run a command of the shell: !sh ls"),
            "connect": (self._connect, f"beeline on a HiveServer2, as in {EXAMPLE}"),
        }
        gestures = Gestures(
            runner.session, runner.printer, lambda text: self.run_text(text, None), self.fail
        )
        self.known |= gestures.known()
        # In scripts `!echo` and `!export` are programs, as they always were.
        self._typed_alone = {*gestures.known(), *gestures.hidden()} - {"tables", "databases"}
        self._hidden = gestures.hidden() | {"desc": self.known["describe"]}
        self._hidden |= dict.fromkeys(("exit", "q", "closeall"), self.known["quit"])
        self._hidden |= dict.fromkeys(_OF_CONNECTIONS, (self._without_effect, ""))
        for name in ("commit", "rollback"):
            self._hidden[name] = (self._sql(name.upper()), "")
        self._hidden["sql"] = (self._sql("{}"), "")
        self.known |= self._hidden

    def run(self, line: str) -> bool:
        """Run one line without its ``!``."""
        name, _, argument = line.partition(" ")
        is_typed_alone = self.shell and name.lower() in self._typed_alone
        if (command := self.known.get(name.lower())) and not is_typed_alone:
            return command[0](argument.strip())
        if self.shell:
            return self._sh(line)
        from hivesql.hints.meant import nearest

        meant = nearest(name, self.known)
        instead = f"did you mean !{meant}?" if meant else "!help lists them, !sh runs a program"
        return self.fail(f"!{name} is not a command; {instead}")

    def fail(self, message: str) -> bool:
        """Tell what is wrong with a command."""
        print(f"ERROR: {message}", file=sys.stderr)
        return False

    def _help(self, argument: str) -> bool:
        names = [name for name in self.known if name not in self._hidden]
        for name in names:
            print(f"!{name:<14}{self.known[name][1]}")
        print("They begin with \\ or . as well, and have the names of psql, pgcli, sqlite, litecli")
        print(
            "and duckdb: \\dt st*, \\d+ t, \\x, \\timing off, \\c db, .schema t, .mode csv2, \\q."
        )
        print("Statements end with ; or \\g, or with \\G or \\gx for one value a line.")
        return True

    def _quit(self, argument: str) -> bool:
        raise Quit

    def _without_effect(self, argument: str) -> bool:
        self.runner.printer.tell(
            "without effect here: the statements run in this process, on its own warehouse"
        )
        return True

    def _connect(self, argument: str) -> bool:
        if self.shell:
            return self._without_effect(argument)
        url, _, _ = argument.partition(" ")
        if url.startswith("jdbc:hive2:") and server_of(url) is None:
            database = urlsplit(url.removeprefix("jdbc:")).path.strip("/").partition(";")[0]
            return self.run_text(f"USE `{database or 'default'}`", None)
        if server_of(url) is None:
            return self.fail(
                f"the URL of a HiveServer2 is wanted, as in: {EXAMPLE}; "
                "another warehouse: hivesql --metastore URL --warehouse PLACE"
            )
        # Its rows are beeline's matter: formats, pagers and files of this shell do not reach there.
        self.runner.printer.tell(f"beeline on {server_of(url)}; !quit comes back")
        wrong = talk_to_server(argument, self.runner.session.runtime.user)
        return self.fail(wrong) if wrong else True

    def _nothing(self, argument: str) -> bool:
        return True

    def _sql(self, template: str) -> Command:
        def run(argument: str) -> bool:
            if "{}" in template and not argument:
                example = "describe t" if template != "{}" else "sql SHOW TABLES"
                return self.fail(f"more is wanted, as in: !{example}")
            return self.run_text(template.format(argument), None)

        return run

    def run_text(self, text: str, file: str | None) -> bool:
        """Run every statement of a text; stops at the first that fails."""
        try:
            statements = take_apart(self.runner.session, text, file)
            return all(self.runner.run(statement, text) for statement in statements)
        except HiveSqlError as error:
            self.runner.printer.fail(error, text)
            return False

    def _run(self, argument: str) -> bool:
        names = shlex.split(argument)
        if len(names) != 1:
            return self.fail("one file is wanted, as in: !run file.hql")
        try:
            text = read_script(Path(names[0]).expanduser(), names[0])
        except OSError as error:
            return self.fail(f"cannot read {names[0]}: {error.strerror}")
        except ParseError as error:
            return self.fail(f"cannot read {names[0]}: {error}")
        return self.run_text(text, names[0])

    def _record(self, argument: str) -> bool:
        printer = self.runner.printer
        if printer.record:
            printer.record.close()
            printer.record = None
            printer.tell("recording has ended")
        if argument:
            try:
                printer.record = open_for_append(argument)
            except HiveSqlError as error:
                return self.fail(str(error))
            printer.tell(f"recording to {argument}")
        return True

    def _outputformat(self, argument: str) -> bool:
        if argument not in FORMATS:
            return self.fail(f"formats are {', '.join(sorted(FORMATS))}")
        self.runner.printer.format = argument
        return True

    def _set(self, argument: str) -> bool:
        from hivesql_repl.shell.screen_settings import change, settings

        if not argument:
            for name, value in settings(self.runner.printer):
                print(f"{name:<18}{value}")
            return True
        name, _, value = argument.partition(" ")
        try:
            change(self.runner.printer, name, value.strip())
        except ValueError as error:
            return self.fail(str(error))
        return True

    def _once(self, argument: str) -> bool:
        if not argument:
            return self.fail("a file or a program is wanted, as in: !once FILE or !once | wc -l")
        self.runner.printer.once = argument
        return True

    def _output(self, argument: str) -> bool:
        printer = self.runner.printer
        if argument and not argument.startswith("|"):
            try:
                open_for_append(argument).close()
            except HiveSqlError as error:
                return self.fail(str(error))
        printer.output = argument
        printer.tell(f"results go to {argument}" if argument else "results are shown")
        return True

    def _timing(self, argument: str) -> bool:
        printer = self.runner.printer
        wanted = switched(argument, printer.report)
        if wanted is None:
            return self.fail("on or off is wanted, as in: !timing off")
        printer.report = wanted
        printer.tell(f"row counts and times: {'on' if wanted else 'off'}")
        return True

    def _pager(self, argument: str) -> bool:
        printer = self.runner.printer
        # pgcli's users name a program there.
        wanted = switched(argument, printer.paging)
        if wanted is None:
            os.environ["PAGER"] = argument
        printer.paging = wanted is not False
        printer.tell(f"pager {'on' if printer.paging else 'off'}")
        return True

    def _verbose(self, argument: str) -> bool:
        self.runner.printer.verbose = True
        return True

    def _brief(self, argument: str) -> bool:
        self.runner.printer.verbose = False
        return True

    def _history(self, argument: str) -> bool:
        for line in self.history():
            print(line)
        return True

    def _edit(self, argument: str) -> bool:
        import subprocess
        import tempfile

        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.NamedTemporaryFile("w+", suffix=".hql", encoding="utf-8") as file:
            statements = [typed for typed in self.history() if command_of(typed) is None]
            file.write(next(iter(statements[-1:]), ""))
            file.flush()
            if subprocess.run([*shlex.split(editor), file.name], check=False).returncode:
                return self.fail(f"{editor} failed; nothing was run")
            text = read_script(Path(file.name))
        return self.run_text(text, None)

    def _watch(self, argument: str) -> bool:
        from hivesql_repl.shell.watch import EVERY, LONGEST, SHORTEST, watch

        first, _, rest = argument.partition(" ")
        try:
            every, text = float(first), rest
        except ValueError:
            every, text = EVERY, argument
        if not SHORTEST <= every <= LONGEST:
            return self.fail(f"seconds between {SHORTEST:g} and {LONGEST:g} are wanted")
        return watch(self.runner.session, self.runner.printer, text, every)

    def _sh(self, argument: str) -> bool:
        return run_shell_command(argument)


def run_shell_command(command: str) -> bool:
    """Run a command with the shell, this Python first on its PATH; False when it failed."""
    import subprocess

    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    sys.stdout.flush()
    # The script's author asks for a shell, as in Hive's command line.
    completed = subprocess.run(
        command, shell=True, check=False, env={**os.environ, "PATH": path}, stderr=screen()
    )
    if completed.returncode:
        print(f"ERROR: !{command} ended with exit code {completed.returncode}", file=sys.stderr)
    return completed.returncode == 0
